"""Clients of the Fluxion service: a graph, then jobspecs to match on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import grpc
import pytest

from tests.integration.rpc.allocations import cores, cores_by_node, edges_of, vertices
from tests.integration.rpc.conftest import Speak
from tests.integration.rpc.dialects import OUTCOME, REASON, OldClient
from tests.integration.rpc.graphs import a_cluster, another_node, of_kubernetes
from tests.integration.rpc.jobspecs import nodes, slots, whole_nodes
from tests.integration.rpc.ours import Ours, field, reason
from tests.integration.rpc.process import Serve

INIT_SUCCESS = MATCH_SUCCESS = CANCEL_SUCCESS = GROW_SUCCESS = SHRINK_SUCCESS = 0
MATCH_ERROR = 1


@pytest.fixture
def client(jobspec_server: Serve, speak: Speak) -> OldClient:
    """On two nodes of four cores."""
    client = speak("jobspec", jobspec_server)
    assert client("Init", jgf=a_cluster(2, 4), policy="lonode").status == INIT_SUCCESS
    return client


@pytest.fixture
def ours(jobspec_server: Serve, look: Callable[[Serve], Ours]) -> Ours:
    return look(jobspec_server)


def fill(client: OldClient) -> list[int]:
    """Match until nothing is left."""
    found = []
    while (answer := client("Match", jobspec=slots(1, 1))).status == MATCH_SUCCESS:
        found.append(answer.jobid)
    return found


def test_jobs_are_matched_until_the_graph_is_full(client: OldClient) -> None:
    held: list[str] = []
    for job in range(1, 9):
        answer = client("Match", jobspec=slots(1, 1), request="allocate")
        assert (answer.status, answer.jobid) == (MATCH_SUCCESS, job)
        held += cores(answer.allocation)
    assert len(set(held)) == len(held) == 8
    full = client("Match", jobspec=slots(1, 1))
    assert (full.status, full.allocation, full.reserved, full.at) == (MATCH_ERROR, "", False, 0)


def test_busy_and_impossible_are_the_same_status_but_distinguished_beside_it(
    client: OldClient,
) -> None:
    fill(client)
    assert client("Match", jobspec=slots(1, 1)).status == MATCH_ERROR
    assert client.metadata[OUTCOME] == "busy"
    assert client.metadata[REASON]
    assert client("Match", jobspec=nodes(3, 1)).status == MATCH_ERROR
    assert client.metadata[OUTCOME] == "unsatisfiable"
    assert client.metadata[REASON]


def test_what_is_impossible_is_not_called_busy_on_an_empty_graph_either(client: OldClient) -> None:
    assert client("Match", jobspec=slots(1, 5)).status == MATCH_ERROR
    assert client.metadata[OUTCOME] == "unsatisfiable"


@pytest.mark.parametrize(
    ("jobspec", "path"),
    [
        ("", ""),
        ("{", ""),
        ("version: 1", "resources"),
        (slots(-1, 1), "resources[0].count"),
        (slots(1, 1).replace('"slot"', '"slot", "exclusive": 7', 1), "resources[0].exclusive"),
    ],
)
def test_a_jobspec_that_makes_no_sense_is_an_error_that_says_where(
    client: OldClient, jobspec: str, path: str
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        client("Match", jobspec=jobspec)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert reason(refused.value) == "INVALID"
    if path:
        assert field(refused.value) == path
        assert path in (refused.value.details() or "")


def test_numbers_count_up_from_1_and_failed_matches_use_them_up(client: OldClient) -> None:
    asked = [slots(1, 4), nodes(3, 1), slots(1, 4), slots(1, 1), slots(1, 1)]
    found = [client("Match", jobspec=each) for each in asked]
    assert [each.jobid for each in found] == [1, 2, 3, 4, 5]
    assert [each.status for each in found] == [0, 1, 0, 1, 1]


def test_the_overhead_is_measured(client: OldClient) -> None:
    for each, status in ((4, MATCH_SUCCESS), (4, MATCH_SUCCESS), (1, MATCH_ERROR)):
        answer = client("Match", jobspec=slots(1, each))
        assert answer.status == status
        assert 0 < answer.overhead < 10


def test_an_allocation_has_every_key_that_the_old_parsers_look_for(client: OldClient) -> None:
    answer = client("Match", jobspec=slots(3, 2))
    found = vertices(answer.allocation)
    assert Counter(each["type"] for each in found) == {"core": 6, "node": 2, "cluster": 1}
    assert {each["type"]: each["exclusive"] for each in found} == {
        "core": True,
        "node": False,
        "cluster": False,
    }
    assert {each["size"] for each in found} == {1}
    assert found[-1]["name"] == "cluster0"
    assert sum(cores_by_node(answer.allocation).values()) == 6
    edges = edges_of(answer.allocation)
    assert len(edges) == len(found) - 1
    assert all(edge["metadata"] == {"subsystem": "containment"} for edge in edges)


def test_sizes_and_what_is_held_alone_are_reported(client: OldClient) -> None:
    client("Init", jgf=a_cluster(1, 2, memory=64))
    found = vertices(client("Match", jobspec=slots(1, 1, memory=16)).allocation)
    assert [each["size"] for each in found if each["type"] == "memory"] == [64]  # in one piece
    client("Init", jgf=a_cluster(2, 2))
    found = vertices(client("Match", jobspec=whole_nodes(1)).allocation)
    assert [each["exclusive"] for each in found if each["type"] == "node"] == [True]


def test_what_is_cancelled_can_be_had_again(client: OldClient) -> None:
    jobs = fill(client)
    answer = client("Cancel", jobID=jobs[3])
    assert (answer.jobID, answer.status, answer.error) == (jobs[3], CANCEL_SUCCESS, 0)
    assert len(fill(client)) == 1


def test_to_cancel_twice_or_what_never_was_is_well_and_frees_nothing_more(
    client: OldClient, ours: Ours
) -> None:
    jobs = fill(client)
    for job in (jobs[0], jobs[0], 10_000, 0, -1, 2**63 - 1):
        assert client("Cancel", jobID=job).status == CANCEL_SUCCESS
    assert sum(ours.free().values()) == 1
    assert len(fill(client)) == 1


def test_a_reservation_is_for_when_the_others_end(client: OldClient, ours: Ours) -> None:
    client("Match", jobspec=slots(1, 4, duration=100))
    client("Match", jobspec=slots(1, 4, duration=300))
    answer = client("Match", jobspec=nodes(1, 4, duration=50), reservation=True)
    assert (answer.status, answer.reserved, answer.at) == (MATCH_SUCCESS, True, 100)
    assert len(cores(answer.allocation)) == 4
    both = client("Match", jobspec=nodes(2, 4, duration=50), reservation=True)
    assert (both.reserved, both.at) == (True, 300)
    assert sum(ours.free().values()) == 0
    assert client("Cancel", jobID=answer.jobid).status == CANCEL_SUCCESS


def test_with_reservation_what_fits_now_is_allocated_now(client: OldClient) -> None:
    answer = client("Match", jobspec=slots(1, 1), reservation=True)
    assert (answer.reserved, answer.at, answer.status) == (False, 0, MATCH_SUCCESS)


def test_what_can_never_be_is_not_reserved(client: OldClient) -> None:
    answer = client("Match", jobspec=slots(1, 5), reservation=True)
    assert (answer.status, answer.reserved) == (MATCH_ERROR, False)
    assert client.metadata[OUTCOME] == "unsatisfiable"


def test_what_has_to_wait_and_cannot_be_reserved_is_an_error_that_fluxqueue_retries(
    client: OldClient,
) -> None:
    """Its jobspecs have no duration, so no time is known at which anything is free again. An
    answer with neither allocation nor reservation would have it give the job up for ever."""
    held = [client("Match", jobspec=nodes(1, 4)).jobid for _ in range(2)]
    for _ in range(2):
        with pytest.raises(grpc.RpcError) as busy:
            client("Match", jobspec=nodes(1, 4), reservation=True)
        assert busy.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert reason(busy.value) == "BUSY"
    client("Cancel", jobID=held[0])
    assert client("Match", jobspec=nodes(1, 4), reservation=True).status == MATCH_SUCCESS


def test_a_graph_that_grows_takes_more(client: OldClient) -> None:
    jobs = fill(client)
    assert client("Grow", jgf=another_node(2, 3)).status == GROW_SUCCESS
    more = client("Match", jobspec=slots(1, 3))
    assert cores_by_node(more.allocation) == {"node2": 3}
    assert more.jobid > jobs[-1]


def test_a_graph_that_shrinks_takes_less_and_jobs_lose_what_they_had_there(
    client: OldClient, ours: Ours
) -> None:
    spread = client("Match", jobspec=nodes(2, 2)).jobid
    assert client("Shrink", nodepaths=["/cluster0/node1"]).status == SHRINK_SUCCESS
    assert ours.free() == {"node0": 2}
    assert ours.holders() == {spread: {"node0": 2}}
    assert client("Match", jobspec=slots(2, 2)).status == MATCH_ERROR
    assert client.metadata[OUTCOME] == "busy"
    assert client("Match", jobspec=slots(1, 5)).status == MATCH_ERROR
    assert client.metadata[OUTCOME] == "unsatisfiable"
    client("Cancel", jobID=spread)
    assert ours.free() == {"node0": 4}


def test_to_shrink_by_a_path_that_leads_nowhere_changes_nothing(
    client: OldClient, ours: Ours
) -> None:
    for paths in (["/cluster0/node0", "/cluster0/node9"], ["/cluster0"], [""]):
        with pytest.raises(grpc.RpcError) as refused:
            client("Shrink", nodepaths=paths)
        assert (reason(refused.value), field(refused.value)) == ("INVALID", "paths")
    assert ours.free() == {"node0": 4, "node1": 4}


def test_to_init_again_forgets_the_jobs_and_counts_anew(client: OldClient, ours: Ours) -> None:
    fill(client)
    assert client("Init", jgf=a_cluster(1, 3), policy="first").status == INIT_SUCCESS
    assert ours.free() == {"node0": 3}
    assert client("Match", jobspec=slots(1, 1)).jobid == 1


@pytest.mark.parametrize(
    ("policy", "jgf"),
    [("lonode", ""), ("lonode", "{}"), ("lonode", "[" * 1000), ("best", a_cluster(1, 1))],
)
def test_an_init_that_makes_no_sense_leaves_all_as_it_was(
    client: OldClient, ours: Ours, policy: str, jgf: str
) -> None:
    held = fill(client)
    with pytest.raises(grpc.RpcError) as refused:
        client("Init", jgf=jgf, policy=policy)
    assert reason(refused.value) == "INVALID"
    assert set(ours.holders()) == set(held)


def test_the_policy_is_the_one_of_the_last_init(client: OldClient) -> None:
    """And the server's own where that says none, whatever one before it said."""
    for policy, node in (("hinode", "node1"), ("", "node0"), ("first", "node1")):
        client("Init", jgf=a_cluster(2, 4), policy=policy)
        answer = client("Match", jobspec=slots(1, 1))
        assert set(cores_by_node(answer.allocation)) == {node}, policy


