"""Allocations as the old clients read them: some know a node by its name, some by its basename."""

from __future__ import annotations

import json

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.writers.jgf import write_jgf_in_full
from fluxnetes.jobspec.build import core, jobspec, slot
from fluxnetes.match.answers import Operation
from fluxnetes.match.matcher import Matcher
from fluxnetes.service.requests.pools import pooled
from tests.integration.rpc.graphs import a_cluster, of_kubernetes


def node_of(graph: ResourceGraph) -> tuple[str, str]:
    """The name and the basename of the one node that a core is on."""
    matcher = Matcher(graph, policy="lonode")
    request = pooled(jobspec(slot(1, core(1))), graph)
    placement = matcher.match(Operation.ALLOCATE, request, now=0).placement
    assert placement is not None
    vertices = json.loads(write_jgf_in_full(graph, placement))["graph"]["nodes"]
    [node] = [v["metadata"] for v in vertices if v["metadata"]["type"] == "node"]
    return node["name"], node["basename"]


def test_a_node_that_was_given_a_name_has_it_for_a_basename_too() -> None:
    graph = pool_graph({"gke-pool-7": {"cpu": 4000, "pods": 10}}, zones={"gke-pool-7": "a"})
    assert node_of(graph) == ("gke-pool-7", "gke-pool-7")


def test_nodes_of_the_old_tools_keep_the_basename_by_which_they_are_known() -> None:
    graph = read_graph(of_kubernetes({"a": ["gke-pool-7"]}), "jgf")
    assert node_of(graph) == ("gke-pool-70", "gke-pool-7")


def test_a_numbered_node_is_a_node() -> None:
    assert node_of(read_graph(a_cluster(1, 1), "jgf")) == ("node0", "node")
