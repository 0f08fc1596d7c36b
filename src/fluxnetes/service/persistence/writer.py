"""What a matcher granted, written to the store in the order in which it happened.

    engine's thread      note what changed ──▶ pending
    event loop           flush: all that is pending, in one transaction ──▶ answer

Many calls come at once, and each waits until its own change is written; whoever comes first writes
for all that are waiting.
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

_OFTEN = 0.2

Reshaped = tuple[list[StatementBatch], Changes]
"""Another graph, and what that did to jobs."""


@dataclass(slots=True, eq=False)
class BatchedWriter:
    """See the module's docstring."""

    store: Store
    fence: int
    book: AllocationJournal
    failure: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """Done, with the error, when nothing can be written any more."""
    lease: StoreLease | None = None
    """The store's lease, as it was last renewed."""
    _pending: deque[Changes | Reshaped] = field(default_factory=deque)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    # -- in the engine's thread ----------------------------------------------------------------

    def note(self) -> None:
        """What the book says changed is to be written."""
        changes = self.book.take_changes()
        if changes:
            self._pending.append(changes)

    def note_graph(self, matching: MatcherOperations) -> None:
        """The graph is another one, or has another shape."""
        config = SchedulerConfig(match_policy=matching.policy)
        held = self.book.allocations.values()
        writes = self.store.system_writes(matching.graph, config, held)
        # Together: a job that lost its vertices must never be found on a graph without them.
        self._pending.append((writes, self.book.take_changes()))

    # -- in the loop ---------------------------------------------------------------------------

    async def flush(self) -> None:
        """Have all written that is pending."""
        try:
            async with self._writing:
                if self.failure.done():  # perhaps it was our change that could not be written
                    self.failure.result()
                while self._pending:
                    await self._write_next()
        except Exception as error:
            if not self.failure.done():
                self.failure.set_exception(error)
            raise

    async def tend(self, lease: StoreLease) -> None:
        """Keep the lease, and let nothing stay unwritten that nobody waits for."""
        self.lease, renewed = lease, time.monotonic()
        try:
            while True:
                await asyncio.sleep(_OFTEN)
                if time.monotonic() - renewed > lease.seconds / 3:
                    self.lease, renewed = await self.store.renew(self.lease), time.monotonic()
                if self._pending:
                    await asyncio.shield(keep_task(self.flush()))  # half of it must not get lost
        except Exception as error:
            if not self.failure.done():
                self.failure.set_exception(error)

    async def _write_next(self) -> None:
        first = self._pending.popleft()
        if isinstance(first, tuple):
            writes, changes = first
            await self.store.commit(changes, self.fence, writes)
            return
        while self._pending and isinstance(self._pending[0], Changes):
            _merge(first, self._pending.popleft())
        await self.store.commit(first, self.fence)


def _merge(changes: Changes, later: Changes | Reshaped) -> None:
    """Both happened, one after the other."""
    assert isinstance(later, Changes)  # noqa: S101 - the caller looked
    changes.jobs.update(later.jobs)
    changes.allocations.update(later.allocations)
    changes.events += later.events
    if later.step is not None:
        changes.step = later.step
