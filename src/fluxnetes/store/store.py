"""The store: loads and commits the queue, under a lease.

    async with open_store(dsn) as store:
        lease = await store.take("controller-0")
        snapshot, system = await store.load(), await store.system()
        if system is not None:
            snapshot = translate(snapshot, system, graph).snapshot
        await store.keep_system(graph, config, lease.fence, snapshot.allocations, system)
        queue = Scheduler.resume(Matcher(graph), config, snapshot, now=...)
        ...
        await store.commit(queue.take_changes(), lease.fence)

No call fails because the server is unavailable: it waits, reports that, and continues. A commit is
applied once, however often the connection breaks on the way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from uuid import UUID, uuid4

from asyncpg import exceptions as pg

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Allocation, Changes, JobEvent, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.store import lease as leases
from fluxnetes.store.database import Connection, Database
from fluxnetes.store.errors import ValueRefused
from fluxnetes.store.lease import LeaseHolder, StoreLease
from fluxnetes.store.load import (
    ObjectName,
    load,
    load_ended,
    load_events,
    load_jobs,
    load_last,
)
from fluxnetes.store.migrate import migrate, migrations
from fluxnetes.store.system import StoredSystem, WrittenSystem, load_system
from fluxnetes.store.write_cache import WriteCache
from fluxnetes.store.writes import StatementBatch, encode, encode_system, send


@asynccontextmanager
async def open_store(dsn: str | None = None) -> AsyncIterator[Store]:
    """The store on the server that a DSN names; without one, on the embedded server."""
    store = Store(Database(dsn))
    try:
        await store.open()
        yield store
    finally:
        await store.close()


class Store:
    """The tables of one queue. Only the holder of the lease may write; all may read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache = WriteCache()
        self._committing = asyncio.Lock()

    async def open(self) -> None:
        """Wait for the server, and migrate the tables to this version."""
        await self._database.attempt(partial(migrate, steps=migrations()))

    async def close(self) -> None:
        await self._database.close()

    async def take(self, holder: str, seconds: float = leases.SECONDS) -> StoreLease | None:
        """Take the lease, if no other holder has it. The new holder must `load`."""
        lease = await self._database.attempt(partial(leases.take, holder=holder, seconds=seconds))
        if lease is not None:
            self._cache = WriteCache()
        return lease

    async def renew(self, lease: StoreLease) -> StoreLease:
        return await self._database.attempt(partial(leases.renew, lease=lease))

    async def release(self, lease: StoreLease) -> None:
        await self._database.attempt(partial(leases.release, lease=lease))

    async def holder(self) -> LeaseHolder:
        """The current holder of the lease."""
        return await self._database.attempt(leases.holder)

    async def load(self) -> Snapshot:
        """All that a queue needs to resume."""
        snapshot = await self._database.attempt(load)
        self._cache = WriteCache.of(snapshot)
        return snapshot

    async def system(self, known: StoredSystem | None = None) -> StoredSystem | None:
        """The graph and the configuration that the queue belongs to; None: none is stored.

        Returns `known` itself if it is still current, which is a fast check.
        """
        return await self._database.attempt(partial(load_system, known=known))

    async def look(self) -> tuple[Snapshot, StoredSystem | None]:
        """Snapshot and system in one consistent read, while another process runs the queue."""
        return await self._database.attempt(_load_consistent)

    async def jobs(self, ids: Iterable[int]) -> tuple[QueueJob, ...]:
        """The records of any jobs, including those that ended long ago, in order of arrival."""
        return await self._database.attempt(partial(load_jobs, ids=ids))

    async def ended(self, workloads: Iterable[str]) -> dict[str, QueueJob]:
        """For each workload its last job that has ended; workloads without one are left out.

        The controller uses it for workloads in the cluster that have no active job.
        """
        return await self._database.attempt(partial(load_ended, workloads=list(workloads)))

    async def last_jobs(self, names: Iterable[ObjectName]) -> dict[ObjectName, int]:
        """The last job of each of these objects, by kind, namespace and name.

        The controller uses it for objects that are gone, on which others depend.
        """
        return await self._database.attempt(partial(load_last, names=list(names)))

    async def events(self, job: int) -> list[JobEvent]:
        """The events of one job, in order."""
        return await self._database.attempt(partial(load_events, job=job))

    async def commit(
        self, changes: Changes, fence: int, before: Sequence[StatementBatch] = ()
    ) -> None:
        """Write all changes, or none: `LeaseLost` if the fence is no longer the current one.

        The batches in `before` are written first, in the same transaction.
        Records are read before the first await, so the queue may continue meanwhile; commits are
        written in the order of the calls. After an error the caller must `load` again.
        """
        with _refusing_values():
            writes = [*before, *encode(changes, self._cache)]
        self._cache.note(changes)
        await self.send(writes, fence)

    async def refused_jobs(self, changes: Changes) -> dict[int, str]:
        """Which jobs of a refused commit have a value that the database cannot hold, and why.

        Each is written alone, in a transaction that is rolled back.
        """
        found: dict[int, str] = {}
        for id in changes.jobs:
            try:
                with _refusing_values():
                    writes = encode(changes.of_job(id), WriteCache())
                    await self._database.attempt(partial(_try_out, writes=writes))
            except ValueRefused as refused:
                found[id] = str(refused)
        return found

    async def keep_system(
        self,
        graph: ResourceGraph,
        config: SchedulerConfig,
        fence: int,
        allocations: Iterable[Allocation] = (),
        stored: StoredSystem | None = None,
    ) -> None:
        """Write the graph and the configuration, if they differ from what is stored.

        Allocations are meaningful only with their graph. So a caller that changed the graph calls
        this before it commits an allocation of new rows, and a caller that translated allocations
        to its own graph passes them, so that both are written together.
        """
        await self.send(self.system_writes(graph, config, allocations, stored), fence)

    def system_writes(
        self,
        graph: ResourceGraph,
        config: SchedulerConfig,
        allocations: Iterable[Allocation] = (),
        stored: StoredSystem | None = None,
    ) -> list[StatementBatch]:
        """The batches that `keep_system` writes, for callers that prepare them in a thread.

        The caller must `send` them before anything else.
        """
        kept = WrittenSystem.of(graph, config)
        if self._cache.system is None and stored is not None:
            self._cache.system = WrittenSystem.stored(stored, graph)
        moved = {each.job: each for each in allocations if self._cache.has_moved(each)}
        changes = Changes(allocations=dict(moved))
        writes = [*encode_system(kept, self._cache), *encode(changes, self._cache)]
        self._cache.note(changes)
        self._cache.system = kept
        return writes

    async def send(self, writes: list[StatementBatch], fence: int) -> None:
        """Write prepared batches, all of them or none."""
        if not writes:
            return
        try:
            with _refusing_values():
                async with self._committing:
                    await self._database.attempt(
                        partial(_commit, writes=writes, fence=fence, commit=uuid4())
                    )
        except BaseException:
            self._cache = WriteCache()
            raise


