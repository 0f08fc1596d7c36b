"""Groups: vertices that no request can tell apart by shape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.match.engine.groups import VertexGroup, build_groups
from tests.oracle.generate import Cluster, build, clusters
from tests.property.profile import examples
from tests.unit.match.clusters import a, cluster, cores, gpus, nodes, pool, racks


def grouped(graph: ResourceGraph) -> VertexGroup:
    return build_groups(graph, graph.topology())


def all_groups(root: VertexGroup) -> Iterator[VertexGroup]:
    yield root
    for below in root.below:
        yield from all_groups(below)


def shapes(root: VertexGroup) -> list[tuple[str, int]]:
    return [(group.type, len(group)) for group in all_groups(root)]


def test_a_cluster_of_equal_nodes_has_four_groups_whatever_its_size() -> None:
    graph = cluster(*racks(3, *nodes(4, *cores(5))))
    assert shapes(grouped(graph)) == [("cluster", 1), ("rack", 3), ("node", 12), ("core", 60)]


def test_nodes_that_hold_other_types_are_a_group_of_their_own() -> None:
    graph = cluster(*nodes(2, *cores(1)), *nodes(1, *cores(1), *gpus(1)), *nodes(1, *cores(9)))
    assert shapes(grouped(graph)) == [
        ("cluster", 1),
        ("node", 3),
        ("core", 11),
        ("node", 1),
        ("core", 1),
        ("gpu", 1),
    ]


def test_equal_vertices_below_different_parents_are_kept_apart() -> None:
    graph = cluster(a("rack", *nodes(1, *cores(1))), a("rack", *nodes(1, *cores(1)), *gpus(1)))
    kinds = [group.type for group in all_groups(grouped(graph))]
    assert sorted(kinds) == ["cluster", "core", "core", "gpu", "node", "node", "rack", "rack"]


def test_pools_and_vertices_taken_whole_are_never_one_group() -> None:
    graph = cluster(*nodes(1, a("memory", size=4), pool("memory", 4)))
    divisible = [g.divisible for g in all_groups(grouped(graph)) if g.type == "memory"]
    assert sorted(divisible) == [False, True]


def test_a_group_tells_its_size_only_if_all_members_have_it() -> None:
    alike = cluster(*nodes(1, a("memory", size=4), a("memory", size=4)))
    mixed = cluster(*nodes(1, a("memory", size=4), a("memory", size=2)))
    assert [[*all_groups(grouped(graph))][-1].size for graph in (alike, mixed)] == [4, -1]


@examples(100)
@given(clusters())
def test_the_groups_cut_the_tree_into_parts_of_equal_shape(described: Cluster) -> None:
    graph = build(described.root)
    tree = graph.topology()
    found = list(all_groups(build_groups(graph, tree)))
    members = np.concatenate([group.members for group in found])
    assert sorted(members.tolist()) == list(range(len(tree)))
    shape = shape_of_each(graph)
    for group in found:
        assert len({shape[p] for p in group.members.tolist()}) == 1
    assert len({shape[int(group.members[0])] for group in found}) == len(found)


def shape_of_each(graph: ResourceGraph) -> list[tuple[object, ...]]:
    """For each position what tells it apart: the shapes above it, its type, its children."""
    tree = graph.topology()
    shapes: list[tuple[object, ...]] = []
    for position in range(len(tree)):
        row = int(tree.vertex[position])
        held = tree.vertex[tree.children(position)].tolist()
        above = () if position == 0 else shapes[int(tree.parent[position])]
        types = frozenset(graph.type_name(child) for child in held)
        shapes.append((above, graph.type_name(row), types, bool(graph.divisible[row])))
    return shapes


@examples(100)
@given(clusters())
def test_members_know_their_parents_and_parents_their_members(described: Cluster) -> None:
    graph = build(described.root)
    tree = graph.topology()
    for group in all_groups(build_groups(graph, tree)):
        assert group.members.tolist() == sorted(group.members.tolist())
        if group.parent is None:
            continue
        assert (group.parent.members[group.above] == tree.parent[group.members]).all()
        for parent in range(len(group.parent)):
            mine = range(int(group.first[parent]), int(group.first[parent + 1]))
            assert mine == range(*np.searchsorted(group.above, (parent, parent + 1)).tolist())


def test_locate_finds_the_members_among_positions() -> None:
    graph = cluster(*nodes(3, *cores(2)))
    below = grouped(graph).below[0]
    assert below.members.tolist() == [1, 4, 7]
    assert below.locate(np.array([0, 1, 5, 7, 9])).tolist() == [0, 2]
    assert below.locate(np.array([0, 2, 3])).tolist() == []
    assert below.locate(np.empty(0, np.int64)).tolist() == []


def test_orders_prefer_by_score_and_keep_equals_as_they_stand() -> None:
    graph = cluster(*nodes(2, *cores(3)))
    held = grouped(graph).below[0].below[0]
    held.rescore(np.array([0, 0, 5, 7, 5, 0, 9, 9, 1]))
    assert orders(held, low=False) == [1, 0, 2, 3, 4, 5]
    assert orders(held, low=True) == [0, 2, 1, 5, 3, 4]
    assert held.ranking(low=False).tolist() == [3, 4, 1, 0, 2, 5]
    assert held.ranking(low=True).tolist() == [5, 0, 2, 1, 3, 4]


def orders(group: VertexGroup, *, low: bool) -> list[int]:
    order = group.order(low)
    return list(range(len(group))) if order is None else order.tolist()


def test_new_scores_make_new_orders() -> None:
    graph = cluster(*nodes(2))
    below = grouped(graph).below[0]
    below.rescore(np.array([0, 1, 2]))
    assert (orders(below, low=False), below.ranking(low=False).tolist()) == ([1, 0], [1, 0])
    below.rescore(np.array([0, 2, 1]))
    assert (orders(below, low=False), below.ranking(low=False).tolist()) == ([0, 1], [0, 1])


def test_a_root_alone_is_one_group() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    patch.vertex("cluster", id=0)
    graph.apply(patch)
    assert shapes(grouped(graph)) == [("cluster", 1)]
