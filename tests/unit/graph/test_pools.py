"""Graphs of pools: nodes whose resources are quantities."""

from __future__ import annotations

import pytest

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import MAX_AMOUNT, add_pools, pool_graph
from tests.unit.match.clusters import row_at


def pools_of(graph: ResourceGraph) -> dict[tuple[str, str], int]:
    """The amount of every pool, by the name of its holder and its type."""
    edges = zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)
    return {
        (graph.name(holder), graph.type_name(pool)): int(graph.size[pool])
        for holder, pool in edges
        if graph.divisible[pool]
    }


def test_every_quantity_is_one_divisible_vertex_below_its_holder() -> None:
    graph = pool_graph(
        {"n1": {"cpu": 15_500, "nvidia.com/gpu": 8}, "n2": {"cpu": 4}}, shared={"licence": 40}
    )
    assert pools_of(graph) == {
        ("n1", "cpu"): 15_500,
        ("n1", "nvidia.com/gpu"): 8,
        ("n2", "cpu"): 4,
        ("cluster0", "licence"): 40,
    }


def test_nodes_keep_their_names_and_are_numbered_and_ranked_in_order() -> None:
    graph = pool_graph({"gamma": {"cpu": 1}, "alpha": {"cpu": 1}})
    rows = [row_at(graph, f"/cluster0/{name}") for name in ("gamma", "alpha")]
    assert graph.rank[rows].tolist() == graph.id[rows].tolist() == [0, 1]
    assert {graph.type_name(row) for row in rows} == {"node"}


def test_zones_put_nodes_below_subnets_in_the_order_in_which_they_are_met() -> None:
    amounts = {"cpu": 1}
    graph = pool_graph(
        {"n1": amounts, "n2": amounts, "n3": amounts}, zones={"n1": "west", "n3": "west"}
    )
    assert row_at(graph, "/cluster0/west/n3") > row_at(graph, "/cluster0/default/n2")
    subnets = [graph.name(v) for v in range(graph.vertex_count) if graph.type_name(v) == "subnet"]
    assert subnets == ["west", "default"]


def test_the_cluster_and_the_nodes_have_the_given_names() -> None:
    graph = pool_graph({"n1": {}}, cluster="prod", properties={"n1": {"arch": "arm"}})
    assert graph.properties(row_at(graph, "/prod0/n1")) == {"arch": "arm"}


@pytest.mark.parametrize("amount", [0, 1, MAX_AMOUNT])
def test_amounts_up_to_the_largest_are_taken_as_they_are(amount: int) -> None:
    assert pools_of(pool_graph({"n1": {"cpu": amount}})) == {("n1", "cpu"): amount}


@pytest.mark.parametrize("amount", [-1, MAX_AMOUNT + 1])
def test_an_amount_that_no_pool_can_have_is_refused_in_words(amount: int) -> None:
    with pytest.raises(GraphError, match=f"a pool of {amount} cpu: expected 0 to"):
        pool_graph({"n1": {"cpu": amount}})


def test_pools_may_stand_below_any_vertex() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root, rack = patch.vertex("cluster", id=0), patch.vertex("rack", id=0)
    patch.edge(root, rack)
    add_pools(patch, rack, {"bandwidth": 100})
    graph.apply(patch)
    assert pools_of(graph) == {("rack0", "bandwidth"): 100}


def test_a_cluster_without_nodes_is_a_graph() -> None:
    graph = pool_graph({})
    assert graph.topology().vertex.tolist() == [0]


def test_a_pool_of_an_extended_resource_is_found_at_its_path() -> None:
    graph = pool_graph({"n1": {"nvidia.com/gpu": 8}})
    path = graph.path(2)
    assert path == "/cluster0/n1/nvidia.com/gpu0"
    assert graph.find_path(path) == [2]
