"""The queue as a whole: events in, decisions out. No I/O, no clock.

    scheduler = Scheduler(matcher, SchedulerConfig())
    scheduler.apply(Submit(Submission(1, jobspec(slot(4, node(1))), walltime=3600)), now=0)
    scheduler.cycle(now=0)
    changes = scheduler.take_changes()       # persist them, then carry them out

The caller applies events, runs a cycle, persists the changes in one transaction, carries them out,
and calls again when something happens or at `next_wake`. The same code serves the controller, with
the wall clock, and the simulator, with simulated time.
"""

from __future__ import annotations

from fluxnetes.match.matcher import Matcher
from fluxnetes.match.planning import Planning
from fluxnetes.queue.changes import Changes, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.cycle import SchedulingCycle
from fluxnetes.queue.events import (
    Adopt,
    Alter,
    Event,
    GraphChanged,
    Grow,
    Occupied,
    Reseat,
    Reserve,
)
from fluxnetes.queue.explain import Explainer, Explanation
from fluxnetes.queue.input_limits import check_bounds, check_names
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.lifecycle.handlers import EventHandlers
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.order.estimates import SizeEstimates
from fluxnetes.queue.order.limits import BudgetTracker, LimitTracker
from fluxnetes.queue.order.order import JobOrder, QueueLine
from fluxnetes.queue.order.usage import UsageLedger
from fluxnetes.queue.order.verdicts import SatisfiabilityVerdicts
from fluxnetes.queue.persist.records import JobRecords
from fluxnetes.queue.persist.restore import restore, with_forgotten_queues
from fluxnetes.queue.persist.snapshot import take_snapshot
from fluxnetes.queue.persist.validate import Validator
from fluxnetes.queue.plan.builder import PlanBuilder, new_plan
from fluxnetes.queue.plan.columns import PlanColumns
from fluxnetes.queue.plan.promises import PromiseKeeper

_CHARGED = ("core", "cpu", "node")
"""The type that counts as usage unless configured: the first of these that the graph has."""

_NEED_CURRENT_PLAN = (Alter, Grow, Reseat, Reserve)
"""Events that the capacity plan must allow, so it is brought up to date before them."""

_FROM_OUTSIDE = (Adopt, GraphChanged, Occupied)
"""Events after which jobs may hold more than the graph has free."""


