"""Jobs end as Kubernetes says, when it says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.labels.names import GROUP, GROUP_SIZE
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.play import Play


@pytest.fixture
def play() -> Iterator[Play]:
    with Play(machine("n1"), machine("n2")) as play:
        yield play


# -- ends that Kubernetes has yet to say ----------------------------------------------------------


def test_a_job_without_completions_of_which_a_pod_failed_ends_as_kubernetes_says(
    play: Play,
) -> None:
    """One failure may be one too many, though another pod succeeded."""
    play.put(a_job("train", pods=2, completions=None, backoffLimit=0))
    play.wait(2)
    good, bad = play.pods("train")
    play.cluster.end_pod(good.metadata.uid, "Succeeded")
    play.cluster.end_pod(bad.metadata.uid, "Failed")
    play.look()
    assert play.states() != ["completed"]
    play.wait(2)
    assert play.states() == ["failed"]


def test_a_pod_that_is_deleted_on_a_node_that_is_gone_may_still_succeed(play: Play) -> None:
    play.cluster.outlives = play.cluster.stop_time = 100
    play.put(one_pod("solo"))
    play.wait(2)
    (pod,) = play.pods("solo")
    play.drop(play.cluster.nodes[pod.spec.node_name])
    play.cluster.delete_pod(pod.metadata.uid)
    play.wait(2)
    assert play.states() == ["ending"]
    play.end(play.cluster.pods[pod.metadata.uid])
    assert play.states() == ["completed"]


def launched(play: Play) -> None:
    """A label group of a Job, which has completed, and a pod by itself, which runs."""
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    play.cluster.put(a_job("launcher", labels=ring))
    play.put(one_pod("worker", labels=ring))
    play.wait(2)
    play.end(*play.pods("launcher"))
    play.wait(2)
    assert play.states() == ["running"]


@pytest.mark.parametrize(("ok", "state"), [(True, "completed"), (False, "failed")])
def test_a_group_of_a_job_and_a_pod_ends_as_both_did(play: Play, ok: bool, state: str) -> None:
    launched(play)
    play.end(*play.pods("worker"), ok=ok)
    assert play.states() == [state]


def test_a_pod_that_comes_late_waits_though_the_job_of_its_group_has_completed(
    play: Play,
) -> None:
    launched(play)
    play.put(one_pod("late", cpu="5", labels={GROUP: "ring", GROUP_SIZE: "2"}))
    play.put(*play.pods("late"))
    play.wait(2)
    assert play.states() == ["running", "pending"]