async def _commit(
    connection: Connection, writes: list[StatementBatch], fence: int, commit: UUID
) -> None:
    async with connection.transaction():
        if await leases.claim(connection, fence, commit):
            await send(connection, writes)


async def _try_out(connection: Connection, writes: list[StatementBatch]) -> None:
    trial = connection.transaction()
    await trial.start()
    try:
        await send(connection, writes)
    finally:
        await trial.rollback()


_REFUSED_VALUES = (
    # Not UTF-8, a NUL character, a number beyond its column; also found before anything is sent.
    pg.DataError,
    ValueError,
    OverflowError,
    # Longer than an entry of an index can be, say.
    pg.ProgramLimitExceededError,
    pg.CheckViolationError,
    pg.NotNullViolationError,
)
"""Errors that writing the same values again would meet again. A reference to a row that does not
exist is none of them: no value of a caller causes it, but a fault of ours."""


@contextmanager
def _refusing_values() -> Iterator[None]:
    """Raises what the database says of a value it cannot hold as ValueRefused."""
    try:
        yield
    except _REFUSED_VALUES as error:
        raise ValueRefused(f"the store cannot hold a value: {error}") from error


async def _load_consistent(connection: Connection) -> tuple[Snapshot, StoredSystem | None]:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        return await load(connection), await load_system(connection)
