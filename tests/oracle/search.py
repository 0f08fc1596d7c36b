"""One depth-first search for one request in one window.

The search walks down from the root with the list of resources still to be found at this level.
At each vertex it decides what the vertex is to the request (`kind_of`): the resource asked for,
the place of a slot, something to be passed through because nothing has matched yet, or nothing.
A vertex that is pruned (down, against the constraint, taken) hides all below it.

What a vertex finds below it are *groups*: a matched child is a group of one; a slot is a group of
all the vertices in it. A matched vertex takes as many groups as it needs of each type, best score
first, and marks them; a vertex that is passed through hands its groups up. What is left at the
root is chosen last. Nothing is ever tried twice: a choice is never taken back.

Two limits of the reference are kept, because answers depend on them. A slot is filled only from
the direct children of the vertex where it is placed. And where a slot was found one level below
the matched vertex, the level in between is not marked, so nothing of it is emitted.

A vertex with several parents belongs to the first that reaches it. A parent that fails gives back
what it reached, and so does one that is passed through in vain; then the next one that comes by may
have it.

`findings` says what is found and how it is taken, `slots` how slots are filled.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fluxnetes.jobspec.model import SLOT, XOR_SLOT, Resource
from tests.oracle.calendar import Calendar, Window
from tests.oracle.findings import (
    Edge,
    Findings,
    Group,
    Progress,
    chosen_edges,
    has_enough,
    take,
)
from tests.oracle.policies import Policy
from tests.oracle.slots import pack, pack_alternatives, union_of_slots
from tests.oracle.tree import Vertex

MAX_XOR_VARIANTS = 1000


class Terrain(Protocol):
    """What the search asks about vertices, beyond time."""

    def is_up(self, vertex: Vertex) -> bool: ...

    def properties(self, vertex: Vertex) -> Mapping[str, str]: ...

    def satisfies_constraint(self, vertex: Vertex) -> bool: ...

    def by_weight(self, vertex: Vertex) -> Iterable[Vertex]:
        """The children, in the order in which the first-match policies try them."""


@dataclass(frozen=True)
class Mark:
    """A vertex that the search selected."""

    needs: int
    exclusive: bool


class Kind(enum.Enum):
    """What a vertex is to the resources looked for."""

    RESOURCE = "resource"
    SLOT = "slot"
    PASSED = "passed"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Test:
    """The outcome of looking at a vertex's type: what it is, and what to look for below it."""

    kind: Kind
    below: tuple[Resource, ...] = ()
    slots: int = 0


NOTHING = Test(Kind.NOTHING)


