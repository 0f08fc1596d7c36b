"""The records of jobs: what was submitted, and the state of the job since then.

A `Submission` never changes. A `QueueJob` is the record that does: its state, the values that can
be altered while it waits, its times, its plan. All of its fields are plain values, so the store can
write the record as it is and the queue can continue from it after a crash.

Times are whole seconds on the caller's clock. A walltime of None is *endless*: for the planner the
job never ends.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from fluxnetes.common.reasons import Reason
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.states import EndCause, JobState

Request = Jobspec | Gang
"""What a job requests. The walltime is the job's; a duration in the request is not read."""


class DependencyKind(enum.Enum):
    """The state that a dependency requires of another job."""

    STARTED = "after"
    SUCCEEDED = "afterok"
    ENDED = "afterany"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A state that another job must have reached before this one may start."""

    kind: DependencyKind
    job: int


@dataclass(frozen=True, slots=True)
class ElasticSize:
    """How large an elastic group may be, in units of its request (its slots, nodes or pods)."""

    min: int
    max: int


@dataclass(frozen=True, slots=True)
class JobArray:
    """One record, many equal tasks; each starts as a job of its own."""

    tasks: int
    at_once: int | None = None
    """Maximum tasks that hold resources at one time."""


class OnLoss(enum.Enum):
    """What happens to a job that loses nodes."""

    FAIL = "fail"
    REQUEUE = "requeue"


class Origin(enum.Enum):
    """Where a job came from, and so what it represents."""

    DIRECT = "direct"
    """Only the job itself: from a simulation, or a program that embeds the queue in Python."""
    CLUSTER = "cluster"
    """Objects of a Kubernetes cluster."""
    CALL_SUBMIT = "call-submit"
    """A submission of a caller of the service."""
    CALL_MATCH = "call-match"
    """A match of a caller of the service: it starts at once or not at all."""
    MATCHER = "matcher"
    """An allocation of a matcher without a queue, recorded as a job."""


CALLERS = frozenset({Origin.CALL_SUBMIT, Origin.CALL_MATCH})
"""Origins of callers' jobs: only the caller creates objects for them on the cluster."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What a user submits."""

    id: int
    request: Request
    walltime: int | None = None
    queue: str = "default"
    user: str = "nobody"
    namespace: str = "default"
    name: str = ""
    job_class: int = 0
    """Classes are strictly ordered: any job of a higher class goes before all of a lower one."""
    priority: int = 0
    held: bool = False
    gathering: bool = False
    """The group is not complete yet; a `Gathered` event follows."""
    begin: int | None = None
    dependencies: tuple[Dependency, ...] = ()
    size: ElasticSize | None = None
    array: JobArray | None = None
    reservation: str | None = None
    """The advance reservation to run in."""
    preemptible: bool = False
    requeue: bool = True
    """Whether a preempted job goes back to the queue, rather than being cancelled."""
    min_runtime: int = 0
    """How long it runs at least, in seconds, before it may be preempted."""
    on_loss: OnLoss = OnLoss.FAIL
    workload: str = ""
    """What the job represents: the reference of a group, or a caller's key. The queue never reads
    it."""
    origin: Origin = Origin.DIRECT


@dataclass(frozen=True, slots=True)
class PlannedStart:
    """A promise: the job starts at this time at the latest, unless a recorded reason moves it."""

    start: int
    since: int
    """The queue's step in which this job was first promised something; see `QueueJob.ranked`."""
    reason: Reason | None = None
    """Why the start moved later the last time it did; None: it never did."""


@dataclass(slots=True)
class QueueJob:
    """The record of one job."""

    submission: Submission
    state: JobState
    submitted: int
    arrival: int
    """Number in order of arrival."""
    queue: str
    priority: int
    walltime: int | None
    ranked: int
    """The queue's step in which the job took its place in the order: when it arrived, was released,
    or was given another priority or queue. It can move only promises that are older."""
    eligible: int | None = None
    """Since when it waits for capacity only; age counts from here."""
    plan: PlannedStart | None = None
    size: int = 0
    """Units held by an elastic job; 0 for all others."""
    start: int | None = None
    """When it was last allocated."""
    running: int | None = None
    """When it began to run; None: it does not."""
    deadline: int | None = None
    """When its walltime is over; None while it holds nothing, or if it is endless."""
    expected: int | None = None
    """Until when the planner expects it to hold its resources: the deadline, unless it was asked to
    end before that or has not ended after it."""
    end: int | None = None
    cause: EndCause | None = None
    reason: Reason | None = None
    """Why it is in this state: why it was rejected, cancelled, ended."""
    restarts: int = 0
    parent: int | None = None
    index: int | None = None
    """For a task of an array: the array, and the number within it."""
    tasks_started: int = 0
    tasks_failed: int = 0
    """For an array."""
    backfilled: bool = False
    """Whether it started while a job ordered before it waited."""
    commitments: dict[str, float] = field(default_factory=dict)
    """Resource-hours that it has committed of each budget, by the budget's name."""

    @property
    def id(self) -> int:
        return self.submission.id

    @property
    def user(self) -> str:
        return self.submission.user

    @property
    def namespace(self) -> str:
        return self.submission.namespace
