"""The requests and answers of a backend, independent of any wire format.

Every dialect converts its messages to these values and back, so a backend is written once and a
dialect is one page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.common.reasons import Reason
from fluxnetes.match.answers import Outcome
from fluxnetes.queue.jobs import Request


@dataclass(frozen=True, slots=True)
class EqualPods:
    """Equal pods, with the few fields that the old dialects have for them."""

    count: int
    cpu: int
    """Whole cpus."""
    memory: int = 0
    """Bytes."""
    gpu: int = 0
    storage: int = 0
    """Bytes. Ignored, as by the old services."""
    together: bool = False
    """All on one node."""


@dataclass(frozen=True, slots=True)
class MatchCall:
    """A job to start now or, if `reserve` is set, at the earliest possible time."""

    request: Request | EqualPods
    reserve: bool = False
    name: str = ""
    """The caller's name for the job or its group."""
    size: int = 1
    """The number of pods or tasks of the group."""
    format: str = ""
    """The format of the allocation's text; empty: no text."""
    now: int = 0
    """The time on the caller's clock; only for backends without a clock."""
    key: str = ""
    """A unique key of the request: repeated under the same key it is executed once. Empty: none."""
    user: str = ""
    """The owner of the job; empty: unknown."""


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
    user: str = ""
    """The owner of the job; empty: unknown."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a job holds of one node."""

    node: str
    amounts: Mapping[str, int]
    tasks: int = 0
    """Its slots or pods on the node; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The result of a match: an allocation, or why there is none."""

    outcome: Outcome
    job: int
    at: int = 0
    """When the job may start."""
    reason: Reason | None = None
    """Why nothing was allocated; empty if something was."""
    shares: tuple[Share, ...] = ()
    text: str = ""
    """The allocation in the requested format."""
    overhead: float = 0.0
    """Seconds that the matcher took."""
    graph: int = 0
    """The number of the backend's graph, which counts replacements."""

    def __bool__(self) -> bool:
        return self.outcome in (Outcome.ALLOCATED, Outcome.RESERVED)


@dataclass(frozen=True, slots=True)
class GroupView:
    """A job as the old external service shows it."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class JobView:
    """A job, as callers see it. Times are seconds since the epoch."""

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
    """A job's history and, while it waits, why."""

    job: JobView
    reason: Reason | None = None
    ahead: int | None = None
    """The number of jobs ahead of it in its queue."""
    story: tuple[tuple[int, str], ...] = ()
    """Time and text of each event."""


@dataclass(frozen=True, slots=True)
class StartEstimate:
    """When and where a job would start."""

    known: bool
    start: int = 0
    shares: tuple[Share, ...] = ()
    reason: Reason | None = None
    still: bool = False
    """The backend has no clock: the start is on the caller's."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The totals of one resource type, on a node or everywhere."""

    type: str
    total: int
    free: int
    reserved: int = 0
    """The maximum that is reserved at any one time in the future."""
    others: int = 0
    """The usage by others than this system's jobs."""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class HeldShare:
    """What one job holds of a node."""

    job: int
    amounts: Mapping[str, int]
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node, its free resources, and the jobs that hold the rest."""

    name: str
    path: str
    up: bool
    properties: Mapping[str, str] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
    shares: tuple[HeldShare, ...] = ()


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """The graph, policy, totals and number of jobs of a backend."""

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
    """The number of jobs in each state."""
