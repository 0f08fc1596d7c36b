"""Compiles a request for the groups of a tree: the role of each group in it.

From the root down, each group of vertices is one of

- PASS: the request does not mention it; what is requested may be below. Only possible until the
  first match: a request may omit the levels above, never one in between.
- RESOURCE: its vertices are requested by type, and what the request has below them is matched with
  their direct children.
- SLOT: its vertices hold, as direct children, everything a slot is made of, so slots are filled
  there. (They may be requested by type at the same time.)

or of no use, and then omitted. The result is a small tree of stages, as deep as the graph and as
wide as its kinds of vertices, whatever the number of vertices.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from fluxnetes.jobspec.model import SLOT, Resource
from fluxnetes.match.engine.groups import VertexGroup


class StageKind(enum.Enum):
    PASS = enum.auto()
    RESOURCE = enum.auto()
    SLOT = enum.auto()


@dataclass(slots=True, eq=False)
class Stage:
    """The role of one group in one request."""

    group: VertexGroup
    depth: int
    kind: StageKind
    request: Resource | None
    """The request that the vertices themselves match."""
    slots: tuple[Resource, ...]
    """The slot filled from their children; with the flexible traverser, the alternatives."""
    exclusive: bool
    """The job holds the vertices exclusively."""
    alone: bool
    """The vertices qualify only if no job holds anything on them or below."""
    contradictory: bool
    """Requested as shared where everything is exclusive: never matches."""
    below: list[Stage] = field(default_factory=list)
    uneven: bool = False
    """Slots are filled from vertices of different sizes, so a later slot may be the better one."""

    def all(self) -> Iterator[Stage]:
        """This stage, and all below it."""
        yield self
        for below in self.below:
            yield from below.all()

    def serving(self, type: str) -> list[Stage]:
        """The stages directly below whose vertices are requested as `type`."""
        return [s for s in self.below if s.request is not None and s.request.type == type]


@dataclass(frozen=True, slots=True)
class CompileRules:
    """The parameters of a compilation besides the request."""

    exclusive_types: frozenset[str]
    """Types of which every used vertex is allocated whole."""
    flexible: bool = False
    """Sibling slots are alternatives."""


def compile_stages(
    root: VertexGroup, resources: tuple[Resource, ...], rules: CompileRules
) -> Stage | None:
    """Compile a request for the groups from `root` down; None if it can match nowhere."""
    return _compile(root, 0, resources, True, False, rules)


def _compile(
    group: VertexGroup,
    depth: int,
    resources: tuple[Resource, ...],
    pristine: bool,
    exclusive: bool,
    rules: CompileRules,
) -> Stage | None:
    matched = [r for r in resources if r.type == group.type]
    slots = [r for r in resources if r.type == SLOT]
    if matched and group.divisible:
        slots = []  # slots are never filled in a pool, so it may be requested beside one
    too_many = len(matched) > 1 or (matched and slots) or (len(slots) > 1 and not rules.flexible)
    if too_many:
        return None  # siblings that request one type: it is ambiguous which one a vertex serves
    request = matched[0] if matched else None
    x_in = exclusive or (request is not None and request.exclusive is True)
    wanted = [c for c in request.children if c.type == SLOT] if request else slots
    if len(wanted) > 1 and not rules.flexible:
        return None  # the same, one level down
    if any(len({c.type for c in s.children}) < len(s.children) for s in wanted):
        return None  # and within a slot
    fitting = _fitting(group, wanted, rules)
    if fitting:
        if request is None and not pristine:
            return None  # the request omits a level in between
        kind, following, x_below = StageKind.SLOT, _union(fitting), True
    elif request is not None and not (rules.flexible and wanted):
        kind, following, x_below = StageKind.RESOURCE, request.children, x_in
    elif pristine:
        kind, following, x_below, request = StageKind.PASS, resources, x_in, None
    else:
        return None
    stage = Stage(
        group,
        depth,
        kind,
        request,
        tuple(fitting),
        x_in,
        _must_be_alone(group, request is not None and x_in, rules),
        exclusive and request is not None and request.exclusive is False,
    )
    still_pristine = kind is StageKind.PASS
    for child in group.below:
        below = _compile(child, depth + 1, following, still_pristine, x_below, rules)
        if below is not None:
            stage.below.append(below)
    if kind is StageKind.PASS and not stage.below:
        return None
    if fitting and not any(_is_served(stage, slot) for slot in fitting):
        return None  # a part of each slot has a request that no vertex can serve
    stage.uneven = kind is StageKind.SLOT and _is_uneven(stage)
    return stage


def _is_served(stage: Stage, slot: Resource) -> bool:
    return all(stage.serving(part.type) for part in slot.children)


def _must_be_alone(group: VertexGroup, exclusive: bool, rules: CompileRules) -> bool:
    """The rest of a pool stays available to other jobs, unless its type is requested exclusive."""
    if group.type in rules.exclusive_types:
        return True
    return exclusive and not group.divisible


def _is_uneven(stage: Stage) -> bool:
    for part in {child.type for slot in stage.slots for child in slot.children}:
        sizes = {s.group.size for s in stage.serving(part) if not s.group.divisible}
        if len(sizes) > 1 or -1 in sizes:
            return True
    return False


def _fitting(group: VertexGroup, slots: list[Resource], rules: CompileRules) -> list[Resource]:
    """The slots that can be filled from the children of a group's vertices."""
    holds = [s for s in slots if {c.type for c in s.children} <= group.child_types]
    if rules.flexible:
        return slots if holds else []
    return holds[-1:] if holds and holds[-1] is slots[-1] else []


def _union(slots: list[Resource]) -> tuple[Resource, ...]:
    """The parts of all alternatives, each type once, with the largest minimum count."""
    if len(slots) == 1:
        return slots[0].children
    most: dict[str, Resource] = {}
    for slot in slots:
        for child in slot.children:
            known = most.get(child.type)
            if known is None or known.count.min < child.count.min:
                most[child.type] = child
    return tuple(most.values())
