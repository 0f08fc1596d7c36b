"""Domains: for each level, which rows of the node table are below the same vertex.

A node that is below no vertex of a level is in no domain of it. So is a node below a vertex that
stands for *no* domain (see `graph.levels`), since it is not known which of its nodes are near each
other. Nothing that must be inside one rack may be placed there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.levels import UNNAMED
from fluxnetes.graph.topology import Topology


@dataclass(frozen=True, slots=True)
class LevelDomains:
    """The domains of one level, numbered by their first row in the node table."""

    of_row: Ints
    """The domain of each row; -1: none."""
    first_row: Ints
    """The first row of each domain."""
    _rows: Ints
    """The rows that are in a domain, domain by domain, ascending."""
    _starts: Ints
    """Where each domain starts in `_rows`; the last entry is the end."""

    @property
    def count(self) -> int:
        return len(self.first_row)

    def rows(self, domain: int) -> Ints:
        """The rows of one domain, in the policy's order."""
        return self._rows[self._starts[domain] : self._starts[domain + 1]]

    def sums(self, by_row: Ints) -> Ints:
        """The sum over the rows of each domain."""
        found = np.bincount(self.of_row + 1, weights=by_row, minlength=self.count + 1)
        return found[1:].astype(np.int64)


def find_domains(graph: ResourceGraph, tree: Topology, nodes: Ints, level: str) -> LevelDomains:
    """The domains of a level, over some nodes that are given by position."""
    roots = _roots(graph, tree, level)
    at = roots.searchsorted(nodes, side="right") - 1
    inside = at >= 0
    inside[inside] = nodes[inside] < tree.end[roots[at[inside]]]
    inside[inside] = ~_unnamed(graph, tree, roots)[at[inside]]
    return _numbered(np.where(inside, at, -1))


def _roots(graph: ResourceGraph, tree: Topology, level: str) -> Ints:
    found: Ints = np.flatnonzero(graph.type_id[tree.vertex] == graph.types.get(level))
    return found


def _unnamed(graph: ResourceGraph, tree: Topology, roots: Ints) -> np.ndarray:
    """Which of some vertices stand for no domain."""
    having = [v for v, its in graph.vertices_with_properties().items() if UNNAMED in its]
    return np.isin(tree.vertex[roots], having)


def _numbered(domain: Ints) -> LevelDomains:
    """Domains numbered in the order of their first rows."""
    rows = np.flatnonzero(domain >= 0)
    _, first, number = np.unique(domain[rows], return_index=True, return_inverse=True)
    by_first = np.argsort(first)
    new = np.empty(len(first), np.int64)
    new[by_first] = np.arange(len(first))
    of_row = np.full(len(domain), -1, np.int64)
    of_row[rows] = new[number]
    grouped = rows[np.argsort(of_row[rows], kind="stable")]
    starts = np.searchsorted(of_row[grouped], np.arange(len(first) + 1))
    return LevelDomains(of_row, rows[first[by_first]], grouped, starts)


def levels_above(graph: ResourceGraph, tree: Topology, level: str) -> tuple[str, ...]:
    """The levels that are wider than one, the narrowest first; not the root, which holds all."""
    found: dict[str, None] = {}
    at = tree.parent[_roots(graph, tree, level)]
    while len(at := np.unique(at[at > 0])):
        types = graph.type_id[tree.vertex[at]]
        found |= dict.fromkeys(graph.types.names[number] for number in np.unique(types).tolist())
        at = tree.parent[at]
    return tuple(found)
