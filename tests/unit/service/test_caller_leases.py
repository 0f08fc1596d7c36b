"""Who looks after callers' jobs: what nobody wants expires, what is told to go is seen off."""

from __future__ import annotations

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.events import NodesLost
from fluxnetes.queue.states import JobState
from fluxnetes.service.values import MatchCall
from tests.unit.service.counters import BEGIN, Counter, a_counter, a_submission, cores

GRACE = 10


def with_grace() -> Counter:
    return a_counter(config=SchedulerConfig(queues=(QueueConfig(grace=GRACE),)))


async def match(counter: Counter, count: int = 1, seconds: int = 0) -> int:
    return (await counter.ask(counter.clerk.match(MatchCall(cores(count, seconds=seconds))))).job


async def test_what_nobody_renews_expires_and_says_so() -> None:
    counter = a_counter(patience=30)
    job = await match(counter)
    await counter.later(30)
    assert counter.state(job) is JobState.RUNNING
    await counter.later(1)
    assert counter.state(job) is JobState.CANCELLED and counter.free() == 8
    assert reason_text(counter.job(job).reason) == "nobody renewed or used it for 30 s"


async def test_what_is_renewed_stays() -> None:
    counter = a_counter(patience=30)
    job = await match(counter)
    for _ in range(5):
        counter.clock.now += 25
        await counter.ask(counter.clerk.renew(job))
    assert counter.state(job) is JobState.RUNNING


async def test_renewing_says_until_when_and_where_nothing_expires_that_it_does_not() -> None:
    for patience in (30.0, None):
        counter = a_counter(patience=patience)
        until = await counter.ask(counter.clerk.renew(await match(counter)))
        assert (until is None) == (patience is None)


async def test_without_patience_nothing_expires() -> None:
    counter = a_counter()
    job = await match(counter)
    await counter.later(10_000_000)
    assert counter.state(job) is JobState.RUNNING


async def test_a_job_that_was_queued_expires_from_when_it_was_given_something() -> None:
    counter = a_counter(patience=30)
    first = await match(counter, 8)
    waiting = (await counter.ask(counter.clerk.submit(a_submission(8, seconds=None), ""))).id
    counter.clock.now += 25
    await counter.ask(counter.clerk.renew(first))
    await counter.later(25)
    assert counter.state(waiting) is JobState.PENDING  # it holds nothing that could expire
    await counter.ask(counter.clerk.cancel(first, ""))
    assert counter.state(waiting) is JobState.ALLOCATED
    await counter.later(30)
    assert counter.state(waiting) is JobState.ALLOCATED
    await counter.later(1)
    assert counter.state(waiting) is JobState.CANCELLED


async def test_after_a_restart_everybody_has_time_anew() -> None:
    counter = a_counter(patience=30)
    job = await match(counter)
    counter.clock.now += 29
    counter = counter.restarted()
    await counter.later(30)
    assert counter.state(job) is JobState.RUNNING
    await counter.later(1)
    assert counter.state(job) is JobState.CANCELLED


async def test_what_others_have_is_not_looked_after() -> None:
    counter = a_counter(patience=30)
    job = counter.put_other(cores(1))
    await counter.later()
    await counter.later(60)
    assert counter.state(job) is JobState.ALLOCATED


# -- told to go ----------------------------------------------------------------------------------


async def test_a_job_whose_walltime_is_over_is_told_to_go_and_gone_after_its_grace() -> None:
    counter = with_grace()
    job = await match(counter, 8, seconds=100)
    await counter.later(99)
    assert counter.state(job) is JobState.RUNNING
    await counter.later(1)
    assert counter.state(job) is JobState.ENDING and counter.free() == 0
    await counter.later(GRACE - 1)
    assert counter.state(job) is JobState.ENDING
    await counter.later(1)
    assert counter.state(job) is JobState.TIMED_OUT and counter.free() == 8
    assert counter.job(job).end == BEGIN + 100 + GRACE


async def test_also_if_we_were_away_when_it_was_over() -> None:
    counter = with_grace()
    job = await match(counter, 8, seconds=100)
    counter.clock.now += 150
    counter = counter.restarted()
    await counter.later()
    assert counter.state(job) is JobState.ENDING
    await counter.later(GRACE)
    assert counter.state(job) is JobState.TIMED_OUT


async def test_its_caller_may_say_before_that_it_is_gone() -> None:
    counter = with_grace()
    finished, cancelled = await match(counter, 4, seconds=100), await match(counter, 4, seconds=100)
    await counter.later(100)
    await counter.ask(counter.clerk.finish(finished, ok=True, reason="I saw it go"))
    await counter.ask(counter.clerk.cancel(cancelled, ""))
    assert counter.state(finished) is counter.state(cancelled) is JobState.TIMED_OUT
    assert counter.free() == 8


async def test_who_waits_for_the_room_of_one_that_is_told_to_go_starts_when_it_is_gone() -> None:
    counter = with_grace()
    job = await match(counter, 8, seconds=100)
    behind = (await counter.ask(counter.clerk.submit(a_submission(8), ""))).id
    await counter.later(100)
    assert (counter.state(job), counter.state(behind)) == (JobState.ENDING, JobState.PENDING)
    await counter.later(GRACE)
    assert counter.state(behind) is JobState.ALLOCATED


async def test_a_job_that_loses_its_node_fails_after_its_grace() -> None:
    counter = with_grace()
    job = await match(counter, 8)
    counter.queue.put(NodesLost(("node0",)))
    await counter.later()
    assert counter.state(job) is JobState.ENDING
    await counter.later(GRACE)
    assert counter.state(job) is JobState.FAILED
