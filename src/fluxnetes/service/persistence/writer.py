"""Commits a matcher's journal to the store, in order and in batches.

    worker thread    note the changes of a call ──▶ pending
    event loop       flush: commit all pending changes in one transaction ──▶ answer

Every call waits until its own changes are committed. Of several concurrent calls, the first one
commits the changes of all. If the store refuses a value of theirs, each is committed alone, and
only the call with that value fails.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from fluxnetes.queue.changes import Changes
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.allocations import AllocationJournal
from fluxnetes.store.errors import ValueRefused
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store
from fluxnetes.store.writes import StatementBatch

_log = logging.getLogger("fluxnetes.rpc")

_INTERVAL = 0.2
"""Seconds between two checks for changes that no call waits for, and for the lease."""


@dataclass(slots=True, eq=False)
class PendingWrite:
    """The changes of one call, to be committed."""

    changes: Changes
    graph: list[StatementBatch] | None = None
    """The statements that store another graph, if the call changed it."""
    refused: ValueRefused | None = None
    """The store cannot hold a value of these changes; they are not committed."""


@dataclass(slots=True, eq=False)
class BatchedWriter:
    """See the module's docstring."""

    store: Store
    lease: StoreLease
    """The store's lease, as it was last renewed."""
    journal: AllocationJournal
    failure: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """Done, with the error, when nothing can be committed any more."""
    _pending: deque[PendingWrite] = field(default_factory=deque)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    # -- in the worker thread ------------------------------------------------------------------

    def note(self) -> PendingWrite:
        """Have the changes of the journal committed."""
        write = PendingWrite(self.journal.take_changes())
        if write.changes:
            self._pending.append(write)
        return write

    def note_graph(self, operations: MatcherOperations) -> PendingWrite:
        """Have the graph committed: it was replaced, or changed."""
        config = SchedulerConfig(match_policy=operations.policy)
        held = self.journal.allocations.values()
        writes = self.store.system_writes(operations.graph, config, held)
        # In one transaction: no job may be restored on a graph without its vertices.
        write = PendingWrite(self.journal.take_changes(), writes)
        self._pending.append(write)
        return write

    # -- in the loop ---------------------------------------------------------------------------

    async def flush(self) -> None:
        """Commit all pending changes."""
        try:
            async with self._writing:
                if self.failure.done():  # it may have lost the changes of this call
                    self.failure.result()
                while self._pending:
                    await self._write_next()
        except Exception as error:
            if not self.failure.done():
                self.failure.set_exception(error)
            raise

    async def tend(self) -> None:
        """Renew the lease, and commit changes that no call waits for."""
        renewed = time.monotonic()
        try:
            while True:
                await asyncio.sleep(_INTERVAL)
                if time.monotonic() - renewed > self.lease.seconds / 3:
                    self.lease, renewed = await self.store.renew(self.lease), time.monotonic()
                if self._pending:
                    await asyncio.shield(keep_task(self.flush()))  # never cancelled halfway
        except Exception as error:
            if not self.failure.done():
                self.failure.set_exception(error)

    async def _write_next(self) -> None:
        first = self._pending.popleft()
        if first.graph is not None:
            await self.store.commit(first.changes, self.lease.fence, first.graph)
            return
        batch = [first]
        while self._pending and self._pending[0].graph is None:
            batch.append(self._pending.popleft())
        try:
            await self.store.commit(_merged(batch), self.lease.fence)
        except ValueRefused as refused:
            _log.warning("%s; each call is committed alone", refused)
            await self._write_each(batch)

    async def _write_each(self, batch: Iterable[PendingWrite]) -> None:
        """Commit changes that the store refuses together, as far as it takes them."""
        for write in batch:
            try:
                await self.store.commit(write.changes, self.lease.fence)
            except ValueRefused as refused:
                write.refused = refused


def _merged(batch: Iterable[PendingWrite]) -> Changes:
    """All changes as one, in their order."""
    merged = Changes()
    for write in batch:
        changes = write.changes
        merged.jobs.update(changes.jobs)
        merged.allocations.update(changes.allocations)
        merged.events += changes.events
        if changes.step is not None:
            merged.step = changes.step
    return merged
