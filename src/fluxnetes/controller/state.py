"""State that the controller's components share: groups on one side, the queue on the other.

`ControllerState` (called `shared` by its users) makes no decisions. It knows which part of which
group stands for which job of the queue, and which seats are on which node. It is the only component
that sends events to the queue. Other modules do not assign its fields: they call the method that
says what happened.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import GroupKey, WorkloadGroup
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeChanges
from fluxnetes.cluster.outcome import GroupOutcome
from fluxnetes.cluster.parts import NO_NODE, GroupPart
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import (
    Ended,
    Event,
    GraphChanged,
    Incomplete,
    NodesClosed,
    NodesOpened,
    Started,
    Suspended,
    TasksEnded,
)
from fluxnetes.queue.jobs import Origin, QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState

_log = logging.getLogger("fluxnetes.controller")

WorkloadName = tuple[str, str, str]
"""Kind, namespace and name of a group: how users refer to it in dependencies."""


_SUSPENSION_SEEN = 5.0
"""Seconds after which a suspension that was requested has been seen, or was replaced by a release
before it was sent."""


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """Timeouts of the controller, in seconds. `--timeout` sets them by these names."""

    replacement_pod: float = 60.0
    """How long a seat is held for the replacement of a pod that ended."""
    stalled_group: float = 60.0
    """A group that is placed but not filled is returned to the queue after no progress for this
    long."""
    dependent_pod: float = 600.0
    """The same for a group whose workload creates some of its pods only once others are ready,
    while some of it runs."""
    retry_delay: float = 60.0
    """Delay before a group that was returned because it stalled is retried: first none, then
    this long, and then about twice as long each time, up to ten times as long."""
    orphan_pod: float = 10.0
    """How long a pod waits for the workload that its ownerReferences name, or for its PodGroup."""
    forced_delete: float = 30.0
    """Pods that should have ended are deleted if they are still there after this long."""
    incomplete: float = 60.0
    """How long a group runs without some of its pods before it is returned to the queue or failed,
    if it asks for that."""
    node_conflict: float = 5.0
    """How long foreign pods and ours may hold more than a node has before a group of ours goes."""


@dataclass(slots=True, eq=False)
class ControllerState:
    """See the module's docstring."""

    model: ClusterModel
    matcher: Matcher
    scheduler: Scheduler
    reader: PodReader
    anywhere: Constraint
    """The nodes that are open to pods without tolerations, selectors or affinity."""
    settings: ControllerSettings
    now: int
    """Seconds since the epoch, for the queue; set once per round."""
    clock: float
    """Observed seconds, for timeouts; set once per round (see `observation`)."""
    next_id: int
    """The number of the next job."""
    parts: dict[int, tuple[WorkloadGroup, GroupPart]] = field(init=False, default_factory=dict)
    """The part that stands for a job of the queue, by the job's id."""
    last_job: dict[WorkloadName, int] = field(init=False, default_factory=dict)
    """The job that was last submitted for a group of that name; others may depend on it."""
    ended_before: dict[WorkloadName, bool] = field(init=False, default_factory=dict)
    """Groups that ended and that the store does not know; whether they succeeded."""
    seats_on: dict[str, set[tuple[int, int]]] = field(init=False, default_factory=dict)
    """Job and task of every seat, by node."""
    events_sent: int = field(init=False, default=0)
    """The number of events sent to the queue that may change what it decides."""
    unwritten_since: float | None = field(init=False, default=None)
    """Since when there are events besides those, which only have to be written to the store."""
    has_new_graph: bool = field(init=False, default=False)
    """Whether the graph has other vertices or properties than the stored one."""
    _to_reconcile: dict[GroupKey, None] = field(init=False, default_factory=dict)
    """Groups for which actions may be needed."""
    _unsettled: dict[GroupKey, None] = field(init=False, default_factory=dict)
    """Groups for which actions were requested, some of which may not have had their effect yet."""
    _suspending: dict[str, float] = field(init=False, default_factory=dict)
    """When a suspension that the watch has not shown yet was last requested, by workload."""
    _nodes_to_recheck: set[str] = field(init=False, default_factory=set)
    """Nodes that changed, or on which a seat became empty: may our pods still go there?"""

    # -- time ----------------------------------------------------------------------------------

    def begin_round(self, now: int, clock: float) -> None:
        """A round of the controller begins."""
        self.now, self.clock = now, clock

    # -- events for the queue ------------------------------------------------------------------

    def send(self, event: Event) -> bool:
        """Send an event to the queue; False if the queue refuses it."""
        try:
            self.put(event)
        except QueueError as error:
            _log.debug("the queue refuses %s: %s", type(event).__name__, error)
            return False
        return True

    def put(self, event: Event) -> None:
        """Send an event to the queue. Raises QueueError. Part of `QueueHost`."""
        # The event may refer to rules and pools that reading a pod has just put on the graph.
        changes = self.reader.take_changes()
        if changes:
            self.send_node_changes(changes)
        self.scheduler.apply(event, self.now)
        if not isinstance(event, Started):
            self.events_sent += 1
        elif self.unwritten_since is None:
            # That a job began to run changes no decision, so it need not be written at once.
            self.unwritten_since = self.clock

    def send_node_changes(self, changes: NodeChanges) -> None:
        """The graph changed; the queue must know before it gets any other event."""
        if changes.relabelled:
            self.matcher.engine.relabelled()
        if changes.reshaped or changes.relabelled:
            self.has_new_graph = True
            self.send(GraphChanged())
        if changes.closed:
            self.send(NodesClosed(tuple(sorted(changes.closed))))
        if changes.opened:
            self.send(NodesOpened(tuple(sorted(changes.opened))))

    def graph_rewritten(self) -> None:
        """Properties of the graph changed that only have to be written to the store."""
        self.has_new_graph = True

    def events_written(self) -> None:
        """All events so far are about to be written to the store."""
        self.unwritten_since = None

    def take_new_graph(self) -> bool:
        """Whether the graph has to be written to the store; it counts as written."""
        has_new, self.has_new_graph = self.has_new_graph, False
        return has_new

    # -- for callers: see `service.mailbox.QueueHost` ------------------------------------------

    def where(self) -> Constraint | None:
        """The nodes that callers may be given."""
        return self.anywhere

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> None:
        """Pods that name a caller's job may use what the job holds; None: no longer."""
        self.model.lend(job, nodes)

    def borrowers(self, job: int) -> int:
        """The number of pods that use what a caller's job holds."""
        return self.model.borrowers(job)

    # -- jobs and their groups -----------------------------------------------------------------

    def job(self, part: GroupPart) -> QueueJob:
        return self.scheduler.job(part.job)

    def state(self, part: GroupPart) -> JobState:
        return self.job(part).state

    def group_of_job(self, job: QueueJob) -> WorkloadGroup | None:
        """The group that a job stands for or, once it has ended, stood for."""
        known = self.parts.get(job.id)
        if known is not None:
            return known[0]
        if job.submission.origin is not Origin.CLUSTER:
            return None
        return self.model.groups.get(GroupKey.of(job.submission.workload))

    def next_id_used(self) -> None:
        """A job of the number `next_id` was submitted."""
        self.next_id += 1

    def job_submitted(self, group: WorkloadGroup, part: GroupPart) -> None:
        """A part of a group has a job in the queue."""
        part.made_progress(self.clock)
        group.add_part(part)
        self.parts[part.job] = (group, part)
        if len(group.parts) == 1:
            self.remember_job(group, part.job)

    def remember_job(self, group: WorkloadGroup, job: int) -> None:
        """What depends on a group of this name, or on a workload of it, depends on this job."""
        self.last_job[group.key[:3]] = job
        for uid, workload in group.workloads.items():
            self.last_job[(group.kinds[uid], *workload.key)] = job

    def remember_outcomes(self, outcomes: Mapping[WorkloadName, bool]) -> None:
        """Groups that ended and that the store does not know; whether they succeeded."""
        self.ended_before.update(outcomes)

    def job_placed(self, part: GroupPart, nodes: list[str], ended: frozenset[int]) -> None:
        """The queue gave a job nodes."""
        self._clear_seats(part)
        part.place(nodes, ended)
        for task, node in enumerate(nodes):
            if task not in ended and node != NO_NODE:
                self.seats_on.setdefault(node, set()).add((part.job, task))

    def await_end(self, group: WorkloadGroup, part: GroupPart) -> None:
        """A job holds nothing, and its pods still run: on nodes that are gone, or where another
        scheduler put them. It ends with them."""
        members = frozenset(part.members)
        self.gather_again(group, part, Reason.of(Message.PODS_ELSEWHERE))
        part.expect_ends(members)

    def job_requeued(self, group: WorkloadGroup, part: GroupPart) -> None:
        """A job waits again; its group may ask for something else by now."""
        self._clear_seats(part)
        group.requeue_part(part)
        self.model.mark_dirty(group)

    def job_over(self, part: GroupPart, outcome: GroupOutcome | None) -> None:
        """Nothing of a job runs any more; None: Kubernetes does not say how it ended."""
        if outcome is None:
            self.send(Ended(part.job, ok=False))
        else:
            self.send(Ended(part.job, reason=outcome.reason, outcome=outcome.state))

    def suspend_job(self, group: WorkloadGroup, part: GroupPart) -> None:
        """The user suspended what a job stands for; it holds nothing until that is resumed."""
        if part.holds:
            self.job_requeued(group, part)
        part.gather(again=False)
        self.send(Suspended(part.job, Reason.of(Message.SUSPENDED_BY_USER)))

    def gather_again(self, group: WorkloadGroup, part: GroupPart, why: Reason) -> None:
        """A job holds nothing, and waits until its pods are there."""
        if part.holds:
            self.job_requeued(group, part)
        if not part.gathers:
            part.gather(again=True)
            self.send(Incomplete(part.job, why))

    def job_ended(self, group: WorkloadGroup, part: GroupPart) -> None:
        """A job has ended; its pods that are still bound count as foreign usage."""
        self._clear_seats(part)
        uids = list(part.pods.values())
        group.remove_part(part)
        self.parts.pop(part.job, None)
        for uid in uids:
            if uid in group.pods:
                self.model.account(group.pods[uid].pod)

    def end_tasks(self, part: GroupPart, tasks: list[int], failed: frozenset[int]) -> None:
        """Tasks of a part have ended, some of them failed; no pod takes their seats any more."""
        part.end_tasks(tasks)
        self._drop_seats(part, tasks)
        self.send(TasksEnded(part.job, tuple(sorted(tasks)), failed))

    def leave_nodes(self, part: GroupPart, tasks: list[int]) -> None:
        """Tasks left their nodes; the queue names other nodes with its next decision."""
        self._drop_seats(part, tasks)
        part.lose_nodes(tasks)

    def nodes_of(self, allocation: Allocation) -> list[str]:
        """The node of each task of a job, by name. Rows of nodes that are gone keep their names."""
        graph = self.matcher.graph
        position = graph.topology().position
        rows = allocation.task_nodes(graph)
        return [graph.name(r) if r >= 0 and position[r] >= 0 else NO_NODE for r in rows]

    def seats_by_part(self, node: str) -> list[tuple[WorkloadGroup, GroupPart, list[int]]]:
        """The groups and parts with seats on a node, and the tasks of those seats."""
        by_job: dict[int, list[int]] = {}
        for job, task in sorted(self.seats_on.get(node, ())):
            by_job.setdefault(job, []).append(task)
        return [(*self.parts[job], tasks) for job, tasks in by_job.items()]

    def _clear_seats(self, part: GroupPart) -> None:
        self._drop_seats(part, range(len(part.nodes)))

    def _drop_seats(self, part: GroupPart, tasks: Iterable[int]) -> None:
        for task in tasks:
            self.seats_on.get(part.nodes[task], set()).discard((part.job, task))

    # -- what has to be looked at --------------------------------------------------------------

    def request_reconcile(self, group: WorkloadGroup) -> None:
        """Actions may be needed for a group."""
        self._to_reconcile[group.key] = None

    def take_to_reconcile(self) -> list[WorkloadGroup]:
        """Groups for which actions may be needed; their timeouts are checked from now on."""
        keys, self._to_reconcile = self._to_reconcile, {}
        self._unsettled |= keys
        return [self.model.groups[key] for key in keys if key in self.model.groups]

    def take_unsettled(self) -> list[WorkloadGroup]:
        """Groups whose timeouts are to be checked; `keep_unsettled` has them checked again."""
        keys, self._unsettled = self._unsettled, {}
        return [self.model.groups[key] for key in keys if key in self.model.groups]

    def keep_unsettled(self, group: WorkloadGroup) -> None:
        """A group still waits for something that a timeout may end."""
        self._unsettled[group.key] = None

    def suspension_requested(self, workload: str) -> None:
        """A waiting workload is about to be suspended; its pods will be deleted."""
        self._suspending[workload] = self.clock

    def is_suspending(self, workload: str) -> bool:
        """Whether a suspension was requested whose effect was not seen yet."""
        since = self._suspending.get(workload)
        if since is None or self.clock - since < _SUSPENSION_SEEN:
            return since is not None
        del self._suspending[workload]
        return False

    def suspension_seen(self, workload: str) -> None:
        """A workload is suspended, or gone."""
        self._suspending.pop(workload, None)

    def recheck_node(self, node: str) -> None:
        """A node changed, or a seat on it became empty."""
        self._nodes_to_recheck.add(node)

    def take_nodes_to_recheck(self) -> set[str]:
        nodes, self._nodes_to_recheck = self._nodes_to_recheck, set()
        return nodes
