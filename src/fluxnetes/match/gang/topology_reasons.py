"""Finds why a gang does not fit under its topology request, where it would without one.

The parts of the request are added one after the other: one domain for all, the limit of each
domain, slices. The first one that rules the gang out is the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.match.gang.model import TopologyRequest
from fluxnetes.match.gang.topology_placer import AreaTrial, TopologyPlacer

MakePlacer = Callable[[TopologyRequest], TopologyPlacer]
"""Makes a placer for the same gang with another request."""

_MAX_AREAS = 64
"""Maximum domains in which as much of a gang as fits is placed, to say how much that is."""


def explain_topology(request: TopologyRequest, make: MakePlacer) -> Reason:
    """Why a gang has no place that its topology request allows."""
    for part in _parts(request):
        placer = make(part)
        reason = _no_domain(placer)
        if reason is not None:
            return reason
        if placer.seat() is None:
            return _reason(placer)
    return _reason(make(request))


def _parts(request: TopologyRequest) -> list[TopologyRequest]:
    """Parts of the request, beginning with one domain for all; the last one is all of it."""
    spread = replace(request, preferred=None, slice_level=None, slice_size=0)
    one = replace(spread, spread_level=None, spread_most=0)
    return [part for part in dict.fromkeys((one, spread, request)) if part.is_binding]


def _no_domain(placer: TopologyPlacer) -> Reason | None:
    """The first level that is needed, and of which the graph has no domain."""
    request = placer.request
    for level in (request.required, request.spread_level, request.slice_level):
        if level and not placer.levels.domains(level).count:
            return Reason.of(Message.NO_DOMAIN, level=level)
    return None


def _reason(placer: TopologyPlacer) -> Reason:
    """What of the gang fits, where not all of it does."""
    request, best, is_ever = placer.request, _best(placer), placer.free.is_ever
    count = sum(shape.count for shape in placer.gang.shapes)
    if request.slice_level:
        slices = sum(-(-shape.count // request.slice_size) for shape in placer.gang.shapes)
        reason = Reason.of(
            Message.SLICES_EVER if is_ever else Message.SLICES,
            count=slices,
            size=request.slice_size,
            level=request.slice_level,
            found=best.slices,
        )
    elif request.spread_level:
        reason = Reason.of(
            Message.SPREAD_EVER if is_ever else Message.SPREAD,
            count=count,
            most=request.spread_most,
            level=request.spread_level,
            found=best.pods,
        )
    else:
        message = Message.INSIDE_ONE_EVER if is_ever else Message.INSIDE_ONE
        level = request.required or ""
        return Reason.of(message, count=count, level=level, found=best.pods)
    if not request.required:
        return reason
    inside = Reason.of(Message.ALL_INSIDE_ONE, reason=reason, level=request.required)
    return inside.coded(reason.code)


def _best(placer: TopologyPlacer) -> AreaTrial:
    """The largest part of the gang that fits in one domain of the required level, if there is one,
    or on all nodes."""
    best = AreaTrial([], False, 0, 0)
    for bound, rows in _most_first(placer):
        if bound <= best.pods:
            break
        trial = placer.try_area(rows, partial=True)
        if (trial.pods, trial.slices) > (best.pods, best.slices):
            best = trial
    return best


def _most_first(placer: TopologyPlacer) -> list[tuple[int, Ints]]:
    """The areas with an upper bound of the pods that fit in each, the largest bound first."""
    level = placer.request.required
    if level is None:
        return [(2**62, placer.useful(np.arange(len(placer.free.table.nodes))))]
    domains = placer.levels.domains(level)
    bounds = np.zeros(domains.count, np.int64)
    for shape, capacity in zip(placer.gang.shapes, placer.capacity, strict=True):
        bounds += np.minimum(placer.bound(domains, level, capacity), shape.count)
    bounds[placer.is_elsewhere(level)] = 0
    order = np.argsort(-bounds, kind="stable")[:_MAX_AREAS].tolist()
    return [(int(bounds[domain]), placer.useful(domains.rows(domain))) for domain in order]
