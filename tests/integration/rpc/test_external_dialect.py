"""Clients of the external service, which never had an answer about groups before."""

from __future__ import annotations

import json
from collections.abc import Callable

import grpc
import pytest

from tests.integration.rpc.conftest import Speak
from tests.integration.rpc.dialects import OldClient
from tests.integration.rpc.graphs import a_cluster, of_kubernetes
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.ours import Ours, reason
from tests.integration.rpc.process import Serve


@pytest.fixture
def ours(podspec_server: Serve, look: Callable[[Serve], Ours]) -> Ours:
    ours = look(podspec_server)
    ours.load(of_kubernetes({"a": ["n1", "n2"]}))
    return ours


@pytest.fixture
def external(podspec_server: Serve, ours: Ours, speak: Speak) -> OldClient:
    return speak("external", podspec_server)


@pytest.fixture
def pods(podspec_server: Serve, speak: Speak) -> OldClient:
    return speak("podspec", podspec_server)


def test_the_graph_is_reported_as_it_is_now(external: OldClient, ours: Ours) -> None:
    ours.load(a_cluster(3, 2))
    graph = json.loads(external("GetResources").graph)["graph"]
    assert len(graph["nodes"]) == 1 + 3 + 6
    assert len(graph["edges"]) == 3 + 6
    paths = {node["metadata"]["paths"]["containment"] for node in graph["nodes"]}
    assert "/cluster0/node2/core1" in paths


def test_the_graph_that_is_reported_can_be_loaded_again(external: OldClient, ours: Ours) -> None:
    ours.load(external("GetResources").graph)
    assert ours.free() == {"n1": 4, "n2": 4}


def test_groups_are_listed_and_found_by_name(external: OldClient, pods: OldClient) -> None:
    assert (external("ListGroups").name, external("ListGroups").size) == ("", 0)
    first = pods("Match", podspec={"cpu": 1, "id": "pod-0"}, count=3, jobName="lammps")
    pods("Match", podspec={"cpu": 1, "id": "amg-0"}, count=2)
    listed = external("ListGroups")
    assert (listed.name, listed.size) == ("lammps,amg-0", 2)
    assert external("GetGroup", group="lammps").size == 3
    assert external("GetGroup", group="amg-0").size == 2
    assert external("ListGroups", group="am").name == "amg-0"
    pods("Cancel", fluxID=first.fluxID)
    assert external("ListGroups").name == "amg-0"


def test_a_group_that_is_not_there_is_not_found(external: OldClient) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        external("GetGroup", group="missing")
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert reason(refused.value) == "UNKNOWN_JOB"


def test_a_group_without_a_name_has_its_number(external: OldClient, ours: Ours) -> None:
    ours.match(slots(2, 1))
    assert external("ListGroups").name == "job-1"
    assert external("GetGroup", group="job-1").name == "job-1"
