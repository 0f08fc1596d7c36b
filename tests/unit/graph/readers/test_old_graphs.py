"""Graphs as the old tools write them: an edge to each child, and one from it back."""

from __future__ import annotations

import json

import pytest

from fluxnetes.graph.columns import GraphError
from fluxnetes.graph.readers.jgf import attach_jgf, load_jgf
from fluxnetes.graph.writers.whole import write_graph
from tests.integration.rpc.graphs import a_cluster, of_kubernetes

ZONES = {"a": ["n1", "n2"], "b": ["n3"]}


def plain(document: str) -> str:
    """The same document without the ways back."""
    graph = json.loads(document)["graph"]
    depth = {v["id"]: v["metadata"]["paths"]["containment"].count("/") for v in graph["nodes"]}
    forth = [e for e in graph["edges"] if depth[e["source"]] < depth[e["target"]]]
    return json.dumps({"graph": {"nodes": graph["nodes"], "edges": forth}})


@pytest.mark.parametrize("old", [False, True])
def test_ways_back_make_no_difference(old: bool) -> None:
    document = of_kubernetes(ZONES, gpus=1, old=old)
    assert len(json.loads(document)["graph"]["edges"]) == 2 * (
        len(json.loads(plain(document))["graph"]["edges"])
    )
    assert write_graph(load_jgf(document)) == write_graph(load_jgf(plain(document)))


def test_they_may_be_attached_to_what_is_there() -> None:
    graph = load_jgf(of_kubernetes({"a": ["n1"]}))
    attach_jgf(graph, of_kubernetes({"a": ["n1", "n2"]}))
    assert len(graph.topology()) == 1 + 1 + 2 * 7


def test_an_edge_up_that_is_no_way_back_is_still_refused() -> None:
    document = json.loads(a_cluster(1, 1))
    document["graph"]["edges"].append({"source": "2", "target": "0"})
    with pytest.raises(GraphError, match="leads to the root"):
        load_jgf(json.dumps(document))
