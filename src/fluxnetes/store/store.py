"""The store: where the queue is kept, and whom it belongs to.

    async with open_store(dsn) as store:
        lease = await store.take("controller-0")
        snapshot, system = await store.load(), await store.system()
        if system is not None:
            snapshot = translate(snapshot, system, graph).snapshot
        await store.keep_system(graph, config, lease.fence, snapshot.allocations, system)
        queue = Scheduler.resume(Matcher(graph), config, snapshot, now=...)
        ...
        await store.commit(queue.take_changes(), lease.fence)

Nothing here fails because the server is away: it waits, says so, and goes on. What is committed is
committed once, however often the connection broke on the way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID, uuid4

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Allocation, Changes, JobEvent, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.store import lease as leases
from fluxnetes.store.database import Connection, Database
from fluxnetes.store.lease import LeaseHolder, StoreLease
from fluxnetes.store.load import load, load_ended, load_events, load_jobs
from fluxnetes.store.migrate import migrate, migrations
from fluxnetes.store.system import StoredSystem, WrittenSystem, load_system
from fluxnetes.store.write_cache import WriteCache
from fluxnetes.store.writes import StatementBatch, encode, encode_system, send


@asynccontextmanager
async def open_store(dsn: str | None = None) -> AsyncIterator[Store]:
    """The store of a server that a DSN names; without one, of a server of our own."""
    store = Store(Database(dsn))
    try:
        await store.open()
        yield store
    finally:
        await store.close()


class Store:
    """The queue's tables. One may write, with the fence of its lease; all may read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._written = WriteCache()
        self._committing = asyncio.Lock()

    async def open(self) -> None:
        """Wait for the server, and see to it that the tables are those of this version."""
        await self._database.attempt(partial(migrate, steps=migrations()))

    async def close(self) -> None:
        await self._database.close()

    async def take(self, holder: str, seconds: float = leases.SECONDS) -> StoreLease | None:
        """The right to write, if nobody else has it. Whoever gets it must `load`."""
        lease = await self._database.attempt(partial(leases.take, holder=holder, seconds=seconds))
        if lease is not None:
            self._written = WriteCache()
        return lease

    async def renew(self, lease: StoreLease) -> StoreLease:
        return await self._database.attempt(partial(leases.renew, lease=lease))

    async def release(self, lease: StoreLease) -> None:
        await self._database.attempt(partial(leases.release, lease=lease))

    async def holder(self) -> LeaseHolder:
        """Who may write."""
        return await self._database.attempt(leases.holder)

    async def load(self) -> Snapshot:
        """All that a queue needs to go on."""
        snapshot = await self._database.attempt(load)
        self._written = WriteCache.of(snapshot)
        return snapshot

    async def system(self, known: StoredSystem | None = None) -> StoredSystem | None:
        """What the queue belongs to: the graph and the configuration; None: nobody kept any.

        It is `known` itself if that is still what is stored, which is found out quickly.
        """
        return await self._database.attempt(partial(load_system, known=known))

    async def look(self) -> tuple[Snapshot, StoredSystem | None]:
        """Both at one moment, for those who look at a queue while somebody else runs it."""
        return await self._database.attempt(_look)

    async def jobs(self, ids: Iterable[int]) -> tuple[QueueJob, ...]:
        """The records of any jobs, also of those that ended long ago, in order of arrival."""
        return await self._database.attempt(partial(load_jobs, ids=ids))

    async def ended(self, workloads: Iterable[str]) -> dict[str, QueueJob]:
        """For each workload the last job that stood for it and has ended; of those that have one.

        Whoever finds a workload on its cluster of which no job lives learns here what became of it.
        """
        return await self._database.attempt(partial(load_ended, workloads=list(workloads)))

    async def events(self, job: int) -> list[JobEvent]:
        """One job's story."""
        return await self._database.attempt(partial(load_events, job=job))

    async def commit(
        self, changes: Changes, fence: int, before: Sequence[StatementBatch] = ()
    ) -> None:
        """Write all changes, or none: `LeaseLost` if the fence is no longer the current one.

        What was prepared and comes `before` them is written together with them.
        Records are read before this first waits, so the queue may go on meanwhile; commits are
        written in the order of the calls. Whoever gets an error must `load` anew.
        """
        writes = [*before, *encode(changes, self._written)]
        self._written.note(changes)
        await self.send(writes, fence)

    async def keep_system(
        self,
        graph: ResourceGraph,
        config: SchedulerConfig,
        fence: int,
        allocations: Iterable[Allocation] = (),
        stored: StoredSystem | None = None,
    ) -> None:
        """Write what the queue belongs to, if that is not what we wrote last, or what is stored.

        Allocations mean nothing without their graph. So whoever changed the graph calls this before
        it commits an allocation of new rows, and whoever translated allocations to a graph of its
        own gives them, so that both are written together.
        """
        await self.send(self.system_writes(graph, config, allocations, stored), fence)

    def system_writes(
        self,
        graph: ResourceGraph,
        config: SchedulerConfig,
        allocations: Iterable[Allocation] = (),
        stored: StoredSystem | None = None,
    ) -> list[StatementBatch]:
        """What `keep_system` would write; for those who have a thread for such long work.

        Whoever asks sends it, and before anything else.
        """
        kept = WrittenSystem.of(graph, config)
        if self._written.system is None and stored is not None:
            self._written.system = WrittenSystem.stored(stored, graph)
        moved = {each.job: each for each in allocations if self._written.has_moved(each)}
        changes = Changes(allocations=dict(moved))
        writes = [*encode_system(kept, self._written), *encode(changes, self._written)]
        self._written.note(changes)
        self._written.system = kept
        return writes

    async def send(self, writes: list[StatementBatch], fence: int) -> None:
        """Write what was prepared, all of it or none."""
        if not writes:
            return
        try:
            async with self._committing:
                await self._database.attempt(
                    partial(_commit, writes=writes, fence=fence, commit=uuid4())
                )
        except BaseException:
            self._written = WriteCache()
            raise


async def _commit(
    connection: Connection, writes: list[StatementBatch], fence: int, commit: UUID
) -> None:
    async with connection.transaction():
        if await leases.claim(connection, fence, commit):
            await send(connection, writes)


async def _look(connection: Connection) -> tuple[Snapshot, StoredSystem | None]:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        return await load(connection), await load_system(connection)
