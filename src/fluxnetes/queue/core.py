"""The state of the queue, shared by the modules that act on it.

Other modules read its fields freely, and change it through methods that say what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.match.planning import Planning
from fluxnetes.queue.changes import Allocation, NodeWindow, QueueState
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import PlannedStart, QueueJob
from fluxnetes.queue.order.estimates import SizeEstimates
from fluxnetes.queue.order.limits import BudgetTracker, LimitTracker
from fluxnetes.queue.order.order import JobOrder, QueueLine, Rank
from fluxnetes.queue.order.usage import UsageLedger
from fluxnetes.queue.order.verdicts import SatisfiabilityVerdicts
from fluxnetes.queue.persist.records import JobRecords
from fluxnetes.queue.plan.base import CapacityPlan
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.plan.timeline import FOREVER

OrderKey = tuple[int, str, Rank, int]
"""Minus the queue's priority, its name, the rank within it, and the job: smaller goes first."""

_FEW_KINDS = 16
"""Maximum kinds of requests for which counting is tried again when one of them disappears; with
more, some almost certainly compete for the same nodes."""


_QUEUE_STARTS = Reason.of(Message.QUEUE_STARTS)


@dataclass(slots=True)
class CountKind:
    """Requests that are counted in the same units."""

    example: PlanRequest
    count: int = 0


