"""Nodes go, close, change and come again; no pod is lost, and none is counted twice or never."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.cluster.builders import OTHERS, a_job, machine, one_pod
from tests.unit.cluster.objects import Content
from tests.unit.controller.play import Play

SSD = {"disk": "ssd"}
WANTS_SSD: Content = {"nodeSelector": SSD}


@pytest.fixture
def play() -> Iterator[Play]:
    """Three nodes of four cpu, two of them with an ssd."""
    with Play(machine("n1", labels=SSD), machine("n2", labels=SSD), machine("n3")) as play:
        yield play


def test_pods_of_a_node_that_is_gone_are_made_again_elsewhere(play: Play) -> None:
    play.put(a_job("train", pods=2, cpu="3"))
    assert play.where("train") == ["n1", "n2"]
    play.drop(play.cluster.nodes["n1"])
    play.wait(3)
    assert play.where("train") == ["n2", "n3"]
    assert play.states() == ["running"]


def test_a_seat_that_waits_for_a_replacement_moves_when_its_node_goes(play: Play) -> None:
    play.put(a_job("train", pods=2, cpu="3"))
    play.wait(1)
    play.cluster.end_pod(play.pods("train")[0].metadata.uid, "Failed")
    play.look()  # before its Job does
    play.drop(play.cluster.nodes["n1"])
    play.wait(2)
    assert play.where("train") == ["n2", "n3"]
    assert play.states() == ["running"]


def test_a_job_without_room_elsewhere_goes_back_and_starts_again_whole(play: Play) -> None:
    play.put(a_job("train", pods=3, cpu="3"))
    play.drop(play.cluster.nodes["n1"])
    play.wait(4)
    assert play.pods("train") == []
    assert play.states() == ["pending"]
    play.put(machine("n1"))
    play.wait(2)
    assert play.where("train") == ["n1", "n2", "n3"]
    (job,) = play.cluster.jobs.values()
    assert job.status.failed == 0, "going back costs nothing of its backoffLimit"


def test_an_elastic_job_that_goes_back_and_starts_at_once_sits_anew(play: Play) -> None:
    play.put(a_job("train", pods=5, cpu="4", annotations={"fluxnetes.io/min-size": "1"}))
    play.drop(play.cluster.nodes["n3"])
    play.wait(5)
    assert [node for node in play.where("train") if node] == ["n1", "n2"]


def test_a_pod_that_outlives_its_node_counts_when_the_node_comes_again(play: Play) -> None:
    """A kubelet registers anew, and has never stopped its pods."""
    play.put(one_pod("a", cpu="3"), one_pod("b", cpu="3"), one_pod("c", cpu="3"))
    node = play.cluster.nodes["n1"]
    play.drop(node)
    play.put(node)
    play.put(one_pod("d", cpu="2"))
    assert play.where("d") == [""]


def test_a_replacement_does_not_go_to_a_node_that_is_cordoned(play: Play) -> None:
    """Else the node could never be drained."""
    play.put(a_job("train", pods=1))
    play.wait(1)
    play.put(machine("n1", labels=SSD, cordoned=True))
    play.cluster.delete_pod(play.pods("train")[0].metadata.uid)
    play.wait(3)
    assert play.where("train") == ["n2"]


def test_a_replacement_does_not_go_where_its_rule_no_longer_lets_it(play: Play) -> None:
    play.put(a_job("train", pod=WANTS_SSD))
    play.wait(1)
    play.put(machine("n1"))
    play.end(*play.pods("train"), ok=False)
    assert play.where("train") == ["n2"]


def test_a_replacement_without_room_waits_for_it(play: Play) -> None:
    play.put(a_job("train", pod=WANTS_SSD))
    play.put(one_pod("full", cpu="4", **WANTS_SSD))
    play.wait(1)
    play.put(machine("n1"))
    play.end(*play.pods("train"), ok=False)
    play.wait(8)
    assert play.where("train") == [""]
    play.end(*play.pods("full"))
    play.wait(1)
    assert play.where("train") == ["n2"]


def test_a_replacement_does_not_go_where_others_took_the_room_at_the_same_moment(
    play: Play,
) -> None:
    play.put(a_job("train", pods=5, completions=None))
    play.wait(1)
    first = next(pod for pod in play.pods("train") if pod.spec.node_name == "n1")
    play.cluster.put(one_pod("other", scheduler=OTHERS, node="n1"))
    play.end(first, ok=False)
    assert play.where("train") == ["n1", "n1", "n1", "n2", "n2"]


def test_a_job_that_waits_for_nodes_which_are_gone_does_not_stop_a_new_term(play: Play) -> None:
    play.put(one_pod("first", cpu="4"), a_job("train", pods=3, cpu="4"))
    play.drop(*list(play.cluster.nodes.values()))
    play.wait(2)
    play.restart()
    play.wait(3)
    assert play.states()[-1] == "pending"
    play.put(machine("m1"), machine("m2"), machine("m3"))
    play.wait(3)
    assert play.where("train") == ["m1", "m2", "m3"]
