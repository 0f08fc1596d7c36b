"""Foreign pods take capacity that our jobs hold but do not use at the moment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.queue.states import JobState
from tests.unit.cluster.builders import OTHERS, a_job, machine, one_pod
from tests.unit.controller.play import Play


@pytest.fixture
def play() -> Iterator[Play]:
    """Two nodes of four cores, and a Job with a pod of three on each, which wants two more."""
    with Play(machine("n1"), machine("n2")) as play:
        play.cluster.put(a_job("train", pods=2, completions=4, cpu="3"))
        play.wait(2)
        assert {pod.spec.node_name for pod in play.cluster.ours} == {"n1", "n2"}
        yield play


def others_come(play: Play) -> str:
    """At the very moment when the pod on n1 ends; the uid of the other, which is on n2."""
    here, there = sorted(play.cluster.ours, key=lambda pod: pod.spec.node_name)
    play.cluster.end_pod(here.metadata.uid, "Succeeded")
    play.cluster.put(one_pod("theirs", cpu="3", scheduler=OTHERS, node="n1"))
    return there.metadata.uid


def test_what_runs_goes_on_when_others_take_the_place_of_what_is_to_come(play: Play) -> None:
    there = others_come(play)
    play.wait(3)
    assert play.cluster.pods[there].status.phase == "Running"
    assert [job.restarts for job in play.store.keeper.jobs.values()] == [0, 0]


def test_what_found_its_place_taken_runs_when_others_leave(play: Play) -> None:
    others_come(play)
    play.wait(3)
    play.cluster.delete_pod("uid-default-theirs")
    play.cluster.run_time = 2
    play.wait(20)
    assert all(pod.status.phase == "Succeeded" for pod in play.cluster.ours)
    assert len(play.cluster.ours) == 4
    assert {job.state for job in play.store.keeper.jobs.values()} == {JobState.COMPLETED}
