"""A placement in the format of Flux: R_lite and R (RFC 20)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers import render
from tests.unit.graph.writers.placements import a_cluster, place, whole


def _rlite(graph: ResourceGraph, placement: Placement) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(render("rlite", graph, placement))
    return entries


def test_rlite_is_one_line_in_the_words_of_the_reference() -> None:
    graph = a_cluster(cores=4, gpus=1)
    placement = place(graph, *whole(graph, "/tiny0/node0", "/tiny0/node1"))
    assert render("rlite", graph, placement) == (
        '[{"rank": "0-1", "children": {"core": "0-3", "gpu": "0"}}]\n'
    )


def test_ranks_that_give_the_same_share_an_entry_and_entries_are_sorted_by_what_they_give() -> None:
    graph = a_cluster(nodes=4, cores=2)
    placement = place(
        graph,
        "/tiny0/node0/core1",
        "/tiny0/node1/core0",
        "/tiny0/node2/core1",
        *whole(graph, "/tiny0/node3"),
    )
    assert _rlite(graph, placement) == [
        {"rank": "1", "children": {"core": "0"}},
        {"rank": "3", "children": {"core": "0-1"}},
        {"rank": "0,2", "children": {"core": "1"}},
    ]


def test_cores_count_for_their_node_through_the_sockets_between() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster = patch.vertex("cluster", id=0)
    for number in range(2):
        node = patch.vertex("node", id=number, rank=number)
        patch.edge(cluster, node)
        for side in range(2):
            socket = patch.vertex("socket", id=side, rank=number)
            patch.edge(node, socket)
            patch.edge(socket, patch.vertex("core", id=side, rank=number))
    graph.apply(patch)
    placement = place(graph, *whole(graph, "/cluster0/node0", "/cluster0/node1"))
    assert _rlite(graph, placement) == [{"rank": "0-1", "children": {"core": "0-1"}}]


def test_a_core_outside_of_every_node_is_not_given_to_the_next_node() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster, rack = patch.vertex("cluster", id=0), patch.vertex("rack", id=0)
    node = patch.vertex("node", id=0, rank=0)
    patch.edge(cluster, rack)
    patch.edge(rack, patch.vertex("core", id=9))
    patch.edge(cluster, node)
    patch.edge(node, patch.vertex("core", id=0, rank=0))
    graph.apply(patch)
    placement = place(graph, "/cluster0/rack0/core9", "/cluster0/node0/core0")
    assert _rlite(graph, placement) == [{"rank": "0", "children": {"core": "0"}}]


@pytest.mark.parametrize("path", ["/tiny0/node1", "/tiny0/node1/memory0"])
def test_a_node_without_cores_is_listed_all_the_same(path: str) -> None:
    graph = a_cluster()
    assert _rlite(graph, place(graph, path)) == [{"rank": "1", "children": {}}]


def test_the_node_without_cores_of_one_job_does_not_leak_into_the_next() -> None:
    graph = a_cluster()
    render("rv1", graph, place(graph, "/tiny0/node1"))
    written = json.loads(render("rv1", graph, place(graph, "/tiny0/node0/core0")))
    assert [node["id"] for node in written["scheduling"]["graph"]["nodes"]] == ["2", "1", "0"]
    assert written["execution"]["nodelist"] == ["node0"]


def test_a_storage_node_is_a_target_only_if_its_cores_are_given_or_it_is_held_alone() -> None:
    graph = a_cluster(node_type="storage_node")
    disks_only = place(graph, "/tiny0/storage_node0/memory0")
    assert _rlite(graph, disks_only) == []
    a_core = place(graph, "/tiny0/storage_node0/core1")
    assert _rlite(graph, a_core) == [{"rank": "0", "children": {"core": "1"}}]
    itself = place(graph, "/tiny0/storage_node0")
    assert _rlite(graph, itself) == [{"rank": "0", "children": {}}]


def test_rv1_nosched_lists_hosts_by_rank_then_properties_then_times() -> None:
    graph = a_cluster(
        nodes=3,
        ranks={0: 2, 2: 0},
        properties={0: {"fast": "", "zone": "a"}, 1: {"zone": "a"}},
    )
    placement = place(
        graph, *whole(graph, "/tiny0/node0", "/tiny0/node1", "/tiny0/node2"), start=10, end=70
    )
    assert render("rv1_nosched", graph, placement) == (
        '{"version": 1, "execution": {"R_lite": [{"rank": "0-2", "children": {"core": "0-1"}}], '
        '"nodelist": ["node[2,1,0]"], "properties": {"fast": "2", "zone=a": "1-2"}, '
        '"starttime": 10, "expiration": 70}}\n'
    )


def test_rv1_carries_the_graph_and_the_queue_and_nosched_neither() -> None:
    graph = a_cluster()
    placement = place(graph, "/tiny0/node0/core0", start=0, end=3600, queue="batch")
    written = json.loads(render("rv1", graph, placement))
    assert list(written) == ["version", "execution", "scheduling", "attributes"]
    assert written["scheduling"] == json.loads(render("jgf", graph, placement))
    assert written["attributes"] == {"system": {"scheduler": {"queue": "batch"}}}
    assert list(json.loads(render("rv1_nosched", graph, placement))) == ["version", "execution"]


def test_rv1_without_a_queue_has_no_attributes() -> None:
    graph = a_cluster()
    written = json.loads(render("rv1", graph, place(graph, "/tiny0/node0/core0")))
    assert "attributes" not in written


def test_rv1_shorthand_lists_every_core_but_not_in_the_graph() -> None:
    graph = a_cluster()
    placement = place(graph, *whole(graph, "/tiny0/node1"))
    written = json.loads(render("rv1_shorthand", graph, placement))
    assert written["execution"]["R_lite"] == [{"rank": "1", "children": {"core": "0-1"}}]
    assert written["scheduling"] == json.loads(render("jgf_shorthand", graph, placement))
    assert len(written["scheduling"]["graph"]["nodes"]) == 2


def test_a_placement_without_nodes_is_a_resource_set_that_names_none() -> None:
    graph = a_cluster(nodes=1, node_type="chassis")
    written = json.loads(render("rv1", graph, place(graph, "/tiny0/chassis0/memory0")))
    assert written["execution"]["R_lite"] == []
    assert written["execution"]["nodelist"] == []
    assert len(written["scheduling"]["graph"]["nodes"]) == 3


def test_a_node_without_a_rank_cannot_stand_in_a_resource_set() -> None:
    graph = a_cluster(ranks={0: -1})
    with pytest.raises(GraphError, match=r"/tiny0/node0 has rank -1"):
        render("rv1_nosched", graph, place(graph, "/tiny0/node0"))
