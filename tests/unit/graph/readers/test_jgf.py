"""JGF: load a graph, grow one, and find the vertices of an allocation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers.jgf import attach_jgf, load_jgf, read_jgf_vertices

Json = dict[str, Any]


def node(key: str, type: str, path: str, **metadata: Any) -> Json:
    return {"id": key, "metadata": {"type": type, "paths": {"containment": path}, **metadata}}


def edge(source: str, target: str, **metadata: Any) -> Json:
    return {"source": source, "target": target, **({"metadata": metadata} if metadata else {})}


def document(nodes: list[Json], edges: list[Json], **more: Any) -> str:
    return json.dumps({"graph": {"nodes": nodes, "edges": edges}, **more})


def tiny(hosts: int = 2) -> tuple[list[Json], list[Json]]:
    """cluster0 -> node -> two cores, with every key written out."""
    nodes = [node("0", "cluster", "/cluster0", id=0, uniq_id=0)]
    edges: list[Json] = []
    for host in range(hosts):
        at = f"/cluster0/node{host}"
        key = str(10 * host + 1)
        nodes.append(node(key, "node", at, id=host, rank=host, uniq_id=int(key)))
        edges.append(edge("0", key))
        for core in range(2):
            child = str(10 * host + 2 + core)
            nodes.append(
                node(child, "core", f"{at}/core{core}", id=core, rank=host, uniq_id=int(child))
            )
            edges.append(edge(key, child, subsystem="containment"))
    return nodes, edges


def state(graph: ResourceGraph) -> tuple[Any, ...]:
    """All that a failed change must leave alone."""
    return (
        graph.version,
        graph.vertex_count,
        graph.edge_count,
        list(graph.types.names),
        list(graph.basenames.names),
        list(graph.subsystems.names),
    )


# -- load ------------------------------------------------------------------------------------------


def test_vertices_keep_the_documents_order_and_say_what_it_says() -> None:
    graph = load_jgf(document(*tiny()))
    assert [graph.path(v) for v in range(graph.vertex_count)] == [
        "/cluster0",
        "/cluster0/node0",
        "/cluster0/node0/core0",
        "/cluster0/node0/core1",
        "/cluster0/node1",
        "/cluster0/node1/core0",
        "/cluster0/node1/core1",
    ]
    assert graph.rank.tolist() == [-1, 0, 0, 0, 1, 1, 1]
    assert graph.uniq_id.tolist() == [0, 1, 2, 3, 11, 12, 13]
    assert graph.edge_count == 6


def test_what_a_node_leaves_out_is_filled_in() -> None:
    nodes = [
        node("5", "cluster", "/cluster5"),
        node("6", "node", "/cluster5/host017", name="host017", basename="host"),
        node("7", "ssd", "/cluster5/host017/ssd7", unit="GB"),
    ]
    graph = load_jgf(document(nodes, [edge("5", "6"), edge("6", "7")]))
    assert graph.uniq_id.tolist() == [5, 6, 7]
    assert graph.id.tolist() == [5, 17, 7]
    assert [graph.name(v) for v in range(3)] == ["cluster5", "host017", "ssd7"]
    assert graph.rank.tolist() == [-1, -1, -1]
    assert graph.size.tolist() == [1, 1, 1]
    assert graph.up.all()
    assert graph.unit(2) == ""


def test_size_status_properties_and_divisible_are_read() -> None:
    nodes = [
        node("0", "cluster", "/c", name="c", id=0, properties=None),
        node(
            "1",
            "memory",
            "/c/m",
            name="m",
            size=64,
            status=1,
            divisible=True,
            properties={"b": "2", "a": "1"},
        ),
    ]
    graph = load_jgf(document(nodes, [edge("0", "1")]))
    assert graph.size.tolist() == [1, 64]
    assert graph.up.tolist() == [True, False]
    assert graph.divisible.tolist() == [False, True]
    assert list(graph.properties(1).items()) == [("a", "1"), ("b", "2")]


def test_paths_that_do_not_follow_from_the_names_are_kept_and_found() -> None:
    nodes = [
        node("0", "cluster", "/mini", name="mini"),
        node("1", "chassis", "/mini/chassis0"),
        node("2", "ssd", "/mini/chassis0/ssd0"),
    ]
    graph = load_jgf(document(nodes, [edge("0", "1"), edge("1", "2")]))
    assert graph.name(2) == "ssd2"
    assert graph.path(2) == "/mini/chassis0/ssd0"
    assert graph.find_path("/mini/chassis0/ssd0") == [2]


def test_a_vertex_may_stand_in_two_subsystems() -> None:
    nodes, edges = tiny(hosts=1)
    nodes[1]["metadata"]["paths"]["power"] = "/panel0/node0"
    panel = {"id": "90", "metadata": {"type": "panel", "id": 0, "paths": {"power": "/panel0"}}}
    graph = load_jgf(document([*nodes, panel], [*edges, edge("90", "1", subsystem="power")]))
    assert graph.paths(1) == {"containment": "/cluster0/node0", "power": "/panel0/node0"}
    assert len(graph.topology("containment")) == 4
    assert len(graph.topology("power")) == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"size": "big"}, r"JGF node '1': .*int.*str.*metadata\.size"),
        ({"size": -1}, r"JGF node '1': .*metadata\.size"),
        ({"type": None}, r"JGF node '1': .*metadata\.type"),
        ({"paths": "/cluster0/node0"}, r"JGF node '1': .*metadata\.paths"),
        ({"status": 2}, r"JGF node '1': .*metadata\.status"),
        ({"id": 2**63}, r"JGF node '1': .*metadata\.id"),
        ({"properties": ["x"]}, r"JGF node '1': .*metadata\.properties"),
        ({"properties": {"x": 1}}, r"JGF node '1': .*metadata\.properties"),
        ({"exclusive": 1}, r"JGF node '1': .*metadata\.exclusive"),
    ],
)
def test_a_bad_key_is_refused_with_the_node_and_the_key(change: Json, why: str) -> None:
    nodes, edges = tiny()
    nodes[1]["metadata"] |= change
    with pytest.raises(GraphError, match=why):
        load_jgf(document(nodes, edges))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a JGF document"),
        ("{", "not a JGF document"),
        ("[]", "not a JGF document"),
        ("{}", "graph"),
        ('{"graph": {"nodes": []}}', "edges"),
        ('{"graph": {"nodes": {}, "edges": []}}', r"graph\.nodes"),
        ('{"graph": {"nodes": [], "edges": 1}}', r"graph\.edges"),
        ('{"graph": {"nodes": [7], "edges": []}}', "JGF node number 0"),
        ('{"graph": {"nodes": [], "edges": [{"source": "1"}]}}', "JGF edge number 0.*target"),
        ("[" * 100_000, "not a JGF document"),
    ],
)
def test_a_text_that_is_no_jgf_is_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(GraphError, match=why):
        load_jgf(text)


def test_documents_that_contradict_themselves_are_refused() -> None:
    nodes, edges = tiny()
    twin = node("99", "core", "/cluster0/node0/core0", id=0, rank=0)
    other_root = node("99", "cluster", "/cluster1", id=1)
    for extra, more, why in [
        ([nodes[1]], [], "JGF node '1': the id is given to two nodes"),
        ([twin], [], "'2' and '99' have the same path"),
        ([other_root], [], "JGF node '99': .*second root"),
        ([], [edge("0", "98")], "JGF edge '0' -> '98': no node has the id '98'"),
        ([], [edge("0", "1")], "JGF edge '0' -> '1': .*already"),
        ([], [edge("2", "0")], "JGF edge '2' -> '0': leads to the root"),
        ([node("x", "core", "/cluster0/x")], [], r"JGF node 'x': needs the key metadata\.uniq_id"),
    ]:
        with pytest.raises(GraphError, match=why):
            load_jgf(document([*nodes, *extra], [*edges, *more]))


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
_values = st.recursive(_scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(st.data())
def test_a_document_with_anything_anywhere_loads_or_is_a_graph_error(data: st.DataObject) -> None:
    nodes, edges = tiny()
    whole: Any = {"graph": {"nodes": nodes, "edges": edges}}
    at = whole
    while isinstance(at, dict | list) and at:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()):
            at[key] = data.draw(_values)
            break
        at = at[key]
    try:
        load_jgf(json.dumps(whole))
    except GraphError as error:
        assert "JGF" in str(error)


@given(st.binary(max_size=40), st.integers(0, 400))
def test_a_damaged_document_loads_or_is_a_graph_error(noise: bytes, at: int) -> None:
    text = document(*tiny()).encode()
    try:
        load_jgf(text[:at] + noise + text[at + len(noise) :])
    except GraphError as error:
        assert "JGF" in str(error)


# -- attach ----------------------------------------------------------------------------------------


def test_attaching_adds_only_what_is_new_and_the_edges_that_touch_it() -> None:
    graph = load_jgf(document(*tiny(hosts=1)))
    added = attach_jgf(graph, document(*tiny(hosts=2)))
    assert added.tolist() == [4, 5, 6]
    assert graph.edge_count == 6
    assert graph.find_path("/cluster0/node1/core1") == [6]
    assert [graph.name(int(v)) for v in graph.topology().vertex[-3:]] == ["node1", "core0", "core1"]


def test_attaching_what_is_there_changes_nothing() -> None:
    graph = load_jgf(document(*tiny()))
    assert attach_jgf(graph, document(*tiny())).tolist() == []
    assert (graph.vertex_count, graph.edge_count) == (7, 6)


def test_a_vertex_at_the_same_path_with_another_rank_is_another_vertex() -> None:
    graph = load_jgf(document(*tiny(hosts=1)))
    nodes = [
        node("0", "cluster", "/cluster0", id=0),
        node("50", "node", "/cluster0/node0", id=0, rank=9),
    ]
    assert attach_jgf(graph, document(nodes, [edge("0", "50")])).tolist() == [4]
    assert graph.find_path("/cluster0/node0") == [1, 4]


@pytest.mark.parametrize(
    ("extra", "more", "why"),
    [
        ([node("80", "rocket", "/rocket0")], [], "second root"),
        ([node("80", "rocket", "/cluster0/r", size="x")], [edge("0", "80")], r"metadata\.size"),
        ([node("80", "rocket", "/cluster0/r")], [edge("0", "81", subsystem="moon")], "'81'"),
        ([node("80", "rocket", "/cluster0/r", uniq_id=1)], [edge("0", "80")], "uniq_id"),
    ],
)
def test_a_bad_document_attaches_nothing(extra: list[Json], more: list[Json], why: str) -> None:
    graph = load_jgf(document(*tiny(hosts=1)))
    before = state(graph)
    nodes, edges = tiny(hosts=2)
    with pytest.raises(GraphError, match=why):
        attach_jgf(graph, document([*nodes, *extra], [*edges, *more]))
    assert state(graph) == before


# -- vertices of an allocation ---------------------------------------------------------------------


def test_an_allocation_names_rows_with_their_exclusivity_and_edges() -> None:
    graph = load_jgf(document(*tiny()))
    nodes, edges = tiny()
    nodes[5]["metadata"]["exclusive"] = True
    part = [nodes[0], nodes[4], nodes[5]]
    found = read_jgf_vertices(graph, document(part, [edges[3], edges[4]]))
    assert found.vertex.tolist() == [0, 4, 5]
    assert found.exclusive.tolist() == [False, False, True]
    assert found.edges == [(0, 4), (4, 5)]
    assert not found.shorthand


def test_freed_ranks_are_left_out_with_their_edges() -> None:
    graph = load_jgf(document(*tiny()))
    found = read_jgf_vertices(graph, document(*tiny(), free_ranks="0"))
    assert found.vertex.tolist() == [0, 4, 5, 6]
    assert found.edges == [(0, 4), (4, 5), (4, 6)]


def test_a_shorthand_document_says_so() -> None:
    graph = load_jgf(document(*tiny()))
    text = document(*tiny(), writer="fluxion:jgf_shorthand")
    assert read_jgf_vertices(graph, text).shorthand


def test_edges_are_not_looked_at_where_they_do_not_matter() -> None:
    graph = load_jgf(document(*tiny()))
    nodes, edges = tiny()
    upward = [*edges, edge("2", "1")]
    assert len(read_jgf_vertices(graph, document(nodes, upward), with_edges=False).vertex) == 7
    with pytest.raises(GraphError, match="core0 -> node0: the graph has no such edge"):
        read_jgf_vertices(graph, document(nodes, upward))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"size": 4}, "size is 1, not 4"),
        ({"type": "gpu"}, "type is 'core', not 'gpu'"),
        ({"basename": "cpu"}, "basename is 'core', not 'cpu'"),
        ({"id": 7, "name": "core0"}, "id is 0, not 7"),
        ({"name": "c0"}, "name is 'core0', not 'c0'"),
        ({"rank": 5}, "no such vertex at '/cluster0/node0/core0' with rank 5"),
        ({"paths": {"containment": "/cluster0/node0/core9"}}, "no such vertex at"),
        ({"paths": {}}, "has no path"),
    ],
)
def test_an_allocation_of_another_graph_is_refused_with_the_difference(
    change: Json, why: str
) -> None:
    graph = load_jgf(document(*tiny()))
    nodes, edges = tiny()
    nodes[2]["metadata"] |= change
    with pytest.raises(GraphError, match=f"JGF node '2'.*{why}"):
        read_jgf_vertices(graph, document(nodes, edges))


def test_a_vertex_that_the_graph_has_in_one_more_subsystem_is_refused() -> None:
    nodes, edges = tiny(hosts=1)
    panel = {"id": "90", "metadata": {"type": "panel", "id": 0, "paths": {"power": "/panel0"}}}
    powered = json.loads(json.dumps(nodes))
    powered[1]["metadata"]["paths"]["power"] = "/panel0/node0"
    graph = load_jgf(document([*powered, panel], [*edges, edge("90", "1", subsystem="power")]))
    with pytest.raises(GraphError, match=r"JGF node '1'.*paths is"):
        read_jgf_vertices(graph, document(nodes, edges))


def test_bad_free_ranks_are_refused() -> None:
    with pytest.raises(GraphError, match="free_ranks"):
        load_jgf(document(*tiny(), free_ranks="1-"))
