"""Clients of Fluence and of the first Fluxnetes: groups of equal pods, on Kubernetes' nodes.

Both say the same things with other words, so most promises are kept for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from tests.integration.rpc.conftest import Speak
from tests.integration.rpc.dialects import OUTCOME, REASON, OldClient
from tests.integration.rpc.graphs import a_cluster, of_kubernetes
from tests.integration.rpc.ours import Ours, field, reason
from tests.integration.rpc.process import Serve

GIB = 1 << 30
ZONES = {"us-east-1a": ["kind-worker", "kind-worker2"], "us-east-1b": ["kind-worker3"]}


@dataclass(frozen=True)
class Groups:
    """A client that asks for groups, in either dialect."""

    old: OldClient
    dialect: str

    def ask(self, count: int, cpu: int, **more: Any) -> dict[str, Any]:
        labels = more.pop("labels", ())
        podspec = {"id": more.pop("id", "my-group"), "container": "app", "cpu": cpu}
        podspec |= {name: more.pop(name) for name in ("memory", "gpu", "storage") if name in more}
        pod = "ps" if self.dialect == "fluxcli" else "podspec"
        return {pod: podspec | {"labels": labels}, "count": count, **more}

    def match(self, count: int, cpu: int, **more: Any) -> tuple[int, dict[str, int]]:
        """Ask for what is there: the job's number, and how many pods go to each node."""
        answer = self.old("Match", **self.ask(count, cpu, **more))
        nodes = {each.nodeID: each.tasks for each in answer.nodelist}
        assert len(nodes) == len(answer.nodelist)
        return (answer.jobID if self.dialect == "fluxcli" else answer.fluxID), nodes

    def refused(self, count: int, cpu: int, **more: Any) -> str:
        """Ask for what is not there: which way to say no it was, by what each dialect has."""
        if self.dialect == "fluxcli":
            with pytest.raises(grpc.RpcError) as error:
                self.old("Match", **self.ask(count, cpu, **more))
            assert "Allocation was not possible: " in (error.value.details() or "")
            return reason(error.value).lower()
        answer = self.old("Match", **self.ask(count, cpu, **more))
        assert not answer.allocated and not answer.reserved
        assert not answer.nodelist and not answer.reserved_at
        assert self.old.metadata[REASON]
        return self.old.metadata[OUTCOME]

    def cancel(self, job: int) -> Any:
        if self.dialect == "fluxcli":
            return self.old("Cancel", jobID=job).jobID
        return self.old("Cancel", fluxID=job).fluxID


@pytest.fixture(params=["fluxcli", "podspec"])
def server(request: pytest.FixtureRequest) -> Serve:
    name = "jobspec_server" if request.param == "fluxcli" else "podspec_server"
    server: Serve = request.getfixturevalue(name)
    return server


@pytest.fixture
def ours(server: Serve, look: Callable[[Serve], Ours]) -> Ours:
    """Beside the dialects, on three nodes of four cores and two times 1 GiB."""
    ours = look(server)
    ours.load(of_kubernetes(ZONES), "lonode")
    return ours


@pytest.fixture
def groups(server: Serve, ours: Ours, speak: Speak, request: pytest.FixtureRequest) -> Groups:
    dialect: str = request.node.callspec.params["server"]
    return Groups(speak(dialect, server), dialect)


def test_groups_are_given_nodes_by_their_kubernetes_names_until_the_cluster_is_full(
    groups: Groups,
) -> None:
    assert groups.match(2, 2) == (1, {"kind-worker": 2})
    assert groups.match(3, 2) == (2, {"kind-worker2": 2, "kind-worker3": 1})
    assert groups.match(2, 1) == (3, {"kind-worker3": 2})
    assert groups.refused(1, 1) == "busy"


def test_a_group_is_given_nodes_for_all_of_its_pods_or_for_none(groups: Groups, ours: Ours) -> None:
    groups.match(2, 4)
    assert groups.refused(2, 4) == "busy"
    assert ours.free() == {"kind-worker": 0, "kind-worker2": 0, "kind-worker3": 4}


def test_what_can_never_be_is_distinguished_from_what_is_busy(groups: Groups) -> None:
    assert groups.refused(1, 5) == "unsatisfiable"
    assert groups.refused(4, 4) == "unsatisfiable"
    groups.match(3, 4)
    assert groups.refused(1, 5) == "unsatisfiable"
    assert groups.refused(1, 1, gpu=1) == "unsatisfiable"
    assert groups.refused(1, 4) == "busy"


def test_numbers_count_up_from_1_and_failed_matches_use_them_up(groups: Groups) -> None:
    assert groups.match(1, 1)[0] == 1
    groups.refused(1, 5)
    groups.refused(1, 6)
    assert groups.match(1, 1)[0] == 4