def test_fields_that_we_do_not_know_are_no_reason_to_refuse(client: OldClient) -> None:
    """An old Python client still sends a count, which is gone; a newer one may send anything."""
    known = client.message("Match", jobspec=slots(1, 1)).SerializeToString()
    for unknown in (b"\x78\x01", b"\x92\x3e\x03abc", b"\x20\x01"):
        assert client.send("Match", known + unknown).status == MATCH_SUCCESS
    known = client.message("Cancel", jobID=1).SerializeToString()
    assert client.send("Cancel", known + b"\x78\x01").jobID == 1


@pytest.mark.parametrize("old", [False, True])
def test_the_graph_that_the_old_tools_make_of_a_cluster_is_taken(
    client: OldClient, ours: Ours, old: bool
) -> None:
    zones = {"us-east-1a": ["kind-worker", "kind-worker2"], "": ["worker-3"]}
    client("Init", jgf=of_kubernetes(zones, cores=2, old=old), policy="lonode")
    assert ours.free() == {"kind-worker": 2, "kind-worker2": 2, "worker-3": 2}
    answer = client("Match", jobspec=nodes(3, 2))
    found = [v for v in vertices(answer.allocation) if v["type"] == "node"]
    assert {(v["basename"], v["name"]) for v in found} == {
        ("kind-worker", "kind-worker0"),
        ("kind-worker2", "kind-worker21"),
        ("worker-3", "worker-32"),
    }


