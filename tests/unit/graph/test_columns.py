"""The resource graph: patches, growing, removing, names, paths, properties, interned strings."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from fluxnetes.graph.columns import BUILTIN_TYPES, GraphError, Interner, ResourceGraph
from fluxnetes.graph.patch import GraphPatch, derived_name
from fluxnetes.graph.pools import pool_graph
from tests.unit.match.clusters import a, cluster, cores, nodes, racks, row_at


def chain(*types: str) -> ResourceGraph:
    """One vertex of each type, each held by the one before."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    rows = [patch.vertex(type, id=0) for type in types]
    for above, below in pairwise(rows):
        patch.edge(above, below)
    graph.apply(patch)
    return graph


# -- interned strings ------------------------------------------------------------------------------


def test_names_are_numbered_as_they_first_appear() -> None:
    names = Interner(["b", "a"])
    assert [names.number(n) for n in ("a", "c", "b", "c")] == [1, 2, 0, 2]
    assert names.names == ["b", "a", "c"]
    assert (len(names), "c" in names, "d" in names) == (3, True, False)


def test_asking_for_a_name_does_not_number_it() -> None:
    names = Interner()
    assert (names.get("a"), names.get("a", 7), len(names)) == (-1, 7, 0)


def test_the_built_in_types_come_first_in_every_graph() -> None:
    graph = chain("zone", "core", "abacus")
    assert tuple(graph.types.names) == (*BUILTIN_TYPES, "zone", "abacus")


# -- patches ---------------------------------------------------------------------------------------


def test_a_vertex_says_what_it_was_made_of() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    patch.vertex(
        "node",
        basename="host",
        id=7,
        rank=3,
        size=2,
        unit="GB",
        uniq_id=99,
        up=False,
        divisible=True,
        properties={"fast": "1"},
    )
    graph.apply(patch)
    assert (graph.type_name(0), graph.basename(0), graph.name(0)) == ("node", "host", "host7")
    assert (graph.unit(0), graph.properties(0)) == ("GB", {"fast": "1"})
    columns = (graph.id, graph.rank, graph.size, graph.uniq_id, graph.up, graph.divisible)
    assert [column[0] for column in columns] == [7, 3, 2, 99, False, True]


def test_what_is_not_said_of_a_vertex_has_a_default() -> None:
    graph = chain("core")
    assert (graph.name(0), graph.unit(0), graph.properties(0)) == ("core0", "", {})
    columns = (graph.rank, graph.size, graph.uniq_id, graph.up, graph.divisible)
    assert [column[0] for column in columns] == [-1, 1, 0, True, False]


def test_rows_are_known_before_a_patch_is_applied_and_hold_after() -> None:
    graph = chain("cluster", "node")
    patch = GraphPatch(graph)
    one = patch.vertex("core", id=0)
    many = patch.vertices("core", [1, 2])
    last = patch.vertex("gpu", id=0)
    patch.edges(1, [one, *many, last])
    assert (one, many.tolist(), last) == (2, [3, 4], 5)
    assert graph.vertex_count == 2
    graph.apply(patch)
    assert [graph.name(row) for row in range(2, 6)] == ["core0", "core1", "core2", "gpu0"]


def test_vertices_take_one_value_for_all_or_one_for_each() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    patch.vertices("memory", [4, 5], sizes=[8, 16], ranks=3, unit="GB", divisible=True)
    graph.apply(patch)
    assert graph.size.tolist() == [8, 16]
    assert graph.rank.tolist() == [3, 3]
    assert graph.uniq_id.tolist() == [0, 1]
    assert graph.divisible.all()
    assert [graph.unit(v) for v in (0, 1)] == ["GB", "GB"]


def test_a_patch_for_an_earlier_state_or_another_graph_is_refused() -> None:
    graph = chain("cluster", "node")
    stale = GraphPatch(graph)
    stale.vertex("core", id=0)
    fresh = GraphPatch(graph)
    fresh.vertex("gpu", id=0)
    graph.apply(fresh)
    for patch in (stale, GraphPatch(chain("cluster", "node"))):
        with pytest.raises(GraphError, match="another graph or an earlier state"):
            graph.apply(patch)
    assert graph.vertex_count == 3