@pytest.mark.parametrize(
    ("count", "pod", "path"),
    [
        (0, {"cpu": 1}, "count"),
        (-1, {"cpu": 1}, "count"),
        (2**31 - 1, {"cpu": 1}, "count"),
        (1, {"cpu": 0}, "cpu"),
        (1, {"cpu": -4}, "cpu"),
        (1, {"cpu": 1, "memory": -1}, "memory"),
        (1, {"cpu": 1, "gpu": -1}, "gpu"),
    ],
)
def test_what_makes_no_sense_is_an_error_in_both(
    groups: Groups, count: int, pod: dict[str, int], path: str
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        groups.match(count, **pod)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (reason(refused.value), field(refused.value)) == ("INVALID", path)
    assert groups.match(1, 1)[0] == 1


def test_memory_is_asked_for_in_bytes_and_counted(groups: Groups) -> None:
    """Memory in pieces of 1 GiB that cannot be shared, as the old tools say it is."""
    assert groups.match(1, 1, memory=2 * GIB)[1] == {"kind-worker": 1}
    assert groups.match(1, 1, memory=1)[1] == {"kind-worker": 1}  # less than a MiB is not asked for
    assert groups.match(1, 1, memory=GIB)[1] == {"kind-worker2": 1}
    assert groups.refused(1, 1, memory=3 * GIB) == "unsatisfiable"


def test_gpus_are_counted(groups: Groups, ours: Ours) -> None:
    ours.load(of_kubernetes({"a": ["n1", "n2"]}, gpus=1), "lonode")
    assert groups.match(1, 1, gpu=1)[1] == {"n1": 1}
    assert groups.match(1, 1, gpu=1)[1] == {"n2": 1}
    assert groups.refused(1, 1, gpu=1) == "busy"
    assert groups.match(1, 1)[1] == {"n1": 1}


def test_storage_was_never_looked_at_and_is_not_now(groups: Groups) -> None:
    assert groups.match(1, 1, storage=2**62)[1] == {"kind-worker": 1}


def test_the_label_zone_puts_all_pods_on_one_node(groups: Groups) -> None:
    groups.match(1, 1)
    assert groups.match(4, 1)[1] == {"kind-worker": 3, "kind-worker2": 1}
    assert groups.match(4, 1, labels=["app", "zone"])[1] == {"kind-worker3": 4}
    assert groups.refused(4, 1, labels=["zone"]) == "busy"
    assert groups.refused(5, 1, labels=["zone"]) == "unsatisfiable"


def test_what_is_cancelled_can_be_had_again(groups: Groups, ours: Ours) -> None:
    job, _ = groups.match(3, 4)
    assert groups.refused(1, 1) == "busy"
    assert groups.cancel(job) == job
    assert sum(ours.free().values()) == 12
    assert sum(groups.match(3, 4)[1].values()) == 3


def test_nodes_without_kubernetes_names_have_their_own(groups: Groups, ours: Ours) -> None:
    ours.load(a_cluster(2, 2), "lonode")
    assert groups.match(4, 1)[1] == {"node0": 2, "node1": 2}


def test_fields_that_we_do_not_know_are_no_reason_to_refuse(groups: Groups) -> None:
    known = groups.old.message("Match", **groups.ask(1, 1)).SerializeToString()
    answer = groups.old.send("Match", known + b"\x78\x01\x92\x3e\x03abc")
    assert [each.nodeID for each in answer.nodelist] == ["kind-worker"]


# -- each in its own way ---------------------------------------------------------------------------


@pytest.fixture
def fluence(jobspec_server: Serve, speak: Speak, look: Callable[[Serve], Ours]) -> OldClient:
    look(jobspec_server).load(of_kubernetes(ZONES), "lonode")
    return speak("fluxcli", jobspec_server)


@pytest.fixture
def fluxnetes(podspec_server: Serve, speak: Speak, look: Callable[[Serve], Ours]) -> OldClient:
    look(podspec_server).load(of_kubernetes(ZONES), "lonode")
    return speak("podspec", podspec_server)


def test_fluence_gets_an_error_whose_code_says_why_nothing_fits(fluence: OldClient) -> None:
    """Its scheduler permits a group that is given too few nodes, so it must be given an error."""
    for cpu, code in (
        (5, grpc.StatusCode.FAILED_PRECONDITION),
        (4, None),
        (4, grpc.StatusCode.RESOURCE_EXHAUSTED),
    ):
        asked = {"ps": {"id": "g", "cpu": cpu}, "count": 2, "request": "allocate"}
        if code is None:
            assert fluence("Match", **asked).podID == "g"
            continue
        with pytest.raises(grpc.RpcError) as refused:
            fluence("Match", **asked)
        assert refused.value.code() is code


def test_fluence_may_cancel_twice(fluence: OldClient) -> None:
    job = fluence("Match", ps={"cpu": 1}, count=1).jobID
    for each in (job, job, 999, 0, -1):
        answer = fluence("Cancel", jobID=each)
        assert (answer.jobID, answer.error) == (each, 0)


def test_fluxnetes_may_cancel_twice_only_if_it_says_so(fluxnetes: OldClient) -> None:
    job = fluxnetes("Match", podspec={"cpu": 1}, count=1).fluxID
    assert fluxnetes("Cancel", fluxID=job).error == 0
    for each in (job, 0, 2**64 - 1):
        with pytest.raises(grpc.RpcError) as refused:
            fluxnetes("Cancel", fluxID=each)
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
        assert reason(refused.value) == "UNKNOWN_JOB"
        assert fluxnetes("Cancel", fluxID=each, NoExistOK=True).fluxID == each


def test_fluxnetes_reserves_and_the_answer_does_not_say_allocated(fluxnetes: OldClient) -> None:
    first = fluxnetes("Match", podspec={"cpu": 4}, count=2, reserve=True, jobName="a")
    assert (first.allocated, first.reserved, first.reserved_at) == (True, False, 0)
    later = fluxnetes("Match", podspec={"cpu": 4}, count=2, reserve=True, jobName="b")
    assert (later.allocated, later.reserved, later.reserved_at) == (False, True, 3600)
    assert sum(each.tasks for each in later.nodelist) == 2
    assert not fluxnetes("Match", podspec={"cpu": 4}, count=2).allocated
    never = fluxnetes("Match", podspec={"cpu": 5}, count=1, reserve=True)
    assert (never.allocated, never.reserved) == (False, False)
    assert fluxnetes.metadata[OUTCOME] == "unsatisfiable"
