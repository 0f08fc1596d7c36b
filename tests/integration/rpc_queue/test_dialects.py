"""Old clients of a queue: what they ask for they have now or not at all, as they always had."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest

from fluxnetes.client import Client, State
from tests.integration.rpc.allocations import cores_by_node
from tests.integration.rpc.conftest import Speak
from tests.integration.rpc.dialects import OUTCOME, REASON
from tests.integration.rpc.graphs import a_cluster, another_node
from tests.integration.rpc.jobspecs import nodes, slots
from tests.integration.rpc.ours import reason
from tests.integration.rpc.process import Serve
from tests.integration.rpc_queue.conftest import write_setup
from tests.integration.rpc_queue.jobs import ALL, CORES, NODES, cores, free, until_state

WITHIN = 1
ERROR, DENIED = 1, 2
"""Of a match, and of Init."""


@pytest.fixture(scope="module")
def podspec_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A server for pods whose leases expire."""
    folder = tmp_path_factory.mktemp("serve")
    options = ("--dialect", "podspec", "--renew-within", str(WITHIN))
    with Serve(folder, *write_setup(folder), *options) as server:
        yield server


def test_jobspecs_are_matched_until_nothing_is_left(
    server: Serve, client: Client, speak: Speak
) -> None:
    old = speak("jobspec", server)
    given = [old("Match", jobspec=nodes(1, CORES)) for _ in range(NODES)]
    assert {node for each in given for node in cores_by_node(each.allocation)} == {
        f"node{number}" for number in range(NODES)
    }
    assert all(each.status == 0 and not each.reserved and each.overhead > 0 for each in given)
    busy = old("Match", jobspec=nodes(1, CORES))
    assert (busy.status, busy.allocation) == (ERROR, "")
    assert old.metadata[OUTCOME] == "busy" and "needs" in old.metadata[REASON]
    never = old("Match", jobspec=nodes(1, CORES + 1))
    assert never.status == ERROR and old.metadata[OUTCOME] == "unsatisfiable"
    for _ in range(2):
        assert old("Cancel", jobID=given[0].jobid).status == 0
    assert free(client) == CORES
    assert old("Match", jobspec=slots(2, 2)).status == 0


def test_what_cannot_be_reserved_is_an_error_that_old_clients_retry(
    server: Serve, client: Client, speak: Speak
) -> None:
    """Fluxqueue reads an answer with neither allocation nor reservation as "never"."""
    running = client.submit(cores(ALL), walltime=100)
    old = speak("jobspec", server)
    with pytest.raises(grpc.RpcError) as busy:
        old("Match", jobspec=nodes(1, 1), reservation=True)
    assert busy.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert reason(busy.value) == "BUSY"
    assert "Submit the job to its queue" in (busy.value.details() or "")
    never = old("Match", jobspec=nodes(1, CORES + 1), reservation=True)
    assert (never.status, never.reserved, never.at) == (ERROR, False, 0)
    assert old.metadata[OUTCOME] == "unsatisfiable"
    client.cancel(running.id)
    assert old("Match", jobspec=nodes(1, 1), reservation=True).status == 0


def test_init_is_denied_as_its_clients_expect_and_grow_and_shrink_are_errors(
    server: Serve, client: Client, speak: Speak
) -> None:
    old = speak("jobspec", server)
    assert old("Init", jgf=a_cluster(1, 1), policy="first").status == DENIED
    assert old.metadata[OUTCOME] == "denied"
    for method in ("Grow", "Shrink"):
        fields = {"jgf": another_node(9, 4)} if method == "Grow" else {"nodepaths": "/cluster0"}
        with pytest.raises(grpc.RpcError) as refused:
            old(method, **fields)
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
        assert reason(refused.value) == "DENIED"
    assert client.status().nodes == NODES


def test_fluences_groups_get_all_of_their_nodes_or_an_error(
    server: Serve, client: Client, speak: Speak
) -> None:
    old = speak("fluxcli", server)
    answer = old("Match", ps={"id": "train", "cpu": 4}, count=6)
    assert sum(each.tasks for each in answer.nodelist) == 6
    assert len(answer.nodelist) == 3 and answer.podID == "train"
    job = client.job(answer.jobID)
    assert (job.state, job.name, job.walltime) == (State.RUNNING, "train", 3600)
    with pytest.raises(grpc.RpcError) as refused:
        old("Match", ps={"id": "more", "cpu": 4}, count=3)
    assert reason(refused.value) == "BUSY"
    old("Cancel", jobID=answer.jobID)
    old("Cancel", jobID=answer.jobID)
    assert free(client) == ALL


def test_groups_are_jobs_of_the_queue(server: Serve, client: Client, speak: Speak) -> None:
    client.submit(cores(3), name="train", walltime=60)
    client.submit(cores(ALL), name="wait", walltime=60)
    old = speak("external", server)
    listed = old("ListGroups")
    assert (listed.name, listed.size) == ("train,wait", 2)
    assert old("GetGroup", group="train").size == 3
    assert "node3" in old("GetResources").graph


def test_pods_are_given_nodes_or_the_answer_says_that_there_are_none(
    podspec_server: Serve, speak: Speak
) -> None:
    old = speak("podspec", podspec_server)
    answer = old("Match", podspec={"id": "a", "cpu": 2}, count=ALL // 2, jobName="train")
    assert answer.allocated and not answer.reserved
    assert [each.tasks for each in answer.nodelist] == [CORES // 2] * NODES
    later = old("Match", podspec={"id": "a", "cpu": 2}, count=1)
    assert not later.allocated and not later.reserved
    assert old.metadata[OUTCOME] == "busy"
    with pytest.raises(grpc.RpcError) as busy:
        old("Match", podspec={"id": "a", "cpu": 2}, count=1, reserve=True)
    assert reason(busy.value) == "BUSY"
    old("Cancel", fluxID=answer.fluxID)
    with pytest.raises(grpc.RpcError) as refused:
        old("Cancel", fluxID=answer.fluxID)
    assert reason(refused.value) == "UNKNOWN_JOB"
    old("Cancel", fluxID=answer.fluxID, NoExistOK=True)


def test_what_an_old_client_does_not_renew_is_taken_back(
    podspec_server: Serve, speak: Speak
) -> None:
    old = speak("podspec", podspec_server)
    answer = old("Match", podspec={"id": "a", "cpu": 1}, count=1)
    with Client(podspec_server.address) as ours:
        expires = ours.renew(answer.fluxID)
        assert expires is not None
        over = until_state(ours, answer.fluxID, State.CANCELLED)
        assert over.reason == f"neither renewed nor used for {WITHIN} s"
        assert over.ended is not None and over.ended >= expires
        assert free(ours) == ALL