@dataclass
class Search:
    """A search under way; `run` starts it, and `marks` is its result."""

    calendar: Calendar
    terrain: Terrain
    policy: Policy
    flexible: bool
    window: Window
    heeds_status: bool
    whole: Collection[str]
    """The types of which everything below comes along; see `emission`."""
    marks: dict[Vertex, Mark] = field(default_factory=dict)
    reached: set[int] = field(default_factory=set)
    """The rows that belong to the parent that reached them."""

    def run(self, root: Vertex, resources: tuple[Resource, ...]) -> bool:
        """Look for `resources`; with the flexible traverser, for each of their variants in turn."""
        variants = xor_variants(resources) if self.flexible else [resources]
        return any(self._run_variant(root, variant) for variant in variants)

    def _run_variant(self, root: Vertex, resources: tuple[Resource, ...]) -> bool:
        self.marks = {}
        self.reached = set()
        top = Findings()
        exclusive = asks_exclusively(root, resources)
        found = self._visit(root, resources, True, exclusive, top)
        if found is None:
            return False
        top.add(root.type, Group(found.score, found.count, ()))
        scores: set[int] = set()
        for resource in resources:
            count = resource.count.fit(top.total(resource.type))
            if count == 0:
                return False
            ordered = self.policy.order_on_top(top.groups[resource.type], lambda g: g.score, scores)
            top.chosen[resource.type] = take(ordered, count, resource.exclusive)
        self._mark(top)
        self._mark_way_down(top)
        needs = next((r.count.fit(found.count) for r in resources if r.type == root.type), 1)
        self.marks[root] = Mark(needs, exclusive)
        return needs > 0

    # -- one vertex ----------------------------------------------------------------------------

    def _visit(
        self,
        vertex: Vertex,
        resources: tuple[Resource, ...],
        pristine: bool,
        exclusive: bool,
        to_parent: Findings,
    ) -> Group | None:
        """Search at and below one vertex; the group that it is itself, or None."""
        test = self._test(vertex, resources, pristine)
        exclusive = exclusive or asks_exclusively(vertex, resources)
        if test.kind is Kind.NOTHING or self._is_pruned(vertex, resources, exclusive):
            return None
        findings = Findings()
        before = set(self.reached)
        self.reached.add(vertex.row)
        if test.kind is Kind.SLOT:
            self._fill_slots(vertex, test, findings)
        else:
            passed = test.kind is Kind.PASSED
            self._explore(vertex, test.below, pristine and passed, exclusive, findings)
        if not self._choose_children(vertex, resources, findings):
            self.reached = before
            return None
        asked_for = any(resource.type == vertex.type for resource in resources)
        if not asked_for and not any(findings.total(r.type) for r in resources):
            self.reached = before  # passed through in vain
        if findings.chosen:
            self._mark(findings)
        else:
            to_parent.merge(findings)
        available = self.calendar.available(vertex, self.window)
        score = self.policy.score(vertex, self.terrain.properties(vertex))
        return Group(score, available, (Edge(vertex, available, exclusive),))

    def _test(self, vertex: Vertex, resources: tuple[Resource, ...], pristine: bool) -> Test:
        test = flexible_test if self.flexible else simple_test
        found = test(vertex, resources)
        if found is None:
            return Test(Kind.PASSED, resources) if pristine else NOTHING
        return found

    def _is_pruned(self, vertex: Vertex, resources: Sequence[Resource], exclusive: bool) -> bool:
        if self.heeds_status and not self.terrain.is_up(vertex):
            return True
        if not self.terrain.satisfies_constraint(vertex):
            return True
        if self.calendar.available(vertex, self.window) <= 0:
            return True
        if vertex.type in self.whole and not self.calendar.is_alone(vertex, self.window):
            return True
        mine = (resource for resource in resources if resource.type == vertex.type)
        return any(not self._may_take(vertex, resource, exclusive) for resource in mine)

    def _may_take(self, vertex: Vertex, resource: Resource, exclusive: bool) -> bool:
        if not exclusive:
            return True
        if resource.exclusive is False:  # it contradicts what was asked for above it
            return False
        if vertex.divisible and not resource.exclusive:
            return True
        return self.calendar.is_alone(vertex, self.window)

    def _choose_children(
        self, vertex: Vertex, resources: Sequence[Resource], findings: Findings
    ) -> bool:
        """Take what the matching resource asks of the levels below; False if it is not there."""
        for resource in resources:
            if resource.type != vertex.type:
                continue
            for child in resource.children:
                count = child.count.fit(findings.total(child.type))
                if count == 0:
                    return False
                ordered = self.policy.order(findings.groups[child.type], lambda g: g.score)
                findings.chosen[child.type] = take(ordered, count, child.exclusive)
        return True

    # -- marking -------------------------------------------------------------------------------

    def _mark(self, findings: Findings) -> None:
        for edge in chosen_edges(findings):
            before = self.marks.get(edge.vertex)
            if edge.vertex.divisible and before is not None:
                edge = Edge(edge.vertex, before.needs + edge.needs, edge.exclusive)
            self.marks[edge.vertex] = Mark(edge.needs, edge.exclusive)

    def _mark_way_down(self, top: Findings) -> None:
        """Mark the levels between the root and what was chosen, which were only passed through."""
        for edge in chosen_edges(top):
            for above in edge.vertex.ancestors():
                if above.parent is None or above in self.marks:
                    break
                if above.type in top.groups and above.type not in top.chosen:
                    self.marks[above] = Mark(above.size, False)

    # -- children ------------------------------------------------------------------------------

    def _explore(
        self,
        vertex: Vertex,
        resources: tuple[Resource, ...],
        pristine: bool,
        exclusive: bool,
        findings: Findings,
        slots: int | None = None,
    ) -> None:
        """Search all children, or as many as the first-match policies need to look at.

        For slots, enough is a number of shares, each from one pool; else pools add up.
        """
        shares = 1 if slots is None else slots
        progress = {r.type: Progress(r.count.largest) for r in resources}
        for child in self._order_of_visits(vertex):
            if child.row in self.reached:
                continue
            if self.policy.stops_early and has_enough(progress, child.type, shares):
                continue
            group = self._visit(child, resources, pristine, exclusive, findings)
            if group is None:
                continue
            findings.add(child.type, group)
            for type, tally in progress.items():
                splits = slots is not None and child.divisible and child.type == type
                tally.see(findings.total(type), splits)
            if self.policy.stops_early and all(t.shares_enough(shares) for t in progress.values()):
                return

    def _order_of_visits(self, vertex: Vertex) -> Iterator[Vertex]:
        return iter(self.terrain.by_weight(vertex) if self.policy.stops_early else vertex.children)

    # -- slots ---------------------------------------------------------------------------------

    def _fill_slots(self, vertex: Vertex, test: Test, findings: Findings) -> None:
        inside = Findings()
        looked_for = test.below if not self.flexible else union_of_slots(test.below)
        self._explore(vertex, looked_for, False, True, inside, test.slots)
        for type, groups in inside.groups.items():
            inside.groups[type] = self.policy.order_in_slot(groups, lambda g: g.score)
        if self.flexible:
            slots = pack_alternatives(test.below, test.slots, inside)
        else:
            slots = pack(test.below, inside)
        for slot in slots:
            findings.add(SLOT, slot)


