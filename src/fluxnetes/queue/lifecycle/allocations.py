"""Changes the allocations of jobs that hold resources: more, less, or on other nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fluxnetes.common.reasons import Amount, Argument, Message, Reason
from fluxnetes.jobspec.model import SLOT, XOR_SLOT
from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.changes import Allocation, JobEvent
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.plan.requests import PlanRequest


class AllocationEdits:
    """Keeps matcher, capacity plan, limits, budgets and usage in step with a changed allocation."""

    def __init__(self, core: QueueCore) -> None:
        self._core = core

    def change(
        self, job: QueueJob, allocation: Allocation, now: int, note: Reason | None = None
    ) -> None:
        """A job holds this from now on; the note is for its history."""
        core = self._core
        planning = core.planning
        core.set_allocation(allocation)
        before = core.records.amounts[job.id]
        after = planning.amounts(planning.reduce(job.id, allocation.placement))
        core.records.amounts[job.id] = after
        self._account(job, before, after, now)
        core.capacity.resize(job.id, self._current_request(job, after), after)
        note = note or Reason.of(Message.RESIZED, after=_amounts(after), before=_amounts(before))
        core.records.add_event(JobEvent(job.id, now, "resized", reason=note))

    def _account(
        self, job: QueueJob, before: Mapping[str, int], after: Mapping[str, int], now: int
    ) -> None:
        core = self._core
        more = {type: after.get(type, 0) - before.get(type, 0) for type in before.keys() | after}
        for type, by in more.items():
            core.limits.changes(job, type, by)
        core.charge_usage(job, core.rate(after) - core.rate(before), now)
        seconds = 0 if job.deadline is None else max(0, job.deadline - now)
        core.commit_budgets(job, more, seconds, now)

    def _current_request(self, job: QueueJob, held: Mapping[str, int]) -> PlanRequest:
        """What a job counts as now: the units that it has left."""
        core = self._core
        request = core.capacity.holders[job.id].request
        if request.unit is None:
            return request
        units, exact = units_held(core, request, held)
        if job.size:
            job.size = units
        if not exact and not core.capacity.by_vertex:
            # Not a whole number of equal units: counting is wrong from here on.
            core.request_relayout(Reason.of(Message.GROUP_SHRANK))
            core.capacity.mark_miscounted()
        return replace(request.sized(units), elastic=None)


def units_held(core: QueueCore, request: PlanRequest, held: Mapping[str, int]) -> tuple[int, bool]:
    """How many units of a request are in what is held, and whether nothing is left over.

    A unit may hold more than it requests, as a node comes with its cores, or request something that
    it shares with others, as the node around its cores; but of at least one type it holds exactly
    what it requested.
    """
    assert request.unit is not None  # noqa: S101 - called only where units are counted
    least = core.planning.least(request.unit)
    own = (
        least
        if isinstance(request.unit, Gang)
        else core.estimate(request).keys() - {SLOT, XOR_SLOT}
    )
    parts = [(held.get(type, 0), least[type]) for type in own if least.get(type)]
    units = min((have // amount for have, amount in parts), default=request.count)
    return units, any(have == units * amount for have, amount in parts)


def _amounts(amounts: Mapping[str, int]) -> Argument:
    return tuple(Amount(amount, type) for type, amount in sorted(amounts.items())) or "nothing"
