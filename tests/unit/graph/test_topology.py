"""A tree in depth-first order: what the columns promise, against a plain recursive walk."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.errors import GraphError
from fluxnetes.graph.limits import MAX_DEPTH
from fluxnetes.graph.topology import MAX_PATHS, TooManyPaths, Topology, build_topology, ragged
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


def paths(edges: Edges, row: int = 0, above: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """All paths from a root, each as the rows that it leads through, depth first."""
    path = (*above, row)
    below = [target for source, target in edges if source == row and target not in path]
    return [path] + [found for target in below for found in paths(edges, target, path)]


@examples(150)
@given(dags())
def test_a_vertex_has_a_position_for_each_path_that_leads_to_it(dag: tuple[int, Edges]) -> None:
    count, edges = dag
    tree = walked(count, edges)
    every = paths(edges)
    assert tree.vertex.tolist() == [path[-1] for path in every]
    assert tree.depth.tolist() == [len(path) - 1 for path in every]
    assert [every[p] if p >= 0 else () for p in tree.parent.tolist()] == [p[:-1] for p in every]
    for position, path in enumerate(every):
        inside = [other for other in every if other[: len(path)] == path]
        assert [every[p] for p in range(len(every))[tree.subtree(position)]] == inside
        twins = [p for p, other in enumerate(every) if other[-1] == path[-1]]
        assert tree.twins(position).tolist() == twins
        assert tree.position[path[-1]] == twins[0]
    assert tree.is_tree == (len(every) == len({path[-1] for path in every}))
    assert tree.vertex_count == len({path[-1] for path in every})


@examples(100)
@given(dags())
def test_primary_positions_are_those_of_a_walk_that_enters_no_vertex_twice(
    dag: tuple[int, Edges],
) -> None:
    count, edges = dag
    tree = walked(count, edges)
    once = np.arange(len(tree))[tree.once()]
    plain = Plain(edges)
    assert tree.vertex[once].tolist() == plain.met
    above = [int(tree.vertex[p]) if p >= 0 else -1 for p in tree.parent[once].tolist()]
    assert above == [plain.parent[v] for v in plain.met]


@examples(100)
@given(dags())
def test_the_subtrees_of_a_vertex_are_alike(dag: tuple[int, Edges]) -> None:
    tree = walked(*dag)
    for position in range(len(tree)):
        first = int(tree.position[tree.vertex[position]])
        same = tree.vertex[tree.subtree(position)] == tree.vertex[tree.subtree(first)]
        assert np.all(same)


def test_an_edge_that_leads_back_is_ignored() -> None:
    tree = walked(3, [(0, 1), (1, 2), (2, 1), (0, 2)])
    assert tree.vertex.tolist() == [0, 1, 2, 2]


def test_an_edge_that_is_there_twice_counts_once() -> None:
    tree = walked(3, [(0, 1), (0, 1), (1, 2)])
    assert tree.is_tree
    assert tree.vertex.tolist() == [0, 1, 2]


def test_too_many_paths_are_an_error_that_names_the_limit() -> None:
    ladder = [(v, v + step) for v in range(0, 60, 2) for step in (1, 2)]
    ladder += [(v + 1, v + 2) for v in range(0, 60, 2)]
    with pytest.raises(TooManyPaths, match=str(MAX_PATHS)):
        walked(61, ladder)


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


@pytest.mark.parametrize("count", [1, 2, MAX_DEPTH + 1])
def test_a_chain_is_as_deep_as_it_is_long(count: int) -> None:
    tree = walked(count, [(v, v + 1) for v in range(count - 1)])
    assert tree.depth.tolist() == list(range(count))
    assert tree.end.tolist() == [count] * count


@pytest.mark.parametrize("more", [[], [(0, 2)]])
def test_a_chain_that_is_too_deep_is_an_error_that_names_the_limit(
    more: list[tuple[int, int]],
) -> None:
    count = MAX_DEPTH + 2
    with pytest.raises(GraphError, match=f"at most {MAX_DEPTH} levels"):
        walked(count, [(v, v + 1) for v in range(count - 1)] + more)