def test_a_cluster_that_calls_itself_by_another_number_than_its_path_does_is_taken(
    client: OldClient, ours: Ours
) -> None:
    """Fluxqueue counts clusters from 1 and paths from 0."""
    jgf = of_kubernetes({"a": ["n1"]}).replace("k8scluster", "cluster")
    jgf = jgf.replace('"name": "cluster0"', '"name": "cluster1"')
    client("Init", jgf=jgf)
    assert ours.free() == {"n1": 4}
    assert len(cores(client("Match", jobspec=slots(1, 4)).allocation)) == 4


def test_before_a_graph_is_there_nothing_can_be_matched(
    tmp_path_factory: pytest.TempPathFactory, speak: Speak
) -> None:
    with Serve(tmp_path_factory.mktemp("bare")) as server:
        client = speak("jobspec", server)
        for method, fields in (
            ("Match", {"jobspec": slots(1, 1)}),
            ("Cancel", {"jobID": 1}),
            ("Grow", {"jgf": another_node(0, 1)}),
            ("Shrink", {"nodepaths": ["/cluster0"]}),
        ):
            with pytest.raises(grpc.RpcError) as refused:
                client(method, **fields)
            assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
            assert reason(refused.value) == "NO_GRAPH"
            assert "Init" in (refused.value.details() or "")
        assert client("Init", jgf=a_cluster(1, 1)).status == INIT_SUCCESS
        assert client("Match", jobspec=slots(1, 1)).jobid == 1
