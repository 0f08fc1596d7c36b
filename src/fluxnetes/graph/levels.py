"""Levels between a cluster and its nodes, such as zones, blocks and racks, and their domains.

    cluster ── zone ── block ── rack ── node

Every node has a *place*: the domain of each level that it is in, from the widest to the narrowest.
Of a node that belongs to no rack it is not known which other nodes are near it. It is below a
vertex that stands for no domain, one for each parent, so that all nodes are at one depth.
"""

from __future__ import annotations

from typing import TypeAlias

from fluxnetes.graph.patch import GraphPatch

UNNAMED = "unnamed"
"""Property of a vertex that holds nodes which are in no domain of its level."""
NO_NAME = "default"
"""The name of such a vertex."""

Place: TypeAlias = tuple[tuple[str, str | None], ...]
"""The domains of a node, by level and name; no name: it is in no domain of that level."""


class DomainVertices:
    """The vertices of the domains of one cluster, added when a node first needs them."""

    def __init__(self, root: int) -> None:
        self._vertices: dict[Place, int] = {(): root}
        self._counts: dict[str, int] = {}
        """How many vertices each level has had: their ids."""

    def at(self, place: Place, patch: GraphPatch) -> int:
        """The vertex that holds the nodes of a place."""
        known = self._vertices.get(place)
        if known is None:
            above = self.at(place[:-1], patch)
            known = self._vertices[place] = self._add(*place[-1], patch)
            patch.edge(above, known)
        return known

    def _add(self, level: str, name: str | None, patch: GraphPatch) -> int:
        id = self._counts.get(level, 0)
        self._counts[level] = id + 1
        if name is not None:
            return patch.vertex(level, id=id, name=name)
        return patch.vertex(level, id=id, name=NO_NAME, properties={UNNAMED: ""})
