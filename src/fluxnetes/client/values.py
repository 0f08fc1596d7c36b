"""What a server tells, as values. Times are seconds since the epoch."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class State(enum.Enum):
    """Where a job is in its life."""

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
    """Of a server that is newer than this client."""

    @property
    def has_ended(self) -> bool:
        return self in _ENDED


_ENDED = frozenset(
    {State.COMPLETED, State.FAILED, State.CANCELLED, State.TIMED_OUT, State.REJECTED}
)


@dataclass(frozen=True, slots=True)
class Shape:
    """So many pods that are alike."""

    count: int
    amounts: Mapping[str, int]
    """What each takes of its node, by type."""
    exclusive: bool = False
    """Each has its node for itself."""


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
    """What a job has of one node."""

    node: str
    tasks: int
    """Its slots or pods that go there; 0 if that cannot be told."""
    amounts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """A job, as it was when it was asked about."""

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
    """For a match on a server without a clock: when it may start, on the caller's."""
    allocation: str = ""
    """For a match: what was given, as the text that was asked for."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A job's story and, while it waits, why."""

    job: Job
    reason: str
    ahead: int
    story: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """When and where a job would start."""

    known: bool
    start: int | None
    nodes: tuple[NodeShare, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Pool:
    """All that there is of one type."""

    type: str
    total: int
    free: int
    reserved: int
    others: int
    unit: str


@dataclass(frozen=True, slots=True)
class Share:
    """What one job has of a node."""

    job: int
    amounts: Mapping[str, int]
    reserved: bool


@dataclass(frozen=True, slots=True)
class Node:
    """A node, what is free of it, and who has the rest."""

    name: str
    path: str = ""
    up: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class Reset:
    """All that a stream told before is void; what there is now follows.

    Every stream begins so, and so does one whose server was restarted.
    """


@dataclass(frozen=True, slots=True)
class JobChange:
    """A job came, changed or ended."""

    job: Job
    ended: bool
    resume: str
    """Where to go on if the stream is left here; empty: from the beginning."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node came, changed or went."""

    node: Node
    """Of one that is gone, only its name."""
    gone: bool
    resume: str


@dataclass(frozen=True, slots=True)
class Status:
    """What a server is, and how it is."""

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
