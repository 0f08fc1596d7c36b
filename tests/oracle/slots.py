"""How slots are filled with what was found.

A *share* is what one slot takes of one type. It takes whole vertices until it has enough and
wastes the rest of the last one; of a divisible pool it takes exactly its count, never from two.
Outside of a slot, what is asked of pools may come from several of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fluxnetes.jobspec.model import Count, Resource
from tests.oracle.findings import Edge, Findings, Group


def shares(groups: Sequence[Group], count: int) -> list[Group]:
    """Cut the candidates of one type, in order, into shares of `count`."""
    cut: list[Group] = []
    bundle: list[Group] = []
    for group in groups:
        (edge,) = group.edges
        if edge.vertex.divisible:
            part = Group(group.score, count, (Edge(edge.vertex, count, True),))
            cut += [part] * (group.count // count)
            continue
        bundle.append(group)
        if sum(g.count for g in bundle) >= count:
            cut.append(bundled(bundle))
            bundle = []
    return cut


def bundled(groups: Sequence[Group]) -> Group:
    edges = (edge for group in groups for edge in group.edges)
    return Group(
        score=sum(group.score for group in groups),
        count=1,
        edges=tuple(Edge(edge.vertex, edge.needs, True) for edge in edges),
    )


def as_slot(parts: Sequence[Group]) -> Group:
    slot = bundled(parts)
    return Group(slot.score + 1, 1, slot.edges)


def most_for_one_share(groups: Sequence[Group]) -> int:
    """All together; of pools, of which a share never takes two, the most that one has."""
    if groups and all(edge.vertex.divisible for group in groups for edge in group.edges):
        return max(group.count for group in groups)
    return sum(group.count for group in groups)


def pack(shape: Sequence[Resource], inside: Findings) -> list[Group]:
    """All slots of one shape that the candidates can fill."""
    columns: list[list[Group]] = []
    for part in shape:
        groups = inside.groups.get(part.type, [])
        count = part.count.fit(most_for_one_share(groups))
        columns.append(shares(groups, count) if count else [])
    return [as_slot(parts) for parts in zip(*columns, strict=False)]


# -- slots that are alternatives (the flexible traverser) ------------------------------------------


def union_of_slots(slots: Iterable[Resource]) -> tuple[Resource, ...]:
    """One resource of every type in the slots, the one with the largest minimum."""
    largest: dict[str, Resource] = {}
    for slot in slots:
        for part in slot.children:
            known = largest.get(part.type)
            if known is None or known.count.min < part.count.min:
                largest[part.type] = part
    return tuple(largest.values())


def pack_alternatives(slots: Sequence[Resource], most: int, inside: Findings) -> list[Group]:
    """Fill as many slots as possible, choosing a shape for each; none if a share falls short."""
    types = {part.type for slot in slots for part in slot.children}
    plan = plan_of_shapes(slots, most, {type: inside.total(type) for type in types})
    left = {type: list(groups) for type, groups in inside.groups.items()}
    packed: list[Group] = []
    for shape in plan:
        parts: list[Group] = []
        for part in shape.children:
            count = part.count.fit(inside.total(part.type))
            share = next_share(left.get(part.type, []), count)
            if share is None:
                return []
            parts.append(share)
        packed.append(as_slot(parts))
    return packed


def next_share(left: list[Group], count: int) -> Group | None:
    taken: list[Group] = []
    while sum(g.count for g in taken) < count:
        if not left:
            return None
        taken.append(left.pop(0))
    return bundled(taken)


def plan_of_shapes(
    slots: Sequence[Resource], most: int, counts: Mapping[str, int]
) -> list[Resource]:
    """The longest sequence of shapes that the counts allow; the first of equals."""
    if len(slots) == 1:
        fitting = [fits(part.count, counts[part.type]) for part in slots[0].children]
        return list(slots) * min([most, *fitting])
    return longest(tuple(slots), tuple(sorted(counts.items())), {})


def fits(count: Count, available: int) -> int:
    each = count.fit(available)
    return available // each if each else 0


Counts = tuple[tuple[str, int], ...]


def longest(
    slots: tuple[Resource, ...], counts: Counts, known: dict[Counts, list[Resource]]
) -> list[Resource]:
    if counts in known:
        return known[counts]
    best: list[Resource] = []
    for slot in slots:
        left = dict(counts)
        each = {part.type: part.count.fit(left[part.type]) for part in slot.children}
        if not all(each.values()):
            continue
        for part in slot.children:
            left[part.type] -= each[part.type]
        rest = longest(slots, tuple(sorted(left.items())), known)
        if len(rest) + 1 > len(best):
            best = [slot, *rest]
    known[counts] = best
    return best
