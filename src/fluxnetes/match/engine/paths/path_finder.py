"""Finds the path by which a job came to its vertices, where vertices have several parents.

A placement names vertices and the parent of each, so it has a path for each of its vertices. A
vertex has the same offset from its parent at all positions of the parent: the subtrees are alike.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.topology import PathIndex, Topology


class PathFinder:
    """The offsets of all vertices from their parents."""

    def __init__(self, tree: Topology, paths: PathIndex) -> None:
        self._tree = tree
        below = np.arange(1, len(tree))
        below = below[paths.primary[tree.parent[below]]]
        edge = self._edges(tree.vertex[tree.parent[below]], tree.vertex[below])
        order = np.argsort(edge)
        self._edge = edge[order]
        self._offset = (below - tree.parent[below])[order]

    def _edges(self, parents: Ints, children: Ints) -> Ints:
        """A number for each pair of a parent and a child."""
        return parents * len(self._tree.position) + children

    def locate(self, placement: Placement) -> Ints:
        """The position of each row of a placement; -1: the vertex is gone.

        A vertex that is no longer below the parent through which the job came is at its primary
        position.
        """
        tree = self._tree
        found: Ints = tree.position[placement.vertex]
        by_vertex = tree.position.copy()
        for depth in range(1, int(placement.depth.max(initial=0)) + 1):
            rows = np.flatnonzero((placement.depth == depth) & (found >= 0))
            parent = placement.parent[rows]
            edge = self._edges(parent, placement.vertex[rows])
            at = np.minimum(self._edge.searchsorted(edge), len(self._edge) - 1)
            known = (parent >= 0) & (self._edge[at] == edge)
            rows, at, parent = rows[known], at[known], parent[known]
            found[rows] = by_vertex[parent] + self._offset[at]
            by_vertex[placement.vertex[rows]] = found[rows]
        return found
