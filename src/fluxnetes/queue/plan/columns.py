"""Defines the columns of the timeline, and what each request takes from them.

By count, a column is a unit on the nodes where it can be, or a pool that no node owns. By vertex, a
column is a type, and its capacity is the sum over the whole graph, up or not: never less than there
can be, so "does not fit" is certain, and "fits" means only that a search is worthwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.planning import Planning
from fluxnetes.queue.jobs import Request
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.plan.timeline import Needs


class PlanColumns:
    """What each column counts, and its capacity."""

    def __init__(
        self, planning: Planning, requests: Iterable[PlanRequest], *, by_vertex: bool
    ) -> None:
        self._planning = planning
        self._units: dict[Request, int] = {}
        self._types: dict[str, int] = {}
        self._needs: dict[PlanRequest, Needs] = {}
        self.capacity: list[int] = []
        self.by_vertex = by_vertex or not self._count(list(requests))
        if self.by_vertex:
            self._sum_up()

    def covers(self, request: PlanRequest) -> bool:
        """Whether a request can be planned with these columns."""
        if self.by_vertex:
            return True
        if request.window is not None or request.unit not in self._units:
            return False
        return all(type in self._types for type, _ in request.shared)

    def needs(self, request: PlanRequest) -> Needs:
        """What a request takes, by column."""
        if request.window is not None:
            return ()
        known = self._needs.get(request)
        if known is None:
            if len(self._needs) > 100_000:
                self._needs.clear()
            known = self._needs[request] = (
                self._least(request) if self.by_vertex else self._units_of(request)
            )
        return known

    def needs_of(self, request: PlanRequest, amounts: Mapping[str, int]) -> Needs:
        """What a job that holds these amounts takes, by column."""
        if not self.by_vertex or request.window is not None:
            return self.needs(request)
        return self._by_type(amounts)

    def column_of_unit(self, request: PlanRequest) -> int:
        assert request.unit is not None  # noqa: S101 - called only where units are counted
        return self._units[request.unit]

    def _units_of(self, request: PlanRequest) -> Needs:
        shared = ((self._types[type], amount) for type, amount in request.shared)
        return ((self.column_of_unit(request), request.count), *shared)

    def _least(self, request: PlanRequest) -> Needs:
        return self._by_type(self._planning.least(request.spec))

    def _by_type(self, amounts: Mapping[str, int]) -> Needs:
        return tuple((self._types[t], n) for t, n in amounts.items() if t in self._types)

    def recount(self) -> list[int]:
        """Count the units anew; returns how many more there are of each column."""
        before = self.capacity.copy()
        for unit, column in self._units.items():
            self.capacity[column] = self._planning.capacity(unit)
        return [now - was for now, was in zip(self.capacity, before, strict=True)]

    # -- building ------------------------------------------------------------------------------

    def _count(self, requests: list[PlanRequest]) -> bool:
        """Define columns of units; False if counting them would not be exact."""
        units = {request.unit for request in requests}
        if None in units or not _apart(self._planning, units):
            return False
        if not all(self._planning.can_count(unit) for unit in units if unit is not None):
            return False
        for unit in units:
            assert unit is not None  # noqa: S101 - checked above
            self._units[unit] = len(self.capacity)
            self.capacity.append(self._planning.capacity(unit))
        for type in sorted({type for request in requests for type, _ in request.shared}):
            sizes = self._planning.loose_pools(type)
            if len(sizes) != 1:
                return self._reset()
            self._types[type] = len(self.capacity)
            self.capacity.append(sizes[0])
        return True

    def _reset(self) -> bool:
        self._units.clear()
        self._types.clear()
        self.capacity.clear()
        return False

    def _sum_up(self) -> None:
        # Jobs may hold more than the graph has; that excess takes nothing from other jobs.
        beyond = self._planning.held_beyond()
        for type, total in self._planning.totals().items():
            self._types[type] = len(self.capacity)
            self.capacity.append(total + beyond.get(type, 0))


def _apart(planning: Planning, units: set[Request | None]) -> bool:
    """Whether no node can serve two different units."""
    if len(units) < 2:
        return True
    taken = np.zeros(len(planning.engine.tree), np.bool_)
    for unit in units:
        assert unit is not None  # noqa: S101 - the caller checked
        nodes = planning.nodes.allowed(constraint_of(unit))
        if taken[nodes].any():
            return False
        taken[nodes] = True
    return True


def constraint_of(unit: Request) -> Constraint | None:
    """Where a unit may be."""
    return unit.shapes[0].constraint if isinstance(unit, Gang) else unit.constraint
