"""A match: a job that starts in the very next cycle, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.match.answers import Outcome
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.states import JobState
from fluxnetes.service.errors import Invalid
from fluxnetes.service.values import EqualPods, Grant, MatchCall
from tests.property.profile import examples
from tests.unit.service.counters import BEGIN, Counter, a_counter, a_submission, cores


async def match(counter: Counter, count: int, *, seconds: int = 100, key: str = "") -> Grant:
    return await counter.ask(counter.clerk.match(MatchCall(cores(count, seconds=seconds), key=key)))


async def test_a_match_that_fits_runs_at_once_on_what_it_was_given() -> None:
    counter = a_counter()
    grant = await match(counter, 6)
    assert (grant.outcome, grant.at) == (Outcome.ALLOCATED, BEGIN)
    assert sum(share.amounts["core"] for share in grant.shares) == 6
    assert sum(share.tasks for share in grant.shares) == 6
    assert counter.state(grant.job) is JobState.RUNNING
    assert counter.free() == 2


async def test_a_match_for_which_there_is_no_room_is_busy_and_leaves_nothing() -> None:
    counter = a_counter()
    await match(counter, 6)
    grant = await match(counter, 3)
    assert grant.outcome is Outcome.BUSY and "only 2 can be had now" in grant.reason
    assert len(counter.queue.scheduler.jobs) == 1 and counter.free() == 2


async def test_a_match_that_can_never_be_is_told_so() -> None:
    grant = await match(a_counter(), 9)
    assert grant.outcome is Outcome.UNSATISFIABLE and "8" in grant.reason


async def test_a_match_does_not_take_what_was_promised() -> None:
    counter = a_counter()
    first = await match(counter, 4)
    waiting = await counter.ask(counter.clerk.submit(a_submission(8), ""))
    assert counter.starts() == {waiting.id: BEGIN + 100}
    long = await match(counter, 4, seconds=101)
    assert long.outcome is Outcome.BUSY and "promised" in long.reason
    assert counter.state(long.job) is JobState.CANCELLED
    assert counter.starts() == {waiting.id: BEGIN + 100}
    short = await match(counter, 4, seconds=100)
    assert short.outcome is Outcome.ALLOCATED and short.job not in (first.job, long.job)
    await counter.later(100)
    await counter.ask(counter.clerk.finish(first.job, ok=True, reason=""))
    await counter.ask(counter.clerk.finish(short.job, ok=True, reason=""))
    await counter.later()
    assert counter.state(waiting.id) is JobState.ALLOCATED


async def test_what_a_refused_match_stood_in_the_way_of_starts_at_once() -> None:
    """A queue of strict order: whoever stands before others keeps them from starting."""
    config = SchedulerConfig(queues=(QueueConfig(default_walltime=100),))
    counter = a_counter(config=config)
    await match(counter, 4)
    await counter.ask(counter.clerk.submit(a_submission(8), ""))
    long, small = await counter.queued(
        counter.clerk.match(MatchCall(cores(4, seconds=1000))),
        counter.clerk.match(MatchCall(cores(4, seconds=50))),
    )
    await counter.queue.round()
    assert (await long).outcome is Outcome.BUSY
    assert (await small).outcome is Outcome.ALLOCATED


async def test_what_cannot_be_reserved_is_busy_and_says_what_to_do() -> None:
    counter = a_counter()
    await match(counter, 6)
    grant = await counter.ask(counter.clerk.match(MatchCall(cores(6), reserve=True)))
    assert grant.outcome is Outcome.BUSY
    assert "needs" in grant.reason and "Submit the job to its queue instead" in grant.reason
    free = await counter.ask(counter.clerk.match(MatchCall(cores(2), reserve=True)))
    assert free.outcome is Outcome.ALLOCATED


async def test_a_match_is_over_with_its_duration_and_one_without_is_endless() -> None:
    counter = a_counter()
    short, endless = await match(counter, 1, seconds=60), await match(counter, 1, seconds=0)
    assert counter.job(short.job).deadline == BEGIN + 60
    assert counter.job(endless.job).deadline is None


async def test_a_queue_that_allows_no_such_match_says_why() -> None:
    config = SchedulerConfig(queues=(QueueConfig(max_walltime=60),))
    grant = await match(a_counter(config=config), 1, seconds=61)
    assert grant.outcome is Outcome.UNSATISFIABLE and "60" in grant.reason


async def test_where_no_queue_is_the_default_matches_are_of_the_first() -> None:
    config = SchedulerConfig(queues=(QueueConfig("batch"), QueueConfig("debug")))
    counter = a_counter(config=config)
    grant = await match(counter, 1)
    assert counter.job(grant.job).queue == "batch"


async def test_a_jobspec_may_name_its_queue() -> None:
    config = SchedulerConfig(queues=(QueueConfig(), QueueConfig("debug")))
    counter = a_counter(config=config)
    grant = await counter.ask(counter.clerk.match(MatchCall(replace(cores(1), queue="debug"))))
    assert counter.job(grant.job).queue == "debug"
    with pytest.raises(Invalid, match="there is default, debug"):
        await counter.ask(counter.clerk.match(MatchCall(replace(cores(1), queue="fast"))))


async def test_numbers_count_from_one_and_who_is_refused_takes_none() -> None:
    counter = a_counter()
    assert (await match(counter, 1)).job == 1
    assert (await match(counter, 9)).job == 0
    assert (await match(counter, 1)).job == 2


async def test_pods_are_told_how_many_of_them_go_to_each_node() -> None:
    counter = a_counter(nodes=2, cores=4)
    grant = await counter.ask(counter.clerk.match(MatchCall(EqualPods(3, cpu=2), size=3)))
    assert sorted((share.node, share.tasks) for share in grant.shares) == [
        ("node0", 2),
        ("node1", 1),
    ]


async def test_the_allocation_is_written_as_it_was_asked_for() -> None:
    counter = a_counter()
    grant = await counter.ask(counter.clerk.match(MatchCall(cores(1), format="simple")))
    assert "core" in grant.text and "node" in grant.text
    assert (await match(counter, 1)).text == ""


# -- keys ----------------------------------------------------------------------------------------


async def test_a_wish_that_comes_twice_under_one_key_is_granted_once() -> None:
    counter = a_counter()
    first = await match(counter, 3, key="a")
    counter.clock.now += 30
    second = await match(counter, 3, key="a")
    assert (second.job, second.shares, second.at) == (first.job, first.shares, first.at)
    assert counter.free() == 5


async def test_also_if_both_come_in_one_moment() -> None:
    counter = a_counter()
    request = counter.clerk.match
    asked = await counter.queued(*(request(MatchCall(cores(3), key="a")) for _ in range(3)))
    await counter.queue.round()
    assert {(await each).job for each in asked} == {1}


async def test_keys_of_two_users_are_two_keys() -> None:
    counter = a_counter()
    jobs = [
        (await counter.ask(counter.clerk.match(MatchCall(cores(1), key="a", user=user)))).job
        for user in ("ada", "bob", "ada")
    ]
    assert jobs == [1, 2, 1]
    assert (counter.job(1).user, counter.job(2).user) == ("ada", "bob")


async def test_a_match_under_the_key_of_a_submission_is_another_job_and_does_it_no_harm() -> None:
    counter = a_counter()
    await match(counter, 8)
    waiting = await counter.ask(counter.clerk.submit(a_submission(1, user="nobody"), "a"))
    grant = await match(counter, 1, key="a")
    assert grant.outcome is Outcome.BUSY
    assert counter.state(waiting.id) is JobState.PENDING


async def test_a_key_is_free_again_when_its_job_is_over() -> None:
    counter = a_counter()
    first = await match(counter, 1, key="a")
    cancel, again = await counter.queued(
        counter.clerk.cancel(first.job, ""), counter.clerk.match(MatchCall(cores(1), key="a"))
    )
    await counter.queue.round()
    await cancel
    assert (await again).outcome is Outcome.ALLOCATED
    assert (await again).job != first.job
    assert counter.free() == 7


async def test_after_a_restart_a_key_still_is_that_of_its_job() -> None:
    counter = a_counter()
    first = await match(counter, 3, key="a")
    counter = counter.restarted()
    assert (await match(counter, 3, key="a")).job == first.job
    assert (await match(counter, 3, key="b")).job == first.job + 1


# -- those who go away ---------------------------------------------------------------------------


async def test_a_match_that_is_given_up_before_its_turn_is_not_made() -> None:
    counter = a_counter()
    [asked] = await counter.queued(counter.clerk.match(MatchCall(cores(1))))
    asked.cancel()
    await asyncio.sleep(0)
    await counter.later()
    assert counter.queue.scheduler.jobs == {}


async def test_a_match_that_is_given_up_when_it_was_heard_is_taken_back() -> None:
    counter = a_counter()
    [asked] = await counter.queued(counter.clerk.match(MatchCall(cores(1))))
    counter.queue.mailbox.accept()
    asked.cancel()
    await asyncio.sleep(0)
    await counter.later()
    assert counter.state(1) is JobState.CANCELLED and counter.free() == 8


async def test_one_with_a_key_stays_for_whoever_asks_again() -> None:
    counter = a_counter()
    [asked] = await counter.queued(counter.clerk.match(MatchCall(cores(1), key="a")))
    counter.queue.mailbox.accept()
    asked.cancel()
    await asyncio.sleep(0)
    await counter.later()
    assert counter.state(1) is JobState.RUNNING
    assert (await match(counter, 1, key="a")).job == 1


async def test_a_match_that_nobody_was_told_of_before_a_crash_is_called_off_after_it() -> None:
    """It was written down as one who waits; nobody would ever know of it."""
    counter = a_counter()
    [asked] = await counter.queued(counter.clerk.match(MatchCall(cores(1))))
    counter.queue.mailbox.accept()
    counter = counter.restarted()
    await counter.later()
    assert counter.state(1) is JobState.CANCELLED and counter.free() == 8
    asked.cancel()


# -- promises ------------------------------------------------------------------------------------

_steps = st.lists(
    st.tuples(
        st.sampled_from(["match", "submit", "cancel", "finish", "wait"]),
        st.integers(1, 8),
        st.integers(1, 60),
    ),
    max_size=25,
)


@examples(60)
@given(_steps)
def test_whatever_is_matched_nobody_starts_later_than_was_promised(
    steps: list[tuple[str, int, int]],
) -> None:
    async def play() -> None:
        counter = a_counter()
        held: list[int] = []
        for what, size, seconds in steps:
            before = counter.starts()
            if what == "match":
                grant = await match(counter, size, seconds=seconds)
                held += [grant.job] if grant else []
                now = counter.starts()
                assert all(now.get(id, -inf) <= start for id, start in before.items())
                assert all(counter.state(id) is JobState.RUNNING for id in held[-1:] if grant)
            elif what == "submit":
                await counter.ask(counter.clerk.submit(a_submission(size, seconds=seconds), ""))
            elif what == "wait":
                await counter.later(seconds)
                held = [id for id in held if counter.state(id) is JobState.RUNNING]
            elif held:
                await counter.ask(counter.clerk.cancel(held.pop(size % len(held)), ""))
        jobs = counter.queue.scheduler.jobs.values()
        waiting = [job for job in jobs if job.state is JobState.PENDING]
        assert all(job.submission.workload.startswith("call:submit:") for job in waiting)

    asyncio.run(play())
