"""A writer: takes the lease, then commits one new job for each number that it reads."""

from __future__ import annotations

import asyncio
import sys

from fluxnetes.store.errors import LeaseLost
from fluxnetes.store.store import open_store
from tests.integration.store.records import a_job, changes


async def main(dsn: str, holder: str, seconds: str) -> None:
    async with open_store(dsn) as store:
        lease = await store.take(holder, float(seconds))
        assert lease is not None, "another holder has the lease"
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            try:
                await store.commit(changes(a_job(int(line))), lease.fence)
                print(f"committed {line}", flush=True)
            except LeaseLost as error:
                print(f"LeaseLost {error}", flush=True)


asyncio.run(main(*sys.argv[1:]))
