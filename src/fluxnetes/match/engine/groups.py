"""Partitions the tree into groups of vertices that a request cannot distinguish by shape.

Two vertices are in one group when their parents are in one group, they have the same type, and
they hold children of the same types. A cluster of racks of equal nodes has four groups (cluster,
racks, nodes, cores), however many vertices it has; one with two kinds of nodes has a few more. A
request is matched group by group, each step an array operation over a group's members.

A group's members are positions in ascending (depth-first) order, so the children of one parent
are neighbours: `first[i] .. first[i+1]` are the members below the parent group's member i.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology, ragged


@dataclass(slots=True, eq=False)
class VertexGroup:
    """The members of a group, their parents in the parent group, and the groups below."""

    type: str
    members: Ints
    above: NDArray[np.int32]
    """For each member the index of its parent in the parent group."""
    first: Ints
    """Where the members below each parent begin; the last entry is the end."""
    size: int
    """The size that all members have, or -1 if they differ."""
    divisible: bool
    """Members are pools of which a part can be allocated."""
    child_types: frozenset[str]
    parent: VertexGroup | None = None
    below: list[VertexGroup] = field(default_factory=list)
    score: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    _orders: dict[bool, Ints | None] = field(default_factory=dict)
    _rankings: dict[bool, Ints] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.members)

    def locate(self, positions: Ints) -> Ints:
        """Indices of the members among some ascending positions."""
        start, stop = np.searchsorted(positions, (self.members[0], self.members[-1] + 1))
        inside = positions[start:stop]
        at: Ints = np.searchsorted(self.members, inside)
        found: Ints = at[self.members[at] == inside]
        return found

    def order(self, low: bool) -> Ints | None:
        """The members below each parent from the most to the least preferred, parent by parent.

        None means that they are in that order already. Equals keep depth-first order.
        """
        if low not in self._orders:
            key = self.score if low else -self.score
            order = np.lexsort((key, self.above))
            in_order = bool((order == np.arange(len(order))).all())
            self._orders[low] = None if in_order else order
        return self._orders[low]

    def ranking(self, low: bool) -> Ints:
        """All members from the most to the least preferred, whatever their parents."""
        if low not in self._rankings:
            key = self.score if low else -self.score
            self._rankings[low] = np.argsort(key, kind="stable")
        return self._rankings[low]

    def rescore(self, score: Ints) -> None:
        """Take new scores, by position of the tree."""
        self.score = score[self.members]
        self._orders.clear()
        self._rankings.clear()


def build_groups(graph: ResourceGraph, tree: Topology) -> VertexGroup:
    """Partition a tree into groups, top down; returns the root's group."""
    types = graph.type_id[tree.vertex]
    signature, meanings = _signatures(graph, tree)
    root = _group(graph, tree, types, meanings, signature, np.zeros(1, np.int64), None)
    pending = [root]
    while pending:
        group = pending.pop()
        for members in _children_by_kind(tree, types, signature, group.members):
            child = _group(graph, tree, types, meanings, signature, members, group)
            group.below.append(child)
            pending.append(child)
    return root


def _signatures(
    graph: ResourceGraph, tree: Topology
) -> tuple[NDArray[np.int32], list[frozenset[str]]]:
    """The set of types that each vertex holds directly, as a number per set.

    What it holds in other subsystems does not count: a request is matched in this one.
    """
    above = tree.vertex[tree.parent[1:]]
    pairs = np.unique(above * len(graph.types) + graph.type_id[tree.vertex[1:]])
    sources, held = np.divmod(pairs, len(graph.types))
    number = np.zeros(graph.vertex_count, np.int32)
    # A set of types becomes a number one type at a time: the number so far and the next type
    # together identify an entry in the table of sets.
    meanings: list[frozenset[str]] = [frozenset()]
    for type_id in np.unique(held).tolist():
        with_it = sources[held == type_id]
        before = number[with_it]
        after = np.empty_like(before)
        for old in np.unique(before).tolist():
            after[before == old] = len(meanings)
            meanings.append(meanings[old] | {graph.types.names[type_id]})
        number[with_it] = after
    # Pools, which can be allocated in part, are never in one group with indivisible vertices.
    number = number * 2 + graph.divisible
    return number[tree.vertex], [types for types in meanings for _ in range(2)]


def _children_by_kind(
    tree: Topology, types: NDArray[np.int32], signature: NDArray[np.int32], parents: Ints
) -> list[Ints]:
    lengths = tree.first_child[parents + 1] - tree.first_child[parents]
    if not lengths.any():
        return []
    children = tree.child[ragged(tree.first_child[parents], lengths)]
    kind = types[children].astype(np.int64) * (int(signature.max()) + 1) + signature[children]
    kinds = np.unique(kind)
    if len(kinds) == 1:
        return [children]
    first_seen = sorted(kinds.tolist(), key=lambda k: int(np.argmax(kind == k)))
    return [children[kind == k] for k in first_seen]


def _group(
    graph: ResourceGraph,
    tree: Topology,
    types: NDArray[np.int32],
    meanings: list[frozenset[str]],
    signature: NDArray[np.int32],
    members: Ints,
    parent: VertexGroup | None,
) -> VertexGroup:
    members = np.sort(members)
    vertices = tree.vertex[members]
    sizes = graph.size[vertices]
    size = int(sizes[0]) if (sizes == sizes[0]).all() else -1
    if parent is None:
        above, first = np.zeros(1, np.int32), np.array([0, 1])
    else:
        above = np.searchsorted(parent.members, tree.parent[members]).astype(np.int32)
        first = np.searchsorted(above, np.arange(len(parent) + 1))
    return VertexGroup(
        type=graph.types.names[types[members[0]]],
        members=members,
        above=above,
        first=first,
        size=size,
        divisible=bool(graph.divisible[vertices].any()),
        child_types=meanings[signature[members[0]]],
        parent=parent,
    )
