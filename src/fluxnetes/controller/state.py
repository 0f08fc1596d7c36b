"""What the controller's parts work on together: groups on one side, the queue on the other.

The desk decides nothing. It knows which part of which group stands for which job of the queue, what
is on which node, and it is the only one who tells the queue anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import GroupKey, GroupPart, WorkloadGroup
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import Event, Started, TasksEnded
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from fluxnetes.service.mailbox import CALLED

ELSEWHERE = "?"
"""In place of a node's name: it is gone, or the task is on its way to another."""

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """How patient the controller is. Seconds."""

    keep_seat: float = 60.0
    """A seat waits so long for the replacement of a pod that ended."""
    stall: float = 60.0
    """A group that is placed but not filled goes back if nothing went forward for so long."""
    again: float = 60.0
    """A group that went back for that reason is tried again at once, then so long after, and then
    about twice as long each time, up to ten times as long."""
    homeless: float = 10.0
    """A pod waits so long for the workload that it says it is of."""
    grace: float = 30.0
    """What was told to go is deleted if it is still there so long after it should be gone."""
    collision: float = 5.0
    """Others' pods on nodes that we also filled have so long to sort it out."""


@dataclass(slots=True, eq=False)
class ControllerState:
    """See the module's docstring."""

    model: ClusterModel
    matcher: Matcher
    scheduler: Scheduler
    settings: ControllerSettings = field(default_factory=ControllerSettings)
    now: int = 0
    """Seconds since the epoch, for the queue; set once a round."""
    clock: float = 0.0
    """Monotonic seconds, for our own patience; set once a round."""
    next_id: int = 1
    parts: dict[int, tuple[WorkloadGroup, GroupPart]] = field(default_factory=dict)
    """The part that stands for a job of the queue, by the job's id."""
    last_job: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """The job that a group of this kind, namespace and name was queued as the last time; others may
    depend on it."""
    ended_before: dict[tuple[str, str, str], bool] = field(default_factory=dict)
    """Such groups of which the store knows nothing any more, and whether they ended well."""
    seats_on: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    """Job and task of every seat, by node."""
    doubtful: set[str] = field(default_factory=set)
    """Nodes that changed, or on which a seat became empty: may pods still go there?"""
    told: int = 0
    """How often the queue was told something that it may decide otherwise for."""
    noted: float | None = None
    """Since when there is something besides that only needs to be written down."""
    before_telling: Callable[[], None] = field(default=lambda: None)
    """What else the queue must hear first: of the graph, that it changed."""
    anywhere: Constraint | None = None
    """The rule of a pod that has none of its own."""
    to_carry: dict[GroupKey, None] = field(default_factory=dict)
    """Groups for which something may have to be done."""
    restless: dict[GroupKey, None] = field(default_factory=dict)
    """Groups that something was done for, of which some may have nothing left to wait for."""

    def tell(self, event: Event) -> bool:
        """Tell the queue; False if it would not hear of it."""
        self.before_telling()
        try:
            self.scheduler.apply(event, self.now)
        except QueueError as error:
            _log.debug("the queue refuses %s: %s", type(event).__name__, error)
            return False
        self._note(event)
        return True

    def _note(self, event: Event) -> None:
        if not isinstance(event, Started):
            self.told += 1
        elif self.noted is None:
            self.noted = self.clock

    # -- for callers: see `petitions.Office` ---------------------------------------------------

    def put(self, event: Event) -> None:
        """Tell the queue something that a caller asked for. Raises QueueError."""
        self.before_telling()
        self.scheduler.apply(event, self.now)
        self._note(event)

    def where(self) -> Constraint | None:
        """Nodes to which any pod may go that tolerates nothing and wishes for nothing."""
        return self.anywhere

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> None:
        self.model.lend(job, nodes)

    def borrowers(self, job: int) -> int:
        return self.model.borrowers(job)

    # -- groups and their jobs -----------------------------------------------------------------

    def job(self, part: GroupPart) -> QueueJob:
        return self.scheduler.job(part.job)

    def group_of_job(self, job: QueueJob) -> WorkloadGroup | None:
        """The group that a job stands for or, once it ended, stood for."""
        known = self.parts.get(job.id)
        if known is not None:
            return known[0]
        if job.submission.workload.startswith(CALLED):
            return None
        return self.model.groups.get(GroupKey.of(job.submission.workload))

    def state(self, part: GroupPart) -> JobState:
        return self.job(part).state

    def add(self, group: WorkloadGroup, part: GroupPart) -> None:
        """A part is queued."""
        part.progress = self.clock
        group.parts.append(part)
        self.parts[part.job] = (group, part)
        self.last_job[group.key[:3]] = part.job

    def remove(self, group: WorkloadGroup, part: GroupPart) -> None:
        """A part is over for the queue; its pods that are still bound count as others'."""
        self._clear_seats(part)
        uids = list(part.pods.values())
        group.end(part)
        self.parts.pop(part.job, None)
        for uid in uids:
            if uid in group.pods:
                self.model.account(group.pods[uid].pod)

    def nodes_of(self, allocation: Allocation) -> list[str]:
        """The node of each task of a job, by name. Rows of nodes that are gone keep their names."""
        graph = self.matcher.graph
        there = graph.topology().position
        rows = allocation.task_nodes(graph)
        return [graph.name(r) if r >= 0 and there[r] >= 0 else ELSEWHERE for r in rows]

    def place(self, part: GroupPart, nodes: list[str], ended: frozenset[int]) -> None:
        """The queue gave a part nodes."""
        self._clear_seats(part)
        part.place(nodes, ended)
        for task, node in enumerate(nodes):
            if task not in ended and node != ELSEWHERE:
                self.seats_on.setdefault(node, set()).add((part.job, task))

    def wait_again(self, group: WorkloadGroup, part: GroupPart) -> None:
        """A part went back to the queue; what it asks for may be something else by now."""
        self._clear_seats(part)
        group.wait_again(part)
        self.model.dirty[group.key] = None

    def lift(self, part: GroupPart, tasks: list[int]) -> None:
        """Tasks have left their nodes; which ones they got the queue says when that is written."""
        for task in tasks:
            self.seats_on.get(part.nodes[task], set()).discard((part.job, task))
            part.nodes[task] = ELSEWHERE

    def end_tasks(self, part: GroupPart, tasks: list[int], badly: frozenset[int]) -> None:
        """Tasks of a part are over, some of them badly; nobody will sit there any more."""
        part.ended.update(tasks)
        for task in tasks:
            self.seats_on.get(part.nodes[task], set()).discard((part.job, task))
        self.tell(TasksEnded(part.job, tuple(sorted(tasks)), badly))

    def _clear_seats(self, part: GroupPart) -> None:
        for task, node in enumerate(part.nodes):
            self.seats_on.get(node, set()).discard((part.job, task))

    def holding(self, group: WorkloadGroup) -> Iterator[GroupPart]:
        """The parts of a group that hold something."""
        return (part for part in list(group.parts) if part.holds)

    def carry(self, group: WorkloadGroup) -> None:
        """Look whether something is to be done for a group."""
        self.to_carry[group.key] = None

    def take_to_carry(self) -> list[WorkloadGroup]:
        keys, self.to_carry = self.to_carry, {}
        self.restless |= keys
        return [self.model.groups[key] for key in keys if key in self.model.groups]