# -- what a vertex is to a request -----------------------------------------------------------------


def asks_exclusively(vertex: Vertex, resources: Iterable[Resource]) -> bool:
    return any(r.type == vertex.type and r.exclusive for r in resources)


def slot_fits(vertex: Vertex, slot: Resource) -> bool:
    """Has the vertex a child of every type that the slot holds?"""
    return all(vertex.holds(inside.type) for inside in slot.children)


def simple_test(vertex: Vertex, resources: tuple[Resource, ...]) -> Test | None:
    """The simple traverser's test; None if the vertex is neither a match nor a slot's place."""
    concerned = [r for r in resources if r.type in (vertex.type, SLOT)]
    if len(concerned) > 1:  # siblings that ask for the same thing: not understood
        return NOTHING
    if not concerned:
        return None
    resource = concerned[0]
    slots = [resource] if resource.type == SLOT else slots_of(resource.children)
    if len(slots) > 1:  # the reference takes the last of them, and forgets the others
        return NOTHING
    if slots and slot_fits(vertex, slots[-1]):
        return Test(Kind.SLOT, slots[-1].children, slots[-1].count.largest)
    if resource.type == vertex.type:
        return Test(Kind.RESOURCE, resource.children)
    return None


def flexible_test(vertex: Vertex, resources: tuple[Resource, ...]) -> Test | None:
    """The flexible traverser's test: sibling slots are alternatives, tried together."""
    matching = [r for r in resources if r.type == vertex.type]
    if len(matching) > 1 or (matching and slots_of(resources)):
        return NOTHING
    level = resources if slots_of(resources) else matching[0].children if matching else ()
    slots = slots_of(level)
    if slots:
        if any(slot_fits(vertex, slot) for slot in level):
            return Test(Kind.SLOT, level, slots[-1].count.largest)
        return None
    return Test(Kind.RESOURCE, matching[0].children) if matching else None


def slots_of(resources: Iterable[Resource]) -> list[Resource]:
    return [r for r in resources if r.type == SLOT]


def xor_variants(resources: tuple[Resource, ...]) -> list[tuple[Resource, ...]]:
    """All ways to read a request in which one of each level's xor_slots stands for all."""
    variants: list[tuple[Resource, ...]] = [()]
    choices: list[Resource] = []
    for resource in resources:
        inner = xor_variants(resource.children)
        if resource.type == XOR_SLOT:
            choices += [replace(resource, SLOT, children) for children in inner]
        else:
            variants = [
                (*variant, replace(resource, resource.type, children))
                for variant in variants
                for children in inner
            ]
    if choices:
        variants = [(*variant, choice) for variant in variants for choice in choices]
    if len(variants) > MAX_XOR_VARIANTS or len(choices) > MAX_XOR_VARIANTS:
        raise OverflowError(f"more than {MAX_XOR_VARIANTS} variants of a request with xor_slots")
    return variants


def replace(resource: Resource, type: str, children: tuple[Resource, ...]) -> Resource:
    return Resource(type, resource.count, children, resource.exclusive, resource.label)
