"""A tree in depth-first order: what the columns promise, against a plain recursive walk."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.topology import Topology, build_topology, ragged
from tests.property.profile import examples
from tests.unit.match.clusters import parent_lists

Edges = list[tuple[int, int]]


def walked(count: int, edges: Iterable[tuple[int, int]], root: int = 0) -> Topology:
    pairs = np.array(list(edges), np.int64).reshape(-1, 2)
    return build_topology(count, root, pairs[:, 0], pairs[:, 1])


class Plain:
    """The same walk, one vertex at a time."""

    def __init__(self, edges: Edges, root: int = 0) -> None:
        self.edges = edges
        self.parent: dict[int, int] = {root: -1}
        self.depth = {root: 0}
        self.met: list[int] = []
        self.left: list[int] = []
        self.children: dict[int, list[int]] = {}
        self._visit(root)

    def _visit(self, vertex: int) -> None:
        self.met.append(vertex)
        self.children[vertex] = []
        for source, target in self.edges:
            if source == vertex and target not in self.met:
                self.parent[target] = vertex
                self.depth[target] = self.depth[vertex] + 1
                self.children[vertex].append(target)
                self._visit(target)
        self.left.append(vertex)

    def below(self, vertex: int) -> set[int]:
        return {vertex}.union(*(self.below(child) for child in self.children[vertex]))


def check(tree: Topology, plain: Plain) -> None:
    """All columns say what the plain walk saw."""
    vertex = tree.vertex.tolist()
    assert vertex == plain.met
    above = [vertex[p] if p >= 0 else -1 for p in tree.parent.tolist()]
    assert above == [plain.parent[v] for v in vertex]
    assert tree.depth.tolist() == [plain.depth[v] for v in vertex]
    assert [vertex[p] for p in np.argsort(tree.post)] == plain.left
    assert sorted(tree.post.tolist()) == list(range(len(tree)))
    for position, row in enumerate(vertex):
        assert tree.vertex[tree.children(position)].tolist() == plain.children[row]
        assert set(vertex[tree.subtree(position)]) == plain.below(row)


@examples(150)
@given(parent_lists(), st.randoms(use_true_random=False))
def test_a_tree_is_walked_as_a_plain_recursion_would(parents: list[int], random: object) -> None:
    edges = [(above, child + 1) for child, above in enumerate(parents)]
    random.shuffle(edges)  # type: ignore[attr-defined]
    tree = walked(len(parents) + 1, edges)
    assert tree.is_tree
    check(tree, Plain(edges))


@st.composite
def dags(draw: st.DrawFn) -> tuple[int, Edges]:
    """A tree with some more edges, which make no cycle: they point at vertices made later."""
    parents = draw(parent_lists(15))
    edges = [(above, child + 1) for child, above in enumerate(parents)]
    count = len(parents) + 1
    for _ in range(draw(st.integers(0, 6))):
        source = draw(st.integers(0, count - 1))
        target = draw(st.integers(0, count - 1))
        if source < target and (source, target) not in edges:
            edges.append((source, target))
    return count, draw(st.permutations(edges))


@examples(150)
@given(dags())
def test_a_vertex_with_two_parents_belongs_to_the_first_one_met(dag: tuple[int, Edges]) -> None:
    count, edges = dag
    tree = walked(count, edges)
    assert tree.is_tree == (len({target for _, target in edges}) == len(edges))
    check(tree, Plain(edges))


def test_children_keep_the_order_of_their_edges_not_of_their_rows() -> None:
    tree = walked(4, [(0, 3), (0, 1), (1, 2)])
    assert tree.vertex.tolist() == [0, 3, 1, 2]
    assert tree.vertex[tree.children(0)].tolist() == [3, 1]


def test_what_the_walk_does_not_reach_has_no_position() -> None:
    tree = walked(5, [(1, 2), (3, 4)], root=1)
    assert tree.position.tolist() == [-1, 0, 1, -1, -1]
    assert len(tree) == 2


def test_a_root_alone_is_a_tree() -> None:
    tree = walked(1, [])
    assert (tree.vertex.tolist(), tree.parent.tolist(), tree.post.tolist()) == ([0], [-1], [0])
    assert tree.children(0).tolist() == []
    assert tree.subtree(0) == slice(0, 1)


def test_children_are_left_before_their_parents() -> None:
    tree = walked(6, [(0, 1), (1, 2), (1, 3), (0, 4), (4, 5)])
    assert tree.post.tolist() == [5, 2, 0, 1, 4, 3]


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=8))
def test_ragged_counts_up_from_every_start(pairs: list[tuple[int, int]]) -> None:
    starts, lengths = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    expected = [start + step for start, length in pairs for step in range(length)]
    assert ragged(starts, lengths).tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 2000])
def test_a_chain_is_as_deep_as_it_is_long(count: int) -> None:
    tree = walked(count, [(v, v + 1) for v in range(count - 1)])
    assert tree.depth.tolist() == list(range(count))
    assert tree.end.tolist() == [count] * count
