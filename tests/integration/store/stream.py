"""A writer that never stops: job after job, each with all that belongs to it, in one commit."""

from __future__ import annotations

import asyncio
import itertools
import sys

from fluxnetes.queue.states import JobState
from fluxnetes.store.store import open_store
from tests.integration.store.records import a_job, an_allocation, changes


async def main(dsn: str, first: str) -> None:
    async with open_store(dsn) as store:
        lease = await store.take("stream")
        assert lease is not None
        print("begin", flush=True)
        for id in itertools.count(int(first)):
            job = a_job(id, JobState.ALLOCATED)
            await store.commit(changes(job, allocations={id: an_allocation(id)}), lease.fence)
            print(id, flush=True)


asyncio.run(main(*sys.argv[1:]))
