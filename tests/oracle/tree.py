"""The resource graph as plain objects.

Vertices are met depth first, children in the order of their edges; a vertex with two parents
belongs to the one that reaches it first, as in the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT


@dataclass(eq=False)
class Vertex:
    """One vertex; compared by identity."""

    row: int
    type: str
    id: int
    uniq_id: int
    size: int
    divisible: bool
    parent: Vertex | None
    children: list[Vertex] = field(default_factory=list)

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

    def holds(self, type: str) -> bool:
        """Is one of its children of this type?"""
        return any(child.type == type for child in self.children)


class Tree:
    """One subsystem of a graph, as it stands at one version of the graph."""

    def __init__(self, graph: ResourceGraph, subsystem: str = CONTAINMENT) -> None:
        self.version = graph.version
        self.by_row: dict[int, Vertex] = {}
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
        self.by_row[row] = vertex
        for target in self._targets.get(row, ()):
            if target not in self.by_row:
                vertex.children.append(self._grow(graph, target, vertex))
        return vertex

    def vertices(self) -> Iterator[Vertex]:
        return self.root.subtree()
