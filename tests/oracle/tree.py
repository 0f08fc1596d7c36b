"""The resource graph as plain objects.

Vertices are met depth first, children in the order of their edges. A vertex with several parents is
there once for each path that leads to it: objects with the same `row` are the same vertex. The
first of them is what `by_row` knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT


@dataclass(eq=False)
class Vertex:
    """One vertex, on one path; compared by identity."""

    row: int
    type: str
    id: int
    uniq_id: int
    size: int
    divisible: bool
    parent: Vertex | None
    children: list[Vertex] = field(default_factory=list)
    within: frozenset[int] = frozenset()
    """What `rows_within` found; a tree does not change."""

    def ancestors(self) -> Iterator[Vertex]:
        """Its parent, its parent's parent, ... up to the root."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def subtree(self) -> Iterator[Vertex]:
        """Itself and all below, depth first."""
        yield self
        for child in self.children:
            yield from child.subtree()

    def rows_above(self) -> list[int]:
        return [above.row for above in self.ancestors()]

    def rows_within(self) -> frozenset[int]:
        """The rows of itself and of all below, on whatever path they are looked at."""
        if not self.within:
            below = (child.rows_within() for child in self.children)
            self.within = frozenset((self.row,)).union(*below)
        return self.within

    def holds(self, type: str) -> bool:
        """Is one of its children of this type?"""
        return any(child.type == type for child in self.children)


class Tree:
    """One subsystem of a graph, as it stands at one version of the graph."""

    def __init__(self, graph: ResourceGraph, subsystem: str = CONTAINMENT) -> None:
        self.version = graph.version
        self.by_row: dict[int, Vertex] = {}
        self.on_paths: dict[int, list[Vertex]] = {}
        """All objects of each row, in the order in which they are met."""
        number = graph.subsystems.get(subsystem)
        self._targets: dict[int, list[int]] = {}
        edges = zip(graph.edge_source, graph.edge_target, graph.edge_subsystem, strict=True)
        for source, target, its in edges:
            if its == number:
                self._targets.setdefault(int(source), []).append(int(target))
        root = int(graph.topology(subsystem).vertex[0])
        self.root = self._grow(graph, root, None)

    def _grow(self, graph: ResourceGraph, row: int, parent: Vertex | None) -> Vertex:
        vertex = Vertex(
            row=row,
            type=graph.type_name(row),
            id=int(graph.id[row]),
            uniq_id=int(graph.uniq_id[row]),
            size=int(graph.size[row]),
            divisible=bool(graph.divisible[row]),
            parent=parent,
        )
        self.by_row.setdefault(row, vertex)
        self.on_paths.setdefault(row, []).append(vertex)
        vertex.children = [self._grow(graph, t, vertex) for t in self._targets.get(row, ())]
        return vertex

    def vertices(self) -> Iterator[Vertex]:
        """Each vertex once."""
        return (vertex for vertex in self.root.subtree() if self.is_first(vertex))

    def is_first(self, vertex: Vertex) -> bool:
        return self.by_row[vertex.row] is vertex

    def same_path(self, vertex: Vertex) -> Vertex:
        """The vertex on the path of another tree's, or where it is met first."""
        path = vertex.rows_above()
        there = (v for v in self.on_paths[vertex.row] if v.rows_above() == path)
        return next(there, self.by_row[vertex.row])
