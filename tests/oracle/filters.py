"""Prune filters, as far as answers depend on them.

A filter counts what is free of some types below a vertex, to prune a search early. Pruning alone
changes no answer, so the oracle does none. But three things look at the filters all the same:
reservations start at times that the root's filter knows, the first-match policies order children
by what the last type of the child's filter has free now, and the check of how many nodes are up
counts only where nodes are filtered.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle.calendar import Calendar, Job, Row
from tests.oracle.tree import Tree, Vertex

UNWEIGHTED = 2**64 - 1


class Filters:
    """Which vertex counts which types."""

    def __init__(self, spec: str, type_order: Iterable[str]) -> None:
        self.anchored: dict[str, set[str]] = {}
        self._order = {type: i for i, type in enumerate(type_order)}
        pairs = [pair.split(":") for pair in spec.replace(" ", "").split(",")]
        for anchor, type in pairs:
            self._add(anchor, type)

    def _add(self, anchor: str, type: str) -> None:
        if anchor == "ALL":
            for types in self.anchored.values():
                types.discard(type)
        elif type in self.anchored.get("ALL", ()):
            return
        self.anchored.setdefault(anchor, set()).add(type)

    def prime(self, tree: Tree) -> None:
        """Whatever hangs at the end of a branch is counted by the cluster."""
        self.follow(tree)
        for vertex in tree.vertices():
            if not vertex.children and vertex.type not in self.counted:
                self._add("cluster", vertex.type)

    def follow(self, tree: Tree) -> None:
        """Count in this tree from now on."""
        self._tree = tree

    @property
    def counted(self) -> set[str]:
        return set().union(*self.anchored.values())

    def of(self, vertex: Vertex) -> list[str]:
        """The types that one vertex's filter counts, in the filter's order; none for a leaf."""
        if not vertex.children:
            return []
        own = sorted(self.anchored.get(vertex.type, ()), key=self._rank)
        common = sorted(self.anchored.get("ALL", set()) - {vertex.type}, key=self._rank)
        return own + common

    def _rank(self, type: str) -> int:
        return self._order.get(type, len(self._order))

    def sees(self, vertex: Vertex, job: Job) -> bool:
        """Does the vertex's filter know of the job?"""
        counted = self.counted
        return bool(self.of(vertex)) and any(
            row.vertex.type in counted and vertex.row in row.vertex.rows_above()
            for row in job.rows.values()
        )

    def free(self, calendar: Calendar, vertex: Vertex, type: str, at: int) -> int:
        """What is left of a type below a vertex at one instant.

        A vertex counts below the parent that meets it first, and a job below those that it came
        through.
        """
        below = [v for v in self._counting_place(vertex).subtree() if self._tree.is_first(v)]
        total = sum(v.size for v in below if v.row != vertex.row and v.type == type)
        used = 0
        for job in calendar.on(vertex):
            if job.start <= at < job.end:
                rows = [r for r in job.rows.values() if vertex.row in r.vertex.rows_above()]
                used += sum(taken(r) for r in rows if r.exclusive and r.vertex.type == type)
        return total - used

    def _counting_place(self, vertex: Vertex) -> Vertex:
        return self._tree.by_row[vertex.row]

    def weight(self, calendar: Calendar, child: Vertex, now: int, old: int) -> int:
        """The new weight of the edge to a child through which a job was just placed."""
        types = self.of(child)
        if not types:
            return old
        if now < 0:  # adopted from elsewhere: nothing is known of now
            return 0
        free = self.free(calendar, child, types[-1], now)
        known = any(self.sees(child, job) for job in calendar.on(child))
        return old if free == 0 and not known else free


def taken(row: Row) -> int:
    """What an exclusive row takes from a filter's count: all of a vertex, or a part of a pool."""
    return row.needs if row.vertex.divisible else row.vertex.size
