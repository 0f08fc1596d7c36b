"""The decisions of the queue, as data to persist and to carry out.

`Changes` collects what one or more steps changed. It is the unit of a transaction: the store writes
it as a whole or not at all, and only then is it carried out. Carrying out needs nothing else:
a job that became `allocated` is to be started on its allocation, one that became `ending` is to be
stopped, and one that ended is to be cleaned up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.common.reasons import Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.gang.model import Seats
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import WAITING, JobState


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event of a job's history. Events are only ever added."""

    job: int
    at: int
    kind: str
    """`transition`, `planned`, `unplanned`, `altered`, `resized`, `note`."""
    before: JobState | None = None
    after: JobState | None = None
    start: int | None = None
    """For `planned`: the promised start."""
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a job holds: rows of the graph, and for a gang the node of each pod."""

    job: int
    start: int
    end: int | None
    """None: endless."""
    placement: Placement
    seats: tuple[Seats, ...] = ()
    tasks: tuple[int, ...] | None = None
    """The node of each task, as a row of the graph; None: as `task_nodes` derives it, since no task
    has ended and none was added."""
    ended_tasks: frozenset[int] = frozenset()
    """Numbers of the tasks that have ended; the placement is what the others hold."""

    def task_nodes(self, graph: ResourceGraph) -> tuple[int, ...]:
        """The node of each task, as a row of the graph.

        For a gang a task is a pod, in the order of its seats. For a jobspec it is the job's part of
        one node, in the order of the graph.
        """
        if self.tasks is not None:
            return self.tasks
        if self.seats:
            return tuple(vertex for seats in self.seats for vertex in seats.each())
        rows = self.placement.vertex
        nodes = rows[graph.type_id[rows] == graph.types.get("node")]
        return tuple(sorted(nodes.tolist()))


@dataclass(frozen=True, slots=True)
class NodeWindow:
    """Nodes set aside for a time: for maintenance, or as an advance reservation for some jobs."""

    name: str
    start: int
    end: int
    nodes: tuple[str, ...]
    """Names of nodes, in the graph's order."""
    constraint: Constraint | None = None
    users: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    maintenance: bool = True


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """Resource-seconds used by one user in one namespace, decayed to a moment."""

    namespace: str
    user: str
    amount: float
    at: int


@dataclass(frozen=True, slots=True)
class QueueState:
    """Whether an operator stopped or drained a queue."""

    queue: str
    stopped: bool
    drained: bool


@dataclass(frozen=True, slots=True)
class BudgetRecord:
    """What a budget's current period has spent: used up and still committed."""

    budget: str
    period: int
    """The period's number since time 0."""
    amount: float
    """Resource-hours."""


@dataclass(slots=True)
class Changes:
    """What changed since the changes were last taken."""

    events: list[JobEvent] = field(default_factory=list)
    jobs: dict[int, QueueJob] = field(default_factory=dict)
    """The records of all jobs that changed, as they are now."""
    allocations: dict[int, Allocation | None] = field(default_factory=dict)
    """The allocations of jobs as they are now; None: the job holds nothing any more."""
    windows: dict[str, NodeWindow | None] = field(default_factory=dict)
    usage: dict[tuple[str, str], UsageRecord] = field(default_factory=dict)
    queues: dict[str, QueueState] = field(default_factory=dict)
    spent: dict[str, BudgetRecord] = field(default_factory=dict)
    step: int | None = None
    """The queue's step counter, if it moved."""

    def __bool__(self) -> bool:
        return bool(
            self.events
            or self.jobs
            or self.allocations
            or self.windows
            or self.usage
            or self.queues
            or self.spent
        )

    def of_job(self, id: int) -> Changes:
        """What changed of one job."""
        held = {id: self.allocations[id]} if id in self.allocations else {}
        return Changes(
            events=[event for event in self.events if event.job == id],
            jobs={id: self.jobs[id]},
            allocations=held,
        )

    def set_aside_newcomers(self) -> Changes:
        """Take out new jobs that only wait. They may be persisted later.

        Nothing else in the changes depends on them, and until they are persisted no user has seen
        them.
        """
        came = (e.job for e in self.events if e.kind == "transition" and e.before is None)
        aside = {id for id in came if self._only_waits(id)}
        if not aside:
            return Changes()
        later = Changes(
            events=[event for event in self.events if event.job in aside],
            jobs={id: self.jobs.pop(id) for id in sorted(aside)},
        )
        self.events = [event for event in self.events if event.job not in aside]
        return later

    def _only_waits(self, id: int) -> bool:
        job = self.jobs[id]
        return job.state in WAITING and id not in self.allocations and not job.tasks_started


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a queue needs to continue: loaded from a store, or taken from another queue."""

    jobs: tuple[QueueJob, ...] = ()
    """Jobs that have not ended, and ended ones that other jobs depend on."""
    outcomes: tuple[tuple[int, JobState], ...] = ()
    """Final states of the jobs that ended last, by id: later jobs may depend on them."""
    allocations: tuple[Allocation, ...] = ()
    windows: tuple[NodeWindow, ...] = ()
    usage: tuple[UsageRecord, ...] = ()
    queues: tuple[QueueState, ...] = ()
    spent: tuple[BudgetRecord, ...] = ()
    step: int = 0
    arrivals: int = 0
    """How many jobs have ever arrived."""
