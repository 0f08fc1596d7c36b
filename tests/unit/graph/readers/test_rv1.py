"""RFC 20 R: the flat graph of a machine, and the vertices that a job's R names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import GraphError
from fluxnetes.graph.readers.rv1 import load_rv1, read_rv1_ranks, read_rv1_vertices


def r(*entries: tuple[str, dict[str, str]], hosts: list[str], **execution: Any) -> str:
    rlite = [{"rank": rank, "children": children} for rank, children in entries]
    return json.dumps(
        {"version": 1, "execution": {"R_lite": rlite, "nodelist": hosts, **execution}}
    )


SMALL = r(("0-1", {"core": "0-1", "gpu": "0"}), hosts=["node[0-1]"])


def test_each_node_is_followed_by_what_it_holds() -> None:
    graph = load_rv1(SMALL)
    assert [graph.path(v) for v in range(graph.vertex_count)] == [
        "/cluster0",
        "/cluster0/node0",
        "/cluster0/node0/core0",
        "/cluster0/node0/core1",
        "/cluster0/node0/gpu0",
        "/cluster0/node1",
        "/cluster0/node1/core0",
        "/cluster0/node1/core1",
        "/cluster0/node1/gpu0",
    ]
    assert graph.rank.tolist() == [-1, 0, 0, 0, 0, 1, 1, 1, 1]
    assert graph.uniq_id.tolist() == list(range(9))
    assert graph.edge_count == 8
    assert graph.basename(1) == "node"
    assert graph.type_name(5) == "node"


def test_hosts_belong_to_ranks_in_ascending_order_whatever_the_entries_order() -> None:
    graph = load_rv1(r(("7", {"core": "0"}), ("2", {"core": "0"}), hosts=["a2", "b7"]))
    assert [(graph.name(v), int(graph.rank[v])) for v in (1, 3)] == [("b7", 7), ("a2", 2)]


@pytest.mark.parametrize(
    ("host", "basename", "id"),
    [("node017", "node", 17), ("login", "login", -1), ("42", "42", 42), ("a1b", "a1b", -1)],
)
def test_a_host_gives_its_node_name_basename_and_id(host: str, basename: str, id: int) -> None:
    graph = load_rv1(r(("0", {"core": "0"}), hosts=[host]))
    assert (graph.name(1), graph.basename(1), int(graph.id[1])) == (host, basename, id)
    assert graph.path(2) == f"/cluster0/{host}/core0"


def test_properties_go_to_the_nodes_of_their_ranks() -> None:
    text = r(("0-2", {"core": "0"}), hosts=["n[0-2]"], properties={"fast": "1-2,9", "x": "1"})
    graph = load_rv1(text)
    assert [graph.properties(v) for v in (1, 3, 5)] == [{}, {"fast": "", "x": ""}, {"fast": ""}]


def test_two_ranks_may_share_a_host() -> None:
    graph = load_rv1(r(("0-1", {"core": "0"}), hosts=["n1,n1"]))
    assert graph.find_path("/cluster0/n1") == [1, 3]


def test_scheduling_and_other_keys_are_ignored() -> None:
    extra = json.loads(SMALL) | {"scheduling": {"graph": {}}, "attributes": 1}
    assert load_rv1(json.dumps(extra)).vertex_count == 9


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not an RFC 20 R"),
        ("[]", "not an RFC 20 R"),
        ('{"version": 2, "execution": {"R_lite": [], "nodelist": []}}', "version"),
        ('{"version": 1, "execution": {"nodelist": []}}', "R_lite"),
        (r(("0", {"core": "0"}), hosts=[]), "1 ranks .* only 0 hosts"),
        (r(("0-", {"core": "0"}), hosts=["a"]), r"execution\.R_lite\[0\]\.rank: .*'0-'"),
        (r(("0", {"core": "x"}), hosts=["a"]), r"R_lite\[0\]\.children\.core: .*'x'"),
        (r(("0", {"core": "0"}), hosts=["a["]), r"execution\.nodelist: .*not closed"),
        (r(("0", {}), hosts=["a"], properties={"p": "z"}), r"execution\.properties\.p"),
        (r(("0-1", {}), ("1", {}), hosts=["a[0-1]"]), "rank 1 is in two entries"),
        (r(("0", {}), hosts=["a" + "9" * 19]), "too large"),
        (r(("0-999999", {"core": "0-9"}), hosts=["a"]), "1000000 ranks"),
    ],
)
def test_an_r_that_makes_no_sense_is_refused_with_the_key(text: str, why: str) -> None:
    with pytest.raises(GraphError, match=why):
        load_rv1(text)


@given(st.binary(max_size=20), st.integers(0, 200))
def test_a_damaged_r_loads_or_is_a_graph_error(noise: bytes, at: int) -> None:
    text = SMALL.encode()
    try:
        load_rv1(text[:at] + noise + text[at + len(noise) :])
    except GraphError as error:
        assert "R" in str(error)


# -- vertices of an allocation ---------------------------------------------------------------------


def test_a_node_is_exclusive_only_when_all_that_it_holds_is_listed() -> None:
    graph = load_rv1(SMALL)
    text = r(("0", {"core": "1"}), ("1", {"gpu": "0", "core": "0-1"}), hosts=["node[0-1]"])
    found = read_rv1_vertices(graph, text)
    assert found.ranks == [0, 1]
    assert found.vertex.tolist() == [1, 3, 5, 8, 6, 7]
    assert found.exclusive.tolist() == [False, True, True, True, True, True]


def test_entries_of_one_rank_add_up() -> None:
    graph = load_rv1(SMALL)
    text = r(("1", {"core": "0-1"}), ("1", {"gpu": "0"}), hosts=["node1"])
    assert read_rv1_vertices(graph, text).exclusive.all()


def test_removed_vertices_do_not_count() -> None:
    graph = load_rv1(SMALL)
    graph.remove([4])
    assert read_rv1_vertices(graph, r(("0", {"core": "0-1"}), hosts=["node0"])).exclusive.all()
    with pytest.raises(GraphError, match="gpu 0 of rank 0; the graph has 0"):
        read_rv1_vertices(graph, r(("0", {"gpu": "0"}), hosts=["node0"]))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r(("0", {"core": "0-2"}), hosts=["node0"]), "core 2 of rank 0; the graph has 0"),
        (r(("0", {"fpga": "0"}), hosts=["node0"]), "fpga 0 of rank 0; the graph has 0"),
        (r(("5", {"core": "0"}), hosts=["node5"]), "core 0 of rank 5"),
        (r(("5", {}), hosts=["node5"]), "rank 5 is host 'node5'; the graph has no node"),
        (r(("0", {"core": "0"}), hosts=["node1"]), "host 'node1'; the graph has node0"),
        (r(("0", {"core": "0"}), ("0", {"core": "0"}), hosts=["node0"]), "rank 0 twice"),
    ],
)
def test_an_r_of_another_machine_is_refused_with_the_difference(text: str, why: str) -> None:
    with pytest.raises(GraphError, match=why):
        read_rv1_vertices(load_rv1(SMALL), text)


def test_ranks_are_read_without_looking_at_the_rest() -> None:
    text = '{"version": 1, "execution": {"R_lite": [{"rank": "4,1"}, {"rank": "1-2"}]}}'
    assert read_rv1_ranks(text) == [1, 2, 4]
    with pytest.raises(GraphError, match=r"R_lite\[0\]\.rank: .*'-1'"):
        read_rv1_ranks('{"version": 1, "execution": {"R_lite": [{"rank": "-1"}]}}')
