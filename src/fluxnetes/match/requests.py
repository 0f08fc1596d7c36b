"""Requests in the form that the engine tries: a jobspec, or a gang of pods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.jobspec.model import (
    MAX_LEVELS,
    MAX_RESOURCES,
    SLOT,
    XOR_SLOT,
    Jobspec,
    Resource,
)
from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.engine.flexible import TooManyVariants
from fluxnetes.match.gang.gang_matcher import FindReason
from fluxnetes.match.gang.model import Gang, Seats, TopologyRequest
from fluxnetes.match.gang.placement_cache import CachedPlacement
from fluxnetes.match.ledger.views import LedgerView
from fluxnetes.match.reasons import EVER, NOW, OF_VERTICES, explain

_NAMED = 60
"""Maximum number of types that an error message names, and of characters of a type's name."""


class InvalidRequest(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A request is wrong in itself, or names a type that the graph has never had."""

    def __init__(self, why: str | Reason) -> None:
        super().__init__(str(why))
        self.reason = why if isinstance(why, Reason) else Reason.from_text(why, ReasonCode.INVALID)


class UnknownType(InvalidRequest):
    """A request names a type that the graph has never had."""

    def __init__(self, why: Reason, type: str) -> None:
        super().__init__(why)
        self.type = type


class MatchRequest(Protocol):
    """A request that the engine can try in any window of time."""

    duration: float
    queue: str | None
    seats: tuple[Seats, ...]

    def select(self, view: LedgerView) -> HeldVertices | None:
        """What its job would hold in a view; None: it does not fit."""

    def needs(self) -> dict[str, int]:
        """Its minimum amounts, by type."""

    def nodes_allowed(self, *, status: bool) -> int | None:
        """The number of nodes that its constraint allows; None without a constraint."""

    def why(self, *, ever: bool) -> Reason | None:
        """Why the last attempt failed: now, or (`ever`) on the empty graph."""


class JobspecRequest:
    """A jobspec, as one plan for each of its variants."""

    def __init__(self, engine: MatchEngine, jobspec: Jobspec) -> None:
        if not jobspec.resources:
            raise InvalidRequest("the jobspec asks for no resources")
        check_types(_read_types(jobspec.resources), engine.graph)
        self.duration = jobspec.duration
        self.queue = jobspec.queue
        self.seats: tuple[Seats, ...] = ()
        self._engine = engine
        self._constrained = jobspec.constraint is not None
        try:
            self._plans = engine.plans(jobspec.resources, jobspec.constraint)
        except TooManyVariants as error:
            raise InvalidRequest(str(error)) from error

    def select(self, view: LedgerView) -> HeldVertices | None:
        return self._engine.select(self._plans, view)

    def needs(self) -> dict[str, int]:
        """Of several variants, the least of each type."""
        sums = [self._engine.sums(plan) for plan in self._plans]
        if len(sums) == 1:
            return sums[0]
        return {type: min(s.get(type, 0) for s in sums) for type in sums[0]}

    def nodes_allowed(self, *, status: bool) -> int | None:
        if not self._constrained:
            return None
        return self._engine.nodes_allowed(self._plans[0], status=status)

    def why(self, *, ever: bool) -> Reason | None:
        plan = self._plans[0]
        if self._constrained and self._engine.nodes_allowed(plan, status=False) == 0:
            return Reason.of(Message.CONSTRAINT_UNMET)
        if self._constrained and not ever and self._engine.nodes_allowed(plan, status=True) == 0:
            return Reason.of(Message.CONSTRAINT_SHUT)
        context = plan.context or self._engine.context(plan, self._engine.ledger.now())
        reason = explain(plan.stage, plan.resources, plan.tried, context, EVER if ever else NOW)
        if self._constrained and reason.message in OF_VERTICES:
            reason = Reason.of(Message.OF_ALLOWED, reason=reason).coded(reason.code)
        return reason


class GangRequest:
    """A gang of pods on nodes of pools."""

    def __init__(self, engine: MatchEngine, gang: Gang) -> None:
        amounts = [pair for s in gang.shapes for pair in s.amounts] + list(gang.shared)
        for type, amount in amounts:
            if amount < 0:
                raise InvalidRequest(f"an amount of {amount} {type}: expected 0 or more")
        if gang.topology is not None:
            _check_topology(gang.topology)
            check_types(gang.topology.levels(), engine.graph)
        check_types((type for type, amount in amounts if amount), engine.graph)
        gang = gang.tidied()
        if not gang.shapes or any(s.count < 1 or not s.amounts for s in gang.shapes):
            raise InvalidRequest("a gang needs at least one pod, and a pod at least one amount")
        self.duration = gang.duration
        self.queue = gang.queue
        self.seats: tuple[Seats, ...] = ()
        self._engine = engine
        self._gang = gang
        self._find_reason: FindReason | None = None

    def select(self, view: LedgerView) -> HeldVertices | None:
        seated = self._engine.gangs.seat(self._gang, view)
        if not isinstance(seated, CachedPlacement):
            self._find_reason = seated
            return None
        self.seats, self._find_reason = seated.seats, None
        return seated.held

    def needs(self) -> dict[str, int]:
        return self._gang.needs()

    def nodes_allowed(self, *, status: bool) -> int | None:
        return None

    def why(self, *, ever: bool) -> Reason | None:
        return None if self._find_reason is None else self._find_reason()


def _check_topology(request: TopologyRequest) -> None:
    """Raise for numbers that no placement can meet."""
    if request.slice_level is not None and request.slice_size < 1:
        raise InvalidRequest(f"slices of {request.slice_size} pods: expected 1 or more")
    if request.spread_level is not None and request.spread_most < 1:
        raise InvalidRequest(f"at most {request.spread_most} pods each: expected 1 or more")


def _read_types(resources: tuple[Resource, ...]) -> list[str]:
    """The types that a request names. Raises for one that is larger than a parser would accept."""
    types: list[str] = []
    level, depth, count = list(resources), 1, 0
    while level:
        count += len(level)
        if count > MAX_RESOURCES:
            raise InvalidRequest(f"the jobspec has more than {MAX_RESOURCES} requests")
        if depth > MAX_LEVELS:
            raise InvalidRequest(f"requests are nested more than {MAX_LEVELS} deep")
        types += [resource.type for resource in level if resource.type not in (SLOT, XOR_SLOT)]
        level = [child for resource in level for child in resource.children]
        depth += 1
    return types


def check_types(types: Iterable[str], graph: ResourceGraph) -> None:
    """Raise for types that the graph has never had: they are more likely misspelt than missing."""
    for type in types:
        if type not in graph.types:
            present = sorted(graph.types.names[t] for t in np.unique(graph.type_id).tolist())
            more = f" and {len(present) - _NAMED} more" if len(present) > _NAMED else ""
            types = ", ".join(present[:_NAMED]) + more
            raise UnknownType(
                Reason.of(Message.UNKNOWN_TYPE, type=type[:_NAMED], types=types), type
            )
