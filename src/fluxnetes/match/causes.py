"""Finds what besides jobs keeps a request from fitting now: closed nodes, and usage of others.

A cause is named only if it is one: the request is tried again as if closed vertices took new jobs,
and as if nothing outside of the matcher's jobs used anything. What it would then be given shows
which nodes matter.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.engine.engine import MatchEngine, NothingHeld
from fluxnetes.match.ledger.views import WhatIfView
from fluxnetes.match.requests import MatchRequest

_NAMED = 3
"""Maximum nodes that a reason names."""

_TRIED = ((True, False), (False, True), (True, True))
"""Whether closed vertices are opened, and whether what others use is freed: one, then both."""


def with_causes(engine: MatchEngine, request: MatchRequest, reason: Reason) -> Reason:
    """Why a request does not fit now, with the closed nodes or the usage that are in the way."""
    graph = engine.graph
    may_open, may_free = bool(graph.closed.any()), bool(graph.occupied.any())
    for opened, freed in _TRIED:
        if (opened and not may_open) or (freed and not may_free):
            continue
        held = _fits(request, _view(engine, opened, freed))
        if held is not None:
            return _named(engine, held, reason, opened, freed)
    return reason


def _view(engine: MatchEngine, opened: bool, freed: bool) -> WhatIfView:
    """The view of now with these changes, the same until the ledger or the labels change."""
    ledger = engine.ledger
    state = (ledger.clock, engine.labels)
    known = engine.what_if.get((opened, freed))
    if known is not None and known[0] == state:
        return known[1]
    up = engine.graph.up[engine.tree.vertex] if opened else ledger.up
    size = ledger.nominal if freed else ledger.size
    view = WhatIfView(size, up, ledger.held, ledger.tags)
    engine.what_if[opened, freed] = (state, view)
    return view


def _fits(request: MatchRequest, view: WhatIfView) -> HeldVertices | None:
    try:
        return request.select(view)
    except NothingHeld:
        return None


def _named(
    engine: MatchEngine, held: HeldVertices, reason: Reason, opened: bool, freed: bool
) -> Reason:
    graph, tree = engine.graph, engine.tree
    closed = held.position[graph.closed[tree.vertex[held.position]]]
    pools = held.position[graph.occupied[tree.vertex[held.position]] > 0]
    used = np.unique(tree.parent[pools])
    if opened and freed:
        found = Reason.of(
            Message.CLOSED_AND_FOREIGN,
            reason=reason,
            nodes=_names(engine, closed),
            used=_names(engine, used),
        )
    elif opened:
        found = Reason.of(Message.CLOSED_IN_THE_WAY, reason=reason, nodes=_names(engine, closed))
    else:
        found = Reason.of(Message.FOREIGN_IN_THE_WAY, reason=reason, nodes=_names(engine, used))
    return found.coded(reason.code)


def _names(engine: MatchEngine, positions: Ints) -> tuple[str, ...]:
    names = engine.graph.names(engine.tree.vertex[positions[:_NAMED]])
    more = len(positions) - _NAMED
    return (*names, f"{more} more") if more > 0 else tuple(names)
