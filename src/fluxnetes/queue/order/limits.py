"""Limits and budgets: what a user, a namespace or a queue may hold at one time, or in a period.

A job that a limit or a budget stops is skipped: it is neither head nor promised a start, and jobs
behind it may start. What promised jobs will hold counts as held, so that a job which backfills
cannot use up the limit that a promised job of the same owner needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from fluxnetes.common.reasons import Amount, Message, Reason, ResourceHours
from fluxnetes.queue.changes import BudgetRecord
from fluxnetes.queue.config import BudgetConfig, LimitConfig, QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import QueueJob

Amounts = Mapping[str, int]


@dataclass(slots=True)
class RunningTally:
    """The jobs and resources of one account at this moment."""

    pending: int = 0
    running: int = 0
    promised: int = 0
    resources: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    promised_resources: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class LimitTracker:
    """Counts what queues, users and namespaces hold, and finds the limit that stops a job."""

    def __init__(self, config: SchedulerConfig) -> None:
        self._queues = {queue.name: queue for queue in config.queues}
        self._tallies: dict[tuple[str, str, str], RunningTally] = defaultdict(RunningTally)
        self.any = {q.name for q in config.queues if _capped(q)}
        """The queues that have any limit."""
        self.prioritized = 0
        """How many waiting jobs have a priority of their own."""

    def _of(self, job: QueueJob) -> Iterator[tuple[str, LimitConfig, RunningTally]]:
        queue = self._queues[job.queue]
        for cap, kind, name in (
            (queue.cap, "queue", queue.name),
            (queue.per_user, "user", job.user),
            (queue.per_namespace, "namespace", job.namespace),
        ):
            yield f"{kind} {name}", cap, self._tallies[queue.name, kind, name]

    def refuses(self, job: QueueJob) -> Reason | None:
        """Why one more job may not wait; None if it may."""
        if job.queue not in self.any:
            return None
        for account, cap, tally in self._of(job):
            if cap.pending is not None and tally.pending >= cap.pending:
                return Reason.of(
                    Message.MAY_WAIT, account=account, most=cap.pending, queue=job.queue
                )
        return None

    def stops(self, job: QueueJob, amounts: Amounts, *, promises: bool = True) -> Reason | None:
        """Which limit keeps a job from starting; None if none does.

        Without `promises`, what promised jobs will hold does not count.
        """
        if job.queue not in self.any:
            return None
        for account, cap, tally in self._of(job):
            promised = job.plan is not None or not promises
            reason = _too_many(account, cap, tally, promised) or _too_much(
                account, cap, tally, amounts, promised
            )
            if reason:
                return reason
        return None

    def stops_growth(self, job: QueueJob, more: Amounts) -> Reason | None:
        """Which limit keeps a running job from holding more; None if none does."""
        if job.queue not in self.any:
            return None
        found = (
            _too_much(account, cap, tally, more, False) for account, cap, tally in self._of(job)
        )
        return next(filter(None, found), None)

    def waiting(self, queue: str) -> int:
        """How many jobs of a queue wait."""
        return self._tallies[queue, "queue", queue].pending

    def waits(self, job: QueueJob, by: int) -> None:
        if job.priority:
            self.prioritized += by
        if job.queue not in self.any:
            self._tallies[job.queue, "queue", job.queue].pending += by
            return
        for _, _, tally in self._of(job):
            tally.pending += by

    def holds(self, job: QueueJob, amounts: Amounts, by: int) -> None:
        if job.queue not in self.any:
            return
        for _, _, tally in self._of(job):
            tally.running += by
            for type, amount in amounts.items():
                tally.resources[type] += by * amount

    @contextmanager
    def supposing(self) -> Iterator[Callable[[QueueJob, Amounts], None]]:
        """Count jobs as if they had started, inside the `with` block."""
        supposed: list[tuple[QueueJob, Amounts]] = []

        def suppose(job: QueueJob, amounts: Amounts) -> None:
            self.holds(job, amounts, +1)
            supposed.append((job, amounts))

        try:
            yield suppose
        finally:
            for job, amounts in supposed:
                self.holds(job, amounts, -1)

    def changes(self, job: QueueJob, type: str, by: int) -> None:
        """A job holds more or less of one type."""
        if job.queue not in self.any:
            return
        for _, _, tally in self._of(job):
            tally.resources[type] += by

    def promises(self, job: QueueJob, amounts: Amounts, by: int) -> None:
        if job.queue not in self.any:
            return
        for _, _, tally in self._of(job):
            tally.promised += by
            for type, amount in amounts.items():
                tally.promised_resources[type] += by * amount


def _capped(queue: QueueConfig) -> bool:
    empty = LimitConfig()
    return any(cap != empty for cap in (queue.cap, queue.per_user, queue.per_namespace))


def _too_many(account: str, cap: LimitConfig, tally: RunningTally, promised: bool) -> Reason | None:
    # A promised job is itself among those counted as promised.
    ahead = 0 if promised else tally.promised
    if cap.running is not None and tally.running + ahead >= cap.running:
        return Reason.of(Message.MAY_RUN, account=account, most=cap.running)
    return None


def _too_much(
    account: str, cap: LimitConfig, tally: RunningTally, amounts: Amounts, promised: bool
) -> Reason | None:
    for type, most in cap.resources.items():
        wanted = amounts.get(type, 0)
        kept = 0 if promised else tally.promised_resources.get(type, 0)
        if wanted and tally.resources.get(type, 0) + kept + wanted > most:
            return Reason.of(
                Message.MAY_HOLD,
                account=account,
                most=Amount(most, type),
                needs=Amount(wanted, type),
            )
    return None


class BudgetTracker:
    """Resource-hours by period: committed when a job starts, refunded when it ends early.

    What a job holds times the seconds it may still hold it is committed at any moment; so a job
    that grows or is given more time commits more, and one that shrinks or ends early gets a refund.
    """

    def __init__(self, budgets: tuple[BudgetConfig, ...]) -> None:
        self._budgets = {budget.name: budget for budget in budgets}
        self._spent: dict[str, BudgetRecord] = {}
        self._promised: dict[tuple[str, int], float] = defaultdict(float)
        """What promised jobs will commit, by budget and period."""
        self._promises: dict[int, list[tuple[tuple[str, int], float]]] = {}

    def __bool__(self) -> bool:
        return bool(self._budgets)

    def load(self, spent: BudgetRecord) -> None:
        self._spent[spent.budget] = spent

    def written(self) -> tuple[BudgetRecord, ...]:
        """What is spent of all budgets, each as it was last recorded."""
        return tuple(self._spent.values())

    def _of(self, job: QueueJob) -> Iterator[BudgetConfig]:
        for budget in self._budgets.values():
            if budget.queue not in (None, job.queue):
                continue
            if budget.namespace in (None, job.namespace):
                yield budget

    def spent(self, budget: BudgetConfig, now: int) -> float:
        known = self._spent.get(budget.name)
        same = known is not None and known.period == now // budget.period
        return known.amount if known is not None and same else 0.0

    def promises(self, job: QueueJob, amounts: Amounts, start: int | None) -> None:
        """A job is promised a start, or another one; None: no longer."""
        for key, hours in self._promises.pop(job.id, ()):
            self._promised[key] -= hours
        if start is None:
            return
        found = self._promises[job.id] = [
            ((budget.name, start // budget.period), _hours(budget, amounts, job.walltime or 0))
            for budget in self._of(job)
        ]
        for key, hours in found:
            self._promised[key] += hours

    def stops(
        self,
        job: QueueJob,
        amounts: Amounts,
        seconds: int | None,
        now: int,
        ahead: Mapping[str, float] | None = None,
    ) -> Reason | None:
        """Which budget keeps a job from holding these (further) amounts; None if none does.

        `ahead`: hours that others would commit first, by budget, in place of what is promised.
        """
        for budget in self._of(job):
            if not amounts.get(budget.type, 0):
                continue
            if seconds is None:
                return Reason.of(Message.BUDGET_NEEDS_WALLTIME, budget=budget.name)
            hours = _hours(budget, amounts, seconds)
            left = budget.amount - self.spent(budget, now)
            if ahead is not None:
                left -= ahead.get(budget.name, 0.0)
            elif job.plan is None:
                left -= self._promised.get((budget.name, now // budget.period), 0.0)
            if hours > left + 1e-9:
                return Reason.of(
                    Message.BUDGET_SHORT,
                    budget=budget.name,
                    needs=ResourceHours(hours, budget.type),
                    left=ResourceHours(max(left, 0.0), budget.type),
                    all=ResourceHours(budget.amount, budget.type),
                )
        return None

    def hours(self, job: QueueJob, amounts: Amounts) -> Iterator[tuple[str, float]]:
        """What a job would commit of each budget if it started, by name."""
        for budget in self._of(job):
            yield budget.name, _hours(budget, amounts, job.walltime or 0)

    def exceeds(self, job: QueueJob, amounts: Amounts) -> Reason | None:
        """Which budget is smaller than a job, even if nothing of it were spent; None if none is."""
        for budget in self._of(job):
            hours = _hours(budget, amounts, job.walltime or 0)
            if hours > budget.amount + 1e-9:
                return Reason.of(
                    Message.BUDGET_EXCEEDED,
                    budget=budget.name,
                    needs=ResourceHours(hours, budget.type),
                    all=ResourceHours(budget.amount, budget.type),
                )
        return None

    def commit(self, job: QueueJob, amounts: Amounts, seconds: int, now: int) -> list[BudgetRecord]:
        """Commit further amounts of a job for a time; negative: a refund.

        Nothing is refunded for a period that is over.
        """
        changed = []
        for budget in self._of(job):
            hours = _hours(budget, amounts, seconds)
            began = now if job.start is None else job.start
            if not hours or (hours < 0 and began // budget.period != now // budget.period):
                continue
            job.commitments[budget.name] = job.commitments.get(budget.name, 0.0) + hours
            changed.append(self._add(budget, hours, now))
        return changed

    def settle(self, job: QueueJob, amounts: Amounts, now: int) -> list[BudgetRecord]:
        """A job that held these amounts ended: refund what it did not use."""
        left = 0 if job.deadline is None else max(0, job.deadline - now)
        changed = self.commit(job, amounts, -left, now)
        job.commitments = {}
        return changed

    def _add(self, budget: BudgetConfig, hours: float, now: int) -> BudgetRecord:
        spent = BudgetRecord(budget.name, now // budget.period, self.spent(budget, now) + hours)
        self._spent[budget.name] = spent
        return spent

    def next_period(self, now: int) -> int | None:
        """When the next period of any budget begins."""
        return min(((now // b.period + 1) * b.period for b in self._budgets.values()), default=None)


def _hours(budget: BudgetConfig, amounts: Amounts, seconds: int) -> float:
    return amounts.get(budget.type, 0) * seconds / 3600
