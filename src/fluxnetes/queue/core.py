"""The parts that everything in the queue works on, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.match.planning import Planning
from fluxnetes.queue.changes import Allocation, NodeWindow, QueueState
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import PlannedStart, QueueJob
from fluxnetes.queue.order.limits import BudgetTracker, LimitTracker
from fluxnetes.queue.order.order import JobOrder, QueueLine, Rank
from fluxnetes.queue.order.usage import UsageLedger
from fluxnetes.queue.persist.records import JobRecords
from fluxnetes.queue.plan.base import CapacityPlan
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.plan.timeline import FOREVER

Place = tuple[int, str, Rank, int]
"""Minus the queue's priority, its name, the rank within it, and the job."""

_FEW_KINDS = 16
"""Only this few kinds of asks have a chance to be counted."""


@dataclass(slots=True)
class CountKind:
    """Asks that are counted in the same way."""

    example: PlanRequest
    count: int = 0


@dataclass(slots=True)
class QueueCore:
    """The state of the queue, and nothing that acts on it."""

    config: SchedulerConfig
    queues: dict[str, QueueConfig]
    planning: Planning
    records: JobRecords
    usage: UsageLedger
    limits: LimitTracker
    budgets: BudgetTracker
    order: JobOrder
    lines: dict[str, QueueLine]
    capacity: CapacityPlan
    charge: Mapping[str, float]
    """What an amount of each type counts in usage."""
    operators: dict[str, QueueState] = field(default_factory=dict)
    """What operators said of queues."""
    allocations: dict[int, Allocation] = field(default_factory=dict)
    """What each job holds that holds anything."""
    windows: dict[str, NodeWindow] = field(default_factory=dict)
    parked: dict[int, str] = field(default_factory=dict)
    """Pending jobs that wait for something else than room, and what for."""
    newcomers: list[QueueJob] = field(default_factory=list)
    """Jobs that were let into line since the queues were last visited."""
    preempting: dict[int, set[int]] = field(default_factory=dict)
    """For jobs that made others go: whose leaving they wait for."""
    freed: bool = True
    """Something is free that was not when jobs were last asked for."""
    gained: bool = False
    """Something is free that the plan did not count on: promises may move earlier."""
    unsettled: str = "the queue starts"
    """Why the room must be laid out anew; empty if it need not."""
    crowded: str = ""
    """What others did on nodes since the room last followed that; empty if nothing."""
    astray: bool = True
    """Whether jobs may be where they could not be placed now; labels change under them."""
    kinds: dict[object, CountKind] = field(default_factory=dict)
    """The kinds of asks that live, and how many there are of each."""
    known_asks: dict[PlanRequest, PlanRequest] = field(default_factory=dict)
    """Equal asks are one object, so that comparing them is quick."""
    estimates: dict[object, dict[str, int]] = field(default_factory=dict)

    def duration(self, job: QueueJob) -> int:
        """How long a job may be there, for the planner."""
        return FOREVER if job.walltime is None else max(1, job.walltime)

    def until(self, job: QueueJob, start: int) -> int:
        return min(start + self.duration(job), FOREVER)

    def set_plan(self, job: QueueJob, plan: PlannedStart | None) -> None:
        """Give a job a plan, another one, or none; limits count what is promised."""
        if job.queue in self.limits.any and (job.plan is None) != (plan is None):
            amounts = self.estimate(self.records.asks[job.id])
            self.limits.promises(job, amounts, -1 if plan is None else +1)
        if self.budgets:
            amounts = {} if plan is None else self.estimate(self.records.asks[job.id])
            self.budgets.promises(job, amounts, None if plan is None else plan.start)
        job.plan = plan

    def commit(self, job: QueueJob, amounts: Mapping[str, int], seconds: int, now: int) -> None:
        """A job may have so much more for so many seconds; less than nothing is a refund."""
        for spent in self.budgets.commit(job, amounts, seconds, now):
            self.records.changes.spent[spent.budget] = spent

    def settle(self, job: QueueJob, amounts: Mapping[str, int], now: int) -> None:
        """A job is gone that held these amounts."""
        for spent in self.budgets.settle(job, amounts, now):
            self.records.changes.spent[spent.budget] = spent

    def rank(self, job: QueueJob) -> Place:
        """A job's place in the order of all queues: smaller goes first. No two have the same."""
        queue = self.queues[job.queue]
        return (-queue.priority, queue.name, self.lines[job.queue].rank(job.id), job.id)

    def yields(self, one: str, other: str) -> bool:
        """Whether jobs of one queue make way for jobs of another that are ordered before them.

        Queues of equal priority are visited in some order, but none of them goes before another.
        """
        return one == other or self.queues[one].priority < self.queues[other].priority

    def admit(self, job: int, ask: PlanRequest) -> None:
        """A job lives from now on, with this ask."""
        if len(self.known_asks) > 10_000:
            self.known_asks.clear()
        ask = self.known_asks.setdefault(ask, ask)
        self.records.asks[job] = ask
        kind = self.kinds.setdefault(ask.kind, CountKind(ask))
        kind.count += 1
        if not self.capacity.columns.covers(ask):
            self.unsettled = self.unsettled or "jobs of another kind came"

    def dismiss(self, job: int) -> None:
        """A job is gone for good."""
        ask = self.records.asks.pop(job, None)
        if ask is None:
            return
        kind = self.kinds[ask.kind]
        kind.count -= 1
        if not kind.count:
            del self.kinds[ask.kind]
            if self.capacity.by_rows and len(self.kinds) <= _FEW_KINDS:
                self.unsettled = self.unsettled or "jobs of another kind left"

    def is_stopped(self, queue: str) -> bool:
        state = self.operators.get(queue)
        return state is not None and state.stopped

    def is_drained(self, queue: str) -> bool:
        state = self.operators.get(queue)
        return state is not None and state.drained

    def estimate(self, ask: PlanRequest) -> dict[str, int]:
        """What a job that waits would hold, by type; for limits, budgets and size."""
        key: object = ask.request if ask.unit is None else (ask.unit, ask.count, ask.shared)
        known = self.estimates.get(key)
        if known is None:
            found = self.planning.find_on_everything(ask.request)
            known = {} if found is None else self.planning.amounts(found)
            if len(self.estimates) > 10_000:
                self.estimates.clear()
            self.estimates[key] = known
        return known

    def rate(self, amounts: Mapping[str, int]) -> float:
        """What amounts count in usage, a second."""
        return sum(self.charge.get(type, 0.0) * amount for type, amount in amounts.items())
