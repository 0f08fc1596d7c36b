"""A match: a job that starts in the very next cycle, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.match.answers import Outcome
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import Origin
from fluxnetes.queue.states import JobState
from fluxnetes.service.errors import Invalid
from fluxnetes.service.values import EqualPods, Grant, MatchCall
from tests.property.profile import examples
from tests.unit.service.manual_queue import BEGIN, ManualQueue, a_manual_queue, a_submission, cores


async def match(queue: ManualQueue, count: int, *, seconds: int = 100, key: str = "") -> Grant:
    return await queue.ask(
        queue.operations.match(MatchCall(cores(count, seconds=seconds), key=key))
    )


async def test_a_match_that_fits_runs_at_once_on_its_allocation() -> None:
    queue = a_manual_queue()
    grant = await match(queue, 6)
    assert (grant.outcome, grant.at) == (Outcome.ALLOCATED, BEGIN)
    assert sum(share.amounts["core"] for share in grant.shares) == 6
    assert sum(share.tasks for share in grant.shares) == 6
    assert queue.state(grant.job) is JobState.RUNNING
    assert queue.free() == 2


async def test_a_match_without_free_resources_is_busy_and_leaves_nothing() -> None:
    queue = a_manual_queue()
    await match(queue, 6)
    grant = await match(queue, 3)
    assert grant.outcome is Outcome.BUSY and "only 2 can be had now" in reason_text(grant.reason)
    assert len(queue.runner.scheduler.jobs) == 1 and queue.free() == 2


async def test_a_match_that_can_never_fit_is_unsatisfiable() -> None:
    grant = await match(a_manual_queue(), 9)
    assert grant.outcome is Outcome.UNSATISFIABLE and "8" in reason_text(grant.reason)


async def test_a_match_does_not_take_what_was_promised() -> None:
    queue = a_manual_queue()
    first = await match(queue, 4)
    waiting = await queue.ask(queue.operations.submit(a_submission(8), ""))
    assert queue.starts() == {waiting.id: BEGIN + 100}
    long = await match(queue, 4, seconds=101)
    assert long.outcome is Outcome.BUSY and "promised" in reason_text(long.reason)
    assert queue.state(long.job) is JobState.CANCELLED
    assert queue.starts() == {waiting.id: BEGIN + 100}
    short = await match(queue, 4, seconds=100)
    assert short.outcome is Outcome.ALLOCATED and short.job not in (first.job, long.job)
    await queue.later(100)
    await queue.ask(queue.operations.finish(first.job, ok=True, reason=""))
    await queue.ask(queue.operations.finish(short.job, ok=True, reason=""))
    await queue.later()
    assert queue.state(waiting.id) is JobState.ALLOCATED


async def test_jobs_behind_a_refused_match_start_at_once() -> None:
    """In a queue of strict order, a job keeps all jobs behind it from starting."""
    config = SchedulerConfig(queues=(QueueConfig(default_walltime=100),))
    queue = a_manual_queue(config=config)
    await match(queue, 4)
    await queue.ask(queue.operations.submit(a_submission(8), ""))
    long, small = await queue.ask_all(
        queue.operations.match(MatchCall(cores(4, seconds=1000))),
        queue.operations.match(MatchCall(cores(4, seconds=50))),
    )
    await queue.runner.round()
    assert (await long).outcome is Outcome.BUSY
    assert (await small).outcome is Outcome.ALLOCATED


async def test_a_reservation_that_is_impossible_is_busy_and_says_what_to_do() -> None:
    queue = a_manual_queue()
    await match(queue, 6)
    grant = await queue.ask(queue.operations.match(MatchCall(cores(6), reserve=True)))
    assert grant.outcome is Outcome.BUSY
    assert "needs" in reason_text(
        grant.reason
    ) and "Submit the job to its queue instead" in reason_text(grant.reason)
    free = await queue.ask(queue.operations.match(MatchCall(cores(2), reserve=True)))
    assert free.outcome is Outcome.ALLOCATED


async def test_a_match_is_over_with_its_duration_and_one_without_is_endless() -> None:
    queue = a_manual_queue()
    short, endless = await match(queue, 1, seconds=60), await match(queue, 1, seconds=0)
    assert queue.job(short.job).deadline == BEGIN + 60
    assert queue.job(endless.job).deadline is None


async def test_a_queue_that_allows_no_such_match_says_why() -> None:
    config = SchedulerConfig(queues=(QueueConfig(max_walltime=60),))
    grant = await match(a_manual_queue(config=config), 1, seconds=61)
    assert grant.outcome is Outcome.UNSATISFIABLE and "60" in reason_text(grant.reason)


async def test_where_no_queue_is_the_default_matches_are_of_the_first() -> None:
    config = SchedulerConfig(queues=(QueueConfig("batch"), QueueConfig("debug")))
    queue = a_manual_queue(config=config)
    grant = await match(queue, 1)
    assert queue.job(grant.job).queue == "batch"


async def test_a_jobspec_may_name_its_queue() -> None:
    config = SchedulerConfig(queues=(QueueConfig(), QueueConfig("debug")))
    queue = a_manual_queue(config=config)
    grant = await queue.ask(queue.operations.match(MatchCall(replace(cores(1), queue="debug"))))
    assert queue.job(grant.job).queue == "debug"
    with pytest.raises(Invalid, match="there is default, debug"):
        await queue.ask(queue.operations.match(MatchCall(replace(cores(1), queue="fast"))))


async def test_numbers_count_from_one_and_a_refused_match_takes_none() -> None:
    queue = a_manual_queue()
    assert (await match(queue, 1)).job == 1
    assert (await match(queue, 9)).job == 0
    assert (await match(queue, 1)).job == 2


async def test_a_match_of_pods_says_how_many_go_to_each_node() -> None:
    queue = a_manual_queue(nodes=2, cores=4)
    grant = await queue.ask(queue.operations.match(MatchCall(EqualPods(3, cpu=2), size=3)))
    assert sorted((share.node, share.tasks) for share in grant.shares) == [
        ("node0", 2),
        ("node1", 1),
    ]


async def test_the_allocation_is_written_as_it_was_asked_for() -> None:
    queue = a_manual_queue()
    grant = await queue.ask(queue.operations.match(MatchCall(cores(1), format="simple")))
    assert "core" in grant.text and "node" in grant.text
    assert (await match(queue, 1)).text == ""


# -- keys ----------------------------------------------------------------------------------------


async def test_a_match_that_is_repeated_under_one_key_is_executed_once() -> None:
    queue = a_manual_queue()
    first = await match(queue, 3, key="a")
    queue.clock.now += 30
    second = await match(queue, 3, key="a")
    assert (second.job, second.shares, second.at) == (first.job, first.shares, first.at)
    assert queue.free() == 5


async def test_so_is_one_that_is_repeated_in_the_same_round() -> None:
    queue = a_manual_queue()
    request = queue.operations.match
    asked = await queue.ask_all(*(request(MatchCall(cores(3), key="a")) for _ in range(3)))
    await queue.runner.round()
    assert {(await each).job for each in asked} == {1}


async def test_keys_of_two_users_are_two_keys() -> None:
    queue = a_manual_queue()
    jobs = [
        (await queue.ask(queue.operations.match(MatchCall(cores(1), key="a", user=user)))).job
        for user in ("ada", "bob", "ada")
    ]
    assert jobs == [1, 2, 1]
    assert (queue.job(1).user, queue.job(2).user) == ("ada", "bob")


async def test_a_match_under_the_key_of_a_submission_is_another_job_and_does_it_no_harm() -> None:
    queue = a_manual_queue()
    await match(queue, 8)
    waiting = await queue.ask(queue.operations.submit(a_submission(1, user="nobody"), "a"))
    grant = await match(queue, 1, key="a")
    assert grant.outcome is Outcome.BUSY
    assert queue.state(waiting.id) is JobState.PENDING


async def test_a_key_is_free_again_when_its_job_is_over() -> None:
    queue = a_manual_queue()
    first = await match(queue, 1, key="a")
    cancel, again = await queue.ask_all(
        queue.operations.cancel(first.job, ""), queue.operations.match(MatchCall(cores(1), key="a"))
    )
    await queue.runner.round()
    await cancel
    assert (await again).outcome is Outcome.ALLOCATED
    assert (await again).job != first.job
    assert queue.free() == 7


async def test_after_a_restart_a_key_still_is_that_of_its_job() -> None:
    queue = a_manual_queue()
    first = await match(queue, 3, key="a")
    queue = queue.restarted()
    assert (await match(queue, 3, key="a")).job == first.job
    assert (await match(queue, 3, key="b")).job == first.job + 1


# -- callers that leave --------------------------------------------------------------------------


async def test_a_match_that_is_given_up_before_its_turn_is_not_made() -> None:
    queue = a_manual_queue()
    [asked] = await queue.ask_all(queue.operations.match(MatchCall(cores(1))))
    asked.cancel()
    await asyncio.sleep(0)
    await queue.later()
    assert queue.runner.scheduler.jobs == {}


async def test_a_match_that_is_given_up_after_it_was_accepted_is_withdrawn() -> None:
    queue = a_manual_queue()
    [asked] = await queue.ask_all(queue.operations.match(MatchCall(cores(1))))
    queue.runner.mailbox.accept()
    asked.cancel()
    await asyncio.sleep(0)
    await queue.later()
    assert queue.state(1) is JobState.CANCELLED and queue.free() == 8


async def test_one_with_a_key_stays_for_its_repetition() -> None:
    queue = a_manual_queue()
    [asked] = await queue.ask_all(queue.operations.match(MatchCall(cores(1), key="a")))
    queue.runner.mailbox.accept()
    asked.cancel()
    await asyncio.sleep(0)
    await queue.later()
    assert queue.state(1) is JobState.RUNNING
    assert (await match(queue, 1, key="a")).job == 1


async def test_a_match_that_was_not_decided_before_a_crash_is_cancelled_after_it() -> None:
    """It was committed as a waiting job, and has no caller any more."""
    queue = a_manual_queue()
    [asked] = await queue.ask_all(queue.operations.match(MatchCall(cores(1))))
    queue.runner.mailbox.accept()
    queue = queue.restarted()
    await queue.later()
    assert queue.state(1) is JobState.CANCELLED and queue.free() == 8
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
def test_whatever_is_matched_no_job_starts_later_than_promised(
    steps: list[tuple[str, int, int]],
) -> None:
    async def play() -> None:
        queue = a_manual_queue()
        held: list[int] = []
        for what, size, seconds in steps:
            before = queue.starts()
            if what == "match":
                grant = await match(queue, size, seconds=seconds)
                held += [grant.job] if grant else []
                now = queue.starts()
                assert all(now.get(id, -inf) <= start for id, start in before.items())
                assert all(queue.state(id) is JobState.RUNNING for id in held[-1:] if grant)
            elif what == "submit":
                await queue.ask(queue.operations.submit(a_submission(size, seconds=seconds), ""))
            elif what == "wait":
                await queue.later(seconds)
                held = [id for id in held if queue.state(id) is JobState.RUNNING]
            elif held:
                await queue.ask(queue.operations.cancel(held.pop(size % len(held)), ""))
        jobs = queue.runner.scheduler.jobs.values()
        waiting = [job for job in jobs if job.state is JobState.PENDING]
        assert all(job.submission.origin is Origin.CALL_SUBMIT for job in waiting)

    asyncio.run(play())
