"""Leases of callers' jobs expire unless renewed, and ending jobs end after their grace period."""

from __future__ import annotations

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.events import NodesLost
from fluxnetes.queue.states import JobState
from fluxnetes.service.values import MatchCall
from tests.unit.service.manual_queue import BEGIN, ManualQueue, a_manual_queue, a_submission, cores

GRACE = 10


def with_grace() -> ManualQueue:
    return a_manual_queue(config=SchedulerConfig(queues=(QueueConfig(grace=GRACE),)))


async def match(queue: ManualQueue, count: int = 1, seconds: int = 0) -> int:
    return (await queue.ask(queue.operations.match(MatchCall(cores(count, seconds=seconds))))).job


async def test_a_job_that_is_not_renewed_expires_and_says_so() -> None:
    queue = a_manual_queue(renew_within=30)
    job = await match(queue)
    await queue.later(30)
    assert queue.state(job) is JobState.RUNNING
    await queue.later(1)
    assert queue.state(job) is JobState.CANCELLED and queue.free() == 8
    assert reason_text(queue.job(job).reason) == "neither renewed nor used for 30 s"


async def test_a_job_that_is_renewed_stays() -> None:
    queue = a_manual_queue(renew_within=30)
    job = await match(queue)
    for _ in range(5):
        queue.clock.now += 25
        await queue.ask(queue.operations.renew(job))
    assert queue.state(job) is JobState.RUNNING


async def test_renewing_returns_when_the_lease_expires_or_that_it_never_does() -> None:
    for renew_within in (30.0, None):
        queue = a_manual_queue(renew_within=renew_within)
        until = await queue.ask(queue.operations.renew(await match(queue)))
        assert (until is None) == (renew_within is None)


async def test_without_a_limit_nothing_expires() -> None:
    queue = a_manual_queue()
    job = await match(queue)
    await queue.later(10_000_000)
    assert queue.state(job) is JobState.RUNNING


async def test_the_lease_of_a_submitted_job_begins_with_its_allocation() -> None:
    queue = a_manual_queue(renew_within=30)
    first = await match(queue, 8)
    waiting = (await queue.ask(queue.operations.submit(a_submission(8, seconds=None), ""))).id
    queue.clock.now += 25
    await queue.ask(queue.operations.renew(first))
    await queue.later(25)
    assert queue.state(waiting) is JobState.PENDING  # it holds nothing that could expire
    await queue.ask(queue.operations.cancel(first, ""))
    assert queue.state(waiting) is JobState.ALLOCATED
    await queue.later(30)
    assert queue.state(waiting) is JobState.ALLOCATED
    await queue.later(1)
    assert queue.state(waiting) is JobState.CANCELLED


async def test_after_a_restart_every_lease_begins_anew() -> None:
    queue = a_manual_queue(renew_within=30)
    job = await match(queue)
    queue.clock.now += 29
    queue = queue.restarted()
    await queue.later(30)
    assert queue.state(job) is JobState.RUNNING
    await queue.later(1)
    assert queue.state(job) is JobState.CANCELLED


async def test_jobs_of_the_cluster_have_no_lease() -> None:
    queue = a_manual_queue(renew_within=30)
    job = queue.put_other(cores(1))
    await queue.later()
    await queue.later(60)
    assert queue.state(job) is JobState.ALLOCATED


# -- grace periods -------------------------------------------------------------------------------


async def test_a_job_whose_walltime_is_over_is_ending_and_ends_after_its_grace_period() -> None:
    queue = with_grace()
    job = await match(queue, 8, seconds=100)
    await queue.later(99)
    assert queue.state(job) is JobState.RUNNING
    await queue.later(1)
    assert queue.state(job) is JobState.ENDING and queue.free() == 0
    await queue.later(GRACE - 1)
    assert queue.state(job) is JobState.ENDING
    await queue.later(1)
    assert queue.state(job) is JobState.TIMED_OUT and queue.free() == 8
    assert queue.job(job).end == BEGIN + 100 + GRACE


async def test_so_does_a_job_whose_walltime_ended_during_a_restart() -> None:
    queue = with_grace()
    job = await match(queue, 8, seconds=100)
    queue.clock.now += 150
    queue = queue.restarted()
    await queue.later()
    assert queue.state(job) is JobState.ENDING
    await queue.later(GRACE)
    assert queue.state(job) is JobState.TIMED_OUT


async def test_its_caller_may_report_its_end_before_that() -> None:
    queue = with_grace()
    finished, cancelled = await match(queue, 4, seconds=100), await match(queue, 4, seconds=100)
    await queue.later(100)
    await queue.ask(queue.operations.finish(finished, ok=True, reason="I saw it go"))
    await queue.ask(queue.operations.cancel(cancelled, ""))
    assert queue.state(finished) is queue.state(cancelled) is JobState.TIMED_OUT
    assert queue.free() == 8


async def test_a_job_that_waits_for_an_ending_job_starts_when_that_has_ended() -> None:
    queue = with_grace()
    job = await match(queue, 8, seconds=100)
    behind = (await queue.ask(queue.operations.submit(a_submission(8), ""))).id
    await queue.later(100)
    assert (queue.state(job), queue.state(behind)) == (JobState.ENDING, JobState.PENDING)
    await queue.later(GRACE)
    assert queue.state(behind) is JobState.ALLOCATED


async def test_a_job_that_loses_its_node_fails_after_its_grace_period() -> None:
    queue = with_grace()
    job = await match(queue, 8)
    queue.runner.put(NodesLost(("node0",)))
    await queue.later()
    assert queue.state(job) is JobState.ENDING
    await queue.later(GRACE)
    assert queue.state(job) is JobState.FAILED
