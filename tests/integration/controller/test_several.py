"""Several controllers for one cluster and one database: one leads, and the next takes over."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from fluxnetes.plane.api import Object
from fluxnetes.plane.nodes import NODES, NodeShape
from fluxnetes.plane.plane import ControlPlane
from tests.integration.controller.candidates import LEASE, Candidate, Play, Theatre
from tests.integration.controller.objects import PodMaker, a_job, a_pod
from tests.integration.controller.proxy import Proxy, Rule
from tests.integration.controller.recording import Moment, recorded
from tests.integration.controller.space import is_alive, node_of

ZONE = "topology.kubernetes.io/zone"
SHORT, LONG = 4, 30
"""Seconds that a lease lasts: one to wait for, and one that no test waits for."""


def holder(play: Play) -> str:
    return str(play.stage.api.get(LEASE)["spec"].get("holderIdentity", ""))


# --- one after the other -----------------------------------------------------------------------


def test_one_leads_and_when_it_stops_the_next_leads_before_the_lease_runs_out(play: Play) -> None:
    first = play.launch("a", leader_elect_lease_duration=LONG)
    first.until_leads()
    second = play.launch("b", leader_elect_lease_duration=LONG)
    play.stage.leave_open("node-0")
    play.space.create(a_pod("there").with_cpu(10), a_job("train").with_cpu(10).queued())
    before = play.space.until_state("train-job", "pending")
    assert holder(play) == "a"
    assert first.stop() == 0
    second.until_leads(LONG - 10)
    assert holder(play) == "b"
    play.space.delete("Pod", "there")
    play.space.until_job_bound("train", 1)
    status = play.space.until_state("train-job", "running")
    assert status["jobID"] == before["jobID"]


def test_when_the_leader_is_killed_the_next_goes_on_and_nothing_is_lost_or_doubled(
    play: Play,
) -> None:
    first = play.launch("a", leader_elect_lease_duration=SHORT)
    first.until_leads()
    second = play.launch("b", leader_elect_lease_duration=SHORT)
    gangs = {name: a_busy_gang(name) for name in "stuvwxyz"}
    names = [pod.name for gang in gangs.values() for pod in gang]
    with recorded(play.stage, play.space) as moments:
        play.space.create(*gangs.values())
        play.space.until("Pod", lambda pods: any(node_of(pod) for pod in pods.values()))
        first.kill()
        assert not all(node_of(pod) for pod in play.space.all("Pod").values())
        second.until_leads()
        play.space.until_phase("Succeeded", *names)
    for name in gangs:
        assert play.space.until_state(f"{name}-group", "completed")["size"] == 4
    assert len(play.space.all("FluxJob")) == len(gangs)
    assert max(most_on_a_node(moment) for moment in moments) == 2
    rows = play.rows("SELECT state, restarts FROM jobs")
    assert [tuple(row) for row in rows] == [("completed", 0)] * len(gangs)
    pods = play.space.all("Pod")
    for gang in gangs.values():
        seats = [seat(pods[pod.name]) for pod in gang]
        assert len({job for job, _ in seats}) == 1
        assert sorted(task for _, task in seats) == ["0", "1", "2", "3"]


def a_busy_gang(name: str) -> list[PodMaker]:
    """Four pods of half a node."""
    return a_pod(name).with_cpu(8).in_group(name, 4).running_for("1s").times(4)


def most_on_a_node(moment: Moment) -> int:
    holding = (node_of(pod) for pod in moment.values() if node_of(pod) and is_alive(pod))
    return max(Counter(holding).values(), default=0)


def seat(pod: Object) -> tuple[str, str]:
    said = pod["metadata"]["annotations"]
    return said["fluxnetes.io/job"], said["fluxnetes.io/task"]


# --- a leader that was away --------------------------------------------------------------------


@pytest.fixture
def proxies(theatre: Theatre) -> Iterator[tuple[Proxy, Proxy]]:
    folders = [theatre.stage.folder / name for name in "ab"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    plane, who = theatre.stage.plane, theatre.stage.certificate
    with Proxy(plane, folders[0], who) as first, Proxy(plane, folders[1], who) as second:
        yield first, second


def test_a_leader_that_was_paused_for_longer_than_the_lease_binds_nothing_and_steps_down(
    play: Play, proxies: tuple[Proxy, Proxy]
) -> None:
    """Both have a bind in hand that was refused so far; only one may try again."""
    ways = dict(zip("ab", proxies, strict=True))
    first = play.launch("a", ways["a"].kubeconfig, leader_elect_lease_duration=SHORT)
    first.until_leads()
    second = play.launch("b", ways["b"].kubeconfig, leader_elect_lease_duration=SHORT)
    binds = f"{play.space.namespace}/pods/.*/binding"
    with ways["a"].refusing("POST", binds) as old, ways["b"].refusing("POST", binds) as new:
        play.space.create(a_job("train").running_for("1h").queued())
        until_it_pauses(old)
        first.pause()
        second.until_leads()
        new.until_hit()
        old.hit.clear()
        first.go_on()
        first.until_says("no longer leading: ")
        assert not old.hit.is_set()
        assert holder(play) == "b"
    play.space.until_job_bound("train", 1)
    play.space.until_state("train-job", "running")
    second.stop()
    first.until_leads()
    play.space.create(a_pod("later"))
    play.space.until_bound("later")
    [row] = play.rows("SELECT count(*) FROM jobs JOIN submissions USING (id) WHERE name = 'train'")
    assert row["count"] == 1


def until_it_pauses(rule: Rule) -> None:
    """Each time it waits twice as long before it tries again; now there is most of a second."""
    for _ in range(5):
        rule.hit.clear()
        rule.until_hit()
    time.sleep(0.1)


# --- what happened meanwhile --------------------------------------------------------------------


def launch(play: Play) -> Candidate:
    one = play.launch("a")
    one.until_leads()
    return one


def test_a_gang_of_which_one_has_ended_before_the_rest_was_bound_is_finished(
    play: Play, theatre: Theatre
) -> None:
    stage = theatre.stage
    with Proxy(stage.plane, stage.folder, stage.certificate) as proxy:
        first = play.launch("a", proxy.kubeconfig)
        first.until_leads()
        with proxy.refusing("POST", "/pods/g-[123]/binding"):
            play.space.create(a_busy_gang("g"))
            play.space.until_phase("Succeeded", "g-0")
            first.kill()
    launch(play)
    play.space.until_phase("Succeeded", "g-1", "g-2", "g-3")
    play.space.until_state("g-group", "completed")


def test_nodes_that_went_came_and_moved_meanwhile_are_followed(play: Play) -> None:
    stage, space = play.stage, play.space
    stage.leave_open()
    stage.add_node("going")
    first = launch(play)
    space.create(a_job("lost").with_cpu(10).running_for("1h").queued())
    (pod,) = space.until_job_bound("lost", 1)
    stage.add_node("moving", NodeShape(labels={ZONE: "a"}))
    space.create(a_job("stays").with_cpu(10).running_for("1h").queued())
    space.until_job_bound("stays", 1)
    before = space.until_state("stays-job", "running")
    stage.add_node("closed", NodeShape(labels={ZONE: "b"}))
    stage.cordon("closed")
    space.create(
        a_job("picky").with_cpu(6).running_for("1h").with_spec(nodeSelector={ZONE: "b"}).queued()
    )
    space.create(a_job("wide").with_cpu(16).running_for("1h").queued())
    for name in ("picky-job", "wide-job"):
        space.until_state(name, "pending")
    first.stop()
    stage.remove_node("going")
    # What the pod collector of Kubernetes does after a minute.
    space.api.delete(f"{space.path('Pod', pod['metadata']['name'])}?gracePeriodSeconds=0")
    stage.api.patch(f"{NODES}/moving", {"metadata": {"labels": {ZONE: "b"}}})
    stage.add_node("fresh")
    stage.add_node("spare")
    launch(play)
    placed = {name: space.until_job_bound(name, 1)[0] for name in ("lost", "picky", "wide")}
    assert node_of(placed["picky"]) == "moving"
    assert {node_of(placed["lost"]), node_of(placed["wide"])} == {"fresh", "spare"}
    after = space.until_state("stays-job", "running")
    assert (after["jobID"], after["nodes"]) == (before["jobID"], ["moving"])


# --- who is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("is_led", [True, False], ids=["led", "idle"])
def test_the_queue_of_another_cluster_is_refused_and_left_alone(
    play: Play, plane: ControlPlane, is_led: bool
) -> None:
    ours = play.launch("a", leader_elect_lease_duration=LONG)
    ours.until_leads()
    if not is_led:
        ours.stop()
    stranger = play.launch("stranger", plane.kubeconfig, leader_elect_lease_duration=LONG)
    assert stranger.until_over() == 1
    said = play.log.read_text().splitlines()[-1]
    assert said.startswith("fluxnetes controller: the queue in this database is that of another")
    uid = play.stage.api.get("/api/v1/namespaces/kube-system")["metadata"]["uid"]
    assert uid in said
    assert said.endswith("name another database")
    if is_led:
        ours.stop()
    play.launch("b", leader_elect_lease_duration=LONG).until_leads(LONG - 10)