class Scheduler:
    """All queues on one graph. See the module's docstring."""

    def __init__(
        self,
        matcher: Matcher,
        config: SchedulerConfig | None = None,
        *,
        now: int = 0,
        validate: bool = False,
        count: bool = True,
    ) -> None:
        """`count=False` plans by looking at nodes even where counting units would do."""
        self.config = config or SchedulerConfig()
        self._core = core = _build_core(matcher, self.config, now)
        self._validator = Validator(core) if validate else None
        transitions = Transitions(core)
        self._builder = plan_builder = PlanBuilder(core, PromiseKeeper(core), count=count)
        self._cycle = SchedulingCycle(core, transitions, plan_builder)
        self._handlers = EventHandlers(core, transitions, plan_builder)
        self._explainer = Explainer(core, transitions.gate)

    @classmethod
    def resume(
        cls,
        matcher: Matcher,
        config: SchedulerConfig | None,
        snapshot: Snapshot,
        *,
        now: int,
        validate: bool = False,
        count: bool = True,
        enforce_walltimes: bool = True,
    ) -> Scheduler:
        """Continue from a snapshot, such as a store loads.

        With `enforce_walltimes` off, as by the method of that name.
        """
        config, forgotten = with_forgotten_queues(config or SchedulerConfig(), snapshot)
        scheduler = cls(matcher, config, now=now, validate=validate, count=count)
        core = scheduler._core
        scheduler.enforce_walltimes(enforce_walltimes)
        restore(core, scheduler._handlers, snapshot, now)
        core.operators.update({state.queue: state for state in forgotten})
        core.records.next_step()
        scheduler._cycle.pass_time(now)
        scheduler._builder.bring_up_to_date(now)
        if scheduler._validator is not None:
            scheduler._validator.tolerate()
        return scheduler

    # -- events and decisions ------------------------------------------------------------------

    def apply(self, event: Event, now: int) -> None:
        """Apply an event. Raises QueueError, and changes nothing, if it cannot be applied."""
        if not isinstance(event, Occupied):  # which is never persisted, and long
            check_bounds(event, type(event).__name__)
            check_names(event, type(event).__name__)
        self._core.records.next_step()
        self._core.capacity.advance(now)
        if isinstance(event, _NEED_CURRENT_PLAN):
            self._cycle.pass_time(now)
            self._builder.bring_up_to_date(now)
        self._handlers.handle(event, now)
        if self._validator is not None:
            if isinstance(event, _FROM_OUTSIDE):
                self._validator.tolerate()
            if not self._core.needs_relayout:
                self._validator.check()

    def cycle(self, now: int, most: int | None = None) -> bool:
        """Decide which jobs start, and which jobs are promised what start.

        With `most`, no more than about so many jobs start, and the answer is whether there may be
        more to decide at once; the caller can begin to carry out the first decisions then.
        """
        more = self._cycle.run(now, most)
        if self._validator is not None:
            self._validator.check()
        return more

    def enforce_walltimes(self, on: bool) -> None:
        """Whether jobs are asked to end when their walltime is over.

        A caller turns it off while it may not know yet which jobs have ended, and on once it has
        reported all ends: a job that ended in time has not timed out.
        """
        self._cycle.enforces_walltimes = on

    def take_changes(self, *, but_newcomers: bool = False) -> Changes:
        """All changes since the last call.

        With `but_newcomers`, without new jobs that only wait, for a caller that will ask again in a
        moment: most of them may have started by then, and are persisted once instead of twice.
        """
        return self._core.records.take_changes(but_newcomers=but_newcomers)

    def next_wake(self, now: int) -> int | None:
        """When to call `cycle` again if no event comes before; None: no need."""
        return self._cycle.next_wake(now)

    # -- reading -------------------------------------------------------------------------------

    def explain(self, job: int, now: int) -> Explanation:
        """A job's history and, while it waits, why and until when."""
        return self._explainer.explain(job, now)

    def job(self, id: int) -> QueueJob:
        """The record of a job that has not ended, or ended not long ago."""
        return self._core.records.find(id)

    @property
    def jobs(self) -> dict[int, QueueJob]:
        """The records of all jobs that have not ended, and of the last ones that have."""
        return self._core.records.jobs

    def snapshot(self) -> Snapshot:
        """All that another scheduler needs to continue from here, with the same `config` and a
        graph of its own. Later events of this scheduler do not change it."""
        return take_snapshot(self._core)

    @property
    def waiting(self) -> int:
        """How many jobs wait, in all queues."""
        return sum(self._core.limits.waiting(name) for name in self._core.queues)

    @property
    def in_line(self) -> int:
        """How many jobs are eligible: they wait for capacity only, in all queues."""
        return sum(map(len, self._core.lines.values()))

    def first_in_line(self, most: int) -> list[QueueJob]:
        """The first jobs of each queue that wait for capacity only, in order."""
        return [job for line in self._core.lines.values() for job in line.first(most)]

    @property
    def step(self) -> int:
        """Changes with every event and every cycle; while it is the same, so is all that can be
        read."""
        return self._core.records.step

    @property
    def orders_by_arrival(self) -> bool:
        """Whether class and arrival alone order the waiting jobs: none has a priority of its own,
        and no other factor has a weight."""
        weights = self.config.weights
        return weights.by_priority and not (weights.priority and self._core.limits.prioritized)

    @property
    def plans_by_counting(self) -> bool:
        """Whether jobs are now planned by counting units, rather than by looking at nodes."""
        return not self._core.capacity.by_vertex


def _build_core(matcher: Matcher, config: SchedulerConfig, now: int) -> QueueCore:
    planning = Planning(matcher)
    usage = UsageLedger(config.fair_share)
    capacity = new_plan(planning, PlanColumns(planning, (), by_vertex=False), now)
    records = JobRecords()
    estimates = SizeEstimates(planning, config.charge or _default_charge(planning))
    order = JobOrder(config, usage, lambda job: estimates.cluster_part(records.requests[job.id]))
    return QueueCore(
        config=config,
        queues={queue.name: queue for queue in config.queues},
        planning=planning,
        records=records,
        usage=usage,
        limits=LimitTracker(config),
        budgets=BudgetTracker(config.budgets),
        order=order,
        lines={queue.name: QueueLine(order) for queue in config.queues},
        capacity=capacity,
        estimates=estimates,
        verdicts=SatisfiabilityVerdicts(planning),
    )


def _default_charge(planning: Planning) -> dict[str, float]:
    totals = planning.totals()
    return dict.fromkeys([t for t in _CHARGED if t in totals][:1], 1.0)
