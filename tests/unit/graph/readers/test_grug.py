"""GRUG: which vertices a recipe makes, in which order, with which ids, and who holds whom."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers.grug import load_grug

_KEYS = {
    "node": ("root", "type", "basename", "size", "unit", "subsystem"),
    "edge": (
        "e_subsystem",
        "gen_method",
        "multi_scale",
        "id_scope",
        "id_start",
        "id_stride",
        "as_tgt_subsystem",
        "as_tgt_uplvl",
        "as_src_uplvl",
    ),
}


def data(values: dict[str, Any]) -> str:
    return "".join(f'<data key="{key}">{value}</data>' for key, value in values.items())


def kind(key: str, **values: Any) -> str:
    return f'<node id="{key}">{data({"type": key, **values})}</node>'


def step(source: str, target: str, **values: Any) -> str:
    return f'<edge id="{source}2{target}" source="{source}" target="{target}">{data(values)}</edge>'


def recipe(*parts: str) -> str:
    keys = "".join(
        f'<key id="{name}" for="{what}" attr.name="{name}" attr.type="string"/>'
        for what, names in _KEYS.items()
        for name in names
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="urn:x"> stray="text"> '
        f'{keys}<graph id="g" edgedefault="directed">{"".join(parts)}</graph></graphml>'
    )


def paths(graph: ResourceGraph, subsystem: str = "containment") -> list[str | None]:
    return [graph.path(v, subsystem) for v in range(graph.vertex_count)]


def names(graph: ResourceGraph) -> list[str]:
    return [graph.name(v) for v in range(graph.vertex_count)]


def test_vertices_are_made_kind_by_kind_depth_first() -> None:
    graph = load_grug(
        recipe(
            kind("cluster", root=1, basename="tiny"),
            kind("rack"),
            kind("node"),
            kind("core"),
            kind("ssd", size=512, unit="GB"),
            step("cluster", "rack", multi_scale=2),
            step("rack", "node"),
            step("node", "core", multi_scale=2),
            step("rack", "ssd"),
        )
    )
    assert paths(graph) == [
        "/tiny0",
        "/tiny0/rack0",
        "/tiny0/rack1",
        "/tiny0/rack0/node0",
        "/tiny0/rack1/node0",
        "/tiny0/rack0/node0/core0",
        "/tiny0/rack0/node0/core1",
        "/tiny0/rack1/node0/core0",
        "/tiny0/rack1/node0/core1",
        "/tiny0/rack0/ssd0",
        "/tiny0/rack1/ssd0",
    ]
    assert graph.edge_count == 10
    assert graph.uniq_id.tolist() == list(range(11))
    assert graph.size[-1] == 512
    assert graph.unit(10) == "GB"


def test_nodes_alone_are_ranked_in_the_order_in_which_they_are_made() -> None:
    graph = load_grug(
        recipe(
            kind("cluster", root=1),
            kind("node"),
            kind("core"),
            step("cluster", "node", multi_scale=3),
            step("node", "core"),
        )
    )
    assert graph.rank.tolist() == [-1, 0, 1, 2, -1, -1, -1]


@pytest.mark.parametrize(
    ("how", "ids"),
    [
        ({}, [0, 1, 0, 1, 0, 1, 0, 1]),
        ({"id_start": 5}, [5, 6, 5, 6, 5, 6, 5, 6]),
        ({"id_start": 5, "id_stride": 10}, [5, 6, 5, 6, 5, 6, 5, 6]),
        ({"id_scope": 1}, [0, 1, 2, 3, 0, 1, 2, 3]),
        ({"id_scope": 2}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"id_scope": 9}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"id_scope": 1, "id_start": 1, "id_stride": 2}, [1, 3, 5, 7, 1, 3, 5, 7]),
        ({"id_scope": -1}, [-1] * 8),
    ],
)
def test_ids_count_within_their_scope(how: dict[str, int], ids: list[int]) -> None:
    graph = load_grug(
        recipe(
            kind("cluster", root=1),
            kind("node"),
            kind("socket"),
            kind("core"),
            step("cluster", "node", multi_scale=2),
            step("node", "socket", multi_scale=2),
            step("socket", "core", multi_scale=2, **how),
        )
    )
    assert graph.id[-8:].tolist() == ids


def test_a_vertex_without_an_id_is_named_by_its_basename() -> None:
    graph = load_grug(
        recipe(kind("cluster", root=1), kind("pfs"), step("cluster", "pfs", id_scope=-1))
    )
    assert names(graph) == ["cluster0", "pfs"]
    assert graph.path(1) == "/cluster0/pfs"


def test_defaults_of_the_document_hold_where_nothing_is_given() -> None:
    text = recipe(kind("cluster", root=1), kind("node"), step("cluster", "node")).replace(
        'attr.name="multi_scale" attr.type="string"/>',
        'attr.name="multi_scale" attr.type="int"><default>4</default></key>',
    )
    assert load_grug(text).vertex_count == 5


def powered(*more: str) -> str:
    return recipe(
        kind("cluster", root=1),
        kind("rack"),
        kind("pdu"),
        kind("node"),
        step("cluster", "rack", multi_scale=2),
        step("rack", "pdu", id_scope=1),
        step("rack", "node", multi_scale=2, id_scope=1),
        kind("panel", root=1, subsystem="power"),
        kind("pdu_link", type="pdu", subsystem="power"),
        kind("node_link", type="node", subsystem="power"),
        kind("watt", subsystem="power"),
        step("panel", "pdu_link", e_subsystem="power", gen_method="ASSOCIATE_IN"),
        *more,
    )


def test_associating_links_every_vertex_of_a_type_into_another_subsystem() -> None:
    graph = load_grug(powered())
    assert names(graph)[-1] == "panel0"
    assert paths(graph, "power")[3:5] == ["/panel0/pdu0", "/panel0/pdu1"]
    assert graph.path(3) == "/cluster0/rack0/pdu0"
    assert len(graph.topology()) == 9
    assert len(graph.topology("power")) == 3


def test_associating_by_path_links_what_shares_an_ancestor() -> None:
    graph = load_grug(
        powered(
            step("pdu_link", "node_link", e_subsystem="power", gen_method="ASSOCIATE_BY_PATH_IN"),
            step("node_link", "watt", e_subsystem="power", multi_scale=2),
        )
    )
    assert [graph.paths(v)["power"] for v in range(5, 9)] == [
        "/panel0/pdu0/node0",
        "/panel0/pdu0/node1",
        "/panel0/pdu1/node2",
        "/panel0/pdu1/node3",
    ]
    assert paths(graph, "power")[-1] == "/panel0/pdu1/node3/watt1"
    assert graph.find_path("/panel0/pdu1/node3/watt1") == [graph.vertex_count - 1]
    assert graph.find_path("/cluster0/rack1/node3") == graph.find_path("/panel0/pdu1/node3")


def test_associating_two_vertices_that_have_an_edge_moves_the_edge() -> None:
    graph = load_grug(
        recipe(
            kind("cluster", root=1),
            kind("rack"),
            step("cluster", "rack", multi_scale=2),
            kind("again", type="cluster", root=1, subsystem="containment"),
            kind("link", type="rack"),
            step("again", "link", gen_method="ASSOCIATE_IN", e_subsystem="power"),
        )
    )
    assert graph.edge_count == 2
    assert [graph.subsystems.names[s] for s in graph.edge_subsystem.tolist()] == ["power", "power"]


def test_a_vertex_associated_within_its_subsystem_has_two_parents_and_the_last_path() -> None:
    graph = load_grug(
        recipe(
            kind("cluster", root=1),
            kind("rack"),
            kind("unit"),
            kind("ssd"),
            kind("upper"),
            step("cluster", "rack", multi_scale=2),
            step("rack", "unit", id_scope=1),
            step("unit", "ssd"),
            step("cluster", "upper"),
            kind("link", type="unit"),
            step("upper", "link", gen_method="ASSOCIATE_IN"),
        )
    )
    assert graph.path(3) == "/cluster0/upper0/unit0"
    assert graph.path(5) == "/cluster0/rack0/unit0/ssd0"
    assert graph.find_path("/cluster0/rack0/unit0/ssd0") == [5]
    assert not graph.topology().is_tree
    assert graph.topology().vertex_count == graph.vertex_count
    assert graph.find_path("/cluster0/rack0/unit0") == graph.find_path("/cluster0/upper0/unit0")


def test_types_are_known_in_the_order_of_the_recipe() -> None:
    graph = load_grug(
        recipe(
            kind("cluster", root=1),
            kind("zeta"),
            kind("alpha"),
            step("cluster", "alpha"),
            step("alpha", "zeta"),
        )
    )
    assert graph.types.number("zeta") < graph.types.number("alpha")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a GRUG recipe"),
        ("<graphml>", "not a GRUG recipe"),
        ("<graph/>", "expected <graphml>"),
        ("<graphml/>", "expected <graphml>"),
        (recipe(), "generates nothing"),
        (recipe(kind("rack")), "generates nothing"),
        (recipe('<node id="x"/>'), "GRUG node 'x': needs a type"),
        (recipe(kind("a", root=1), kind("a")), "two nodes have the same id"),
        (recipe(kind("a", size="big")), "GRUG node 'a': size must be a whole number.*'big'"),
        (recipe(kind("a", size=-1)), "GRUG node 'a': size"),
        (recipe(kind("a", colour="red")), "GRUG node 'a': no <key> declares 'colour'"),
        (recipe(kind("a"), step("a", "b")), "GRUG edge 'a2b': no node has the id 'b'"),
        (recipe(kind("a"), step("a", "a", multi_scale="x")), "GRUG edge 'a2a': multi_scale"),
        (recipe(kind("a"), step("a", "a", gen_method="GUESS")), "gen_method 'GUESS' is not one of"),
        (
            recipe(kind("a", root=1), kind("b"), step("a", "b", multi_scale=2**31 - 1)),
            "would make more than",
        ),
        ('<!DOCTYPE g [<!ENTITY e "x">]><graphml>&e;</graphml>', "entity 'e'"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused_with_the_part_at_fault(
    text: str, why: str
) -> None:
    with pytest.raises(GraphError, match=why):
        load_grug(text)


@given(st.binary(max_size=30), st.integers(0, 3000))
def test_a_damaged_recipe_loads_or_is_a_graph_error(noise: bytes, at: int) -> None:
    text = powered().encode()
    try:
        load_grug(text[:at] + noise + text[at + len(noise) :])
    except GraphError as error:
        assert str(error)
