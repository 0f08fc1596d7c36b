"""Prune filters: the aggregates that a vertex tracks of what is below it.

A filter `rack:core` makes every rack track the number of cores below it, `ALL:core` makes every
vertex that holds others do so; a vertex of type `cluster` also tracks every type that is at a leaf.
This matcher needs no filters to be fast. They exist because they affect results: the root's filters
determine the times at which a reservation is tried, and the last filter of a vertex is the weight
by which the `first` policies order their walk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fluxnetes.graph.columns import Interner

DEFAULT_FILTERS = "ALL:core,ALL:node"
ANY = "ALL"


class FilterError(ValueError):
    """A prune filter specification is invalid."""


@dataclass(frozen=True, slots=True)
class PruneFilters:
    """Tracked types by the type of the vertex that tracks them."""

    anchored: dict[str, frozenset[str]]

    @property
    def tracked(self) -> frozenset[str]:
        return frozenset().union(*self.anchored.values())

    def of(self, vertex_type: str, types: Interner) -> list[int]:
        """The types that a vertex tracks: its own filters, then the general ones, never itself."""
        own = sorted(types.get(name) for name in self.anchored.get(vertex_type, ()))
        general = sorted(types.get(name) for name in self.anchored.get(ANY, ()))
        me = types.get(vertex_type)
        return [t for t in own + general if t >= 0 and t != me]


def parse_filters(text: str, leaf_types: Iterable[str] = ()) -> PruneFilters:
    """Parse `HL:LL[,HL:LL...]`; the cluster tracks leaf types that no filter names."""
    anchored: dict[str, set[str]] = {}
    for pair in (text or DEFAULT_FILTERS).split(","):
        anchor, colon, tracked = (part.strip() for part in pair.partition(":"))
        if not colon or not anchor or not tracked:
            raise FilterError(f"prune filter {pair!r}: expected HIGH:LOW, for example ALL:core")
        if anchor == ANY:
            for others in anchored.values():
                others.discard(tracked)
        elif tracked in anchored.get(ANY, ()):
            continue
        anchored.setdefault(anchor, set()).add(tracked)
    known = set().union(*anchored.values())
    for leaf in leaf_types:
        if leaf not in known:
            anchored.setdefault("cluster", set()).add(leaf)
    return PruneFilters({anchor: frozenset(types) for anchor, types in anchored.items()})
