"""The planner's view of a request: what the matcher searches for, and how it can be counted.

Many requests are a multiple of one *unit*: so many whole nodes, so many slots of one shape, so many
equal pods. Where all jobs on some nodes request the same unit, only the number of free units
matters: any free one serves, and counting them plans exactly. Where units of different shapes
compete for one node, a request is no multiple of a unit, or its units have to be close together or
apart, only the matcher can decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from fluxnetes.jobspec.constraint import And, Constraint
from fluxnetes.jobspec.model import SLOT, Jobspec, Resource
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.planning import slots_below, times
from fluxnetes.queue.jobs import ElasticSize, Request


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A request as the planner sees it."""

    spec: Request
    """What the matcher is asked for."""
    unit: Request | None
    """A request for one unit; None if units of it cannot be counted."""
    count: int
    """Units requested."""
    shared: tuple[tuple[str, int], ...] = ()
    """Amounts from pools that no node owns, whatever the number of units."""
    elastic: ElasticSize | None = None
    window: str | None = None
    """The advance reservation that it runs in."""
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        # Requests are dictionary keys on hot paths, and deep values to hash.
        parts = (self.spec, self.unit, self.count, self.shared, self.elastic, self.window)
        object.__setattr__(self, "_hash", hash(parts))

    def __hash__(self) -> int:
        return self._hash

    @property
    def kind(self) -> object:
        """Equal for requests that are counted in the same way."""
        return (self.unit, tuple(type for type, _ in self.shared), self.window)

    def sized(self, count: int) -> PlanRequest:
        """The same, for another number of units."""
        if count == self.count:
            return self
        return replace(self, spec=times(self.spec, count), count=count)


def plan_request(
    request: Request,
    *,
    constraint: Constraint | None = None,
    size: ElasticSize | None = None,
    window: str | None = None,
) -> PlanRequest:
    """The planner's view of a request, narrowed down to some nodes."""
    # Parts that do not decide where it fits (tasks, attributes) are left out, so that requests
    # which differ in them alone are equal.
    if isinstance(request, Gang):
        request = Gang(request.shapes, request.shared, topology=request.topology)
    else:
        request = Jobspec(request.resources, constraint=request.constraint)
    return _read(request, constraint, size, window)


@lru_cache(maxsize=4096)
def _read(
    request: Request, constraint: Constraint | None, size: ElasticSize | None, window: str | None
) -> PlanRequest:
    """Equal requests are read once, and give the same object."""
    if constraint is not None:
        request = narrowed(request, constraint)
    if isinstance(request, Gang):
        unit, count, shared = _gang_unit(request)
    else:
        unit, count, shared = _jobspec_unit(request, grows=size is not None)
    planned = PlanRequest(request, unit, count, shared, size, window)
    return planned if size is None else planned.sized(size.min)


def narrowed(request: Request, constraint: Constraint) -> Request:
    """A request with one more constraint."""
    if isinstance(request, Gang):
        shapes = (replace(s, constraint=_both(s.constraint, constraint)) for s in request.shapes)
        return replace(request, shapes=tuple(shapes))
    return replace(request, constraint=_both(request.constraint, constraint))


def _both(one: Constraint | None, other: Constraint) -> Constraint:
    return other if one is None else And((one, other))


Unit = tuple[Request | None, int, tuple[tuple[str, int], ...]]


def _gang_unit(gang: Gang) -> Unit:
    if len(gang.shapes) != 1:
        return None, 0, gang.shared
    only = gang.tidied().shapes[0]
    # A preference rules nothing out: such pods are counted like those without one.
    topology = gang.topology if gang.topology is not None and gang.topology.is_binding else None
    unit = Gang((replace(only, count=1),), topology=topology)
    return unit, only.count, gang.shared


def _jobspec_unit(jobspec: Jobspec, *, grows: bool) -> Unit:
    nothing: Unit = (None, 0, ())
    if len(jobspec.resources) != 1:
        return nothing
    top = jobspec.resources[0]
    if not _is_fixed(top):
        return nothing
    unit = Jobspec(resources=(top,), constraint=jobspec.constraint)
    if slots_below(top) and not grows:
        return unit, 1, ()
    # Slots may share a vertex above them; top-level resources must be different ones, which units
    # do not express, so they can be counted only where none of them shares a vertex with another.
    # An elastic group grows by top-level resources, whatever they share.
    is_one = grows and top.count.min == 1
    if top.type != SLOT and top.exclusive is not True and not is_one:
        return nothing
    return times(unit, 1), top.count.min, ()


def _is_fixed(resource: Resource) -> bool:
    """Whether all counts of a request are numbers, not ranges."""
    count = resource.count
    return count.min == count.max and all(_is_fixed(child) for child in resource.children)
