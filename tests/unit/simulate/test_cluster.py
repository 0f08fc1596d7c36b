"""The cluster of a simulation: which vertices of a graph are its processors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import BackfillPolicy
from fluxnetes.simulate.cluster import SimulatedCluster, read_cluster, survey, uniform_cluster
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.policies import parse_policy


def graph_of(*edges: tuple[str, str]) -> ResourceGraph:
    """A graph by edges between vertices that are named for their type, such as node1."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    names = list(dict.fromkeys(name for edge in edges for name in edge))
    rows = {n: patch.vertex(n.rstrip("0123456789"), id=i) for i, n in enumerate(names)}
    for above, below in edges:
        patch.edge(rows[above], rows[below])
    graph.apply(patch)
    return graph


def placed(cluster: SimulatedCluster, size: int) -> list[int]:
    answer = Matcher(cluster.graph, policy="lonode").allocate(cluster.request(size))
    assert answer.placement is not None, answer.reason
    units: list[int] = cluster.units(answer.placement.vertex[answer.placement.exclusive]).tolist()
    return units


def test_processors_are_numbered_node_by_node() -> None:
    cluster = uniform_cluster(3, 4)
    assert cluster.machine.processors == 12
    assert cluster.machine.node.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert cluster.machine.names == ("node0", "node1", "node2")


def test_a_job_gets_as_many_processors_as_its_size() -> None:
    assert placed(uniform_cluster(3, 4), 6) == [0, 1, 2, 3, 4, 5]
    assert placed(uniform_cluster(5, 1), 5) == [0, 1, 2, 3, 4]


def test_where_a_graph_has_no_cores_its_nodes_are_the_processors() -> None:
    cluster = survey(graph_of(("cluster0", "node0"), ("cluster0", "node1")))
    assert cluster.processor == "node"
    assert placed(cluster, 2) == [0, 1]


def test_cores_may_be_deeper_than_right_below_a_node() -> None:
    below = [("node0", "socket0"), ("socket0", "core0"), ("socket0", "core1"), ("node1", "core2")]
    cluster = survey(graph_of(("cluster0", "node0"), ("cluster0", "node1"), *below))
    assert cluster.machine.node.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("edges", "complaint"),
    [
        ([("cluster0", "core0")], "no nodes"),
        ([("cluster0", "node0"), ("node0", "core0"), ("cluster0", "core1")], "outside of nodes"),
        ([("cluster0", "core0"), ("cluster0", "node0"), ("node0", "core1")], "outside of nodes"),
    ],
)
def test_what_cannot_be_numbered_is_refused(edges: list[tuple[str, str]], complaint: str) -> None:
    with pytest.raises(SimulationError, match=complaint):
        survey(graph_of(*edges))


@pytest.mark.parametrize(("nodes", "cores"), [(0, 1), (1, 0), (10_000, 10_000)])
def test_a_cluster_has_a_size_that_makes_sense(nodes: int, cores: int) -> None:
    with pytest.raises(SimulationError, match="expected at least one of both"):
        uniform_cluster(nodes, cores)


def test_a_graph_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=r"nowhere.jgf: No such file"):
        read_cluster(tmp_path / "nowhere.jgf")
    (tmp_path / "bad.jgf").write_text("{}")
    with pytest.raises(SimulationError, match=r"bad.jgf is not a graph in JGF"):
        read_cluster(tmp_path / "bad.jgf")


def test_units_ignore_what_is_no_processor() -> None:
    cluster = uniform_cluster(2, 2)
    assert cluster.units(np.arange(cluster.graph.vertex_count)).tolist() == [0, 1, 2, 3]


def test_policies_are_known_by_name() -> None:
    assert {parse_policy(p.value).policy for p in BackfillPolicy} == set(BackfillPolicy)
    assert parse_policy("hybrid:3").reservations == 3


@pytest.mark.parametrize(
    "text", ["sjf", "easy:2", "hybrid:", "hybrid:0", "hybrid:x", "hybrid:-1", ""]
)
def test_a_policy_that_does_not_exist_is_refused_by_name(text: str) -> None:
    with pytest.raises(SimulationError) as refused:
        parse_policy(text)
    assert repr(text) in str(refused.value)
