"""Scores: the reference's formula, vertex by vertex."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.jobspec.build import core, jobspec, slot
from fluxnetes.match.engine.scores import score_tree, unscorable
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.policy import parse_policy
from tests.oracle.generate import Cluster, build, clusters
from tests.property.profile import examples
from tests.unit.match.clusters import a, cluster, cores, nodes


def scores(graph: ResourceGraph, policy: str) -> list[int]:
    found: list[int] = score_tree(graph, graph.topology(), parse_policy(policy)).tolist()
    return found


@pytest.mark.parametrize("policy", ["high", "low", "locality"])
def test_a_score_is_the_id_and_two(policy: str) -> None:
    graph = cluster(*nodes(2, *cores(2)))
    assert scores(graph, policy) == [2, 2, 2, 3, 3, 2, 3]


@examples(60)
@given(clusters(), st.sampled_from(["first", "hinode", "lonodex"]))
def test_a_node_centric_score_adds_a_weight_for_every_node_above(
    described: Cluster, policy: str
) -> None:
    graph = build(described.root)
    tree = graph.topology()
    expected = []
    for position in range(len(tree)):
        score = int(graph.id[tree.vertex[position]]) + 2
        above = int(tree.parent[position])
        while above >= 0:
            row = int(tree.vertex[above])
            if graph.type_name(row) == "node":
                score += (int(graph.id[row]) + 2) * 10_000
                score += abs(int(graph.uniq_id[row]) % 10_000 - 1)
            above = int(tree.parent[above])
        expected.append(score)
    assert scores(graph, policy) == expected


@pytest.mark.parametrize(
    ("perf_class", "score"),
    [("0", 1), ("7", 8), ("9999", 10_000), ("10000", 10_000), ("-1", 10_000), ("fast", 10_000)],
)
def test_variation_scores_by_class_and_takes_nonsense_for_the_worst(
    perf_class: str, score: int
) -> None:
    graph = cluster(a("node", perf_class=perf_class))
    assert scores(graph, "variation") == [10_000, score]


def test_a_vertex_without_a_class_is_of_the_worst() -> None:
    assert scores(cluster(a("node", other="1")), "variation") == [10_000, 10_000]


def strange_node(id: int, uniq_id: int) -> ResourceGraph:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0)
    patch.edge(root, patch.vertex("node", id=id, uniq_id=uniq_id))
    graph.apply(patch)
    return graph


@pytest.mark.parametrize(
    ("id", "uniq_id", "policy", "refused"),
    [
        (-1, 5, "lonode", False),
        (-2, 5, "lonode", True),
        (3, -1, "lonode", True),
        (-2, -2, "low", False),
        (-2, -2, "variation", False),
    ],
)
def test_a_node_centric_policy_refuses_nodes_that_it_cannot_score(
    id: int, uniq_id: int, policy: str, refused: bool
) -> None:
    graph = strange_node(id, uniq_id)
    found = unscorable(graph, graph.topology(), parse_policy(policy))
    assert found.tolist() == [False, refused]


def test_a_score_does_not_depend_on_jobs() -> None:
    graph = cluster(*nodes(2, *cores(2)))
    before = scores(graph, "lonode")
    assert Matcher(graph, policy="lonode").allocate(jobspec(slot(2, core(1))))
    assert scores(graph, "lonode") == before
