"""A whole graph, written and read back, is the same graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.writers.whole import living, write_graph

GRAPHS = Path(__file__).parents[3] / "conformance" / "graphs"


def assert_same(one: ResourceGraph, other: ResourceGraph) -> None:
    rows, others = living(one), living(other)
    for column in ("id", "rank", "size", "uniq_id", "up", "divisible"):
        assert getattr(one, column)[rows].tolist() == getattr(other, column)[others].tolist()
    for mine, theirs in zip(rows.tolist(), others.tolist(), strict=True):
        for say in ("name", "type_name", "basename", "unit", "paths", "properties"):
            assert getattr(one, say)(mine) == getattr(other, say)(theirs)


def pools() -> ResourceGraph:
    graph = pool_graph(
        {"a": {"cpu": 4000, "memory": 100}, "b": {"cpu": 2000, "memory": 50, "gpu": 2}},
        zones={"a": "east", "b": "west"},
        shared={"licence": 40},
        properties={"a": {"fast": "yes"}},
    )
    graph.set_status(graph.find_path("/cluster0/west/b")[0], up=False)
    return graph


def test_pools_properties_and_status_are_read_back() -> None:
    graph = pools()
    assert_same(graph, read_graph(write_graph(graph).decode(), "jgf"))


@pytest.mark.parametrize("name", ["pair", "powered"])
def test_graphs_of_the_conformance_sessions_are_read_back(name: str) -> None:
    graph = read_graph((GRAPHS / f"{name}.json").read_text(), "jgf")
    assert_same(graph, read_graph(write_graph(graph).decode(), "jgf"))


def test_removed_vertices_are_not_written() -> None:
    graph = pools()
    [gone] = graph.find_path("/cluster0/east/a")
    below = [v for v in range(graph.vertex_count) if (graph.path(v) or "").find("/east/a") > 0]
    graph.remove([gone, *below])
    again = read_graph(write_graph(graph).decode(), "jgf")
    assert again.vertex_count == len(living(graph)) < graph.vertex_count
    assert_same(graph, again)


def test_a_subsystem_that_lost_all_its_vertices_is_not_written() -> None:
    graph = read_graph((GRAPHS / "powered.json").read_text(), "jgf")
    tree = set(graph.topology().vertex.tolist())
    graph.remove([vertex for vertex in living(graph).tolist() if vertex not in tree])
    assert_same(graph, read_graph(write_graph(graph).decode(), "jgf"))
