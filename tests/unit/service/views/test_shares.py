"""What a job holds of each node, and the names of nodes."""

from __future__ import annotations

import pytest

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.build import core, jobspec, node, res, slot
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.jobs import Request
from fluxnetes.service.values import Share
from fluxnetes.service.views.nodes import node_names
from fluxnetes.service.views.shares import shares
from tests.integration.rpc.graphs import a_cluster, of_kubernetes
from tests.unit.match.clusters import a, cluster, cores, memory, nodes

R = '{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-3"}}], '
R += '"nodelist": ["fluke[0-1]"]}}'


def shares_of(graph: ResourceGraph, request: Request) -> dict[str, dict[str, int]]:
    answer = Matcher(graph, policy="lonode").allocate(request)
    assert answer.placement is not None, answer.reason
    return {each.node: dict(each.amounts) for each in shares(graph, answer.placement)}


def test_what_is_on_a_node_is_added_up_by_type() -> None:
    graph = cluster(*nodes(2, *cores(4), *memory(8)))
    found = shares_of(graph, jobspec(node(2, slot(1, core(3), res("memory", 8)))))
    assert found == {"node0": {"core": 3, "memory": 8}, "node1": {"core": 3, "memory": 8}}


def test_only_what_the_job_holds_exclusively_is_counted() -> None:
    graph = cluster(*nodes(1, a("socket", *cores(2))))
    assert shares_of(graph, jobspec(slot(1, core(1)))) == {"node0": {"core": 1}}


def test_a_node_that_is_held_exclusively_is_shown_so() -> None:
    graph = cluster(*nodes(2, *cores(2)))
    [(name, amounts)] = shares_of(graph, jobspec(slot(1, node(1)))).items()
    assert (name, amounts["node"]) == ("node0", 1)


def test_of_a_pool_it_is_the_part_that_the_job_has() -> None:
    graph = pool_graph({"n1": {"cpu": 4000, "memory": 1000, "pods": 9}})
    found = shares_of(graph, Gang((Shape.of(2, {"cpu": 250, "memory": 100, "pods": 1}),)))
    assert found == {"n1": {"cpu": 500, "memory": 200, "pods": 2}}


def test_what_is_on_no_node_is_in_no_share() -> None:
    graph = pool_graph({"n1": {"cpu": 1000}}, shared={"licence": 5})
    gang = Gang((Shape.of(1, {"cpu": 10}),), shared=(("licence", 3),))
    assert shares_of(graph, gang) == {"n1": {"cpu": 10}}


def test_nodes_come_in_the_order_in_which_old_clients_walked_them_and_once() -> None:
    graph = cluster(*nodes(3, *cores(1)))
    answer = Matcher(graph, policy="lonode").allocate(jobspec(node(3, slot(1, core(1)))))
    assert answer.placement is not None
    assert [each.node for each in shares(graph, answer.placement)] == ["node0", "node1", "node2"]


@pytest.mark.parametrize(
    ("text", "format", "names"),
    [
        (a_cluster(2, 1), "jgf", ["node0", "node1"]),
        (of_kubernetes({"a": ["kind-worker", "node"], "": ["w3"]}), "jgf", None),
        (R, "rv1exec", ["fluke0", "fluke1"]),
    ],
)
def test_nodes_have_the_names_that_callers_know(
    text: str, format: str, names: list[str] | None
) -> None:
    found = node_names(Matcher(read_graph(text, format)))
    # A machine that is really called "node" cannot be distinguished from one without a name.
    assert found == (names or ["kind-worker", "node1", "w3"])


def test_nodes_of_a_live_cluster_have_their_names_also_in_zones() -> None:
    graph = pool_graph({"n1": {"cpu": 1}, "ip-10-0-0-7": {"cpu": 1}}, zones={"n1": "a"})
    assert node_names(Matcher(graph)) == ["n1", "ip-10-0-0-7"]


def test_a_share_has_its_number_of_tasks_if_it_is_known() -> None:
    assert Share("n1", {}).tasks == 0
