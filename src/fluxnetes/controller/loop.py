"""The loop of the controller: read the cluster, decide, commit, reconcile, round after round.

    watchers (any time) ──▶ cluster model
                                 │
    a round                      ▼                             components
      1. look       nodes, foreign usage, groups, callers      node_sync, seats, submission, mailbox
            │ events
            ▼
      2. decide     a cycle of the queue                       scheduler
            │ changes
            ▼
      3. commit     written to the store, or it never          store, then decisions, reporter and
            │       happened; then applied and reported        mailbox
            ▼
      4. reconcile  request actions on the cluster             reconcile ──▶ actions ──▶ API server
      5. reply      answer callers                             mailbox

One round follows the other for as long as something happens. Only the commit waits for I/O: during
it the watchers may change the model, and the executor may finish actions. Everything is
level-triggered: a round looks at where things are, so a lost event costs latency and nothing else.

The process that runs this must lead (`leadership.election`) and hold the store's lease. Losing
either cancels `run`.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import GroupKey, WorkloadGroup
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.controller.actions.queue import ActionQueue
from fluxnetes.controller.deadlines import DeadlineKeeper
from fluxnetes.controller.decisions import DecisionApplier
from fluxnetes.controller.incomplete import IncompleteGroups
from fluxnetes.controller.node_sync import NodeSync
from fluxnetes.controller.observation import Observation
from fluxnetes.controller.reconcile import Reconciler, has_enough
from fluxnetes.controller.reporting.reporter import Reporter
from fluxnetes.controller.seats import SeatAssigner
from fluxnetes.controller.state import ControllerState
from fluxnetes.controller.submission import GroupSubmitter
from fluxnetes.controller.sweep import Sweep
from fluxnetes.controller.walltimes import WalltimeSync
from fluxnetes.controller.watchers import Watchers
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.states import JobState
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.store.errors import ValueRefused
from fluxnetes.store.store import Store

_K = TypeVar("_K", bound=Hashable)

_TICK = 1.0
"""Seconds between two checks of timeouts."""
_WRITE_STARTS_WITHIN = 0.25
"""Maximum seconds until it is written that jobs began to run. That changes no decision, so many
starts are written together."""
_AT_ONCE = 100
"""Maximum jobs that start per round, so that binding begins while the queue decides on the rest."""
_LOOK_AT_ONCE = 2 * _AT_ONCE
"""Maximum groups looked at per round while all waiting jobs start, for the same reason. More than
start, so that the cycle is cut short and reports keep giving way to binds."""
_LEAVE_FOR = 5.0
"""Maximum seconds until new jobs are written to the store during a burst of starts."""
_LONGEST_DELAY = 10
"""Maximum retry delay of a part that stalled, as a multiple of the shortest."""
_REQUEST_AGAIN = 5.0
"""Seconds without progress after which the binds of a part are requested again."""


@dataclass(slots=True, eq=False)
class Controller:
    """The rounds of one term of leadership; `leadership.terms` assembles it."""

    shared: ControllerState
    watchers: Watchers
    node_sync: NodeSync
    seats: SeatAssigner
    submitter: GroupSubmitter
    reconciler: Reconciler
    deadlines: DeadlineKeeper
    incomplete: IncompleteGroups
    walltimes: WalltimeSync
    decisions: DecisionApplier
    actions: ActionQueue
    reporter: Reporter
    store: Store
    config: SchedulerConfig
    fence: int
    mailbox: Mailbox
    observation: Observation
    sweep: Sweep
    _last_tick: float = field(init=False, default=0.0)
    _events_decided: int = field(init=False, default=0)
    """`shared.events_sent` when the last cycle began: later events wait for a cycle."""
    _next_cycle: int | None = field(init=False, default=None)
    """When the queue wants a cycle even if nothing happens: seconds since the epoch."""
    _cut_since: float | None = field(init=False, default=None)
    """Since when cycles have been cut short, if the last one was."""
    _orphans: dict[str, float] = field(init=False, default_factory=dict)
    """Since when pods wait for their workload to be seen, by uid."""
    _without_pod_group: dict[GroupKey, float] = field(init=False, default_factory=dict)
    """Since when groups wait for their PodGroup to be seen."""

    async def run(self) -> None:
        """Round after round, until cancelled or a lease is lost."""
        while True:
            await self._round()
            await self._until_something_happens()

    async def _until_something_happens(self) -> None:
        """Wait until a watcher, a caller or the last round sets `wake`, or for the next
        deadline."""
        timeout = _TICK if self.shared.unwritten_since is None else _WRITE_STARTS_WITHIN
        if self._has_more_to_decide():
            timeout = 0.0
        elif self._next_cycle is not None:
            timeout = min(timeout, max(0.0, self._next_cycle - time.time()))
        wake = self.watchers.wake
        try:
            async with asyncio.timeout(timeout):
                await wake.wait()
        except TimeoutError:
            pass
        wake.clear()
        if self.shared.model.has_dirty:  # then `wake` was set already: let other tasks run once
            await asyncio.sleep(0)

    # -- a round -------------------------------------------------------------------------------

    async def _round(self) -> None:
        """One round; see the diagram in the module's docstring.

        Without a reason for a cycle, and with nothing that has to be written, a round only looks
        and reconciles. While cycles are cut short (`more`), callers get no answer: the queue may
        not have looked at their jobs yet.
        """
        shared = self.shared
        shared.begin_round(int(time.time()), self.observation.begin_round())
        self._look()
        needs_cycle = self._needs_cycle()
        if not needs_cycle and not self._must_write_starts():
            self._reconcile()
            self.mailbox.reply()
            return
        more = self._decide() if needs_cycle else False
        if not more:
            self.mailbox.settle()
        await self._commit()
        self._reconcile()
        if not more:
            self.mailbox.reply()
        self._wake_if_undecided()
        self._next_cycle = shared.scheduler.next_wake(shared.now)

    def _look(self) -> None:
        """Send the queue an event for everything that happened."""
        self._look_at_nodes()
        self._tick()
        # Foreign usage is counted three times, each time before something that places tasks at
        # once, or reads the free capacity, and so should know all usage. Counting costs nothing
        # where nothing changed. Without one of the counts no node would be overcommitted either,
        # since binds to a node with uncounted usage are held back and its tasks are then moved;
        # but those tasks would be placed twice, and callers would get stale answers.
        # 1. Settling a group may grow an elastic job, and the queue places the new tasks at once.
        self._count_foreign_usage()
        self._look_at_groups()
        # 2. Reading pods may have added pools of which foreign pods hold something already, and
        #    pods whose job has ended are foreign now. Rechecking nodes moves tasks, and a caller's
        #    request is matched at once.
        self._count_foreign_usage()
        self.node_sync.recheck_nodes()
        self.mailbox.accept()
        # 3. Callers may have given back shares that pods still use: these are foreign from now on,
        #    and the cycle that follows must not give their capacity to a job.
        self._count_foreign_usage()

    def _look_at_nodes(self) -> None:
        nodes, gone = self.watchers.take_nodes()
        if nodes or gone:
            self.node_sync.nodes_changed(nodes, gone)
            self.mailbox.nodes_changed([*(node.metadata.name for node in nodes), *gone])

    def _count_foreign_usage(self) -> None:
        self.mailbox.nodes_changed(self.node_sync.count_foreign_usage())

    def _look_at_groups(self) -> None:
        model = self.shared.model
        for group, member in model.take_newly_bound():
            self.seats.seen_bound(group, member.pod)
        for group in model.take_dirty(self._groups_per_round()):
            self._settle(group)
        if not model.has_dirty:
            self.sweep.run()

    def _settle(self, group: WorkloadGroup) -> None:
        self.seats.settle(group)
        self.submitter.settle(group)
        self.deadlines.settled(group)
        self.incomplete.settled(group)
        self.walltimes.settled(group)
        if group.holding:
            self.shared.request_reconcile(group)
        self.reporter.group_settled(group)
        if group.is_gone:
            self.shared.model.forget(group)

    def _groups_per_round(self) -> int | None:
        """The maximum number of groups to look at in this round; None: all.

        Where class and arrival alone determine the order, groups are looked at in the order in
        which they start: a term begins so (`adoption.sort_by_arrival`), and later the watch shows
        them in order of arrival. So while all waiting jobs start, a limit makes no job overtake
        another. A priority that any of them asks for may change the order.
        """
        scheduler = self.shared.scheduler
        all_start = self._cut_since is not None or not scheduler.in_line
        by_arrival = scheduler.orders_by_arrival and not self.shared.model.has_prioritized
        return _LOOK_AT_ONCE if all_start and by_arrival else None

    # -- decide and commit ---------------------------------------------------------------------

    def _needs_cycle(self) -> bool:
        if self.actions.expects_more:
            return self._has_more_to_decide()
        is_due = self._next_cycle is not None and self.shared.now >= self._next_cycle
        return is_due or self.shared.events_sent != self._events_decided

    def _has_more_to_decide(self) -> bool:
        """Whether the last cycle was cut short, and it is time to go on.

        Not while all bind workers are busy: a later decision knows more, and no bind is delayed by
        it. Callers wait for the decision only, though.
        """
        return self.actions.expects_more and (
            not self.actions.is_full() or self.mailbox.are_waiting
        )

    def _decide(self) -> bool:
        """Run a cycle of the queue; True if it was cut short and there may be more to start."""
        shared = self.shared
        self._events_decided = shared.events_sent
        # All groups that hold resources were looked at in this round, so every end that was seen is
        # known to the queue, and what is left has really run out of time.
        shared.scheduler.enforce_walltimes(self.observation.is_current)
        more: bool = shared.scheduler.cycle(shared.now, _AT_ONCE)
        shared.scheduler.enforce_walltimes(False)
        self.actions.expect_more(more)
        self._cut_since = (self._cut_since or shared.clock) if more else None
        return more

    def _must_write_starts(self) -> bool:
        """Whether it is time to write that jobs began to run."""
        since = self.shared.unwritten_since
        if since is None or self.actions.expects_more:
            return False
        return self.shared.clock - since >= _WRITE_STARTS_WITHIN

    async def _commit(self) -> None:
        """Write the graph and the queue's changes to the store, then apply the changes."""
        shared = self.shared
        shared.events_written()
        changes = shared.scheduler.take_changes(but_newcomers=self._may_leave_new_jobs())
        if shared.take_new_graph():
            await self.store.keep_system(shared.matcher.graph, self.config, self.fence)
        if changes:
            try:
                await self.store.commit(changes, self.fence)
            except ValueRefused:
                await self._remember_refused(changes)
                raise
            self.decisions.apply(changes)
            self.reporter.changes_written(changes)
            self.mailbox.publish(changes)

    async def _remember_refused(self, changes: Changes) -> None:
        """Remember the workloads that the store refuses, so that the next term leaves them out.

        Values are checked before they reach the queue; this is for what the check does not know.
        """
        for job, why in (await self.store.refused_jobs(changes)).items():
            workload = changes.jobs[job].submission.workload
            if workload:
                self.submitter.refused[workload] = why

    def _may_leave_new_jobs(self) -> bool:
        """Whether jobs that have only been submitted may be written later: many others are about to
        start, and binding those is urgent."""
        return self._cut_since is not None and self.shared.clock - self._cut_since < _LEAVE_FOR

    # -- reconcile -----------------------------------------------------------------------------

    def _reconcile(self) -> None:
        """Request actions for all groups that may need some."""
        events_before = self.shared.events_sent
        self.deadlines.suspend_waiting()
        for group in self.shared.take_to_reconcile():
            self.reconciler.reconcile(group)
        # Reconciling also informs the queue, of a job that was returned or has ended, say. The
        # cycle of this round is over, so without another round the queue would decide on it only
        # after the next tick. The same holds for groups that are dirty now.
        if self.shared.events_sent != events_before or self.shared.model.has_dirty:
            self.watchers.wake.set()

    def _wake_if_undecided(self) -> None:
        """Start another round at once if the queue got events after its cycle began.

        The mailbox sends some when it settles callers' requests; decisions and reconciling send
        others. The sender cannot wait for the next tick, and nothing else would set `wake`.
        """
        if self.shared.events_sent != self._events_decided:
            self.watchers.wake.set()

    # -- timeouts ------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Check timeouts, at most once a second."""
        shared = self.shared
        if shared.clock - self._last_tick < _TICK:
            return
        self._last_tick = shared.clock
        self.node_sync.resolve_overcommit()
        self.incomplete.check()
        for group in shared.take_unsettled():
            if self._is_unsettled(group):
                shared.keep_unsettled(group)
        self._settle_orphans()
        self._settle_without_pod_group()
        if not self.actions.expects_more:  # else many waiting jobs are about to start
            self.reporter.refresh()

    def _is_unsettled(self, group: WorkloadGroup) -> bool:
        """Check the timeouts of a group; False: none is left that could expire."""
        unsettled = False
        for part in group.holding:
            if part.held or part.returning or self.shared.state(part) is JobState.ENDING:
                self.shared.model.mark_dirty(group)
            elif not part.is_filled:
                self._check_progress(group, part)
            else:
                continue
            unsettled = True
        return unsettled

    def _check_progress(self, group: WorkloadGroup, part: GroupPart) -> None:
        """Request the binds of a part again, or give it up, after some time without progress."""
        idle = self.shared.clock - part.last_progress
        stall = self._stall(group, part)
        if idle > stall and has_enough(group, part):
            self.seats.end_empty_seats(group, part)
        elif idle > stall:
            why = Reason.of(Message.STALLED, seconds=f"{stall:.0f}")
            self.reconciler.give_up(group, part, why, self._retry_delay(part))
        elif idle > _REQUEST_AGAIN:
            part.retry_binds()
            self.shared.request_reconcile(group)

    def _stall(self, group: WorkloadGroup, part: GroupPart) -> float:
        """Seconds without progress after which seats that are empty are given up."""
        settings = self.shared.settings
        if part.bound and any(
            ADAPTERS[group.kinds[uid]].creates_in_order(workload)
            for uid, workload in group.workloads.items()
        ):
            return max(settings.stalled_group, settings.dependent_pod)
        return settings.stalled_group

    def _retry_delay(self, part: GroupPart) -> int:
        """How long a part that stalled is not started again; the first time not at all.

        What keeps its pods from being created, such as a quota, may last for hours, and other jobs
        can use the nodes meanwhile.
        """
        times: int = 2 ** min(self.shared.job(part).restarts, _LONGEST_DELAY) - 1
        return math.ceil(min(times, _LONGEST_DELAY) * self.shared.settings.retry_delay)

    def _settle_orphans(self) -> None:
        model = self.shared.model
        self._orphans = self._since(model.orphans, self._orphans)
        model.settle_orphans(self._expired(self._orphans), self.watchers.unwatched())

    def _settle_without_pod_group(self) -> None:
        model = self.shared.model
        groups = {group.key: group for group in model.without_pod_group()}
        self._without_pod_group = self._since(groups, self._without_pod_group)
        model.do_without_pod_group(groups[key] for key in self._expired(self._without_pod_group))

    def _since(self, keys: Iterable[_K], known: dict[_K, float]) -> dict[_K, float]:
        """Since when each of the keys has been there."""
        return {key: known.get(key, self.shared.clock) for key in keys}

    def _expired(self, since: dict[_K, float]) -> list[_K]:
        timeout = self.shared.settings.orphan_pod
        return [key for key, at in since.items() if self.shared.clock - at > timeout]
