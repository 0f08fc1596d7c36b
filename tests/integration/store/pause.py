"""A writer that stops to wait in the middle of a transaction, after it has shown its fence."""

from __future__ import annotations

import asyncio
import sys
from uuid import uuid4

import asyncpg

from fluxnetes.store.lease import claim, take
from fluxnetes.store.write_cache import WriteCache
from fluxnetes.store.writes import encode, send
from tests.integration.store.records import a_job, changes


async def main(dsn: str) -> None:
    # As `Database` sets it up, only less patient.
    session = {"search_path": "fluxnetes", "idle_in_transaction_session_timeout": "300ms"}
    connection = await asyncpg.connect(dsn, server_settings=session)
    lease = await take(connection, "paused", 0.1)
    assert lease is not None
    transaction = connection.transaction()
    await transaction.start()
    await claim(connection, lease.fence, uuid4())
    await send(connection, encode(changes(a_job(1)), WriteCache()))
    print("in the middle", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    try:
        await transaction.commit()
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
        print("refused", flush=True)
    else:
        print("committed", flush=True)


asyncio.run(main(sys.argv[1]))
