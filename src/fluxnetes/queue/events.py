"""What happens: everything that the queue is told. Values only; the queue never asks back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.queue.jobs import ElasticSize, Request, Submission

_CANCELLED_BY_USER = Reason.of(Message.CANCELLED_BY_USER)
_PART_LOST = Reason.of(Message.PART_LOST)
_CLUSTER_CHANGED = Reason.of(Message.CLUSTER_CHANGED)


@dataclass(frozen=True, slots=True)
class Submit:
    """A job comes. Its id must be new."""

    submission: Submission


@dataclass(frozen=True, slots=True)
class Gathered:
    """A group is complete, perhaps with another request than was first thought."""

    job: int
    request: Request | None = None


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
    """A job is cancelled: at once while it waits, else when it has left its nodes."""

    job: int
    reason: Reason = _CANCELLED_BY_USER


@dataclass(frozen=True, slots=True)
class Alter:
    """Change a waiting job, or extend a running one's walltime. None leaves a value as it is."""

    job: int
    walltime: int | None = None
    priority: int | None = None
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class Reshape:
    """A job that waits asks for something else. It keeps its place in the order, and its age."""

    job: int
    request: Request
    size: ElasticSize | None = None


@dataclass(frozen=True, slots=True)
class Adopt:
    """A job is found running: somebody else, or we in another life, placed it.

    It holds what its gang asks for on these nodes, task by task in the order of the shapes, since
    `start`, whether or not that is more than they have.
    """

    submission: Submission
    start: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Started:
    """What was allocated is carried out: the job runs."""

    job: int


@dataclass(frozen=True, slots=True)
class Returned:
    """What was allocated could not be carried out: the job goes back to the queue."""

    job: int
    reason: Reason
    begin: int | None = None
    """When it may be tried again, at the earliest; None: at once."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A job is gone from all of its nodes."""

    job: int
    ok: bool = True
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """One task of a group (a pod; for a jobspec, its part of a node) is gone for good."""

    job: int
    task: int
    ok: bool = True


@dataclass(frozen=True, slots=True)
class TasksEnded:
    """Several tasks of a group are gone for good, some of them perhaps because they failed."""

    job: int
    tasks: tuple[int, ...]
    failed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Reseat:
    """Some tasks of a gang lose their places, and get others now: all of them, or it is refused.

    They keep their numbers.
    """

    job: int
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grow:
    """An elastic job may grow, if there is room that nobody was promised."""

    job: int


@dataclass(frozen=True, slots=True)
class NodesLost:
    """Nodes are down, by name. Jobs on them end."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartsLost:
    """Jobs lost a part of what they held; known, for instance, after a restart on another graph."""

    jobs: tuple[int, ...]
    reason: Reason = _PART_LOST


@dataclass(frozen=True, slots=True)
class NodesBack:
    """Nodes are up again, by name."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodesClosed:
    """Nodes take nothing new from now on, by name. Jobs on them go on."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodesOpened:
    """Nodes that were closed take new work again, by name."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Occupied:
    """Others, who are none of our jobs, hold these amounts of nodes now.

    By the name of the node and the type of the pool. Of a node that is named, others hold nothing
    of the types that are not; a node that is not named stays as it was.
    """

    nodes: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class GraphChanged:
    """The graph was grown, shrunk or relabelled from outside."""

    reason: Reason = _CLUSTER_CHANGED


@dataclass(frozen=True, slots=True)
class SetQueue:
    """Stop a queue (nothing of it starts), drain it (nothing more is taken in), or open it."""

    queue: str
    stopped: bool = False
    drained: bool = False


@dataclass(frozen=True, slots=True)
class Maintain:
    """A maintenance window: nobody is on these nodes from start to end."""

    name: str
    start: int
    end: int
    nodes: Constraint


@dataclass(frozen=True, slots=True)
class Reserve:
    """An advance reservation: `request` is set aside for some users and namespaces."""

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
    """A maintenance window or an advance reservation is called off."""

    name: str


Event = (
    Submit
    | Gathered
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
