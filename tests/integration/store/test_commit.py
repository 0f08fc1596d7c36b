"""A cycle's changes are written as a whole, once, and only what changed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from fluxnetes.queue.changes import Changes, JobEvent
from fluxnetes.queue.jobs import PlannedStart
from fluxnetes.queue.states import JobState
from fluxnetes.store.database import Database
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store, open_store
from fluxnetes.store.write_cache import WriteCache
from fluxnetes.store.writes import encode
from tests.integration.store.records import a_job, a_placement, an_allocation, changes, moved
from tests.integration.store.servers import Child, fetch


async def take(store: Store) -> StoreLease:
    lease = await store.take("test", 1000)
    assert lease is not None
    return lease


async def test_all_of_a_commit_is_written_or_nothing(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        bad = changes(a_job(1), a_job(2))
        bad.allocations[99] = an_allocation(99)  # there is no job 99
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await store.commit(bad, lease.fence)
        assert (await store.load()).jobs == ()
        assert await store.events(1) == []
        del bad.allocations[99]
        await store.commit(bad, lease.fence)
        assert len((await store.load()).jobs) == 2


async def test_after_a_commit_that_failed_nothing_is_taken_for_written(dsn: str) -> None:
    """The submission went down with the commit, so the next one brings it again."""
    async with open_store(dsn) as store:
        lease = await take(store)
        job = a_job(1)
        bad = changes(job)
        bad.allocations[99] = an_allocation(99)
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await store.commit(bad, lease.fence)
        await store.commit(changes(moved(job, JobState.HELD)), lease.fence)
        assert [job.state for job in (await store.load()).jobs] == [JobState.HELD]


async def test_nothing_is_written_when_nothing_changed(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        [before] = await fetch(dsn, "SELECT last_commit FROM lease")
        await store.commit(Changes(), lease.fence)
        assert await fetch(dsn, "SELECT last_commit FROM lease") == [before]


def test_a_submission_is_sent_once() -> None:
    job, written = a_job(1), WriteCache()
    first = changes(job)
    assert "submissions" in {write.statement for write in encode(first, written)}
    written.note(first)
    second = changes(moved(job, JobState.HELD))
    assert "submissions" not in {write.statement for write in encode(second, written)}
    other = replace(job, submission=replace(job.submission, name="another"))
    assert "submissions" in {write.statement for write in encode(changes(other), written)}


def test_a_placement_is_sent_once() -> None:
    """A walltime that is extended, or a task that ends, does not send thousands of vertices."""
    job, written, placement = a_job(1), WriteCache(), a_placement()
    tasks = (7, 7, 8)
    held = replace(an_allocation(1, placement), tasks=tasks)
    first = changes(job, allocations={1: held})
    assert {"allocations", "tasks"} <= {write.statement for write in encode(first, written)}
    written.note(first)
    longer = replace(held, end=120, ended_tasks=frozenset({1}))
    again = encode(changes(job, allocations={1: longer}), written)
    sent = {write.statement: write for write in again}
    assert "allocations" not in sent and "tasks" not in sent
    assert sent["allocation_times"].columns == [(1,), (0,), (120,)]
    assert sent["ended_tasks"].columns == [(1,), (1,)]


async def test_a_plan_that_did_not_change_writes_nothing(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        job = a_job(1)
        job.plan = PlannedStart(start=5, since=1)
        await store.commit(changes(job), lease.fence)
        before = await fetch(dsn, "SELECT xmin::text, ctid::text FROM plans")
        await store.commit(changes(job), lease.fence)
        assert await fetch(dsn, "SELECT xmin::text, ctid::text FROM plans") == before


@pytest.mark.parametrize(
    "attempt", ["UPDATE events SET at = 0", "DELETE FROM events", "TRUNCATE events"]
)
async def test_history_cannot_be_rewritten(dsn: str, attempt: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.commit(changes(a_job(1)), lease.fence)
        with pytest.raises(asyncpg.RaiseError, match="events are only ever added"):
            await fetch(dsn, attempt)
        assert len(await store.events(1)) == 1


async def test_jobs_that_ended_can_still_be_found(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.commit(
            changes(*(a_job(id, JobState.COMPLETED) for id in (1, 2, 3))), lease.fence
        )
        assert (await store.load()).jobs == ()
        assert [job.id for job in await store.jobs([3, 1, 77])] == [1, 3]


async def test_records_are_read_before_the_commit_first_waits(dsn: str) -> None:
    """The queue goes on while the server writes; what it does then belongs to the next commit."""
    async with open_store(dsn) as store:
        lease = await take(store)
        job = a_job(1)
        commit = store.commit(changes(job), lease.fence)
        waiting = asyncio.ensure_future(commit)
        await asyncio.sleep(0)
        job.state = JobState.RUNNING
        await waiting
        assert [job.state for job in (await store.load()).jobs] == [JobState.PENDING]


async def test_commits_are_written_in_the_order_of_the_calls(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        written = [Changes(events=[JobEvent(1, at, "note")]) for at in range(20)]
        await asyncio.gather(*(store.commit(each, lease.fence) for each in written))
        assert [event.at for event in await store.events(1)] == list(range(20))


async def test_kill_9_of_the_server_loses_and_doubles_nothing(folder: Path) -> None:
    server, chance = EmbeddedServer(folder), random.Random(7)
    store = Store(Database(server=server, say=lambda line: None))
    await store.open()
    lease = await take(store)

    async def write() -> None:
        for at in range(300):
            await store.commit(changes(a_job(at + 1)), lease.fence)

    writing = asyncio.create_task(write())
    for _ in range(4):
        await asyncio.wait([writing], timeout=chance.uniform(0, 0.1))
        os.kill(server.pid, signal.SIGKILL)
        await store.holder()
    await writing
    stories = await fetch(server.dsn, "SELECT job FROM events ORDER BY id")
    assert [row["job"] for row in stories] == list(range(1, 301))
    assert len((await store.load()).jobs) == 300
    await store.close()


async def test_kill_9_of_us_leaves_whole_commits(dsn: str) -> None:
    chance = random.Random(7)
    next_id = 1
    for _ in range(5):
        child = Child("stream.py", dsn, str(next_id))
        assert child.read_line() == "begin"
        acknowledged = next_id - 1
        for _ in range(chance.randrange(40)):
            acknowledged = int(child.read_line())
        child.signal(signal.SIGKILL)
        while line := child.read_line():
            acknowledged = int(line)
        child.kill()
        async with open_store(dsn) as store:
            jobs = (await store.load()).jobs
            held = {allocation.job for allocation in (await store.load()).allocations}
            assert [job.id for job in jobs] == list(range(1, len(jobs) + 1))
            assert acknowledged <= len(jobs) <= acknowledged + 1
            assert held == {job.id for job in jobs}
            assert [len(await store.events(job.id)) for job in jobs] == [1] * len(jobs)
        next_id = len(jobs) + 1
    assert next_id > 1
