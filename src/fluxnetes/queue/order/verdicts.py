"""Judges whether the graph, if all of it were up and idle, could serve a request.

A request that it cannot serve is *unsatisfiable* for now: nodes, labels and pools may come later. A
request that makes no sense in itself is invalid, whatever comes. The code of the reason says which.

The matcher judges each request once until the graph changes.
"""

from __future__ import annotations

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.match.planning import Planning
from fluxnetes.queue.plan.requests import PlanRequest

_MAX_KNOWN = 10_000
"""Maximum requests whose verdict is remembered, so that memory stays bounded."""


class SatisfiabilityVerdicts:
    """The verdicts on requests, for the graph as it is."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning
        self._known: dict[PlanRequest, Reason | None] = {}
        self._outdated = False

    def of(self, request: PlanRequest) -> Reason | None:
        """Why a request cannot be satisfied; None if it can."""
        if request not in self._known:
            if len(self._known) > _MAX_KNOWN:
                self._known.clear()
            self._known[request] = self._judge(request)
        return self._known[request]

    def _judge(self, request: PlanRequest) -> Reason | None:
        if request.elastic is not None and request.unit is None:
            return Reason.of(Message.NOT_A_MULTIPLE)
        return self._planning.judge(request.spec)

    def is_too_large(self, request: PlanRequest) -> bool:
        """Whether sizes alone rule a request out; True is certain, and quick."""
        return self._planning.is_too_large(request.spec)

    def graph_changed(self) -> None:
        """What was impossible may be possible now, and the reverse."""
        self._known.clear()
        self._outdated = True

    def take_outdated(self) -> bool:
        """Whether the graph changed since the last call: verdicts that were acted on may differ."""
        outdated, self._outdated = self._outdated, False
        return outdated
