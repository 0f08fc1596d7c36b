"""One writer: a process that lost the lease changes nothing, even if it has not noticed."""

from __future__ import annotations

import asyncio
import signal

import pytest

from fluxnetes.queue.states import JobState
from fluxnetes.store.errors import LeaseLost
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store, open_store
from tests.integration.store.records import a_job, changes
from tests.integration.store.servers import Child, fetch

LONG, SHORT = 1000.0, 0.2


async def take(store: Store, holder: str, seconds: float = LONG) -> StoreLease:
    """The lease, as soon as it can be had."""
    while True:
        lease = await store.take(holder, seconds)
        if lease is not None:
            return lease
        await asyncio.sleep(0.02)


async def test_only_one_gets_it(dsn: str) -> None:
    async with open_store(dsn) as store:
        taken = await asyncio.gather(*(store.take(f"writer {n}", LONG) for n in range(8)))
        [lease] = filter(None, taken)
        assert (await store.holder()).name == lease.holder


async def test_the_fence_grows_with_every_taking(dsn: str) -> None:
    async with open_store(dsn) as store:
        fences = []
        for holder in ("a", "a", "b", "a"):
            lease = await take(store, holder)
            fences.append(lease.fence)
            if holder != "a" or len(fences) == 2:
                await store.release(lease)
        assert fences == sorted(set(fences))


async def test_it_is_over_when_it_is_not_renewed(dsn: str) -> None:
    async with open_store(dsn) as store:
        first = await take(store, "first", SHORT)
        second = await take(store, "second")
        assert second.fence > first.fence
        with pytest.raises(LeaseLost, match="held by 'second'"):
            await store.renew(first)


async def test_it_is_kept_as_long_as_it_is_renewed(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store, "first", LONG)
        renewed = await store.renew(lease)
        assert renewed.fence == lease.fence
        assert renewed.sure_until > lease.sure_until
        assert await store.take("second") is None
        assert (await store.holder()).seconds > LONG - 100


async def test_a_commit_renews_it(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store, "first", LONG)
        await fetch(dsn, "UPDATE lease SET expires = clock_timestamp() + '1s'")
        await store.commit(changes(a_job(1)), lease.fence)
        assert (await store.holder()).seconds > LONG - 100


async def test_who_gave_it_back_writes_no_more(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store, "first")
        await store.release(lease)
        with pytest.raises(LeaseLost, match="not held"):
            await store.commit(changes(a_job(1)), lease.fence)
        assert (await store.load()).jobs == ()
        await take(store, "second")


async def test_to_give_back_what_another_has_takes_nothing_away(dsn: str) -> None:
    async with open_store(dsn) as store:
        first = await take(store, "first", SHORT)
        second = await take(store, "second")
        await store.release(first)
        assert (await store.renew(second)).fence == second.fence


async def test_the_same_name_gets_it_back_at_once_and_shuts_out_its_old_self(dsn: str) -> None:
    async with open_store(dsn) as store:
        old = await take(store, "controller-0")
        new = await take(store, "controller-0")
        await store.commit(changes(a_job(1)), new.fence)
        with pytest.raises(LeaseLost):
            await store.commit(changes(a_job(2)), old.fence)
        assert [job.id for job in (await store.load()).jobs] == [1]


async def test_a_holder_needs_a_name(dsn: str) -> None:
    async with open_store(dsn) as store:
        with pytest.raises(ValueError, match="name"):
            await store.take("")


async def test_a_paused_writer_whose_lease_was_taken_is_refused_when_it_wakes(dsn: str) -> None:
    child = Child("write.py", dsn, "paused", str(SHORT))
    child.say("1")
    assert await asyncio.to_thread(child.read_line) == "committed 1"
    child.signal(signal.SIGSTOP)
    async with open_store(dsn) as store:
        lease = await take(store, "next")
        await store.commit(changes(a_job(2)), lease.fence)
        child.signal(signal.SIGCONT)
        child.say("3")
        assert (await asyncio.to_thread(child.read_line)).startswith("LeaseLost")
        assert [job.id for job in (await store.load()).jobs] == [1, 2]
    child.kill()


async def test_a_writer_that_is_paused_inside_a_transaction_keeps_no_other_out(dsn: str) -> None:
    """It holds the lease's row; the server ends its transaction, and nothing of it remains."""
    async with open_store(dsn):
        pass  # for the tables
    child = Child("pause.py", dsn)
    assert await asyncio.to_thread(child.read_line) == "in the middle"
    child.signal(signal.SIGSTOP)
    async with open_store(dsn) as store:
        lease = await take(store, "next")
        await store.commit(changes(a_job(2, JobState.HELD)), lease.fence)
        child.signal(signal.SIGCONT)
        child.say("go on")
        assert await asyncio.to_thread(child.read_line) == "refused"
        assert [job.id for job in (await store.load()).jobs] == [2]
    child.kill()