@dataclass(slots=True)
class QueueCore:
    """The state of the queue. It decides nothing."""

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
    estimates: SizeEstimates
    verdicts: SatisfiabilityVerdicts
    operators: dict[str, QueueState] = field(default_factory=dict)
    """Queues that an operator stopped, drained or opened."""
    allocations: dict[int, Allocation] = field(default_factory=dict)
    """The allocations of all jobs that hold resources."""
    windows: dict[str, NodeWindow] = field(default_factory=dict)
    parked: dict[int, Reason] = field(default_factory=dict)
    """Pending jobs that are not eligible: they wait for something else than capacity, and why."""
    newcomers: list[QueueJob] = field(default_factory=list)
    """Jobs that became eligible since the queues were last visited."""
    preempting: dict[int, set[int]] = field(default_factory=dict)
    """For each job that preempted others: the victims that have not ended yet."""
    _freed: bool = True
    """Something is free that was not when waiting jobs were last visited."""
    _gained: bool = False
    """Something is free that the plan did not count on: promises may move earlier."""
    _relayout: Reason | None = _QUEUE_STARTS
    """Why the capacity plan must be rebuilt; None: it need not."""
    _foreign: Reason | None = None
    """How the usage of foreign pods changed since the plan last followed it; None: it did not."""
    _misplaced: bool = True
    """Whether jobs may be on nodes that their constraints no longer allow: labels change."""
    kinds: dict[object, CountKind] = field(default_factory=dict)
    """The kinds of requests of all jobs that are planned for, with the number of each."""
    jobs_by_request: dict[PlanRequest, dict[int, None]] = field(default_factory=dict)
    """The jobs of each request that have not ended, in order of submission."""
    set_aside: set[int] = field(default_factory=set)
    """Waiting jobs that nothing in the graph can serve: they are not planned for."""
    known_requests: dict[PlanRequest, PlanRequest] = field(default_factory=dict)
    """Equal requests are one object, so that comparing them is quick."""

    # -- what happened to resources and to the plan --------------------------------------------

    def resources_freed(self, *, unplanned: bool = True) -> None:
        """Something is free again; `unplanned`: earlier than the plan counted on."""
        self._freed = True
        self._gained = self._gained or unplanned

    def plan_may_improve(self) -> None:
        """Something ends earlier than the plan counted on: promises may move earlier."""
        self._gained = True

    @property
    def may_improve(self) -> bool:
        """Whether promises may move earlier."""
        return self._gained

    def take_gained(self) -> bool:
        """Whether promises may move earlier; True once for each time that this happens."""
        gained, self._gained = self._gained, False
        return gained

    def take_freed(self) -> bool:
        """Whether something was freed since the last call."""
        freed, self._freed = self._freed, False
        return freed

    def request_relayout(self, reason: Reason, *, main: bool = False) -> None:
        """The capacity plan no longer fits: it is rebuilt before the next decision.

        Promises that move later then have this reason. Of several the first is kept, but a `main`
        one (nodes were lost, a window was set) replaces those before it.
        """
        if main or self._relayout is None:
            self._relayout = reason

    def add_relayout_reason(self, reason: Reason) -> None:
        """Something else that moves promises, while the plan is about to be rebuilt."""
        assert self._relayout is not None  # noqa: S101 - the caller checked
        self._relayout = joined(self._relayout, reason)

    def foreign_usage_changed(self, reason: Reason, *, main: bool = False) -> None:
        """Foreign pods use more or less of nodes; as for `request_relayout`."""
        if main or self._foreign is None:
            self._foreign = reason

    @property
    def needs_relayout(self) -> bool:
        return self._relayout is not None

    @property
    def is_settled(self) -> bool:
        """Whether the capacity plan is up to date."""
        return self._relayout is None and self._foreign is None

    def take_relayout(self) -> tuple[bool, Reason | None]:
        """Whether the plan must be rebuilt, and why that or following foreign usage is due."""
        is_due, reason = self._relayout is not None, joined(self._relayout, self._foreign)
        self._relayout = self._foreign = None
        return is_due, reason

    def replace_capacity(self, capacity: CapacityPlan) -> None:
        """The capacity plan was rebuilt."""
        self.capacity = capacity

    def jobs_may_be_misplaced(self) -> None:
        """Labels changed, or a job was adopted: its constraint may not allow its nodes."""
        self._misplaced = True

    def has_misplaced(self, is_misplaced: Callable[[int], bool]) -> bool:
        """Whether a job is on a node that it could not be placed on now.

        Looked for only while there may be one.
        """
        self._misplaced = self._misplaced and any(map(is_misplaced, self.capacity.holders))
        return self._misplaced

    # -- jobs ----------------------------------------------------------------------------------

    def duration(self, job: QueueJob) -> int:
        """How long a job may hold resources, for the planner."""
        return FOREVER if job.walltime is None else max(1, job.walltime)

    def until(self, job: QueueJob, start: int) -> int:
        """When a job that starts at this time is expected to end."""
        return min(start + self.duration(job), FOREVER)

    def set_plan(self, job: QueueJob, plan: PlannedStart | None) -> None:
        """Set, replace or remove a job's plan; limits and budgets count what is promised."""
        if job.queue in self.limits.any and (job.plan is None) != (plan is None):
            amounts = self.estimate(self.records.requests[job.id])
            self.limits.promises(job, amounts, -1 if plan is None else +1)
        if self.budgets:
            amounts = {} if plan is None else self.estimate(self.records.requests[job.id])
            self.budgets.promises(job, amounts, None if plan is None else plan.start)
        job.plan = plan

    def commit_budgets(
        self, job: QueueJob, amounts: Mapping[str, int], seconds: int, now: int
    ) -> None:
        """A job may hold these further amounts for so many seconds; negative: a refund."""
        for spent in self.budgets.commit(job, amounts, seconds, now):
            self.records.changes.spent[spent.budget] = spent

    def settle_budgets(self, job: QueueJob, amounts: Mapping[str, int], now: int) -> None:
        """A job ended that held these amounts: refund what it did not use."""
        for spent in self.budgets.settle(job, amounts, now):
            self.records.changes.spent[spent.budget] = spent

    def charge_usage(self, job: QueueJob, by: float, now: int) -> None:
        """The owner of a job uses so much more per second from now on, or less."""
        account = (job.namespace, job.user)
        self.records.changes.usage[account] = self.usage.change(account, by, now)

    def rank(self, job: QueueJob) -> OrderKey:
        """A job's place in the order of all queues: smaller goes first. No two are equal."""
        queue = self.queues[job.queue]
        return (-queue.priority, queue.name, self.lines[job.queue].rank(job.id), job.id)

    def yields(self, one: str, other: str) -> bool:
        """Whether jobs of one queue yield to jobs of another that are ordered before them.

        Queues of equal priority are visited in some order, but none takes precedence.
        """
        return one == other or self.queues[one].priority < self.queues[other].priority

    def add_request(self, job: int, request: PlanRequest, *, holds: bool = False) -> None:
        """A job is known to the planner from now on, with this request.

        A waiting job that nothing can serve is set aside; `holds`: it holds resources.
        """
        if len(self.known_requests) > 10_000:
            self.known_requests.clear()
        request = self.known_requests.setdefault(request, request)
        self.records.requests[job] = request
        self.jobs_by_request.setdefault(request, {})[job] = None
        if holds or self.verdicts.of(request) is None:
            self._plan_for(request)
        else:
            self.set_aside.add(job)

    def remove_request(self, job: int) -> None:
        """A job ended, or asks for something else: the planner forgets its request."""
        request = self.records.requests.pop(job, None)
        if request is None:
            return
        jobs = self.jobs_by_request[request]
        del jobs[job]
        if not jobs:
            del self.jobs_by_request[request]
        if job in self.set_aside:
            self.set_aside.remove(job)
        else:
            self._plan_without(request)

    def set_request_aside(self, job: int) -> None:
        """Nothing can serve a waiting job: its request has no part in the plan."""
        if job not in self.set_aside:
            self.set_aside.add(job)
            self._plan_without(self.records.requests[job])

    def count_request(self, job: int) -> None:
        """Something can serve a job that may have been set aside: it is planned for."""
        if job in self.set_aside:
            self.set_aside.remove(job)
            self._plan_for(self.records.requests[job])

    def _plan_for(self, request: PlanRequest) -> None:
        kind = self.kinds.setdefault(request.kind, CountKind(request))
        kind.count += 1
        if not self.capacity.columns.covers(request):
            self.request_relayout(Reason.of(Message.OTHER_KIND_CAME))

    def _plan_without(self, request: PlanRequest) -> None:
        kind = self.kinds[request.kind]
        kind.count -= 1
        if not kind.count:
            del self.kinds[request.kind]
            if self.capacity.by_vertex and len(self.kinds) <= _FEW_KINDS:
                self.request_relayout(Reason.of(Message.OTHER_KIND_LEFT))

    def is_stopped(self, queue: str) -> bool:
        state = self.operators.get(queue)
        return state is not None and state.stopped

    def is_drained(self, queue: str) -> bool:
        state = self.operators.get(queue)
        return state is not None and state.drained

    def estimate(self, request: PlanRequest) -> dict[str, int]:
        """What a waiting job would hold, by type."""
        return self.estimates.amounts(request)

    def rate(self, amounts: Mapping[str, int]) -> float:
        """What amounts count in usage per second."""
        return self.estimates.rate(amounts)

    # -- allocations, windows, queues ----------------------------------------------------------

    def set_allocation(self, allocation: Allocation) -> None:
        """A job holds this allocation from now on."""
        self.allocations[allocation.job] = allocation
        self.records.changes.allocations[allocation.job] = allocation

    def drop_allocation(self, job: int) -> None:
        """A job holds nothing any more."""
        del self.allocations[job]
        self.records.changes.allocations[job] = None

    def set_window(self, window: NodeWindow) -> None:
        """Nodes are set aside."""
        self.windows[window.name] = window
        self.records.changes.windows[window.name] = window

    def remove_window(self, name: str) -> None:
        """A window is over or was removed."""
        del self.windows[name]
        self.records.changes.windows[name] = None

    def set_queue(self, state: QueueState) -> None:
        """An operator stopped, drained or opened a queue."""
        self.operators[state.queue] = state
        self.records.changes.queues[state.queue] = state


def joined(first: Reason | None, second: Reason | None) -> Reason | None:
    """Two reasons as one, with the code of the first."""
    if first is None or second is None:
        return first or second
    return Reason.of(Message.SEVERAL, reasons=(first, second)).coded(first.code)
