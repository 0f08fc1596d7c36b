"""Runs a standalone queue in rounds, on a graph that does not change.

    accept requests ──▶ cycle ──▶ settle ──▶ commit ──▶ publish, reply

It does what a controller does, without a cluster: callers submit jobs, learn where they may run,
run them, and report when they end.

If the store cannot hold a value of a round, the queue resumes from the store as it was before, and
the requests of that round fail. Values are checked when they arrive, so this is for those that the
check does not know of.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Changes, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Event, PartsLost, Started
from fluxnetes.queue.jobs import CALLERS
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.service.errors import Invalid
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.service.persistence.ownership import check_owner
from fluxnetes.store.errors import ValueRefused
from fluxnetes.store.store import Store
from fluxnetes.store.translate import translate

_TICK = 1.0
"""Maximum seconds between two rounds, so that leases and walltimes expire in time."""

_MOST_REFUSED = 3
"""Maximum rounds without requests that the store may refuse, one after the other."""

_log = logging.getLogger("fluxnetes.rpc")

_Restored = tuple[Snapshot, tuple[int, ...]]


@dataclass(slots=True, eq=False)
class QueueRunner:
    """One queue, and the `QueueHost` of its callers. Made and run in its own event loop."""

    matcher: Matcher
    scheduler: Scheduler
    mailbox: Mailbox
    store: Store | None = None
    fence: int = 0
    now: int = 0
    next_id: int = 1
    clock: Callable[[], float] = time.time
    _events: int = 0
    """Counts the events that may change a decision."""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _refused: int = 0
    """How many rounds without requests the store has refused, one after the other."""

    # -- for callers: see `mailbox.QueueHost` --------------------------------------------------

    def put(self, event: Event) -> None:
        self.scheduler.apply(event, self.now)
        if not isinstance(event, Started):  # that a job started changes no decision
            self._events += 1

    def next_id_used(self) -> None:
        self.next_id += 1

    def where(self) -> Constraint | None:
        return None

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> None:
        """There are no pods here."""

    def borrowers(self, job: int) -> int:
        return 0

    # -- rounds --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Round after round, until cancelled."""
        self.mailbox.open(self, self._wake.set)
        try:
            while True:
                await self.round()
                await self._wait_for_work()
        finally:
            self.mailbox.close()

    async def round(self) -> None:
        """One round: see the module's docstring."""
        self.now = int(self.clock())
        self.mailbox.accept()
        events = self._events
        self.scheduler.cycle(self.now)
        self.mailbox.settle()
        changes = self.scheduler.take_changes()
        if changes:
            try:
                await self._write(changes)
            except ValueRefused as refused:
                await self._discard(refused)
                return
            self._refused = 0
            self.mailbox.publish(changes)
        self.mailbox.reply()
        if self._events != events:  # of `settle`, which the next cycle decides on
            self._wake.set()

    async def _write(self, changes: Changes) -> None:
        if self.store is not None:
            await self.store.commit(changes, self.fence)

    async def _discard(self, refused: ValueRefused) -> None:
        """Resume the queue as it is stored, and fail the requests of this round."""
        if self.store is None or self._refused >= _MOST_REFUSED:
            raise refused
        _log.error("%s; the requests of this round are refused", refused)
        config = self.scheduler.config
        self.matcher = Matcher(self.matcher.graph, policy=config.match_policy)
        snapshot, _ = await _restore(self.matcher, config, self.store, self.fence)
        self.scheduler = Scheduler.resume(self.matcher, config, snapshot, now=self.now)
        failed = self.mailbox.discard(Invalid(f"{refused}; no request of its round was executed"))
        self._refused = 0 if failed else self._refused + 1
        self._wake.set()

    async def _wait_for_work(self) -> None:
        wake = self.scheduler.next_wake(self.now)
        until = _TICK if wake is None else min(_TICK, max(0.0, wake - self.clock()))
        try:
            async with asyncio.timeout(until):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()


async def resume_queue(
    matcher: Matcher, config: SchedulerConfig, mailbox: Mailbox, store: Store | None, fence: int
) -> QueueRunner:
    """A queue on a graph, resumed from the store if there is one."""
    snapshot: Snapshot
    lost: tuple[int, ...]
    snapshot, lost = Snapshot(), ()
    if store is not None:
        snapshot, lost = await _restore(matcher, config, store, fence)
    now = int(time.time())
    scheduler = Scheduler.resume(matcher, config, snapshot, now=now)
    if lost:
        scheduler.apply(PartsLost(lost, Reason.of(Message.GRAPH_LOST)), now)
    known = [job.id for job in snapshot.jobs] + [id for id, _ in snapshot.outcomes]
    next_id = 1 + max([0, snapshot.arrivals, *known])
    return QueueRunner(matcher, scheduler, mailbox, store, fence, now, next_id)


async def _restore(
    matcher: Matcher, config: SchedulerConfig, store: Store, fence: int
) -> _Restored:
    """The stored queue, moved to this graph by paths; and the jobs that lost resources by that."""
    snapshot, system = await store.load(), await store.system()
    check_owner(system, snapshot.jobs, CALLERS)
    lost: tuple[int, ...] = ()
    if system is not None:
        translated = translate(snapshot, system, matcher.graph)
        snapshot, lost = translated.snapshot, translated.lost
    await store.keep_system(matcher.graph, config, fence, snapshot.allocations, system)
    return snapshot, lost
