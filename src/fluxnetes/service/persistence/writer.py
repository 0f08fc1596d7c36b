"""Commits a matcher's journal to the store, in order and in batches.

    worker thread    note the changes of a call ──▶ pending
    event loop       flush: commit all pending changes in one transaction ──▶ answer

Every call waits until its own changes are committed. Of several concurrent calls, the first one
commits the changes of all.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field

from fluxnetes.queue.changes import Changes
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.allocations import AllocationJournal
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store
from fluxnetes.store.writes import StatementBatch

_INTERVAL = 0.2
"""Seconds between two checks for changes that no call waits for, and for the lease."""

Reshaped = tuple[list[StatementBatch], Changes]
"""The statements that store another graph, and what that changed of jobs."""


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
    _pending: deque[Changes | Reshaped] = field(default_factory=deque)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    # -- in the worker thread ------------------------------------------------------------------

    def note(self) -> None:
        """Have the changes of the journal committed."""
        changes = self.journal.take_changes()
        if changes:
            self._pending.append(changes)

    def note_graph(self, operations: MatcherOperations) -> None:
        """Have the graph committed: it was replaced, or changed."""
        config = SchedulerConfig(match_policy=operations.policy)
        held = self.journal.allocations.values()
        writes = self.store.system_writes(operations.graph, config, held)
        # In one transaction: no job may be restored on a graph without its vertices.
        self._pending.append((writes, self.journal.take_changes()))

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
        if isinstance(first, tuple):
            writes, changes = first
            await self.store.commit(changes, self.lease.fence, writes)
            return
        while self._pending and isinstance(self._pending[0], Changes):
            _merge(first, self._pending.popleft())
        await self.store.commit(first, self.lease.fence)


def _merge(changes: Changes, later: Changes | Reshaped) -> None:
    """Append the later changes to the earlier ones."""
    assert isinstance(later, Changes)  # noqa: S101 - checked by the caller
    changes.jobs.update(later.jobs)
    changes.allocations.update(later.allocations)
    changes.events += later.events
    if later.step is not None:
        changes.step = later.step
