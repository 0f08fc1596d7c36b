"""The controller: follow the cluster, let the queue decide, write it down, carry it out.

    informers ──▶ world ──▶ a round:  nodes and others      what the queue stands on
                                      seats, groups         what happened, who asks for what
                                      cycle                 the queue decides
                                      commit                written down, or it never happened
                                      carry out             bind, let go, take back, end

One round follows the other, for as long as something happened; only the commit waits. Everything is
level-triggered: a round looks at where things are, so a lost event costs latency and nothing else.

Whoever runs this must lead (`leader`) and hold the store's lease. Losing either ends `run`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import GroupKey, GroupPart, WorkloadGroup
from fluxnetes.controller.actions.executor import Executor
from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.controller.decisions import DecisionApplier
from fluxnetes.controller.node_sync import NodeSync
from fluxnetes.controller.reconcile import Reconciler
from fluxnetes.controller.reporting.reporter import Reporter
from fluxnetes.controller.seats import SeatAssigner
from fluxnetes.controller.state import ControllerState
from fluxnetes.controller.submission import GroupSubmitter
from fluxnetes.controller.watchers import Watchers
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.states import JobState
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.store.store import Store

_log = logging.getLogger("fluxnetes.controller")

_TICK = 1.0
"""Patience is looked at so often."""
_NOTE_WITHIN = 0.25
"""That jobs began to run changes no decision, so it is written down many at a time."""
_AT_ONCE = 100
"""So many jobs start in a round, so that the first are bound while we decide on the rest."""
_LOOK_AT_ONCE = 2 * _AT_ONCE
"""So many groups are looked at in a round, while everybody starts, for the same reason. Of more
than start, so that the cycle is cut short and events go on giving way to binds."""
_LEAVE_FOR = 5.0
"""Who came while so many start is written down after so long at the latest."""
_LONGEST_PAUSE = 10
"""Times the shortest one."""
_ASK_AGAIN = 5.0
"""Binds of a part in which nothing goes forward are asked for again so long after."""


@dataclass(slots=True, eq=False)
class Controller:
    """One term of leadership; `recovery.recover` makes it."""

    shared: ControllerState
    watchers: Watchers
    node_sync: NodeSync
    seats: SeatAssigner
    submitter: GroupSubmitter
    reconciler: Reconciler
    decisions: DecisionApplier
    executor: Executor
    reporter: Reporter
    store: Store
    config: SchedulerConfig
    fence: int
    wake: asyncio.Event
    mailbox: Mailbox = field(default_factory=Mailbox)
    _ticked: float = 0.0
    _heard: int = 0
    """How much the queue had been told when it last decided; carrying out tells it things too."""
    _next: int | None = None
    """When the queue wants to be asked again."""
    _cut_since: float | None = None
    """Since when cycles have been cut short, if the last one was."""
    _homeless: dict[str, float] = field(default_factory=dict)
    """Since when pods wait for their workload to be seen."""
    _unsized: dict[GroupKey, float] = field(default_factory=dict)
    """Since when groups wait for their PodGroup to be seen."""

    async def run(self) -> None:
        """Round after round, until cancelled or the lease is lost."""
        while True:
            await self._round()
            await self._until_something_happens()

    async def _until_something_happens(self) -> None:
        until = _TICK if self.shared.noted is None else _NOTE_WITHIN
        if self._has_more_to_decide():
            until = 0.0
        elif self._next is not None:
            until = min(until, max(0.0, self._next - time.time()))
        try:
            async with asyncio.timeout(until):
                await self.wake.wait()
        except TimeoutError:
            pass
        self.wake.clear()
        if self.shared.model.dirty:  # then nothing was waited for, and others have a turn
            await asyncio.sleep(0)

    # -- a round -------------------------------------------------------------------------------

    async def _round(self) -> None:
        shared = self.shared
        shared.now, shared.clock = int(time.time()), time.monotonic()
        self._look()
        decides = self._has_to_decide()
        if not decides and not self._has_waited(shared.noted):
            self._carry_out()
            self.mailbox.reply()
            return
        more = False
        if decides:
            self._heard = shared.told
            more = self.executor.expects = shared.scheduler.cycle(shared.now, _AT_ONCE)
            self._cut_since = (self._cut_since or shared.clock) if more else None
        if not more:  # else somebody who asked may not have been looked at yet
            self.mailbox.settle()
        shared.noted = None
        await self._write_down(shared.scheduler.take_changes(but_newcomers=self._may_leave()))
        self._carry_out()
        if not more:
            self.mailbox.reply()
        if shared.told != self._heard:  # on which the queue has yet to decide
            self.wake.set()
        self._next = shared.scheduler.next_wake(shared.now)

    def _has_to_decide(self) -> bool:
        if self.executor.expects:
            return self._has_more_to_decide()
        due = self._next is not None and self.shared.now >= self._next
        return due or self.shared.told != self._heard

    def _has_more_to_decide(self) -> bool:
        """Whether the last cycle was cut short, and it is time to go on.

        Not while all hands are full: what is decided later is decided with more knowledge, and no
        bind is the later for it. Callers only wait for the decision, though.
        """
        return self.executor.expects and (not self.executor.are_full() or self.mailbox.are_waiting)

    def _may_leave(self) -> bool:
        """Whether those who have only come may be written later: many are about to start, and it
        is urgent to bind the others."""
        return self._cut_since is not None and self.shared.clock - self._cut_since < _LEAVE_FOR

    def _has_waited(self, noted: float | None) -> bool:
        if noted is None or self.executor.expects:
            return False
        return self.shared.clock - noted >= _NOTE_WITHIN

    def _look(self) -> None:
        """Tell the queue all that happened."""
        nodes, gone = self.watchers.take_nodes()
        if nodes or gone:
            self.node_sync.follow(nodes, gone)
            self.mailbox.nodes_changed([*(node.metadata.name for node in nodes), *gone])
        if self.shared.clock - self._ticked >= _TICK:
            self._ticked = self.shared.clock
            self._be_patient()
        self.mailbox.nodes_changed(self.node_sync.count_others())
        for group, member in self.shared.model.take_sat_down():
            self.seats.see(group, member.pod)
        for group in self.shared.model.take_dirty(self._how_many()):
            self._settle(group)
        # Reading pods may have made pools of which others hold something already.
        self.mailbox.nodes_changed(self.node_sync.count_others())
        self.node_sync.look_again()
        self.mailbox.hear()
        # What callers gave back may have been in use by pods, which are others' from now on.
        self.mailbox.nodes_changed(self.node_sync.count_others())

    def _how_many(self) -> int | None:
        """How many groups to look at in this round; None: all.

        Where class and arrival alone say who goes first, they come in the order in which they go:
        a term begins so (`line_up`), and later whoever came first is seen first. So as long as
        everybody starts, nobody is passed by one who is looked at sooner.
        """
        all_start = self._cut_since is not None or not self.shared.scheduler.in_line
        return _LOOK_AT_ONCE if all_start and self.config.weights.by_arrival else None

    def _settle(self, group: WorkloadGroup) -> None:
        self.seats.settle(group)
        self.submitter.settle(group)
        if any(part.holds for part in group.parts):
            self.shared.carry(group)
        self.reporter.look_at(group)
        if group.is_gone:
            self.shared.model.forget(group)

    async def _write_down(self, changes: Changes) -> None:
        if self.node_sync.changed:
            self.node_sync.changed = False
            await self.store.keep_system(self.shared.matcher.graph, self.config, self.fence)
        if changes:
            await self.store.commit(changes, self.fence)
            self.decisions.take(changes)
            self.reporter.take(changes)
            self.mailbox.take(changes)

    def _carry_out(self) -> None:
        told = self.shared.told
        for group in self.shared.take_to_carry():
            for action in self.reconciler.carry(group):
                self.executor.ask(action)
        if self.shared.told != told or self.shared.model.dirty:
            self.wake.set()

    # -- patience ------------------------------------------------------------------------------

    def _be_patient(self) -> None:
        """Look at what has waited long enough."""
        shared = self.shared
        self.node_sync.settle_crowds()
        restless, shared.restless = shared.restless, {}
        for key in restless:
            group = shared.model.groups.get(key)
            if group is not None and self._waits_for_something(group):
                shared.restless[key] = None
        self._settle_homeless()
        self._settle_unsized()
        if not self.executor.expects:  # else many of those that wait are about to start
            self.reporter.refresh()

    def _waits_for_something(self, group: WorkloadGroup) -> bool:
        """Look after a group; False: nothing more will happen to it by time alone."""
        waits = False
        for part in self.shared.holding(group):
            if part.kept or part.returning or self.shared.state(part) is JobState.ENDING:
                self.shared.model.dirty[group.key] = None
            elif not part.is_filled:
                self._look_after(group, part, self.shared.clock - part.progress)
            else:
                continue
            waits = True
        return waits

    def _look_after(self, group: WorkloadGroup, part: GroupPart, idle: float) -> None:
        """Ask again for what was asked for, or give up, once nothing went forward for a while."""
        if idle > self.shared.settings.stall:
            part.pause = self._pause(part)
            self.reconciler.give_up(group, part, self._stalled())
        elif idle > _ASK_AGAIN:
            part.bind_again()
            self.shared.carry(group)

    def _pause(self, part: GroupPart) -> int:
        """How long a part that stalled is left alone; the first time not at all.

        A quota that keeps its pods from being made, say, may do so for hours, and meanwhile others
        can use the nodes.
        """
        times: int = 2 ** min(self.shared.job(part).restarts, _LONGEST_PAUSE) - 1
        return math.ceil(min(times, _LONGEST_PAUSE) * self.shared.settings.again)

    def _stalled(self) -> str:
        seconds = self.shared.settings.stall
        return f"not all of its pods could be placed, and nothing went forward for {seconds:.0f} s"

    def _settle_homeless(self) -> None:
        model = self.shared.model
        seen = {uid: self._homeless.get(uid, self.shared.clock) for uid in model.homeless}
        late = [
            u for u, at in seen.items() if self.shared.clock - at > self.shared.settings.homeless
        ]
        model.settle_homeless(late)
        self._homeless = seen

    def _settle_unsized(self) -> None:
        unsized = {group.key: group for group in self.shared.model.unsized()}
        seen = {key: self._unsized.get(key, self.shared.clock) for key in unsized}
        late = [
            k for k, at in seen.items() if self.shared.clock - at > self.shared.settings.homeless
        ]
        self.shared.model.do_without_pod_group(unsized[key] for key in late)
        self._unsized = seen

    # -- how deeds went ------------------------------------------------------------------------

    def bound(self, bind: BindPod) -> None:
        """A pod was bound; the watch will show it a little later."""
        known = self.shared.parts.get(bind.job)
        if known is not None and known[1].pods.get(bind.task) == bind.uid:
            group, part = known
            self.shared.clock = time.monotonic()
            self.seats.bound(part, bind.task)
            if part.is_filled:  # that it runs is noted in the round that the watch brings
                self.shared.carry(group)
        self.reporter.bound(bind)

    def failed(self, action: Action, why: str) -> None:
        """Something cannot be done, and trying again would not help."""
        _log.warning("%s: %s", action, why)
        self.reporter.failed(action, why)
