"""What a controller makes of a cluster on which others worked before it.

With an empty database it rebuilds what the cluster records. With the old one it goes on, whatever
happened to nodes and pods meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from fluxnetes.plane.api import Object
from fluxnetes.plane.nodes import NODES, NodeShape
from tests.integration.controller.candidates import Candidate, Play, Theatre, a_theatre
from tests.integration.controller.objects import JobMaker, PodMaker, a_gang, a_job, a_pod
from tests.integration.controller.proxy import Proxy
from tests.integration.controller.space import Space, node_of, of_job
from tests.integration.controller.stage import Stage

ZONE = "topology.kubernetes.io/zone"


@pytest.fixture(scope="module")
def theatre(whole_stage: Stage) -> Iterator[Theatre]:
    with a_theatre(whole_stage) as theatre:
        yield theatre


@pytest.fixture
def play(theatre: Theatre) -> Iterator[Play]:
    with theatre.play() as play:
        yield play


# --- the same database -------------------------------------------------------------------------


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
            play.space.create(a_gang_of("g", "1s", "1s", "1s", "1s"))
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
    space.create(a_job("picky").with_cpu(6).with_spec(nodeSelector={ZONE: "b"}).queued())
    space.create(a_job("wide").with_cpu(16).queued())
    for name in ("picky-job", "wide-job"):
        space.until_state(name, "pending")
    first.stop()
    stage.remove_node("going")
    stage.api.patch(f"{NODES}/moving", {"metadata": {"labels": {ZONE: "b"}}})
    stage.add_node("fresh")
    launch(play)
    (wide,) = space.until_job_bound("wide", 1)
    (picky,) = space.until_job_bound("picky", 1)
    assert (node_of(wide), node_of(picky)) == ("fresh", "moving")
    after = space.until_state("stays-job", "running")
    assert (after["jobID"], after["nodes"]) == (before["jobID"], ["moving"])
    # What the pod collector of Kubernetes does after a minute.
    space.api.delete(f"{space.path('Pod', pod['metadata']['name'])}?gracePeriodSeconds=0")
    stage.add_node("spare")
    (again,) = space.until_job_bound("lost", 1)
    assert node_of(again) == "spare"
    assert space.get("Job", "lost")["status"].get("failed", 0) == 0