def test_a_patch_that_is_not_applied_changes_no_vertex_and_no_version() -> None:
    graph = chain("cluster", "node")
    before = graph.version
    GraphPatch(graph).vertex("core", id=0)
    assert (graph.version, graph.vertex_count) == (before, 2)


# -- growing and removing --------------------------------------------------------------------------


def test_a_graph_grows_below_vertices_that_it_had() -> None:
    graph = chain("cluster", "node", "core")
    patch = GraphPatch(graph)
    patch.edge(1, patch.vertex("core", id=1))
    before = graph.version
    graph.apply(patch)
    assert graph.version > before
    assert graph.topology().vertex.tolist() == [0, 1, 2, 3]
    assert graph.find_path("/cluster0/node0/core1") == [3]


def test_a_removed_vertex_keeps_its_row_and_loses_its_edges() -> None:
    graph = cluster(*nodes(2, *cores(1)))
    gone = row_at(graph, "/cluster0/node0")
    graph.remove([gone, gone + 1])
    assert graph.vertex_count == 5
    assert graph.topology().vertex.tolist() == [0, 3, 4]
    assert graph.path(gone) is None
    assert graph.find_path("/cluster0/node0") == []
    assert graph.name(gone) == "node0"


def test_a_vertex_of_which_only_the_holder_is_removed_is_out_of_the_tree() -> None:
    graph = cluster(*nodes(2, *cores(1)))
    graph.remove([row_at(graph, "/cluster0/node0")])
    assert graph.topology().vertex.tolist() == [0, 3, 4]


def test_a_branch_of_which_only_the_top_is_removed_is_out_of_the_tree() -> None:
    graph = cluster(*racks(2, *nodes(1, *cores(1))))
    graph.remove([row_at(graph, "/cluster0/rack0")])
    assert graph.name(int(graph.topology().vertex[1])) == "rack1"


def test_ranks_find_their_vertices_in_order() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    for rank in (1, 0, 1, -1):
        patch.vertex("node", id=rank, rank=rank)
    graph.apply(patch)
    assert graph.vertices_of_rank(1).tolist() == [0, 2]
    assert graph.vertices_of_rank(5).tolist() == []


# -- subsystems ------------------------------------------------------------------------------------


