"""The backend of a queue in another thread: nothing is lost on the way there or back."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from fluxnetes.match.answers import Outcome
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from fluxnetes.rpc.api.streams import WatchedItem, watch
from fluxnetes.service.errors import Denied, Unavailable, UnknownJob
from fluxnetes.service.queue_runner import QueueRunner
from fluxnetes.service.values import AllocationUpdate, Grant, JobView, MatchCall
from tests.unit.service.backends import RunningBackend, a_queue, running_backend
from tests.unit.service.manual_queue import a_submission, cores

TIMEOUT = 20.0


async def free(up: RunningBackend) -> int:
    [pool] = [each for each in (await up.backend.status()).totals if each.type == "core"]
    return pool.free


async def test_what_is_asked_here_is_done_there_and_answered_here() -> None:
    async with running_backend() as up:
        grant = await up.backend.match(MatchCall(cores(3)))
        assert (grant.job, await free(up)) == (1, 5)
        [view] = await up.backend.job_views([1])
        assert (view.state, view.shares) == ("running", grant.shares)
        await up.backend.cancel(1)
        assert await free(up) == 8
        with pytest.raises(UnknownJob):
            await up.backend.cancel(1)


async def test_callers_that_leave_at_any_moment_leave_nothing_allocated() -> None:
    async with running_backend(nodes=4, cores=16) as up:
        draw = random.Random(6)
        held: set[int] = set()

        async def call() -> None:
            task = asyncio.create_task(up.backend.match(MatchCall(cores(1))))
            await asyncio.wait([task], timeout=draw.random() * 0.01)
            task.cancel()
            try:
                grant = await task
            except asyncio.CancelledError:
                return
            held.update([grant.job] if grant else [])

        assert up.queue is not None
        rounds = 0
        # On a busy machine few calls are accepted before their callers leave.
        while rounds < 8 or len(up.queue.scheduler.jobs) <= 50:
            assert rounds < 80, "no call was in time; this shows nothing"
            rounds += 1
            await asyncio.gather(*(call() for _ in range(50)))
            async with asyncio.timeout(TIMEOUT):
                while await free(up) != 64 - len(held):
                    await asyncio.sleep(0.01)
            for job in held:
                await up.backend.cancel(job)
            held.clear()


async def test_an_answer_that_is_on_its_way_when_its_caller_leaves_is_undone() -> None:
    async with running_backend() as up:
        asked = [asyncio.create_task(up.backend.match(MatchCall(cores(1)))) for _ in range(8)]
        await asyncio.sleep(0)
        assert up.queue is not None
        while len(up.queue.scheduler.jobs) < 8 or not is_settled(up.queue):
            time.sleep(0.01)  # this loop is blocked, and reads no answer
        for task in asked:
            task.cancel()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in found)
        async with asyncio.timeout(TIMEOUT):
            while await free(up) != 8:
                await asyncio.sleep(0.01)


def is_settled(queue: QueueRunner) -> bool:
    """All requests were answered, as far as the queue knows."""
    jobs = list(queue.scheduler.jobs.values())
    return all(job.state is JobState.RUNNING for job in jobs) and not queue.mailbox._accepted


async def test_a_grant_can_be_withdrawn_also_if_its_job_ended_already() -> None:
    async with running_backend() as up:
        grant = await up.backend.match(MatchCall(cores(3)))
        for _ in range(2):
            await up.backend.withdraw(grant)
        assert await free(up) == 8
        assert (await up.backend.match(MatchCall(cores(3)))).job == grant.job + 1


async def test_between_terms_every_call_is_unavailable() -> None:
    async with running_backend(closed=True) as up:
        for call in (
            up.backend.match(MatchCall(cores(1))),
            up.backend.status(),
            up.backend.cancel(1),
        ):
            with pytest.raises(Unavailable):
                await call
        await up.backend.withdraw(Grant(Outcome.ALLOCATED, 1))  # its lease expires in the next term


async def test_health_follows_the_terms() -> None:
    async with running_backend(closed=True) as up:
        health = up.backend.health
        assert not health.is_healthy
        await up.open(await a_queue(up.mailbox))
        assert await asyncio.wait_for(health.change_from(False), TIMEOUT) is True
        await up.close()
        assert await asyncio.wait_for(health.change_from(True), TIMEOUT) is False


async def test_a_watcher_learns_at_the_end_of_a_term_that_this_replica_does_not_lead() -> None:
    async with running_backend() as up:

        async def views(keys: list[str] | None) -> list[WatchedItem[JobView]]:
            found = await up.backend.job_views(None if keys is None else list(map(int, keys)))
            return [WatchedItem(each) for each in found]

        stream = watch(up.backend.jobs, "", views)
        assert (await anext(stream))[0] == "reset"
        assert (await anext(stream))[0] == "bookmark"
        await up.close()
        async with asyncio.timeout(TIMEOUT):
            with pytest.raises(Unavailable):
                async for _ in stream:
                    pass


async def test_the_nodes_of_a_job_from_before_the_term_change_when_it_ends() -> None:
    async with running_backend() as up:
        grant = await up.backend.match(MatchCall(cores(8)))
        assert up.queue is not None
        before, matcher = up.queue, (await a_queue(up.mailbox)).matcher
        await up.close()
        snapshot = before.scheduler.snapshot()
        scheduler = Scheduler.resume(matcher, before.scheduler.config, snapshot, now=before.now)
        await up.open(QueueRunner(matcher, scheduler, up.mailbox, now=before.now, next_id=2))
        assert await free(up) == 0
        seen = up.backend.nodes.revision
        await up.backend.finish(grant.job, ok=True, reason="")
        async with asyncio.timeout(TIMEOUT):
            while not (changed := up.backend.nodes.since(seen)):
                await up.backend.nodes.beyond(seen, TIMEOUT)
        assert sorted(changed) == ["node0", "node1"]


async def test_the_graph_of_a_queue_stays_as_it_is() -> None:
    async with running_backend() as up:
        for call in (
            up.backend.load("{}", "jgf", ""),
            up.backend.grow("{}"),
            up.backend.shrink(["/cluster0/node0"]),
            up.backend.update(AllocationUpdate(1, "{}", "jgf", 0, 1)),
        ):
            with pytest.raises(Denied):
                await call
        assert (await up.backend.status()).nodes == 2


async def test_an_estimate_changes_nothing_and_is_what_then_happens() -> None:
    async with running_backend() as up:
        await up.backend.match(MatchCall(cores(6, seconds=1000)))
        found = await up.backend.estimate(a_submission(2, seconds=50), 0)
        assert found.known and (await up.backend.status()).jobs == {"running": 1}
        view = await up.backend.submit(a_submission(2, seconds=50), "")
        assert (view.state, view.shares) == ("allocated", found.shares)
        later = await up.backend.estimate(a_submission(8, seconds=50), 0)
        waits = await up.backend.submit(a_submission(8, seconds=50), "")
        assert later.start == waits.promised
        never = await up.backend.estimate(a_submission(9, seconds=50), 0)
        assert not never.known and never.reason


async def test_every_live_job_is_a_group_with_its_size() -> None:
    async with running_backend() as up:
        await up.backend.match(MatchCall(cores(3), name="train"))
        await up.backend.match(MatchCall(cores(1)))
        assert [(g.name, g.size) for g in await up.backend.groups()] == [("train", 3), ("job-2", 1)]
