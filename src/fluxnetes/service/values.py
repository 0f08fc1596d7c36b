"""What is asked of a host and what it answers, in values that know nothing of any wire.

Every dialect turns its messages into these and these into its messages, so a host is written once
and a dialect is a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.common.reasons import Reason
from fluxnetes.match.answers import Outcome
from fluxnetes.queue.jobs import Request


@dataclass(frozen=True, slots=True)
class EqualPods:
    """Equal pods, in the few words that the old dialects have for them."""

    count: int
    cpu: int
    """Whole cpus."""
    memory: int = 0
    """Bytes."""
    gpu: int = 0
    storage: int = 0
    """Bytes. The old services never looked at it."""
    together: bool = False
    """All on one node."""


@dataclass(frozen=True, slots=True)
class MatchCall:
    """A job that is to start now or, if `reserve` is set, at the earliest time it can."""

    request: Request | EqualPods
    reserve: bool = False
    name: str = ""
    """The group that the job stands for, in the words of whoever asks."""
    size: int = 1
    """How many pods or tasks the group has."""
    format: str = ""
    """How the allocation is to be written; empty: not at all."""
    now: int = 0
    """The time on the caller's clock; only for hosts that have none."""
    key: str = ""
    """Unlike any other: a wish that comes twice under one key is granted once."""
    user: str = ""
    """Who is to answer for it; empty: nobody knows."""


@dataclass(frozen=True, slots=True)
class AllocationUpdate:
    """An allocation that was made elsewhere."""

    job: int
    text: str
    format: str
    """`jgf`, `jgf_shorthand` or `rv1exec`."""
    at: int
    duration: int
    now: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """What a job has of one node."""

    node: str
    amounts: Mapping[str, int]
    tasks: int = 0
    """Its slots or pods that go there; 0 if that cannot be told."""


@dataclass(frozen=True, slots=True)
class Grant:
    """How a wish ended."""

    outcome: Outcome
    job: int
    at: int = 0
    """When the job may start."""
    reason: Reason | None = None
    """Why not; empty when it is a yes."""
    shares: tuple[Share, ...] = ()
    text: str = ""
    """The allocation as it was to be written."""
    overhead: float = 0.0
    """Seconds that the matcher took."""
    graph: int = 0
    """Which graph it is of, of all that a host had."""

    def __bool__(self) -> bool:
        return self.outcome in (Outcome.ALLOCATED, Outcome.RESERVED)


@dataclass(frozen=True, slots=True)
class GroupView:
    """A job as the old external service tells of it."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class JobView:
    """A job, as anybody may see it. Times are seconds since the epoch."""

    id: int
    state: str
    """As in `queue.states`, or `reserved`."""
    reason: Reason | None = None
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
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class JobExplanation:
    """A job's story and, while it waits, why."""

    job: JobView
    reason: Reason | None = None
    ahead: int | None = None
    """How many jobs of its queue are before it."""
    story: tuple[tuple[int, str], ...] = ()
    """What happened when, in words."""


@dataclass(frozen=True, slots=True)
class StartEstimate:
    """When and where a job would start."""

    known: bool
    start: int = 0
    shares: tuple[Share, ...] = ()
    reason: Reason | None = None
    still: bool = False
    """The start is on a clock that stands still: the caller's."""


@dataclass(frozen=True, slots=True)
class Pool:
    """All of one type, on a node or everywhere."""

    type: str
    total: int
    free: int
    reserved: int = 0
    """The most of it that is set aside at any one time to come."""
    others: int = 0
    """What somebody has who is no job of ours."""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class HeldShare:
    """What one job has of a node."""

    job: int
    amounts: Mapping[str, int]
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node, what is free of it, and who has the rest."""

    name: str
    path: str
    up: bool
    properties: Mapping[str, str] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
    shares: tuple[HeldShare, ...] = ()


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """What a host is, and how it is."""

    source: str
    """Where its graph is from: `none`, `init`, `file`, `store` or `live`."""
    policy: str
    queue: bool
    durable: bool
    vertices: int = 0
    nodes: int = 0
    nodes_up: int = 0
    totals: tuple[Pool, ...] = ()
    jobs: Mapping[str, int] = field(default_factory=dict)
    """How many there are in each state."""
