"""With --store: what was answered is there after kill -9, and nothing else is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from fluxnetes.v1 import jobs_pb2 as v1
from fluxnetes.v1 import resources_pb2 as resources
from tests.integration.rpc.conftest import Speak, crash
from tests.integration.rpc.graphs import a_cluster, another_node, of_kubernetes
from tests.integration.rpc.jobspecs import nodes, slots, whole_nodes
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.rpc.waiting import until

Look = Callable[[Serve], Ours]


@pytest.fixture
def ours(kept: Serve, look: Look) -> Ours:
    return look(kept)


def state(ours: Ours) -> object:
    """All that can be seen, but for when it was asked."""
    jobs = sorted({share.job for node in ours.nodes() for share in node.shares})
    status = ours(resources.GetStatusRequest())
    return (
        ours.nodes(),
        [ours(v1.GetJobRequest(job=job)).job for job in jobs],
        (status.vertices, status.nodes, status.totals, dict(status.jobs_by_state)),
    )


def test_the_graph_and_all_allocations_are_there_after_kill_9(kept: Serve, ours: Ours) -> None:
    ours.load(a_cluster(4, 4), "hinode")
    for asked in (slots(2, 1), nodes(2, 2), whole_nodes(1)):
        ours.match(asked)
    ours(v1.CancelRequest(job=1))
    before = state(ours)
    crash(kept)
    assert state(ours) == before
    status = ours(resources.GetStatusRequest())
    assert (status.source, status.policy, status.durable) == ("store", "hinode", True)
    ours.empty()


def test_a_reservation_survives_as_a_reservation(kept: Serve, ours: Ours) -> None:
    ours.load(a_cluster(1, 4))
    ours.match(slots(1, 4, duration=100))
    assert ours.match(slots(1, 3, duration=50), reserve=True).state == v1.JOB_STATE_RESERVED
    before = state(ours)
    crash(kept)
    assert state(ours) == before
    again = ours(v1.MatchRequest(ask=v1.Ask(jobspec=slots(1, 2, duration=10)), reserve=True))
    assert again.at == 150  # after both
    for job in (1, 2, 3):
        ours(v1.CancelRequest(job=job))
    assert ours.free() == {"node0": 4}


@pytest.mark.parametrize(
    ("dialect", "ask", "number"),
    [
        ("jobspec", {"jobspec": slots(3, 2)}, "jobid"),
        ("podspec", {"podspec": {"cpu": 2}, "count": 3, "jobName": "lammps"}, "fluxID"),
        ("fluxcli", {"ps": {"cpu": 2, "id": "lammps"}, "count": 3}, "jobID"),
    ],
)
def test_what_old_clients_were_given_survives(
    postgres: Path,
    tmp_path: Path,
    speak: Speak,
    look: Look,
    dialect: str,
    ask: dict[str, object],
    number: str,
) -> None:
    graph = tmp_path / "graph.json"
    graph.write_text(of_kubernetes({"a": ["n1", "n2"]}))
    options = ("--store", "--store-folder", postgres, "--graph", graph)
    dialects = ("--dialect", dialect, "--dialect", "external")
    with Serve(tmp_path, *options, *dialects) as server:
        client, ours, external = (
            speak(dialect, server),
            look(server),
            speak("external", server),
        )
        assert getattr(client("Match", **ask), number) == 1
        before, groups = ours.holders(), external("ListGroups").name
        crash(server)
        assert ours.holders() == before == {1: {"n1": 4, "n2": 2}}
        assert external("ListGroups").name == groups
        [job] = [ours(v1.GetJobRequest(job=1)).job]
        assert {share.node: share.tasks for share in job.nodes} == {"n1": 2, "n2": 1}
        client("Cancel", **{"fluxID" if dialect == "podspec" else "jobID": 1})
        assert ours.is_idle()


def test_numbers_are_never_given_twice_not_even_on_another_graph(kept: Serve, ours: Ours) -> None:
    seen: list[int] = []
    for _ in range(2):
        ours.load(a_cluster(1, 4))
        seen.append(ours.match(slots(1, 1)).id)
        seen.append(ours.match(slots(1, 1)).id)
        ours(v1.CancelRequest(job=seen[-1]))
        crash(kept)
        seen.append(ours.match(slots(1, 1)).id)
    assert seen == sorted(set(seen))


def test_init_grow_and_shrink_survive(kept: Serve, ours: Ours, speak: Speak) -> None:
    client = speak("jobspec", kept)
    client("Init", jgf=a_cluster(3, 2), policy="lonode")
    client("Match", jobspec=nodes(3, 1))
    client("Grow", jgf=another_node(3, 2))
    client("Match", jobspec=slots(1, 2))
    client("Shrink", nodepaths=["/cluster0/node1"])
    before = state(ours)
    assert ours.free() == {"node0": 1, "node2": 1, "node3": 0}
    crash(kept)
    assert state(ours) == before
    client("Grow", jgf=another_node(4, 2))
    client("Match", jobspec=slots(1, 2))
    before = state(ours)
    crash(kept)
    assert state(ours) == before
    client("Init", jgf=a_cluster(1, 1))
    crash(kept)
    assert ours.free() == {"node0": 1}
    assert ours.is_idle()


def test_a_graph_of_the_store_is_not_replaced_by_one_of_the_command_line(
    postgres: Path, tmp_path: Path, look: Look
) -> None:
    file = tmp_path / "graph.json"
    file.write_text(a_cluster(1, 1))
    with Serve(tmp_path, "--store", "--store-folder", postgres, "--graph", file) as server:
        ours = look(server)
        assert ours.free() == {"node0": 1}
        ours.load(a_cluster(2, 2))
        crash(server)
        assert ours.free() == {"node0": 2, "node1": 2}


def test_who_asks_again_under_its_key_after_a_restart_gets_the_same_job(
    kept: Serve, ours: Ours
) -> None:
    ours.load(a_cluster(2, 4))
    first = ours.match(slots(2, 2), key="my-job")
    crash(kept)
    again = ours.match(slots(2, 2), key="my-job")
    assert (again.id, again.nodes) == (first.id, first.nodes)
    assert ours.match(slots(1, 1), key="other").id != first.id


def test_what_was_undone_is_undone_after_a_stop_too(kept: Serve, ours: Ours, speak: Speak) -> None:
    """No call waits for that commit, so the stop must."""
    client = speak("jobspec", kept)
    ours.load(a_cluster(20, 16))
    for _ in range(2):
        calls = [client.later("Match", jobspec=slots(1, 1)) for _ in range(60)]
        until(lambda: bool(ours.holders()))
        for call in calls:
            call.cancel()
        answered = {call.result().jobid for call in calls if call.done() and not call.cancelled()}
        held = set(ours.holders())
        assert kept.stop() == 0
        kept.start()
        assert answered <= set(ours.holders()) <= held
        ours.empty()


def test_a_second_server_on_a_store_is_refused_as_long_as_the_first_lives(
    kept: Serve, ours: Ours, postgres: Path, tmp_path: Path
) -> None:
    ours.load(a_cluster(1, 1))
    second = Serve(tmp_path, "--store", "--store-folder", postgres)
    assert "the store is in use by" in second.fail()
    assert ours.match(slots(1, 1)).id == 1
    assert kept.stop() == 0
    with second, Ours(second.address) as theirs:
        assert set(theirs.holders()) == {1}


def test_a_server_that_was_paused_and_lost_the_store_answers_no_call(
    kept: Serve, ours: Ours, postgres: Path, tmp_path: Path
) -> None:
    ours.load(a_cluster(1, 4))
    ours.match(slots(1, 1))
    os.kill(kept.pid, signal.SIGSTOP)
    (tmp_path / "second").mkdir()
    with (
        Serve(tmp_path / "second", "--store", "--store-folder", postgres) as second,
        Ours(second.address) as theirs,
    ):
        assert theirs.match(slots(1, 1)).id == 2
        call = ours.channel.unary_unary(
            "/fluxnetes.v1.JobService/Match",
            v1.MatchRequest.SerializeToString,
            v1.MatchResponse.FromString,
        )
        asked = v1.MatchRequest(ask=v1.Ask(jobspec=slots(1, 1)))
        late = [call.future(asked, timeout=30) for _ in range(3)]
        os.kill(kept.pid, signal.SIGCONT)
        for each in late:
            assert each.exception() is not None
        until(lambda: not kept.is_running)
        assert "is lost: the current fence is" in kept.log.read_text()
        assert set(theirs.holders()) == {1, 2}