def powered() -> ResourceGraph:
    """cluster0 holds node0 and node1; pdu0 powers node1 only."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0)
    pair = patch.vertices("node", [0, 1])
    pdu = patch.vertex("pdu", id=0)
    patch.edges(root, pair)
    patch.edge(pdu, int(pair[1]), "power")
    graph.apply(patch)
    return graph


def test_each_subsystem_has_a_tree_of_its_own() -> None:
    graph = powered()
    assert graph.topology().vertex.tolist() == [0, 1, 2]
    assert graph.topology("power").vertex.tolist() == [3, 2]


def test_a_vertex_has_a_path_in_every_subsystem_that_it_stands_in() -> None:
    graph = powered()
    assert graph.paths(2) == {"containment": "/cluster0/node1", "power": "/pdu0/node1"}
    assert graph.paths(1) == {"containment": "/cluster0/node0"}
    assert graph.find_path("/pdu0/node1") == graph.find_path("/cluster0/node1") == [2]


def test_a_subsystem_without_edges_or_with_two_roots_has_no_tree() -> None:
    graph = powered()
    with pytest.raises(GraphError, match="no edge"):
        graph.topology("network")
    patch = GraphPatch(graph)
    patch.edge(patch.vertex("pdu", id=1), 1, "power")
    graph.apply(patch)
    with pytest.raises(GraphError, match="exactly one root, found pdu0, pdu1"):
        graph.topology("power")


def test_a_cycle_has_no_root() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    one, two = patch.vertex("rack", id=0), patch.vertex("rack", id=1)
    patch.edge(one, two)
    patch.edge(two, one)
    graph.apply(patch)
    with pytest.raises(GraphError, match="a cycle"):
        graph.topology()


# -- names and paths -------------------------------------------------------------------------------


@pytest.mark.parametrize(("basename", "id", "name"), [("core", 3, "core3"), ("a", -1, "a-1")])
def test_a_vertex_without_a_name_is_called_basename_and_id(
    basename: str, id: int, name: str
) -> None:
    assert derived_name(basename, id) == name


def test_a_given_name_is_part_of_the_path() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0, name="snowflake")
    patch.edge(root, patch.vertex("node", id=4, name="login"))
    graph.apply(patch)
    assert graph.path(1) == "/snowflake/login"
    assert graph.find_path("/snowflake/login") == [1]
    assert graph.find_path("/snowflake/node4") == []


def test_a_given_path_wins_over_the_derived_one() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0, paths={"containment": "/top"})
    node = patch.vertex("node", id=0, paths={"containment": "/top/elsewhere"})
    core = patch.vertex("core", id=0)
    patch.edge(root, node)
    patch.edge(node, core)
    graph.apply(patch)
    assert graph.path(node) == "/top/elsewhere"
    assert graph.path(core) == "/top/elsewhere/core0"
    assert graph.find_path("/top/elsewhere") == [node]
    assert graph.find_path("/top/node0") == []
    assert graph.all_paths() == {root: "/top", node: "/top/elsewhere", core: graph.path(core)}


def test_a_given_path_with_one_slash_makes_the_root() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    below = patch.vertex("node", id=0)
    root = patch.vertex("cluster", id=0, paths={"containment": "/cluster0"})
    patch.edge(root, below)
    graph.apply(patch)
    assert graph.topology().vertex.tolist() == [root, below]


def test_two_given_roots_are_reported_by_name() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    for id in (0, 1):
        patch.vertex("cluster", id=id, paths={"containment": f"/cluster{id}"})
    graph.apply(patch)
    with pytest.raises(GraphError, match="two roots: cluster0, cluster1"):
        graph.topology()


def test_siblings_of_one_name_share_a_path() -> None:
    graph = cluster(a("node", id=3), a("node", id=3), a("node", id=4))
    assert graph.find_path("/cluster0/node3") == [1, 2]


@pytest.mark.parametrize(
    "path", ["", "/", "cluster0", "/cluster0/", "/cluster1", "/cluster0/node9", "//cluster0"]
)
def test_a_path_that_leads_nowhere_finds_nothing(path: str) -> None:
    assert cluster(*nodes(1)).find_path(path) == []


def test_every_vertex_is_found_at_its_path() -> None:
    graph = cluster(*racks(2, *nodes(2, *cores(3))))
    for row in range(graph.vertex_count):
        assert graph.find_path(graph.path(row) or "") == [row]


def test_all_paths_are_those_of_each() -> None:
    shrunk = cluster(*racks(2, *nodes(2, *cores(3))))
    shrunk.remove(shrunk.find_path("/cluster0/rack0/node1"))
    for graph in (powered(), shrunk, chain("cluster")):
        for subsystem in ("containment", "power", "network"):
            each = {row: graph.path(row, subsystem) for row in range(graph.vertex_count)}
            there = {row: path for row, path in each.items() if path is not None}
            assert graph.all_paths(subsystem) == there


# -- whether two are alike -------------------------------------------------------------------------


def _another_name(patch: GraphPatch) -> None:
    patch.edge(0, patch.vertex("node", id=1, name="other"))


def _another_type(patch: GraphPatch) -> None:
    patch.edge(0, patch.vertex("rack", id=1))


def _another_size(patch: GraphPatch) -> None:
    patch.edge(0, patch.vertex("node", id=1, size=2))


def _another_subsystem(patch: GraphPatch) -> None:
    patch.edge(0, patch.vertex("node", id=1), "power")


def _another_path(patch: GraphPatch) -> None:
    patch.edge(0, patch.vertex("node", id=1, paths={"containment": "/cluster0/other"}))


def _the_same(patch: GraphPatch) -> None:
    patch.edge(0, patch.vertex("node", id=1))


def _the_same_in_other_words(patch: GraphPatch) -> None:
    paths = {"containment": "/cluster0/node1"}
    patch.edge(0, patch.vertex("node", id=1, name="node1", paths=paths, properties={"a": "b"}))


@pytest.mark.parametrize("add", [_the_same, _the_same_in_other_words])
def test_graphs_are_alike_that_say_the_same(add: Callable[[GraphPatch], None]) -> None:
    one, other = _grown(_the_same), _grown(add)
    other.set_status(1, up=False)
    assert one.is_like(other) and other.is_like(one)


@pytest.mark.parametrize(
    "add", [_another_name, _another_type, _another_size, _another_subsystem, _another_path]
)
def test_graphs_are_not_alike_that_differ_in_anything(add: Callable[[GraphPatch], None]) -> None:
    one, other = _grown(_the_same), _grown(add)
    assert not one.is_like(other) and not other.is_like(one)


def _grown(add: Callable[[GraphPatch], None]) -> ResourceGraph:
    graph = chain("cluster", "node")
    patch = GraphPatch(graph)
    add(patch)
    graph.apply(patch)
    return graph


# -- what changes while jobs run -------------------------------------------------------------------


def test_properties_come_and_go_without_a_change_of_shape() -> None:
    graph = cluster(*nodes(1))
    before = graph.version
    graph.set_property(1, "zone", "b")
    graph.set_property(1, "arch", "x")
    graph.set_property(1, "zone", "c")
    assert list(graph.properties(1).items()) == [("arch", "x"), ("zone", "c")]
    graph.remove_property(1, "arch")
    graph.remove_property(1, "never there")
    assert graph.has_property(1, "zone")
    assert not graph.has_property(1, "arch")
    assert (graph.properties(0), graph.version) == ({}, before)


def test_properties_returned_are_a_copy() -> None:
    graph = cluster(*nodes(1))
    graph.set_property(1, "zone", "b")
    graph.properties(1).clear()
    assert graph.properties(1) == {"zone": "b"}


def test_status_is_one_vertex_own() -> None:
    graph = cluster(*nodes(1, *cores(1)))
    graph.set_status(1, False)
    assert np.flatnonzero(~graph.up).tolist() == [1]


# -- vertices that move ----------------------------------------------------------------------------


def test_a_vertex_that_moves_takes_all_below_it_along_and_keeps_its_row() -> None:
    graph = pool_graph(
        {name: {"cpu": 4} for name in ("a", "b", "c")},
        levels={"rack": {"a": "r0", "b": "r0", "c": "r1"}},
    )
    (node,), (rack,) = graph.find_path("/cluster0/r0/a"), graph.find_path("/cluster0/r1")
    (pool,) = graph.find_path("/cluster0/r0/a/cpu0")
    version = graph.version
    graph.move([node], [rack])
    assert graph.path(pool) == "/cluster0/r1/a/cpu0"
    assert graph.find_path("/cluster0/r0/a") == []
    assert (graph.moves, graph.version > version) == (1, True)


def test_the_path_that_a_reader_gave_a_vertex_moves_along() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0, paths={"containment": "/top"})
    racks = [patch.vertex("rack", id=n, paths={"containment": f"/top/rack{n}"}) for n in (0, 1)]
    node = patch.vertex("node", id=0, paths={"containment": "/top/rack0/node0"})
    patch.edges(root, racks)
    patch.edge(racks[0], node)
    graph.apply(patch)
    graph.move([node], [racks[1]])
    assert graph.path(node) == "/top/rack1/node0"
    assert graph.find_path("/top/rack0/node0") == []
