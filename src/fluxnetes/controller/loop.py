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

    desk: ControllerState
    following: Watchers
    grounds: NodeSync
    seating: SeatAssigner
    queueing: GroupSubmitter
    carrying: Reconciler
    finishing: DecisionApplier
    hands: Executor
    telling: Reporter
    store: Store
    config: SchedulerConfig
    fence: int
    wake: asyncio.Event
    petitions: Mailbox = field(default_factory=Mailbox)
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
        until = _TICK if self.desk.noted is None else _NOTE_WITHIN
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
        if self.desk.world.dirty:  # then nothing was waited for, and others have a turn
            await asyncio.sleep(0)

    # -- a round -------------------------------------------------------------------------------

    async def _round(self) -> None:
        desk = self.desk
        desk.now, desk.clock = int(time.time()), time.monotonic()
        self._look()
        decides = self._has_to_decide()
        if not decides and not self._has_waited(desk.noted):
            self._carry_out()
            self.petitions.reply()
            return
        more = False
        if decides:
            self._heard = desk.told
            more = self.hands.expects = desk.scheduler.cycle(desk.now, _AT_ONCE)
            self._cut_since = (self._cut_since or desk.clock) if more else None
        if not more:  # else somebody who asked may not have been looked at yet
            self.petitions.settle()
        desk.noted = None
        await self._write_down(desk.scheduler.take_changes(but_newcomers=self._may_leave()))
        self._carry_out()
        if not more:
            self.petitions.reply()
        if desk.told != self._heard:  # on which the queue has yet to decide
            self.wake.set()
        self._next = desk.scheduler.next_wake(desk.now)

    def _has_to_decide(self) -> bool:
        if self.hands.expects:
            return self._has_more_to_decide()
        due = self._next is not None and self.desk.now >= self._next
        return due or self.desk.told != self._heard

    def _has_more_to_decide(self) -> bool:
        """Whether the last cycle was cut short, and it is time to go on.

        Not while all hands are full: what is decided later is decided with more knowledge, and no
        bind is the later for it. Callers only wait for the decision, though.
        """
        return self.hands.expects and (not self.hands.are_full() or self.petitions.are_waiting)

    def _may_leave(self) -> bool:
        """Whether those who have only come may be written later: many are about to start, and it
        is urgent to bind the others."""
        return self._cut_since is not None and self.desk.clock - self._cut_since < _LEAVE_FOR

    def _has_waited(self, noted: float | None) -> bool:
        if noted is None or self.hands.expects:
            return False
        return self.desk.clock - noted >= _NOTE_WITHIN

    def _look(self) -> None:
        """Tell the queue all that happened."""
        nodes, gone = self.following.take_nodes()
        if nodes or gone:
            self.grounds.follow(nodes, gone)
            self.petitions.nodes_changed([*(node.metadata.name for node in nodes), *gone])
        if self.desk.clock - self._ticked >= _TICK:
            self._ticked = self.desk.clock
            self._be_patient()
        self.petitions.nodes_changed(self.grounds.count_others())
        for group, member in self.desk.world.take_sat_down():
            self.seating.see(group, member.pod)
        for group in self.desk.world.take_dirty(self._how_many()):
            self._settle(group)
        # Reading pods may have made pools of which others hold something already.
        self.petitions.nodes_changed(self.grounds.count_others())
        self.grounds.look_again()
        self.petitions.hear()
        # What callers gave back may have been in use by pods, which are others' from now on.
        self.petitions.nodes_changed(self.grounds.count_others())

    def _how_many(self) -> int | None:
        """How many groups to look at in this round; None: all.

        Where class and arrival alone say who goes first, they come in the order in which they go:
        a term begins so (`line_up`), and later whoever came first is seen first. So as long as
        everybody starts, nobody is passed by one who is looked at sooner.
        """
        all_start = self._cut_since is not None or not self.desk.scheduler.in_line
        return _LOOK_AT_ONCE if all_start and self.config.weights.by_arrival else None

    def _settle(self, group: WorkloadGroup) -> None:
        self.seating.settle(group)
        self.queueing.settle(group)
        if any(part.holds for part in group.parts):
            self.desk.carry(group)
        self.telling.look_at(group)
        if group.is_gone:
            self.desk.world.forget(group)

    async def _write_down(self, changes: Changes) -> None:
        if self.grounds.changed:
            self.grounds.changed = False
            await self.store.keep_system(self.desk.matcher.graph, self.config, self.fence)
        if changes:
            await self.store.commit(changes, self.fence)
            self.finishing.take(changes)
            self.telling.take(changes)
            self.petitions.take(changes)

    def _carry_out(self) -> None:
        told = self.desk.told
        for group in self.desk.take_to_carry():
            for action in self.carrying.carry(group):
                self.hands.ask(action)
        if self.desk.told != told or self.desk.world.dirty:
            self.wake.set()

    # -- patience ------------------------------------------------------------------------------

    def _be_patient(self) -> None:
        """Look at what has waited long enough."""
        desk = self.desk
        self.grounds.settle_crowds()
        restless, desk.restless = desk.restless, {}
        for key in restless:
            group = desk.world.groups.get(key)
            if group is not None and self._waits_for_something(group):
                desk.restless[key] = None
        self._settle_homeless()
        self._settle_unsized()
        if not self.hands.expects:  # else many of those that wait are about to start
            self.telling.refresh()

    def _waits_for_something(self, group: WorkloadGroup) -> bool:
        """Look after a group; False: nothing more will happen to it by time alone."""
        waits = False
        for part in self.desk.holding(group):
            if part.kept or part.returning or self.desk.state(part) is JobState.ENDING:
                self.desk.world.dirty[group.key] = None
            elif not part.is_filled:
                self._look_after(group, part, self.desk.clock - part.progress)
            else:
                continue
            waits = True
        return waits

    def _look_after(self, group: WorkloadGroup, part: GroupPart, idle: float) -> None:
        """Ask again for what was asked for, or give up, once nothing went forward for a while."""
        if idle > self.desk.settings.stall:
            part.pause = self._pause(part)
            self.carrying.give_up(group, part, self._stalled())
        elif idle > _ASK_AGAIN:
            part.bind_again()
            self.desk.carry(group)

    def _pause(self, part: GroupPart) -> int:
        """How long a part that stalled is left alone; the first time not at all.

        A quota that keeps its pods from being made, say, may do so for hours, and meanwhile others
        can use the nodes.
        """
        times: int = 2 ** min(self.desk.job(part).restarts, _LONGEST_PAUSE) - 1
        return math.ceil(min(times, _LONGEST_PAUSE) * self.desk.settings.again)

    def _stalled(self) -> str:
        seconds = self.desk.settings.stall
        return f"not all of its pods could be placed, and nothing went forward for {seconds:.0f} s"

    def _settle_homeless(self) -> None:
        world = self.desk.world
        seen = {uid: self._homeless.get(uid, self.desk.clock) for uid in world.homeless}
        late = [u for u, at in seen.items() if self.desk.clock - at > self.desk.settings.homeless]
        world.settle_homeless(late)
        self._homeless = seen

    def _settle_unsized(self) -> None:
        unsized = {group.key: group for group in self.desk.world.unsized()}
        seen = {key: self._unsized.get(key, self.desk.clock) for key in unsized}
        late = [k for k, at in seen.items() if self.desk.clock - at > self.desk.settings.homeless]
        self.desk.world.do_without_pod_group(unsized[key] for key in late)
        self._unsized = seen

    # -- how deeds went ------------------------------------------------------------------------

    def bound(self, bind: BindPod) -> None:
        """A pod was bound; the watch will show it a little later."""
        known = self.desk.parts.get(bind.job)
        if known is not None and known[1].pods.get(bind.task) == bind.uid:
            group, part = known
            self.desk.clock = time.monotonic()
            self.seating.bound(part, bind.task)
            if part.is_filled:  # that it runs is noted in the round that the watch brings
                self.desk.carry(group)
        self.telling.bound(bind)

    def failed(self, action: Action, why: str) -> None:
        """Something cannot be done, and trying again would not help."""
        _log.warning("%s: %s", action, why)
        self.telling.failed(action, why)
