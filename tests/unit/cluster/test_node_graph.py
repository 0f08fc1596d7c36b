"""The graph is what the nodes are, at every moment."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.node_graph import NodeChanges, NodeGraph
from fluxnetes.cluster.pods.node_rules import NodeRule, read_rule
from fluxnetes.cluster.pods.requests import TENANCY
from fluxnetes.cluster.scope import ClusterScope
from fluxnetes.cluster.topology import ClusterTopology
from fluxnetes.graph.levels import UNNAMED
from fluxnetes.kube.objects.nodes import Node
from tests.unit.cluster.builders import changed, machine
from tests.unit.cluster.objects import Content, a_spec

SSD = read_rule(a_spec(nodeSelector={"disk": "ssd"}))


def node_graph(*names: str, **more: Any) -> NodeGraph:
    found = NodeGraph()
    found.put(machine(name, **more) for name in names)
    return found


def children(known: NodeGraph, vertex: int) -> list[int]:
    graph = known.graph
    found: list[int] = graph.edge_target[graph.edge_source == vertex].tolist()
    return found


def pools(known: NodeGraph, name: str) -> dict[str, int]:
    """What the graph itself says, not what the machines believe."""
    graph = known.graph
    rows = children(known, known.nodes[name].vertex)
    assert len({graph.type_name(row) for row in rows}) == len(rows), "a pool is there twice"
    return {graph.type_name(row): int(graph.size[row]) for row in rows}


def accepting(known: NodeGraph, rule: NodeRule) -> set[str]:
    there = known.nodes.items()
    return {name for name, each in there if known.graph.has_property(each.vertex, rule.name)}


# -- nodes come and go -----------------------------------------------------------------------------


def test_a_node_has_what_is_allocatable_rounded_down() -> None:
    known = node_graph("n1", cpu="3920m", memory="1000000Ki", pods="110", more={"a.b/gpu": "8"})
    assert pools(known, "n1") == {
        "cpu": 3920,
        "memory": 976,
        "pods": 110,
        "a.b/gpu": 8,
        "tenancy": TENANCY,
    }


def test_zones_are_subnets_and_who_names_none_is_in_one_of_its_own() -> None:
    known = NodeGraph()
    known.put([machine("a", zone="west"), machine("b", zone="east"), machine("c"), machine("d")])
    known.put([machine("e", zone="west")])
    (root,) = (
        row for row in range(known.graph.vertex_count) if known.graph.name(row) == "cluster0"
    )
    zones = {
        known.graph.name(zone): sorted(known.graph.name(node) for node in children(known, zone))
        for zone in children(known, root)
    }
    assert zones == {"west": ["a", "e"], "east": ["b"], "default": ["c", "d"]}


def test_nodes_of_the_control_plane_are_left_out_by_default() -> None:
    node = machine("cp", labels={"node-role.kubernetes.io/control-plane": ""})
    assert not node_graph().put([node])
    every = NodeGraph(control_plane=True)
    assert every.put([node]).reshaped
    assert list(every.nodes) == ["cp"]


def test_a_node_that_joins_the_control_plane_later_is_closed_and_keeps_what_it_holds() -> None:
    known = node_graph("n1")
    node = machine("n1", labels={"node-role.kubernetes.io/control-plane": ""})
    assert known.put([node]) == NodeChanges(closed={"n1"})
    assert known.nodes["n1"].closed
    assert known.put([machine("n1")]) == NodeChanges(opened={"n1"})


BATCH = {"pool": "batch"}


def test_nodes_without_a_label_of_the_selector_are_left_out() -> None:
    known = NodeGraph(scope=ClusterScope({**BATCH, "zone": "a"}))
    known.put(
        [
            machine("n1", labels={**BATCH, "zone": "a", "more": ""}),
            machine("n2", labels=BATCH),
            machine("n3", labels={"pool": "web", "zone": "a"}),
            machine("n4"),
        ]
    )
    assert list(known.nodes) == ["n1"]


def test_a_node_that_gains_the_label_comes_and_one_that_loses_it_closes() -> None:
    known = NodeGraph(scope=ClusterScope(BATCH))
    assert not known.put([machine("n1")])
    assert known.put([machine("n1", labels=BATCH)]).reshaped
    assert known.put([machine("n1")]) == NodeChanges(closed={"n1"})
    assert known.reserved == {"n1"}
    assert known.put([machine("n1", labels=BATCH)]) == NodeChanges(opened={"n1"})
    assert not known.reserved


def test_a_reserved_node_that_is_dropped_comes_back_only_with_the_label() -> None:
    known = NodeGraph(scope=ClusterScope(BATCH))
    known.keep_places({"n1": (("subnet", None),)})
    known.put([machine("n1")])
    assert known.reserved == {"n1"}
    assert known.drop(known.reserved).reshaped
    assert not known.put([machine("n1", cordoned=True)])
    assert known.put([machine("n1", labels=BATCH)]).reshaped


def test_so_it_is_after_a_restart() -> None:
    known = NodeGraph()
    known.keep_places({"n1": (("subnet", None),)})
    node = machine("n1", labels={"node-role.kubernetes.io/control-plane": ""})
    assert known.put([node]).closed == {"n1"}


def test_a_node_that_is_gone_leaves_the_tree_with_all_that_it_had() -> None:
    known = node_graph("n1", "n2")
    vertex = known.nodes["n1"].vertex
    assert known.drop(["n1"]).reshaped
    assert list(known.nodes) == ["n2"]
    tree = known.graph.topology()
    assert tree.position[vertex] < 0
    assert children(known, vertex) == []


def test_dropping_an_unknown_node_does_nothing() -> None:
    assert not node_graph("n1").drop(["n7"])


def test_a_node_of_a_name_that_was_there_before_is_a_new_one() -> None:
    known = node_graph("n1")
    before = known.nodes["n1"].vertex
    known.drop(["n1"])
    assert known.put([machine("n1", cpu="8")]).reshaped
    assert known.nodes["n1"].vertex != before
    assert pools(known, "n1")["cpu"] == 8000


def test_every_node_has_a_rank_of_its_own_even_after_others_left() -> None:
    known = node_graph("n1", "n2")
    known.drop(["n1"])
    known.put([machine("n3")])
    ranks = [int(known.graph.rank[each.vertex]) for each in known.nodes.values()]
    assert len(set(ranks)) == 2


def test_a_node_that_did_not_change_is_no_turn() -> None:
    assert not node_graph("n1").put([machine("n1")])


# -- levels ----------------------------------------------------------------------------------------

RACKS = ClusterTopology.of(["cloud", "example.com/rack"])


def labelled(name: str, zone: str = "", rack: str = "", **more: Any) -> Node:
    labels = {"example.com/rack": rack} if rack else {}
    return machine(name, zone=zone, labels={"topology.kubernetes.io/region": "r", **labels}, **more)


def path(known: NodeGraph, name: str) -> str:
    found = known.graph.path(known.nodes[name].vertex)
    assert found is not None
    return found


def test_labels_are_levels_in_the_order_of_the_configuration() -> None:
    known = NodeGraph(topology=RACKS)
    known.put([labelled("a", "west", "1"), labelled("b", "west", "2"), labelled("c", "east", "1")])
    assert [path(known, name) for name in "abc"] == [
        "/cluster0/r/west/1/a",
        "/cluster0/r/west/2/b",
        "/cluster0/r/east/1/c",
    ]
    graph = known.graph
    assert [graph.type_name(row) for row in graph.topology().vertex[:5].tolist()] == [
        "cluster",
        "level:topology.kubernetes.io/region",
        "subnet",
        "level:example.com/rack",
        "node",
    ]


def test_a_node_without_a_label_is_in_an_unnamed_domain_of_its_parent() -> None:
    known = NodeGraph(topology=RACKS)
    known.put([labelled("a", "west"), labelled("b", "west"), labelled("c", "east"), machine("d")])
    assert [path(known, name) for name in "abcd"] == [
        "/cluster0/r/west/default/a",
        "/cluster0/r/west/default/b",
        "/cluster0/r/east/default/c",
        "/cluster0/default/default/default/d",
    ]
    (rack,) = known.graph.find_path("/cluster0/r/west/default")
    assert known.graph.has_property(rack, UNNAMED)


def test_a_domain_that_is_called_like_an_unnamed_one_is_another() -> None:
    known = NodeGraph(topology=RACKS)
    known.put([labelled("a", "west", "default"), labelled("b", "west")])
    (named, unnamed) = known.graph.find_path("/cluster0/r/west/default")
    assert [known.graph.has_property(row, UNNAMED) for row in (named, unnamed)] == [False, True]


def test_a_cluster_without_levels_has_nodes_below_it() -> None:
    known = NodeGraph(topology=ClusterTopology.of([]))
    known.put([machine("a", zone="west")])
    assert path(known, "a") == "/cluster0/a"


def test_a_node_that_is_relabelled_moves_and_stays_the_same_vertex() -> None:
    known = NodeGraph(topology=RACKS)
    known.put([labelled("a", "west", "1"), labelled("b", "west", "1")])
    before = known.nodes["a"].vertex, dict(known.nodes["a"].pools)
    changes = known.put([labelled("a", "west", "2", cpu="2")])
    assert changes == NodeChanges(reshaped=True, shrunk={("a", "cpu"): 4000})
    assert path(known, "a") == "/cluster0/r/west/2/a"
    assert (known.nodes["a"].vertex, known.nodes["a"].pools) == before
    assert pools(known, "a")["cpu"] == 2000
    assert not known.put([labelled("a", "west", "2", cpu="2")])


def test_a_node_that_gets_and_loses_a_label_moves_there_and_back() -> None:
    known = NodeGraph(topology=RACKS)
    known.put([labelled("a", "west")])
    for rack, expected in [("1", "/cluster0/r/west/1/a"), ("", "/cluster0/r/west/default/a")]:
        assert known.put([labelled("a", "west", rack)]).reshaped
        assert path(known, "a") == expected


def test_a_label_that_is_no_level_moves_nothing() -> None:
    known = NodeGraph(topology=RACKS)
    known.put([labelled("a", "west", "1")])
    other = {"topology.kubernetes.io/region": "r", "example.com/rack": "1", "b/c": "d"}
    assert not known.put([machine("a", zone="west", labels=other)])


def test_after_a_restart_nodes_are_where_they_were_until_they_are_settled() -> None:
    known = NodeGraph(topology=RACKS)
    known.keep_places({"a": (("subnet", "west"),), "b": (("subnet", "east"),)})
    known.put([labelled("a", "west", "1"), labelled("c", "west", "1")])
    assert [path(known, name) for name in "ac"] == ["/cluster0/west/a", "/cluster0/r/west/1/c"]
    assert not known.put([labelled("a", "west", "2")]).reshaped
    assert known.settle().reshaped
    assert path(known, "a") == "/cluster0/r/west/2/a"
    assert not known.settle()
    known.put([labelled("b", "west", "1")])
    assert path(known, "b") == "/cluster0/r/west/1/b", "a node that comes later is new"


# -- open and closed -------------------------------------------------------------------------------

UNWELL: Content = {"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    "why", [{"cordoned": True}, {"ready": False}, {"going": True}, {"taints": (UNWELL,)}]
)
def test_a_node_that_takes_nothing_new_is_closed_until_it_does(why: dict[str, Any]) -> None:
    known = node_graph("n1")
    assert known.put([machine("n1", **why)]) == NodeChanges(closed={"n1"})
    assert known.nodes["n1"].closed
    assert known.put([machine("n1")]) == NodeChanges(opened={"n1"})
    assert not known.nodes["n1"].closed


def test_a_node_that_was_closed_for_one_reason_and_now_is_for_another_stays_closed() -> None:
    known = node_graph("n1", cordoned=True)
    assert not known.put([machine("n1", ready=False)])
    assert known.nodes["n1"].closed


def test_a_node_that_comes_closed_says_so() -> None:
    known = NodeGraph()
    assert known.put([machine("n1", cordoned=True), machine("n2")]) == NodeChanges(
        True, closed={"n1"}
    )


def test_a_soft_taint_of_kubernetes_closes_nothing() -> None:
    soft = {"key": "node.kubernetes.io/out-of-service", "effect": "PreferNoSchedule"}
    assert not node_graph("n1", taints=(soft,)).nodes["n1"].closed


def test_of_two_turns_the_later_counts() -> None:
    turn = NodeChanges(closed={"a", "b"}, opened={"c"})
    turn.add(NodeChanges(relabelled=True, closed={"c"}, opened={"a"}))
    assert turn == NodeChanges(relabelled=True, closed={"b", "c"}, opened={"a"})


# -- sizes -----------------------------------------------------------------------------------------


def test_a_node_that_grows_or_shrinks_keeps_its_place() -> None:
    known = node_graph("n1")
    before = known.nodes["n1"].vertex
    turn = known.put([machine("n1", cpu="2", memory="16Gi")])
    assert turn == NodeChanges(
        reshaped=True, shrunk={("n1", "cpu"): 4000}, grown={("n1", "memory"): 16384}
    )
    assert known.nodes["n1"].vertex == before
    found = pools(known, "n1")
    assert (found["cpu"], found["memory"]) == (2000, 16384)


def test_a_pool_that_jobs_hold_stays_though_nothing_is_left_of_it() -> None:
    known = node_graph("n1")
    assert known.ensure_pools([("n1", "a.b/gpu"), ("n1", "cpu"), ("gone", "cpu")]).reshaped
    assert pools(known, "n1")["a.b/gpu"] == 0
    assert known.put([machine("n1", more={"a.b/gpu": "8"})]).grown == {("n1", "a.b/gpu"): 8}
    assert pools(known, "n1")["a.b/gpu"] == 8


def test_a_port_that_a_job_holds_is_found_again_when_the_next_pod_asks_for_it() -> None:
    known = node_graph("n1", "n2")
    known.ensure_pools([("n1", "port:TCP/80")])
    assert known.need({"port:TCP/80": 1}).reshaped
    assert (pools(known, "n1")["port:TCP/80"], pools(known, "n2")["port:TCP/80"]) == (1, 1)


def test_a_resource_that_a_device_plugin_brings_is_there_from_then_on() -> None:
    known = node_graph("n1", "n2")
    assert known.put([machine("n1", more={"a.b/gpu": "8"})]).reshaped
    assert pools(known, "n1")["a.b/gpu"] == 8
    assert "a.b/gpu" not in pools(known, "n2")
    assert known.nodes["n1"].sizes["a.b/gpu"] == 8


def test_a_resource_that_goes_is_a_pool_of_nothing_and_can_come_again() -> None:
    known = node_graph("n1", more={"a.b/gpu": "8"})
    assert known.put([machine("n1")]).reshaped
    assert pools(known, "n1")["a.b/gpu"] == 0
    assert known.put([machine("n1", more={"a.b/gpu": "4"})]).reshaped
    assert pools(known, "n1")["a.b/gpu"] == 4


# -- rules -----------------------------------------------------------------------------------------


def test_a_rule_is_a_property_of_the_nodes_that_it_accepts() -> None:
    known = node_graph("n1", "n2")
    known.put([machine("n3", labels={"disk": "ssd"})])
    assert known.know(SSD) == NodeChanges(relabelled=True)
    assert accepting(known, SSD) == {"n3"}
    assert not known.know(SSD)


def test_a_rule_follows_labels_and_taints() -> None:
    known = node_graph("n1", labels={"disk": "ssd"})
    known.know(SSD)
    taint = {"key": "team", "value": "blue", "effect": "NoSchedule"}
    assert known.put([machine("n1", labels={"disk": "ssd"}, taints=(taint,))]).relabelled
    assert accepting(known, SSD) == set()
    assert known.put([machine("n1", labels={"disk": "ssd"})]).relabelled
    assert accepting(known, SSD) == {"n1"}
    assert known.put([machine("n1", labels={"disk": "hdd"})]).relabelled
    assert accepting(known, SSD) == set()


def test_a_label_that_no_rule_asks_about_is_no_turn() -> None:
    known = node_graph("n1")
    known.know(SSD)
    assert not known.put([machine("n1", labels={"colour": "red"})])


def test_nodes_that_come_after_a_rule_carry_it_too() -> None:
    known = node_graph()
    known.know(SSD)
    known.put([machine("n1", labels={"disk": "ssd"}), machine("n2")])
    assert accepting(known, SSD) == {"n1"}


# -- pools on demand -------------------------------------------------------------------------------


def test_a_pool_that_a_pod_needs_is_on_all_nodes_and_on_new_ones() -> None:
    known = node_graph("n1", "n2")
    assert known.need({"port:TCP/80": 1}) == NodeChanges(reshaped=True)
    assert not known.need({"port:TCP/80": 1})
    known.put([machine("n3")])
    assert [pools(known, name)["port:TCP/80"] for name in ("n1", "n2", "n3")] == [1, 1, 1]


def test_a_node_that_is_resized_keeps_the_pools_that_others_asked_for() -> None:
    known = node_graph("n1")
    known.need({"port:TCP/80": 1})
    known.put([machine("n1", cpu="2")])
    assert pools(known, "n1")["port:TCP/80"] == 1
    assert pools(known, "n1")["tenancy"] == TENANCY


def test_a_change_that_is_neither_size_nor_label_leaves_the_graph_alone() -> None:
    known = node_graph("n1")
    version = known.graph.version
    node = changed(known.nodes["n1"].node, metadata={"resourceVersion": "7"})
    assert not known.put([node])
    assert known.graph.version == version
