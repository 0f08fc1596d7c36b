"""A thousand random requests: over the wire and through the Python API the answers are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import grpc
import pytest

from fluxnetes.v1 import jobs_pb2 as v1
from tests.integration.rpc.conftest import Speak
from tests.integration.rpc.dialects import OUTCOME, REASON, OldClient
from tests.integration.rpc.graphs import a_cluster, another_node
from tests.integration.rpc.ours import Ours, reason
from tests.integration.rpc.process import Serve
from tests.integration.rpc.streams import CORES, MEMORY, NODES, Ask, Direct, Reply, Requests

GRAPH = a_cluster(NODES, CORES, MEMORY)
REQUESTS = 1000


class Wired:
    """The same questions, asked of a server in three ways."""

    def __init__(self, jobspecs: OldClient, pods: OldClient, ours: Ours) -> None:
        self._jobspecs = jobspecs
        self._pods_of = pods
        self.ours = ours

    def __call__(self, ask: Ask) -> Reply:
        found: Reply = getattr(self, f"_{ask.what}")(ask)
        return found

    def _match(self, ask: Ask) -> Reply:
        try:
            found = self._jobspecs("Match", jobspec=ask.jobspec, reservation=ask.reserve)
        except grpc.RpcError as error:
            return _refusal(error)
        if found.status:
            metadata = self._jobspecs.metadata
            return Reply(metadata[OUTCOME], found.jobid, reason=metadata[REASON])
        outcome = "reserved" if found.reserved else "allocated"
        return Reply(outcome, found.jobid, found.at, found.allocation)

    def _clocked(self, ask: Ask) -> Reply:
        asked = v1.MatchRequest(
            ask=v1.Ask(jobspec=ask.jobspec), reserve=ask.reserve, now=ask.now, format="jgf"
        )
        try:
            found = self.ours(asked)
        except grpc.RpcError as error:
            return _refusal(error)
        outcome = "reserved" if found.job.state == v1.JOB_STATE_RESERVED else "allocated"
        return Reply(outcome, found.job.id, found.at, found.allocation.text)

    def _pods(self, ask: Ask) -> Reply:
        try:
            found = self._pods_of("Match", ps={"cpu": ask.cpu}, count=ask.count)
        except grpc.RpcError as error:
            return _refusal(error)
        tasks = {each.nodeID: each.tasks for each in found.nodelist}
        return Reply("allocated", found.jobID, tasks=tasks)

    def _cancel(self, ask: Ask) -> Reply:
        try:
            self.ours(v1.CancelRequest(job=ask.job))
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.NOT_FOUND
            return Reply("unknown")
        return Reply("done")

    def _grow(self, ask: Ask) -> Reply:
        assert self._jobspecs("Grow", jgf=another_node(ask.node, ask.cores)).status == 0
        return Reply("done")

    def _shrink(self, ask: Ask) -> Reply:
        try:
            self._jobspecs("Shrink", nodepaths=[f"/cluster0/node{ask.node}"])
        except grpc.RpcError as error:
            return Reply(reason(error).lower())
        return Reply("done")


def _refusal(error: grpc.RpcError) -> Reply:
    """What an error says. It does not have the number that the match used up."""
    text = error.details() or ""
    return Reply(
        reason(error).lower(), -1, reason=text.removeprefix("Allocation was not possible: ")
    )


def same(wired: Reply, direct: Reply) -> bool:
    if wired.job == -1:
        wired.job = direct.job
    # The reasons may hold characters that metadata cannot.
    wired.reason = wired.reason.encode().decode("unicode_escape")
    return wired == direct


@pytest.fixture
def wired(jobspec_server: Serve, speak: Speak, look: Callable[[Serve], Ours]) -> Wired:
    return Wired(
        speak("jobspec", jobspec_server), speak("fluxcli", jobspec_server), look(jobspec_server)
    )


def test_a_thousand_requests_are_answered_the_same_with_and_without_a_wire(wired: Wired) -> None:
    wired.ours.load(GRAPH, "lonode")
    direct = Direct(GRAPH, "lonode")
    stream = Requests(seed=1)
    seen: Counter[tuple[str, str]] = Counter()
    for number in range(REQUESTS):
        ask = stream.next(direct.live())
        over_the_wire, simply = wired(ask), direct(ask)
        assert same(over_the_wire, simply), (number, ask, over_the_wire, simply)
        seen[ask.what, simply.outcome] += 1
    assert wired.ours.holders() == direct.holders()
    # The stream must have gone everywhere, or it shows nothing.
    for what in ("match", "clocked"):
        for outcome in ("allocated", "reserved", "busy", "unsatisfiable", "invalid"):
            assert seen[what, outcome] > 1, (what, outcome, seen)
    for much in (
        ("pods", "allocated"),
        ("pods", "busy"),
        ("cancel", "done"),
        ("cancel", "unknown"),
    ):
        assert seen[much] > 10, (much, seen)
    assert seen["grow", "done"] > 3 and seen["shrink", "done"] > 3
