"""The events that the queue handles: everything that the caller reports or requests.

Events are plain values; the queue never calls back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.queue.jobs import ElasticSize, Request, Submission
from fluxnetes.queue.states import JobState

_CANCELLED_BY_USER = Reason.of(Message.CANCELLED_BY_USER)
_PART_LOST = Reason.of(Message.PART_LOST)
_CLUSTER_CHANGED = Reason.of(Message.CLUSTER_CHANGED)


@dataclass(frozen=True, slots=True)
class Submit:
    """A job is submitted. Its id must be new."""

    submission: Submission
    endless: bool = False
    """Whether it has no walltime, whatever the default of its queue."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """A group is complete, perhaps with another request than at submission."""

    job: int
    request: Request | None = None
    size: ElasticSize | None = None
    """Of an elastic job; it counts if there is a request."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A waiting job is held: it does not start until it is released."""

    job: int


@dataclass(frozen=True, slots=True)
class Release:
    """A held job may start again."""

    job: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """A job is cancelled: at once while it waits, else it is asked to end."""

    job: int
    reason: Reason = _CANCELLED_BY_USER


@dataclass(frozen=True, slots=True)
class Alter:
    """Change a waiting job, or extend a running one's walltime. None leaves a value as it is."""

    job: int
    walltime: int | None = None
    priority: int | None = None
    queue: str | None = None
    endless: bool = False
    """Whether a job without a walltime stays so, whatever the default of its queue."""


@dataclass(frozen=True, slots=True)
class Reshape:
    """A waiting job requests something else. It keeps its place in the order, and its age."""

    job: int
    request: Request
    size: ElasticSize | None = None


@dataclass(frozen=True, slots=True)
class Adopt:
    """A job already runs: another scheduler, or an earlier controller, placed it.

    It holds what its gang requests on these nodes, task by task in the order of the shapes, since
    `start`, even if that is more than the nodes have free.
    """

    submission: Submission
    start: int
    nodes: tuple[str, ...]
    endless: bool = False
    """As for `Submit`."""


@dataclass(frozen=True, slots=True)
class Started:
    """An allocated job runs now."""

    job: int


@dataclass(frozen=True, slots=True)
class Returned:
    """An allocated job could not be started: it goes back to the queue."""

    job: int
    reason: Reason
    begin: int | None = None
    """When it may be tried again, at the earliest; None: at once."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """A user suspended the workload of a job: the job holds nothing, and is held until its user
    resumes it."""

    job: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Incomplete:
    """The group of a job is not complete any more: the job holds nothing, and waits for the rest of
    its group. `Gathered` follows, or the job ends."""

    job: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Ended:
    """A job has ended on all of its nodes.

    Without an outcome, the job must hold resources; it ends as completed or failed, or, if it was
    asked to end, as the cause of that says. With an outcome, the caller knows how the job ended,
    whatever the queue had asked for: a job whose walltime is over may have completed just before
    that. Then it may also be a job that waits.
    """

    job: int
    ok: bool = True
    reason: Reason | None = None
    outcome: JobState | None = None
    """Completed, failed, cancelled or timed out."""


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """One task of a job (a pod; for a jobspec, its part of a node) has ended for good."""

    job: int
    task: int
    ok: bool = True


@dataclass(frozen=True, slots=True)
class TasksEnded:
    """Several tasks of a job have ended for good; some of them may have failed."""

    job: int
    tasks: tuple[int, ...]
    failed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Reseat:
    """Some tasks of a gang lose their nodes and get others now: all of them, or it is refused.

    They keep their numbers.
    """

    job: int
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grow:
    """An elastic job may grow, if there is capacity that is not promised to other jobs."""

    job: int


@dataclass(frozen=True, slots=True)
class NodesLost:
    """Nodes are down, by name. Jobs on them end."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartsLost:
    """Jobs lost a part of what they held; seen, for instance, after a restart on another graph."""

    jobs: tuple[int, ...]
    reason: Reason = _PART_LOST
    fail: bool = False
    """Whether they fail, whatever they were submitted with."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something is to be said about a job that holds resources; None: no longer."""

    job: int
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class NodesBack:
    """Nodes are up again, by name."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodesClosed:
    """Nodes take no new work from now on, by name. Jobs on them continue."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodesOpened:
    """Nodes that were closed take new work again, by name."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Occupied:
    """Foreign usage, which belongs to no job of the queue, takes these amounts of nodes now.

    By the name of the node and the type of the pool. Of a node that is named, foreign usage of
    the types that are not is 0; a node that is not named stays as it was.
    """

    nodes: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class GraphChanged:
    """The caller grew, shrank or relabelled the graph."""

    reason: Reason = _CLUSTER_CHANGED


@dataclass(frozen=True, slots=True)
class SetQueue:
    """Stop a queue (none of its jobs starts), drain it (it takes no new jobs), or open it."""

    queue: str
    stopped: bool = False
    drained: bool = False


@dataclass(frozen=True, slots=True)
class Maintain:
    """A maintenance window: no job is on these nodes from start to end."""

    name: str
    start: int
    end: int
    nodes: Constraint


@dataclass(frozen=True, slots=True)
class Reserve:
    """An advance reservation: `count` nodes are set aside for some users and namespaces."""

    name: str
    start: int
    end: int
    count: int
    """How many whole nodes."""
    nodes: Constraint | None = None
    users: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RemoveWindow:
    """A maintenance window or an advance reservation is removed."""

    name: str


Event = (
    Submit
    | Gathered
    | Incomplete
    | Suspended
    | Hold
    | Release
    | Cancel
    | Alter
    | Reshape
    | Adopt
    | Started
    | Returned
    | Ended
    | TaskEnded
    | TasksEnded
    | Reseat
    | Grow
    | NodesLost
    | PartsLost
    | Note
    | NodesBack
    | NodesClosed
    | NodesOpened
    | Occupied
    | GraphChanged
    | SetQueue
    | Maintain
    | Reserve
    | RemoveWindow
)
