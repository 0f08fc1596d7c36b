"""Jobs that callers submit: what they may do with them, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.common.reasons import ReasonCode
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import Dependency, DependencyKind, Submission
from fluxnetes.queue.states import JobState
from fluxnetes.service.errors import Invalid, ServiceError, UnknownJob, WrongState
from fluxnetes.service.mailbox import QueueRequest
from fluxnetes.service.values import JobView, MatchCall
from tests.unit.service.manual_queue import BEGIN, ManualQueue, a_manual_queue, a_submission, cores


async def submit(queue: ManualQueue, count: int, key: str = "", **more: Any) -> JobView:
    return await queue.ask(queue.operations.submit(a_submission(count, **more), key))


async def test_a_submitted_job_has_nodes_or_a_promised_start() -> None:
    queue = a_manual_queue()
    first, second = await submit(queue, 8), await submit(queue, 8)
    assert (first.state, len(first.shares), first.deadline) == ("allocated", 2, BEGIN + 100)
    assert (second.state, second.shares, second.promised) == ("pending", (), BEGIN + 100)


async def test_a_job_lives_from_submit_to_finish() -> None:
    queue = a_manual_queue()
    job = (await submit(queue, 8)).id
    assert (await queue.ask(queue.operations.start(job))).state == "running"
    behind = (await submit(queue, 8)).id
    over = await queue.ask(queue.operations.finish(job, ok=True, reason="done"))
    assert (over.state, reason_text(over.reason), over.shares) == ("completed", "done", ())
    assert queue.state(behind) is JobState.ALLOCATED  # in the very same round


async def test_a_job_may_fail() -> None:
    queue = a_manual_queue()
    job = (await submit(queue, 1)).id
    assert (
        await queue.ask(queue.operations.finish(job, ok=False, reason="boom"))
    ).state == "failed"


async def test_what_is_cancelled_is_free_in_the_same_round() -> None:
    queue = a_manual_queue()
    first, second = await submit(queue, 8), await submit(queue, 8)
    over = await queue.ask(queue.operations.cancel(first.id, "not needed"))
    assert (over.state, reason_text(over.reason)) == ("cancelled", "not needed")
    assert queue.state(second.id) is JobState.ALLOCATED


async def test_a_held_job_waits_until_it_is_released() -> None:
    queue = a_manual_queue()
    job = (await submit(queue, 1, held=True)).id
    await queue.later(10)
    assert queue.state(job) is JobState.HELD
    assert (await queue.ask(queue.operations.release(job))).state == "allocated"


async def test_changes_may_be_repeated() -> None:
    queue = a_manual_queue()
    await submit(queue, 8)
    job = (await submit(queue, 1)).id
    for _ in range(2):
        assert (await queue.ask(queue.operations.hold(job))).state == "held"
    for _ in range(2):
        assert (await queue.ask(queue.operations.release(job))).state == "pending"
    first = (await queue.ask(queue.operations.start(1))).state
    assert (await queue.ask(queue.operations.start(1))).state == first == "running"


async def test_a_dependency_is_waited_for() -> None:
    queue = a_manual_queue()
    first = (await submit(queue, 1)).id
    after = (Dependency(DependencyKind.SUCCEEDED, first),)
    second = await submit(queue, 1, dependencies=after)
    assert second.state == "pending"
    explained = await queue.ask(queue.operations.explain(second.id))
    assert f"{first}" in reason_text(explained.reason)
    await queue.ask(queue.operations.finish(first, ok=True, reason=""))
    assert queue.state(second.id) is JobState.ALLOCATED


async def test_what_depends_on_a_job_that_failed_never_starts() -> None:
    queue = a_manual_queue()
    first = (await submit(queue, 1)).id
    after = (Dependency(DependencyKind.SUCCEEDED, first),)
    second = (await submit(queue, 1, dependencies=after)).id
    await queue.ask(queue.operations.finish(first, ok=False, reason=""))
    assert queue.state(second) in (JobState.CANCELLED, JobState.REJECTED)


async def test_a_submission_that_comes_twice_under_one_key_is_one_job() -> None:
    queue = a_manual_queue()
    jobs = [(await submit(queue, 1, key, user="ada")).id for key in ("a", "a", "", "", "b")]
    assert jobs == [1, 1, 2, 3, 4]
    assert (await submit(queue, 1, "a", user="bob")).id == 5


async def test_what_nothing_can_serve_waits_with_a_reason() -> None:
    view = await submit(a_manual_queue(), 9)
    assert view.state == "pending" and view.reason is not None
    assert view.reason.code is ReasonCode.UNSATISFIABLE


async def test_explain_shows_the_history_and_the_jobs_ahead() -> None:
    queue = a_manual_queue()
    await submit(queue, 8)
    await submit(queue, 8)
    last = await submit(queue, 8)
    explained = await queue.ask(queue.operations.explain(last.id))
    assert (explained.job.id, explained.ahead) == (last.id, 1)
    assert explained.reason and explained.story[0] == (BEGIN, "pending: submitted")


async def test_views_are_of_all_live_jobs_or_of_the_given_ones() -> None:
    queue = a_manual_queue()
    jobs = [(await submit(queue, 4)).id for _ in range(3)]
    await queue.ask(queue.operations.cancel(jobs[0], ""))
    living = await queue.ask(queue.operations.views(None))
    assert [view.id for view in living] == jobs[1:]
    asked = await queue.ask(queue.operations.views([jobs[0], jobs[2], 99]))
    assert [(view.id, view.state) for view in asked] == [(1, "cancelled"), (3, "allocated")]


# -- what is refused -----------------------------------------------------------------------------


def every_way(queue: ManualQueue, id: int) -> list[QueueRequest[Any]]:
    operations = queue.operations
    return [
        operations.start(id),
        operations.finish(id, ok=True, reason=""),
        operations.cancel(id, ""),
        operations.hold(id),
        operations.release(id),
        operations.renew(id),
    ]


async def refused(queue: ManualQueue, request: QueueRequest[Any]) -> ServiceError:
    with pytest.raises(ServiceError) as found:
        await queue.ask(request)
    return found.value


async def test_an_unknown_job_cannot_be_changed() -> None:
    queue = a_manual_queue()
    for request in [*every_way(queue, 7), queue.operations.explain(7)]:
        assert isinstance(await refused(queue, request), UnknownJob)


async def test_an_ended_job_cannot_be_changed() -> None:
    queue = a_manual_queue()
    job = (await submit(queue, 1)).id
    await queue.ask(queue.operations.finish(job, ok=True, reason=""))
    for request in every_way(queue, job):
        refusal = await refused(queue, request)
        assert isinstance(refusal, UnknownJob) and "completed" in str(refusal)


async def test_callers_cannot_change_jobs_of_the_cluster() -> None:
    queue = a_manual_queue()
    job = queue.put_other(cores(1))
    await queue.later()
    before = queue.state(job)
    for request in every_way(queue, job):
        refusal = await refused(queue, request)
        assert isinstance(refusal, WrongState) and "Job/default/train" in str(refusal)
    assert queue.state(job) is before is JobState.ALLOCATED


async def test_a_change_that_the_state_does_not_allow_is_refused_with_the_state() -> None:
    queue = a_manual_queue()
    await submit(queue, 8)
    waits = (await submit(queue, 1)).id
    operations = queue.operations
    wrong: list[QueueRequest[Any]] = [
        operations.start(waits),
        operations.finish(waits, ok=True, reason=""),
    ]
    for request in [*wrong, operations.renew(waits)]:
        refusal = await refused(queue, request)
        assert isinstance(refusal, WrongState) and "pending" in str(refusal)
    for request in (operations.hold(1), operations.release(1)):
        refusal = await refused(queue, request)
        assert isinstance(refusal, WrongState) and "allocated" in str(refusal)


async def test_a_queue_that_is_not_there_is_refused_by_name() -> None:
    queue = a_manual_queue(config=SchedulerConfig(queues=(QueueConfig("batch"),)))
    refusal = await refused(queue, queue.operations.submit(a_submission(1, queue="fast"), ""))
    assert isinstance(refusal, Invalid) and refusal.field == "queue" and "fast" in str(refusal)


async def test_a_gang_on_a_graph_without_pools_is_refused_and_says_what_to_use() -> None:
    queue = a_manual_queue()
    gang = Gang((Shape.of(1, {"cpu": 1000}),))
    for request in (
        queue.operations.match(MatchCall(gang)),
        queue.operations.submit(Submission(0, gang, walltime=1), ""),
    ):
        refusal = await refused(queue, request)
        assert isinstance(refusal, Invalid) and "jobspec" in str(refusal)


async def test_what_is_refused_takes_no_number() -> None:
    queue = a_manual_queue()
    await refused(queue, queue.operations.submit(a_submission(1, queue="fast"), "a"))
    assert (await submit(queue, 1, "a")).id == 1


async def test_whole_nodes_are_shown_as_such() -> None:
    queue = a_manual_queue()
    whole = jobspec(slot(2, node(1, exclusive=True)), duration=60)
    grant = await queue.ask(queue.operations.match(MatchCall(whole)))
    assert [(share.node, share.amounts["node"]) for share in grant.shares] == [
        ("node0", 1),
        ("node1", 1),
    ]
