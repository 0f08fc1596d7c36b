"""Allocations of a matcher that their callers do not renew are released."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from fluxnetes.service.errors import UnknownJob
from fluxnetes.service.leases.allocation_leases import AllocationLeases
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.values import AllocationUpdate
from tests.integration.rpc.graphs import a_cluster
from tests.unit.service.test_matcher_backend import a_call, free, held

WITHIN = 60.0


@dataclass
class Clock:
    """A clock that only the test moves."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def leased(
    operations: MatcherOperations | None = None,
) -> AsyncIterator[tuple[MatcherBackend, Clock]]:
    """A backend with leases, on two nodes of four cores."""
    clock = Clock()
    leases = AllocationLeases(WITHIN, clock)
    backend = MatcherBackend(operations or MatcherOperations(), leases=leases)
    try:
        if operations is None:
            await backend.load(a_cluster(2, 4), "jgf", "")
        yield backend, clock
    finally:
        await backend.close()


async def pass_time(backend: MatcherBackend, clock: Clock, seconds: float) -> None:
    clock.now += seconds
    await backend.release_expired()


async def test_what_is_not_renewed_in_time_is_released() -> None:
    async with leased() as (backend, clock):
        kept, lost = await backend.match(a_call()), await backend.match(a_call())
        await pass_time(backend, clock, 40)
        assert await backend.renew(kept.job) is not None
        await pass_time(backend, clock, 40)
        assert await held(backend) == {kept.job}
        assert await free(backend) == 7
        [view] = await backend.job_views([lost.job])
        assert (view.state, str(view.reason)) == ("cancelled", "neither renewed nor used for 60 s")
        with pytest.raises(UnknownJob):
            await backend.renew(lost.job)


async def test_reservations_and_allocations_made_elsewhere_have_leases_too() -> None:
    async with leased() as (backend, clock):
        whole = [await backend.match(a_call(4, format="jgf")) for _ in range(2)]
        later = await backend.match(a_call(4, reserve=True))
        assert later.at
        await backend.cancel(whole[0].job)
        placed = AllocationUpdate(50, whole[0].text, "jgf", 0, 10)
        assert await backend.update(placed)
        assert await held(backend) == {whole[1].job, later.job, 50}
        await pass_time(backend, clock, WITHIN + 1)
        assert await held(backend) == set()
        assert await free(backend) == 8


async def test_a_call_that_is_repeated_under_its_key_renews() -> None:
    async with leased() as (backend, clock):
        first = await backend.match(a_call(key="a"))
        await pass_time(backend, clock, 40)
        again = await backend.match(a_call(key="a"))
        assert again.job == first.job
        await pass_time(backend, clock, 40)
        assert await held(backend) == {first.job}


async def test_a_client_that_left_with_a_key_leaves_nothing_for_ever() -> None:
    """With a key, what was granted stays for a client that repeats its call; this one does not."""
    async with leased() as (backend, clock):
        call = asyncio.create_task(backend.match(a_call(key="a")))
        while not await held(backend):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        await pass_time(backend, clock, 1)
        assert len(await held(backend)) == 1
        await pass_time(backend, clock, WITHIN)
        assert await held(backend) == set()


async def test_on_another_graph_no_lease_of_the_old_jobs_counts() -> None:
    async with leased() as (backend, clock):
        await backend.match(a_call())
        await pass_time(backend, clock, 50)
        await backend.load(a_cluster(1, 1), "jgf", "")
        assert (await backend.match(a_call())).job == 1
        await pass_time(backend, clock, 50)
        assert await held(backend) == {1}


async def test_after_a_restart_all_leases_begin_anew() -> None:
    operations = MatcherOperations()
    operations.load(a_cluster(2, 4))
    job = operations.match(a_call()).job
    async with leased(operations) as (backend, clock):
        await pass_time(backend, clock, 50)
        assert await held(backend) == {job}
        await pass_time(backend, clock, 50)
        assert await held(backend) == set()


async def test_without_leases_nothing_expires() -> None:
    clock = Clock()
    backend = MatcherBackend(MatcherOperations(), leases=AllocationLeases(None, clock))
    try:
        await backend.load(a_cluster(1, 1), "jgf", "")
        job = (await backend.match(a_call())).job
        clock.now += 1e9
        assert await backend.renew(job) is None
        assert not AllocationLeases(None, clock).expired()
        assert await held(backend) == {job}
    finally:
        await backend.close()


async def test_leases_expire_by_themselves() -> None:
    backend = MatcherBackend(MatcherOperations(), leases=AllocationLeases(0.2))
    try:
        await backend.load(a_cluster(1, 1), "jgf", "")
        await backend.match(a_call())
        async with asyncio.timeout(20):
            while await held(backend):
                await asyncio.sleep(0.02)
    finally:
        await backend.close()
