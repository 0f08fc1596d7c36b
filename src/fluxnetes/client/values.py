"""The values that callers see. Times are seconds since the epoch."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class State(enum.Enum):
    """The state of a job."""

    GATHERING = "gathering"
    HELD = "held"
    PENDING = "pending"
    ALLOCATED = "allocated"
    RUNNING = "running"
    ENDING = "ending"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    REJECTED = "rejected"
    RESERVED = "reserved"
    UNKNOWN = "unknown"
    """A state that only a newer client knows."""

    @property
    def has_ended(self) -> bool:
        return self in _ENDED


_ENDED = frozenset(
    {State.COMPLETED, State.FAILED, State.CANCELLED, State.TIMED_OUT, State.REJECTED}
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A number of equal pods."""

    count: int
    amounts: Mapping[str, int]
    """What each pod takes of its node, by type."""
    exclusive: bool = False
    """Each pod has its node to itself."""


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that start together."""

    shapes: tuple[Shape, ...]

    @classmethod
    def of(cls, count: int, **amounts: int) -> Gang:
        """Equal pods: `Gang.of(8, cpu=2000, memory=4096)`."""
        return cls((Shape(count, amounts),))


@dataclass(frozen=True, slots=True)
class NodeShare:
    """What a job holds of one node."""

    node: str
    tasks: int
    """Its slots or pods on the node; 0 if unknown."""
    amounts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """A job, as it was when the server answered."""

    id: int
    state: State
    reason: str = ""
    name: str = ""
    namespace: str = ""
    user: str = ""
    queue: str = ""
    priority: int = 0
    walltime: int | None = None
    submitted: int | None = None
    started: int | None = None
    deadline: int | None = None
    ended: int | None = None
    promised: int | None = None
    nodes: tuple[NodeShare, ...] = ()
    at: int = 0
    """For a match on a server without a clock: when it may start, on the caller's clock."""
    allocation: str = ""
    """For a match: the allocation, in the requested format."""
    reason_code: str = ""
    """The stable word for `reason`, such as Resources, Held or TimedOut."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A job's history and, while it waits, why."""

    job: Job
    reason: str
    ahead: int
    story: tuple[tuple[int, str], ...]
    reason_code: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """When and where a job would start."""

    known: bool
    start: int | None
    nodes: tuple[NodeShare, ...]
    reason: str
    reason_code: str = ""


@dataclass(frozen=True, slots=True)
class Pool:
    """The totals of one resource type."""

    type: str
    total: int
    free: int
    reserved: int
    others: int
    unit: str


@dataclass(frozen=True, slots=True)
class Share:
    """What one job holds of a node."""

    job: int
    amounts: Mapping[str, int]
    reserved: bool


@dataclass(frozen=True, slots=True)
class Node:
    """A node, its free resources, and the jobs that hold the rest."""

    name: str
    path: str = ""
    up: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class Reset:
    """All that a stream sent before is void; the current state follows.

    Every stream begins with it, and so does the stream of a restarted server.
    """


@dataclass(frozen=True, slots=True)
class JobChange:
    """A job was added, changed or ended."""

    job: Job
    ended: bool
    resume: str
    """The position to resume a stream from; empty: from the beginning."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node was added, changed or removed."""

    node: Node
    """Of a removed node, only the name."""
    gone: bool
    resume: str


@dataclass(frozen=True, slots=True)
class Status:
    """The server's version, graph, policy, totals and number of jobs."""

    version: str
    source: str
    policy: str
    queue: bool
    dialect: str
    durable: bool
    vertices: int
    nodes: int
    nodes_up: int
    totals: tuple[Pool, ...]
    jobs: Mapping[str, int]
    started: int
