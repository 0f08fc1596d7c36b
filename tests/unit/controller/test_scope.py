"""Nodes that the selector leaves out are not used; one whose labels change comes and goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.labels.names import EXCLUSIVE
from fluxnetes.cluster.scope import ClusterScope
from fluxnetes.queue.states import JobState
from tests.unit.cluster.builders import OTHERS, a_job, machine, one_pod
from tests.unit.controller.play import Play
from tests.unit.controller.reporting.told import Told

BATCH = {"pool": "batch"}
PROBER = {"app": "prober"}
SCOPE = ClusterScope(BATCH, (PROBER,))
LONG = 20


@pytest.fixture
def play() -> Iterator[Play]:
    """Two nodes of four cpu with the label, and one without it."""
    nodes = [machine("n1", labels=BATCH), machine("n2", labels=BATCH), machine("n3")]
    with Play(*nodes, scope=SCOPE) as play:
        yield play


def known(play: Play) -> list[str]:
    return sorted(play.shared.model.node_graph.nodes)


def test_only_nodes_with_the_label_are_used(play: Play) -> None:
    play.put(*(one_pod(name, cpu="4") for name in "abc"))
    assert (play.where("a"), play.where("b"), play.where("c")) == (["n1"], ["n2"], [""])


def test_a_node_that_gains_the_label_is_used(play: Play) -> None:
    play.put(a_job("train", pods=3, cpu="4"))
    assert play.states() == ["pending"]
    play.put(machine("n3", labels=BATCH))
    assert play.where("train") == ["n1", "n2", "n3"]


@pytest.mark.parametrize("restarted", [False, True], ids=["", "restarted"])
def test_what_runs_on_a_node_that_loses_the_label_goes_on(play: Play, restarted: bool) -> None:
    play.put(a_job("train", pods=2, cpu="3"))
    before = {pod.metadata.uid for pod in play.pods("train")}
    play.put(machine("n1"))
    if restarted:
        play.restart()
    play.put(one_pod("later"), one_pod("last"))
    play.wait(LONG)
    assert {pod.metadata.uid for pod in play.pods("train")} == before
    assert sorted(play.where("later") + play.where("last")) == ["", "n2"], "nothing new comes"
    assert play.states()[0] == "running"
    play.put(machine("n1", labels=BATCH))
    assert sorted(play.where("later") + play.where("last")) == ["n1", "n2"]


@pytest.mark.parametrize("restarted", [False, True], ids=["", "restarted"])
def test_a_node_without_the_label_is_forgotten_once_no_job_is_on_it(
    play: Play, restarted: bool
) -> None:
    play.put(a_job("train", pods=2, cpu="3"))
    play.put(machine("n1"))
    if restarted:
        play.restart()
    play.wait(2)
    assert known(play) == ["n1", "n2"]
    play.end(*play.pods("train"))
    play.wait(2)
    assert known(play) == ["n2"]
    play.put(machine("n1", cordoned=True))
    assert known(play) == ["n2"]
    play.put(machine("n1", labels=BATCH))
    play.put(one_pod("after", cpu="4"), one_pod("more", cpu="4"))
    assert sorted(play.where("after") + play.where("more")) == ["n1", "n2"]


def test_a_seat_without_a_pod_leaves_a_node_that_loses_the_label(play: Play) -> None:
    play.put(a_job("train", pods=1, cpu="3"))
    play.wait(1)
    play.cluster.put(machine("n1"))
    play.end(*play.pods("train"), ok=False)
    play.wait(2)
    assert play.where("train") == ["n2"]
    assert known(play) == ["n2"]


def test_a_job_that_only_fits_with_nodes_that_are_not_ours_is_unsatisfiable(play: Play) -> None:
    told = Told(play)
    play.put(a_job("train", pods=3, cpu="4"))
    play.wait(2)
    view = told.fluxjobs["train"]
    assert (view.state, view.reason_code) == (JobState.PENDING, "Unsatisfiable")


def test_a_selector_that_a_running_controller_did_not_have_closes_nodes_at_the_next_start() -> None:
    with Play(machine("n1", labels=BATCH), machine("n2")) as play:
        play.put(a_job("train", pods=2, cpu="3"))
        before = {pod.metadata.uid for pod in play.pods("train")}
        play.use(SCOPE)
        play.restart()
        play.wait(LONG)
        assert {pod.metadata.uid for pod in play.pods("train")} == before
        play.end(*play.pods("train"))
        play.wait(2)
        assert known(play) == ["n1"]


def test_a_health_check_does_not_keep_a_job_from_a_node_of_its_own(play: Play) -> None:
    for node in ("n1", "n2"):
        check = one_pod(f"check-{node}", node=node, scheduler=OTHERS, labels=PROBER, cpu="0")
        play.put(check)
    play.put(a_job("train", pods=2, cpu="4", annotations={EXCLUSIVE: "true"}))
    assert play.where("train") == ["n1", "n2"]
    play.wait(LONG)
    assert play.states() == ["running"]
