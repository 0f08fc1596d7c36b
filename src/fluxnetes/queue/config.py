"""How queues are set up. Everything has a default; the default is one queue, first come first
served, with backfill that delays nobody's head of the queue (easy)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.jobspec.constraint import Constraint


class BackfillPolicy(enum.Enum):
    """Who goes next when the first in order does not fit."""

    FCFS = "fcfs"
    """Nobody. The head waits, and all behind it."""
    EASY = "easy"
    """Whoever does not delay the head."""
    HYBRID = "hybrid"
    """Whoever does not delay the first k that wait."""
    CONSERVATIVE = "conservative"
    """Whoever delays nobody ordered before it."""


@dataclass(frozen=True, slots=True)
class LimitConfig:
    """How much of everything one user, one namespace or one queue may have. None: no limit."""

    running: int | None = None
    """Jobs that hold resources."""
    pending: int | None = None
    """Jobs that wait; one more is rejected."""
    resources: Mapping[str, int] = field(default_factory=dict)
    """Amounts held at one time, by type."""


NO_CAP = LimitConfig()


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """One named queue."""

    name: str = "default"
    policy: BackfillPolicy = BackfillPolicy.EASY
    reservations: int = 8
    """How many jobs are promised a start under hybrid."""
    depth: int | None = None
    """How many jobs are looked at in one cycle; None: all."""
    priority: int = 0
    """Queues of a higher priority are visited first."""
    constraint: Constraint | None = None
    default_walltime: int | None = None
    max_walltime: int | None = None
    grace: int = 30
    """Seconds that a job has to leave once it was told to go."""
    cap: LimitConfig = NO_CAP
    per_user: LimitConfig = NO_CAP
    per_namespace: LimitConfig = NO_CAP
    preempts: bool = False
    """Whether its jobs may end or requeue preemptible jobs of lower classes."""

    @property
    def promises(self) -> int | None:
        """How many jobs that wait are promised a start; None: all."""
        if self.policy is BackfillPolicy.CONSERVATIVE:
            return None
        return self.reservations if self.policy is BackfillPolicy.HYBRID else 1


@dataclass(frozen=True, slots=True)
class PriorityWeights:
    """What counts how much within a class. All 0: arrival alone."""

    priority: float = 0.0
    fair_share: float = 0.0
    age: float = 0.0
    size: float = 0.0

    @property
    def by_arrival(self) -> bool:
        """Whether within a class whoever came first goes first."""
        return not (self.changing or self.priority or self.size)

    @property
    def changing(self) -> bool:
        """Whether the order can change while nothing happens to the jobs in it."""
        return bool(self.fair_share or self.age)


@dataclass(frozen=True, slots=True)
class FairShare:
    """Who is entitled to how much, and how fast usage is forgotten."""

    half_life: int = 7 * 24 * 3600
    namespaces: Mapping[str, float] = field(default_factory=dict)
    """Shares of namespaces; those not named have 1."""
    users: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Shares of users within their namespace, by (namespace, user)."""


@dataclass(frozen=True, slots=True)
class BudgetConfig:
    """So much of one type, for a queue or a namespace, in each period."""

    name: str
    amount: float
    """Resource-hours."""
    type: str = "core"
    period: int = 30 * 24 * 3600
    queue: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """Everything the queue needs to know besides the graph and what happens."""

    queues: tuple[QueueConfig, ...] = (QueueConfig(),)
    weights: PriorityWeights = field(default_factory=PriorityWeights)
    age_cap: int = 7 * 24 * 3600
    """The age, in seconds, at which the factor of age is 1 and stays there."""
    fair_share: FairShare = field(default_factory=FairShare)
    charge: Mapping[str, float] = field(default_factory=dict)
    """What an amount of each type counts in usage; empty: cores, or else cpu, or else nodes."""
    budgets: tuple[BudgetConfig, ...] = ()
    match_policy: str = "lonode"
    """How to choose among resources that fit; see docs/policies.md."""
