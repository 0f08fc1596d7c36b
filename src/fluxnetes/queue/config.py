"""Configuration of the queues. Everything has a default; the default is one queue, first come first
served, with backfill that does not delay the head of the queue (easy)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.jobspec.constraint import Constraint


class BackfillPolicy(enum.Enum):
    """Which jobs may start when the first in order does not fit."""

    FCFS = "fcfs"
    """None: the head waits, and all jobs behind it."""
    EASY = "easy"
    """Jobs that do not delay the head."""
    HYBRID = "hybrid"
    """Jobs that do not delay the first k waiting jobs; see `QueueConfig.reservations`."""
    CONSERVATIVE = "conservative"
    """Jobs that delay no job ordered before them."""


class UnsatisfiablePolicy(enum.Enum):
    """What becomes of a submitted job that no resources of the cluster can serve now."""

    WAIT = "wait"
    """It is pending, without a place in line, until resources come that can serve it."""
    REJECT = "reject"
    """It is rejected, for good."""


@dataclass(frozen=True, slots=True)
class LimitConfig:
    """Limits of one user, one namespace or one queue. None: no limit."""

    running: int | None = None
    """Maximum jobs that hold resources."""
    pending: int | None = None
    """Maximum waiting jobs; one more is rejected."""
    resources: Mapping[str, int] = field(default_factory=dict)
    """Maximum amounts held at one time, by type."""


NO_CAP = LimitConfig()


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """One named queue."""

    name: str = "default"
    policy: BackfillPolicy = BackfillPolicy.EASY
    reservations: int = 8
    """How many jobs are promised a start under hybrid."""
    depth: int | None = None
    """Maximum jobs examined in one cycle; None: all."""
    priority: int = 0
    """Queues of a higher priority are visited first."""
    constraint: Constraint | None = None
    default_walltime: int | None = None
    max_walltime: int | None = None
    grace: int = 30
    """Seconds that a job has to end once it was asked to."""
    cap: LimitConfig = NO_CAP
    per_user: LimitConfig = NO_CAP
    per_namespace: LimitConfig = NO_CAP
    unsatisfiable: UnsatisfiablePolicy = UnsatisfiablePolicy.WAIT
    """Whether a job that nothing can serve when it is submitted waits, or is rejected for good."""
    growth: bool = True
    """Whether its waiting jobs may have an autoscaler buy nodes. Only Kubernetes has one."""
    resume_for_growth: bool = False
    """Whether a Job that waits suspended for nodes is resumed, so that an autoscaler sees pods."""
    preempts: bool = False
    """Whether its jobs may preempt preemptible jobs of lower classes."""

    @property
    def promises(self) -> int | None:
        """How many waiting jobs are promised a start; None: all."""
        if self.policy is BackfillPolicy.CONSERVATIVE:
            return None
        return self.reservations if self.policy is BackfillPolicy.HYBRID else 1


@dataclass(frozen=True, slots=True)
class PriorityWeights:
    """Weights of the factors that order jobs within a class. All 0: by arrival alone."""

    priority: float = 1.0
    fair_share: float = 0.0
    age: float = 0.0
    size: float = 0.0

    @property
    def by_priority(self) -> bool:
        """Whether jobs of a class are ordered by their own priority and by arrival alone."""
        return not (self.changing or self.size)

    @property
    def changing(self) -> bool:
        """Whether the order can change while nothing happens to the jobs in it."""
        return bool(self.fair_share or self.age)


@dataclass(frozen=True, slots=True)
class FairShare:
    """Shares of namespaces and users, and how fast usage fades."""

    half_life: int = 7 * 24 * 3600
    namespaces: Mapping[str, float] = field(default_factory=dict)
    """Shares of namespaces; a namespace not named here has 1."""
    users: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Shares of users within their namespace, by (namespace, user)."""


@dataclass(frozen=True, slots=True)
class BudgetConfig:
    """An amount of one type, for a queue or a namespace, in each period."""

    name: str
    amount: float
    """Resource-hours."""
    type: str = "core"
    period: int = 30 * 24 * 3600
    queue: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """The configuration of a scheduler."""

    queues: tuple[QueueConfig, ...] = (QueueConfig(),)
    weights: PriorityWeights = field(default_factory=PriorityWeights)
    age_cap: int = 7 * 24 * 3600
    """The age, in seconds, at which the age factor reaches 1 and stays there."""
    fair_share: FairShare = field(default_factory=FairShare)
    charge: Mapping[str, float] = field(default_factory=dict)
    """The weight of each type in usage; empty: cores, or else cpu, or else nodes."""
    budgets: tuple[BudgetConfig, ...] = ()
    match_policy: str = "lonode"
    """How to choose among resources that fit; see docs/policies.md."""
