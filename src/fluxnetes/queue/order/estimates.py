"""Estimates what waiting jobs would hold, and what amounts count in usage.

Limits, budgets and the size factor of the order need a waiting job's amounts before it has a
placement. They are those of a placement on the empty graph, found once per request.
"""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.match.planning import Planning
from fluxnetes.queue.plan.requests import PlanRequest

_MAX_KNOWN = 10_000
"""Maximum requests whose amounts are remembered, so that memory stays bounded."""


class SizeEstimates:
    """The amounts of requests by type, and their weight in usage."""

    def __init__(self, planning: Planning, charge: Mapping[str, float]) -> None:
        self._planning = planning
        self._charge = charge
        """The weight of each type in usage."""
        self._known: dict[object, dict[str, int]] = {}

    def amounts(self, request: PlanRequest) -> dict[str, int]:
        """What a waiting job would hold, by type."""
        key: object = request.spec
        if request.unit is not None:
            key = (request.unit, request.count, request.shared)
        known = self._known.get(key)
        if known is None:
            found = self._planning.find_on_everything(request.spec)
            known = {} if found is None else self._planning.amounts(found)
            if len(self._known) > _MAX_KNOWN:
                self._known.clear()
            self._known[key] = known
        return known

    def rate(self, amounts: Mapping[str, int]) -> float:
        """What amounts count in usage per second."""
        return sum(self._charge.get(type, 0.0) * amount for type, amount in amounts.items())

    def cluster_part(self, request: PlanRequest) -> float:
        """The part of the cluster that a request would hold, from 0 to 1."""
        everything = self.rate(self._planning.totals())
        return self.rate(self.amounts(request)) / everything if everything else 0.0

    def clear(self) -> None:
        """Forget all amounts: the graph changed."""
        self._known.clear()
