"""Jobs that callers queue: what they may tell of them, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import Dependency, DependencyKind, Submission
from fluxnetes.queue.states import JobState
from fluxnetes.service.errors import Invalid, ServiceError, UnknownJob, WrongState
from fluxnetes.service.mailbox import QueueRequest
from fluxnetes.service.values import JobView, MatchCall
from tests.unit.service.counters import BEGIN, Counter, a_counter, a_submission, cores


async def submit(counter: Counter, count: int, key: str = "", **more: Any) -> JobView:
    return await counter.ask(counter.clerk.submit(a_submission(count, **more), key))


async def test_a_job_that_is_submitted_is_told_where_to_run_or_when_it_will_start() -> None:
    counter = a_counter()
    first, second = await submit(counter, 8), await submit(counter, 8)
    assert (first.state, len(first.shares), first.deadline) == ("allocated", 2, BEGIN + 100)
    assert (second.state, second.shares, second.promised) == ("pending", (), BEGIN + 100)


async def test_a_job_lives_from_submit_to_finish() -> None:
    counter = a_counter()
    job = (await submit(counter, 8)).id
    assert (await counter.ask(counter.clerk.start(job))).state == "running"
    behind = (await submit(counter, 8)).id
    over = await counter.ask(counter.clerk.finish(job, ok=True, reason="done"))
    assert (over.state, over.reason, over.shares) == ("completed", "done", ())
    assert counter.state(behind) is JobState.ALLOCATED  # in the very same round


async def test_a_job_may_fail() -> None:
    counter = a_counter()
    job = (await submit(counter, 1)).id
    assert (await counter.ask(counter.clerk.finish(job, ok=False, reason="boom"))).state == "failed"


async def test_what_is_cancelled_is_free_in_the_same_round() -> None:
    counter = a_counter()
    first, second = await submit(counter, 8), await submit(counter, 8)
    over = await counter.ask(counter.clerk.cancel(first.id, "not needed"))
    assert (over.state, over.reason) == ("cancelled", "not needed")
    assert counter.state(second.id) is JobState.ALLOCATED


async def test_a_held_job_waits_until_it_is_released() -> None:
    counter = a_counter()
    job = (await submit(counter, 1, held=True)).id
    await counter.later(10)
    assert counter.state(job) is JobState.HELD
    assert (await counter.ask(counter.clerk.release(job))).state == "allocated"


async def test_what_is_so_already_may_be_said_again() -> None:
    counter = a_counter()
    await submit(counter, 8)
    job = (await submit(counter, 1)).id
    for _ in range(2):
        assert (await counter.ask(counter.clerk.hold(job))).state == "held"
    for _ in range(2):
        assert (await counter.ask(counter.clerk.release(job))).state == "pending"
    first = (await counter.ask(counter.clerk.start(1))).state
    assert (await counter.ask(counter.clerk.start(1))).state == first == "running"


async def test_a_dependency_is_waited_for() -> None:
    counter = a_counter()
    first = (await submit(counter, 1)).id
    after = (Dependency(DependencyKind.SUCCEEDED, first),)
    second = await submit(counter, 1, dependencies=after)
    assert second.state == "pending"
    told = await counter.ask(counter.clerk.explain(second.id))
    assert f"{first}" in told.reason
    await counter.ask(counter.clerk.finish(first, ok=True, reason=""))
    assert counter.state(second.id) is JobState.ALLOCATED


async def test_what_depends_on_a_job_that_failed_never_starts() -> None:
    counter = a_counter()
    first = (await submit(counter, 1)).id
    after = (Dependency(DependencyKind.SUCCEEDED, first),)
    second = (await submit(counter, 1, dependencies=after)).id
    await counter.ask(counter.clerk.finish(first, ok=False, reason=""))
    assert counter.state(second) in (JobState.CANCELLED, JobState.REJECTED)


async def test_a_submission_that_comes_twice_under_one_key_is_one_job() -> None:
    counter = a_counter()
    jobs = [(await submit(counter, 1, key, user="ada")).id for key in ("a", "a", "", "", "b")]
    assert jobs == [1, 1, 2, 3, 4]
    assert (await submit(counter, 1, "a", user="bob")).id == 5


async def test_what_can_never_start_is_rejected_with_a_reason() -> None:
    view = await submit(a_counter(), 9)
    assert view.state == "rejected" and view.reason


async def test_explain_tells_the_story_and_who_is_ahead() -> None:
    counter = a_counter()
    await submit(counter, 8)
    await submit(counter, 8)
    last = await submit(counter, 8)
    told = await counter.ask(counter.clerk.explain(last.id))
    assert (told.job.id, told.ahead) == (last.id, 1)
    assert told.reason and told.story[0] == (BEGIN, "pending: submitted")


async def test_views_are_of_all_who_live_or_of_those_asked_for() -> None:
    counter = a_counter()
    jobs = [(await submit(counter, 4)).id for _ in range(3)]
    await counter.ask(counter.clerk.cancel(jobs[0], ""))
    living = await counter.ask(counter.clerk.views(None))
    assert [view.id for view in living] == jobs[1:]
    asked = await counter.ask(counter.clerk.views([jobs[0], jobs[2], 99]))
    assert [(view.id, view.state) for view in asked] == [(1, "cancelled"), (3, "allocated")]


# -- what is refused -----------------------------------------------------------------------------


def every_way(counter: Counter, id: int) -> list[QueueRequest[Any]]:
    clerk = counter.clerk
    return [
        clerk.start(id),
        clerk.finish(id, ok=True, reason=""),
        clerk.cancel(id, ""),
        clerk.hold(id),
        clerk.release(id),
        clerk.renew(id),
    ]


async def refused(counter: Counter, request: QueueRequest[Any]) -> ServiceError:
    with pytest.raises(ServiceError) as found:
        await counter.ask(request)
    return found.value


async def test_nothing_can_be_told_of_a_job_that_nobody_knows() -> None:
    counter = a_counter()
    for request in [*every_way(counter, 7), counter.clerk.explain(7)]:
        assert isinstance(await refused(counter, request), UnknownJob)


async def test_nothing_can_be_told_of_a_job_that_is_over() -> None:
    counter = a_counter()
    job = (await submit(counter, 1)).id
    await counter.ask(counter.clerk.finish(job, ok=True, reason=""))
    for request in every_way(counter, job):
        refusal = await refused(counter, request)
        assert isinstance(refusal, UnknownJob) and "completed" in str(refusal)


async def test_callers_cannot_change_what_is_not_theirs() -> None:
    counter = a_counter()
    job = counter.put_other(cores(1))
    await counter.later()
    before = counter.state(job)
    for request in every_way(counter, job):
        refusal = await refused(counter, request)
        assert isinstance(refusal, WrongState) and "Job/default/train" in str(refusal)
    assert counter.state(job) is before is JobState.ALLOCATED


async def test_what_cannot_be_said_of_a_job_where_it_is_is_refused_and_says_where_it_is() -> None:
    counter = a_counter()
    await submit(counter, 8)
    waits = (await submit(counter, 1)).id
    clerk = counter.clerk
    wrong: list[QueueRequest[Any]] = [clerk.start(waits), clerk.finish(waits, ok=True, reason="")]
    for request in [*wrong, clerk.renew(waits)]:
        refusal = await refused(counter, request)
        assert isinstance(refusal, WrongState) and "pending" in str(refusal)
    for request in (clerk.hold(1), clerk.release(1)):
        refusal = await refused(counter, request)
        assert isinstance(refusal, WrongState) and "allocated" in str(refusal)


async def test_a_queue_that_is_not_there_is_refused_by_name() -> None:
    counter = a_counter(config=SchedulerConfig(queues=(QueueConfig("batch"),)))
    refusal = await refused(counter, counter.clerk.submit(a_submission(1, queue="fast"), ""))
    assert isinstance(refusal, Invalid) and refusal.field == "queue" and "fast" in str(refusal)


async def test_a_gang_on_a_graph_without_pools_is_refused_and_told_what_to_ask_with() -> None:
    counter = a_counter()
    gang = Gang((Shape.of(1, {"cpu": 1000}),))
    for request in (
        counter.clerk.match(MatchCall(gang)),
        counter.clerk.submit(Submission(0, gang, walltime=1), ""),
    ):
        refusal = await refused(counter, request)
        assert isinstance(refusal, Invalid) and "jobspec" in str(refusal)


async def test_what_is_refused_takes_no_number() -> None:
    counter = a_counter()
    await refused(counter, counter.clerk.submit(a_submission(1, queue="fast"), "a"))
    assert (await submit(counter, 1, "a")).id == 1


async def test_whole_nodes_are_told_as_such() -> None:
    counter = a_counter()
    whole = jobspec(slot(2, node(1, exclusive=True)), duration=60)
    grant = await counter.ask(counter.clerk.match(MatchCall(whole)))
    assert [(share.node, share.amounts["node"]) for share in grant.shares] == [
        ("node0", 1),
        ("node1", 1),
    ]
