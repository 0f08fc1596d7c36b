"""Which waiting jobs would start if there were more nodes: those that an autoscaler may buy for.

That a job lacks resources is not enough. What nothing can serve is judged before anything else, so
the job may also wait for another one, or for a time. And limits are checked against what runs: of
ten jobs of a user who may run two, none is at the limit as long as none runs, but nodes for two are
all that can be used. So jobs are counted in order, each as if those before it had started.
"""

from __future__ import annotations

from collections.abc import Iterator

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.growth import more_nodes_help
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.order.gate import EligibilityGate
from fluxnetes.queue.order.limits import Amounts
from fluxnetes.queue.states import JobState

_LASTS = 10
"""Seconds for which a count is used: it takes a tenth of a second for 10,000 waiting jobs."""


class GrowthForecast:
    """Tells the jobs that more nodes would let start."""

    def __init__(self, core: QueueCore, gate: EligibilityGate) -> None:
        self._core = core
        self._gate = gate
        self._counted: dict[int, bool] = {}
        """Whether the limits would let each job start in its turn."""
        self._counted_at = (-1, -_LASTS)
        """The step of the queue, and the time, of that count."""

    def wants_nodes(self, job: QueueJob, reason: Reason, now: int) -> bool:
        """Whether nothing but capacity keeps a job from starting, and its queue may grow.

        `reason` is why it waits.
        """
        return (
            more_nodes_help(reason)
            and self._core.queues[job.queue].growth
            and self._is_ready(job, now)
            and self._is_within_limits(job, now)
        )

    def _is_ready(self, job: QueueJob, now: int) -> bool:
        is_stopped = self._core.is_stopped(job.queue)
        return job.state is JobState.PENDING and not is_stopped and not self._gate.awaits(job, now)

    def _is_within_limits(self, job: QueueJob, now: int) -> bool:
        if not self._gate.limits(job.queue):
            return True
        step, since = self._counted_at
        is_old = job.id not in self._counted or now - since >= _LASTS
        if is_old and step != self._core.records.step:
            self._counted_at = (self._core.records.step, now)
            self._counted = self._count(now)
        return self._counted.get(job.id, False)

    def _count(self, now: int) -> dict[int, bool]:
        """Start all jobs in their order, as if there were room for all."""
        limits, budgets = self._core.limits, self._core.budgets
        found: dict[int, bool] = {}
        spent: dict[str, float] = {}
        with limits.supposing() as suppose:
            for job in self._in_order(now):
                amounts = self._amounts(job)
                stopped = limits.stops(job, amounts, promises=False)
                stopped = stopped or budgets.stops(job, amounts, job.walltime, now, spent)
                found[job.id] = not stopped
                if not stopped:
                    suppose(job, amounts)
                    for budget, hours in budgets.hours(job, amounts):
                        spent[budget] = spent.get(budget, 0.0) + hours
        return found

    def _in_order(self, now: int) -> Iterator[QueueJob]:
        """The jobs that wait for capacity alone, also those that nothing can serve now."""
        core = self._core
        aside: dict[str, list[QueueJob]] = {}
        for id in core.set_aside:
            job = core.records.jobs[id]
            if self._is_ready(job, now):
                aside.setdefault(job.queue, []).append(job)
        for queue in sorted(core.config.queues, key=lambda each: (-each.priority, each.name)):
            if queue.growth and not core.is_stopped(queue.name):
                jobs = [*core.lines[queue.name], *aside.get(queue.name, ())]
                yield from sorted(jobs, key=lambda job: core.order.rank(job, now))

    def _amounts(self, job: QueueJob) -> Amounts:
        """What a job would hold; of one that nothing can serve, what it asks for."""
        request = self._core.records.requests[job.id]
        return self._core.estimate(request) or self._core.planning.least(request.spec)
