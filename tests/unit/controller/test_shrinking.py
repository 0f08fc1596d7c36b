"""A node has less than its pods hold: what runs goes on, and nothing new comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from fluxnetes.cluster.node_graph import CONTROL_PLANE
from fluxnetes.kube.objects.nodes import Node
from tests.unit.cluster.builders import OTHERS, a_job, machine, one_pod
from tests.unit.cluster.objects import Content, a_container
from tests.unit.controller.play import Play

LONG = 20
"""Seconds; longer than any timeout of the plays."""


def with_gpus(name: str, gpus: int | None) -> Node:
    """A node; None: its device plugin is not registered."""
    return machine(name, more={} if gpus is None else {"nvidia.com/gpu": str(gpus)})


def wants_gpus(gpus: int) -> Content:
    limits = {"nvidia.com/gpu": str(gpus)}
    return {"containers": [a_container(cpu="1", limits=limits)]}


@pytest.fixture
def play() -> Iterator[Play]:
    """Two nodes of eight GPUs, all of which a gang holds."""
    with Play(with_gpus("n1", 8), with_gpus("n2", 8)) as play:
        play.put(a_job("train", pods=2, pod=wants_gpus(8)))
        play.wait(2)
        assert play.where("train") == ["n1", "n2"]
        yield play


def uids(play: Play) -> set[str]:
    return {pod.metadata.uid for pod in play.pods("train")}


@pytest.mark.parametrize("left", [7, 0, None])
def test_a_gang_outlives_devices_that_fail(play: Play, left: int | None) -> None:
    before = uids(play)
    play.put(with_gpus("n1", left))
    play.wait(LONG)
    assert uids(play) == before
    assert play.states() == ["running"]


@pytest.mark.parametrize("empty", [False, True], ids=["stored", "lost database"])
@pytest.mark.parametrize("left", [7, 0, None])
def test_so_it_does_across_a_restart(play: Play, left: int | None, empty: bool) -> None:
    before = uids(play)
    play.put(with_gpus("n1", left))
    play.restart(empty=empty)
    play.wait(LONG)
    assert uids(play) == before
    assert play.states() == ["running"]
    play.put(with_gpus("n1", 8), a_job("later", pod=wants_gpus(1)))
    play.wait(2)
    assert play.pods("later") == [], "all devices are in use again"


@pytest.mark.parametrize("empty", [False, True], ids=["stored", "lost database"])
def test_so_it_does_if_they_fail_while_no_controller_runs(play: Play, empty: bool) -> None:
    before = uids(play)
    play.cluster.put(with_gpus("n1", 3))
    play.restart(empty=empty)
    play.wait(LONG)
    assert uids(play) == before
    assert play.states() == ["running"]


def test_a_lost_database_is_filled_though_a_pod_is_ending_without_its_devices(play: Play) -> None:
    play.cluster.stop_time = 5
    for pod in play.pods("train"):
        play.cluster.delete_pod(pod.metadata.uid)
    play.cluster.put(with_gpus("n1", None))
    play.restart(empty=True)
    play.put(with_gpus("n1", 8))
    play.wait(LONG)
    assert play.where("train") == ["n1", "n2"]


def test_nothing_new_comes_to_a_node_that_shrank(play: Play) -> None:
    play.put(with_gpus("n1", 7), with_gpus("n2", 9), a_job("later", pods=2, pod=wants_gpus(1)))
    play.wait(3)
    assert play.pods("later") == []
    play.put(with_gpus("n2", 10))
    play.wait(3)
    assert play.where("later") == ["n2", "n2"]


def test_a_job_that_ended_while_its_devices_were_gone_has_succeeded(play: Play) -> None:
    play.cluster.put(with_gpus("n1", None))
    for pod in play.pods("train"):
        play.cluster.end_pod(pod.metadata.uid, "Succeeded")
    play.restart()
    play.wait(3)
    assert play.states() == ["completed"]


def test_pods_that_come_to_a_node_after_it_shrank_still_crowd_it() -> None:
    with Play(machine("n1"), machine("n2", cpu="1")) as play:
        play.put(a_job("train", cpu="3"))
        play.wait(2)
        play.put(machine("n1", cpu="3"))
        play.wait(LONG)
        assert play.where("train") == ["n1"]
        play.put(one_pod("theirs", cpu="1", scheduler=OTHERS, node="n1", phase="Running"))
        play.wait(LONG)
        assert play.pods("train") == [], "the documented rule: ours gives way"


@pytest.mark.parametrize("empty", [False, True], ids=["stored", "lost database"])
def test_pods_of_other_resources_do_not_crowd_a_node_that_shrank(play: Play, empty: bool) -> None:
    before = uids(play)
    play.put(with_gpus("n1", 7))
    play.put(one_pod("daemon", cpu="1", scheduler=OTHERS, node="n1", phase="Running"))
    play.wait(LONG)
    play.restart(empty=empty)
    play.put(one_pod("another", cpu="1", scheduler=OTHERS, node="n1", phase="Running"))
    play.wait(LONG)
    assert uids(play) == before


def test_a_collision_just_before_a_restart_is_resolved_after_it() -> None:
    with Play(machine("n1"), machine("n2", cpu="1")) as play:
        play.put(a_job("train", cpu="3"))
        play.wait(2)
        play.put(one_pod("theirs", cpu="3", scheduler=OTHERS, node="n1", phase="Running"))
        play.restart()
        play.wait(LONG)
        assert play.pods("train") == []


@pytest.mark.parametrize("restarted", [False, True], ids=["", "restarted"])
def test_a_gang_outlives_a_node_that_is_given_to_the_control_plane(
    play: Play, restarted: bool
) -> None:
    before, node = uids(play), play.cluster.nodes["n1"]
    labels = {CONTROL_PLANE: ""}
    play.put(replace(node, metadata=replace(node.metadata, labels=labels)))
    if restarted:
        play.restart()
    play.put(one_pod("later"))
    play.wait(LONG)
    assert uids(play) == before
    assert play.where("later") == ["n2"], "nothing new comes"
