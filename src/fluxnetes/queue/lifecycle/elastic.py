"""Grows elastic jobs that hold resources.

A job below its maximum size grows on request, into capacity that is not promised to other jobs. The
added units become further tasks, numbered after the existing ones.
"""

from __future__ import annotations

from dataclasses import replace

from fluxnetes.match.gang.model import Gang
from fluxnetes.match.planning import Candidate, times
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.jobs import ElasticSize, QueueJob
from fluxnetes.queue.lifecycle.allocations import AllocationEdits
from fluxnetes.queue.lifecycle.companions import PlacedGang
from fluxnetes.queue.plan.requests import PlanRequest


class ElasticGrowth:
    """Adds units to elastic jobs."""

    def __init__(self, core: QueueCore, allocation_edits: AllocationEdits) -> None:
        self._core = core
        self._edits = allocation_edits

    def grow(self, job: QueueJob, now: int) -> int:
        """Add as many units as there is capacity for; returns how many."""
        core = self._core
        request = core.records.requests[job.id]
        if request.elastic is None:
            raise QueueRefused(f"job {job.id} has a fixed size")
        held = job.size or request.elastic.min
        most = request.elastic.max - held
        left = core.duration(job) if job.deadline is None else job.deadline - now
        if most < 1 or left < 1:
            return 0
        more = self._units_alone(job, replace(request.elastic, min=1, max=most))
        added = core.capacity.largest_now(more, left, self._allowed(job, more, most, left, now))
        found = core.capacity.find_now(more.sized(added), left) if added else None
        if found is None:
            return 0
        self._add(job, held + added, found, now)
        return added

    def _allowed(self, job: QueueJob, more: PlanRequest, most: int, left: int, now: int) -> int:
        """The most further units that no limit and no budget stops."""
        core = self._core
        if job.queue not in core.limits.any and not core.budgets:
            return most
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            amounts = core.estimate(more.sized(middle))
            stopped = core.limits.stops_growth(job, amounts) or core.budgets.stops(
                job, amounts, left, now
            )
            low, high = (low, middle - 1) if stopped or not amounts else (middle, high)
        return low

    def _add(self, job: QueueJob, size: int, found: Candidate, now: int) -> None:
        core = self._core
        before = core.allocations[job.id]
        engine = core.planning.engine
        old = before.placement
        more = engine.placement(found.held, old.start, old.end, None)
        held = engine.joined(old, more)
        added = Allocation(job.id, before.start, before.end, more, found.seats)
        graph = engine.graph
        after = replace(
            before,
            placement=engine.placement(held, old.start, old.end, None),
            seats=before.seats + found.seats,
            tasks=before.task_nodes(graph) + added.task_nodes(graph),
        )
        job.size = size
        self._edits.change(job, after, now)

    def _units_alone(self, job: QueueJob, size: ElasticSize) -> PlanRequest:
        """One unit of a job's request, beside those that it has; without the shared amounts that do
        not depend on its size."""
        core = self._core
        request, spec = core.records.requests[job.id], core.records.requests[job.id].spec
        if isinstance(spec, Gang):
            allocation = core.allocations[job.id]
            nodes = allocation.task_nodes(core.planning.engine.graph)
            placed = PlacedGang(core.planning, spec, nodes, list(allocation.ended_tasks))
            spec = replace(spec, shared=(), topology=placed.topology)
        return replace(request, spec=times(spec, 1), count=1, shared=(), elastic=size)
