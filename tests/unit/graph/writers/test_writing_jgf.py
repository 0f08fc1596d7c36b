"""What a placement looks like as a graph, and what the shorthand leaves out."""

from __future__ import annotations

import json
from typing import Any

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.writers import render
from tests.unit.graph.writers.placements import a_cluster, place, whole


def _metadata(text: str) -> dict[str, dict[str, Any]]:
    nodes = json.loads(text)["graph"]["nodes"]
    return {node["metadata"]["paths"]["containment"]: node["metadata"] for node in nodes}


def test_jgf_is_one_line_in_the_words_of_the_reference() -> None:
    graph = a_cluster(nodes=1, cores=1)
    assert render("jgf", graph, place(graph, "/tiny0/node0/core0")) == (
        '{"graph": {"nodes": ['
        '{"id": "2", "metadata": {"type": "core", "id": 0, "rank": 0, "exclusive": true, '
        '"paths": {"containment": "/tiny0/node0/core0"}}}, '
        '{"id": "1", "metadata": {"type": "node", "id": 0, "rank": 0, '
        '"paths": {"containment": "/tiny0/node0"}}}, '
        '{"id": "0", "metadata": {"type": "cluster", "basename": "tiny", "id": 0, "rank": -1, '
        '"paths": {"containment": "/tiny0"}}}], '
        '"edges": [{"source": "1", "target": "2"}, {"source": "0", "target": "1"}]}}\n'
    )


def test_the_keys_of_a_vertex_come_in_the_order_of_the_reference() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster = patch.vertex("cluster", id=0)
    node = patch.vertex(
        "node",
        basename="fox",
        id=3,
        name="foxy",
        rank=4,
        size=2,
        unit="ea",
        properties={"z": "", "a": "1"},
    )
    patch.edge(cluster, node)
    graph.apply(patch)
    placement = place(
        graph,
        "/cluster0/foxy",
        labels={"/cluster0/foxy": "mine"},
        usage={"/cluster0/foxy": {"node": "used:1, total:2", "core": "used:0, total:0"}},
    )
    metadata = _metadata(render("jgf", graph, placement))["/cluster0/foxy"]
    assert list(metadata.items()) == [
        ("type", "node"),
        ("basename", "fox"),
        ("name", "foxy"),
        ("id", 3),
        ("rank", 4),
        ("properties", {"a": "1", "z": ""}),
        ("unit", "ea"),
        ("exclusive", True),
        ("size", 2),
        ("paths", {"containment": "/cluster0/foxy"}),
        ("ephemeral", {"label": "mine"}),
        ("agfilter", {"core": "used:0, total:0", "node": "used:1, total:2"}),
    ]
    assert list(metadata["properties"]) == ["a", "z"]
    assert list(metadata["agfilter"]) == ["core", "node"]


def test_an_edge_names_its_subsystem_unless_it_is_containment() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    pdu, node = patch.vertex("pdu", id=0), patch.vertex("node", id=0)
    patch.edge(pdu, node, "power")
    graph.apply(patch)
    placement = place(graph, "/pdu0/node0", subsystem="power")
    edges = json.loads(render("jgf", graph, placement))["graph"]["edges"]
    assert edges == [{"source": "0", "target": "1", "metadata": {"subsystem": "power"}}]


def test_a_placement_of_the_root_alone_is_a_graph_without_edges() -> None:
    graph = a_cluster()
    written = json.loads(render("jgf", graph, place(graph, "/tiny0")))["graph"]
    assert [node["id"] for node in written["nodes"]] == ["0"]
    assert written["edges"] == []


def test_the_shorthand_leaves_out_what_an_exclusive_vertex_implies() -> None:
    graph = a_cluster()
    placement = place(graph, *whole(graph, "/tiny0/node1"), "/tiny0/node0/core0")
    written = json.loads(render("jgf_shorthand", graph, placement))
    assert list(_metadata(json.dumps(written))) == [
        "/tiny0/node0/core0",
        "/tiny0/node0",
        "/tiny0/node1",
        "/tiny0",
    ]
    assert len(written["graph"]["edges"]) == 3
    assert written["writer"] == "fluxion:jgf_shorthand"


def test_the_shorthand_of_a_complete_graph_does_not_claim_to_be_one() -> None:
    graph = a_cluster()
    placement = place(graph, "/tiny0/node0/core0")
    assert render("jgf_shorthand", graph, placement) == render("jgf", graph, placement)
