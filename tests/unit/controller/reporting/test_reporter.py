"""What users see of a group: from when it gathers until it has ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.labels.names import AFTER_OK, GROUP_SIZE, HOLD, QUEUED, WALLTIME
from fluxnetes.queue.states import JobState
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.fake_executor import Luck
from tests.unit.controller.play import Play
from tests.unit.controller.reporting.told import Told


@pytest.fixture
def play() -> Iterator[Play]:
    """Two nodes of four cpu."""
    with Play(machine("n1"), machine("n2")) as play:
        yield play


@pytest.fixture
def told(play: Play) -> Told:
    return Told(play)


def occupy(play: Play, seconds: int = 600) -> None:
    """Fill both nodes."""
    play.put(a_job("all", pods=2, cpu="4", annotations={WALLTIME: f"{seconds}s"}))


# -- groups that are not queued --------------------------------------------------------------------


def test_a_group_that_gathers_has_a_fluxjob_that_says_what_is_missing(
    play: Play, told: Told
) -> None:
    play.put(one_pod("a", group="ring", size=3), one_pod("b", group="ring", size=3))
    play.wait(3)
    view = told.fluxjobs["ring"]
    assert (view.state, view.reason_code, view.job_id) == (JobState.GATHERING, "Gathering", None)
    assert "2 of the 3 pods" in view.reason
    assert view.size == 3
    assert any("2 of the 3 pods" in note for note in told.about("Pod/a", "FailedScheduling"))
    play.put(one_pod("c", group="ring", size=3))
    assert told.fluxjobs["ring"].state is JobState.RUNNING


def test_a_group_that_is_complete_at_once_is_never_said_to_gather(play: Play, told: Told) -> None:
    for name in "abc":
        play.put(one_pod(name, group="ring", size=3))
    play.wait(3)
    assert told.fluxjobs["ring"].state is JobState.RUNNING
    assert not told.about("Pod/a", "FailedScheduling")


def test_the_fluxjob_of_a_group_that_never_became_complete_goes_with_it(
    play: Play, told: Told
) -> None:
    pod = one_pod("a", group="ring", size=3)
    play.put(pod)
    play.wait(3)
    assert "ring" in told.fluxjobs
    play.drop(pod)
    assert "ring" not in told.fluxjobs


def test_a_job_that_waits_for_one_that_is_not_there_has_a_fluxjob_and_events(
    play: Play, told: Told
) -> None:
    play.put(a_job("train", annotations={AFTER_OK: "job/prepare"}))
    play.wait(3)
    view = told.fluxjobs["train"]
    assert (view.state, view.reason_code) == (JobState.PENDING, "Dependency")
    assert "job/prepare" in view.reason
    assert any("job/prepare" in note for note in told.about("Job/train", "FailedScheduling"))


def test_a_job_that_waits_for_another_names_it(play: Play, told: Told) -> None:
    play.put(a_job("prepare"))
    play.put(a_job("train", annotations={AFTER_OK: "job/prepare"}))
    play.wait(3)
    view = told.fluxjobs["train"]
    assert (view.state, view.reason_code) == (JobState.PENDING, "Dependency")
    assert "after job/prepare succeeded" in view.reason
    (note,) = told.about("Job/train", "FailedScheduling")
    assert "after job/prepare succeeded" in note


def test_a_refused_group_has_a_fluxjob_that_says_so_until_it_is_corrected(
    play: Play, told: Told
) -> None:
    job = a_job("train", annotations={WALLTIME: "soon"})
    play.put(job)
    play.wait(3)
    view = told.fluxjobs["train"]
    assert view.state is JobState.REJECTED and not view.is_over
    assert WALLTIME in view.reason
    play.patch("train", {"metadata": {"annotations": {WALLTIME: "10s"}}})
    assert told.fluxjobs["train"].state is JobState.RUNNING


def test_a_group_size_above_the_parallelism_is_refused_with_an_event(
    play: Play, told: Told
) -> None:
    play.put(a_job("train", pods=2, labels={GROUP_SIZE: "3"}))
    play.wait(1)
    (note,) = told.about("Job/train", "FailedScheduling")
    assert note.startswith(f"Invalid: refused: {GROUP_SIZE}: found 3, and job/train has at most 2")
    assert not play.states()
    play.wait(2)
    assert told.state("train") == "rejected"
    play.patch("train", {"spec": {"parallelism": 3, "completions": 3}})
    assert told.state("train") == "running"


# -- single pods -----------------------------------------------------------------------------------


def test_a_single_pod_has_a_fluxjob_once_it_has_waited_five_seconds(play: Play, told: Told) -> None:
    occupy(play)
    play.put(one_pod("late"))
    play.wait(4)
    assert "late" not in told.fluxjobs
    play.wait(3)
    view = told.fluxjobs["late"]
    assert (view.state, view.position) == (JobState.PENDING, 1)
    assert view.owner is not None and (view.owner.kind, view.owner.name) == ("Pod", "late")
    play.end(*play.pods("all"))
    play.wait(1)
    view = told.fluxjobs["late"]
    assert (view.state, view.nodes) == (JobState.RUNNING, ("n1",))
    play.end(*play.pods("late"))
    assert told.fluxjobs["late"].state is JobState.COMPLETED


def test_a_single_pod_that_starts_at_once_has_none(play: Play, told: Told) -> None:
    play.put(one_pod("quick"))
    play.wait(8)
    assert not told.fluxjobs


# -- where the pods are ----------------------------------------------------------------------------


def test_the_nodes_follow_the_pods_when_a_node_goes_and_comes_back(play: Play, told: Told) -> None:
    play.put(a_job("train", pods=2, cpu="3"))
    assert told.fluxjobs["train"].nodes == ("n1", "n2")
    play.put(machine("n3"))
    play.drop(play.cluster.nodes["n2"])
    play.wait(5)
    assert told.fluxjobs["train"].nodes == ("n1", "n3") == tuple(play.where("train"))
    play.put(machine("n2"))
    play.drop(play.cluster.nodes["n3"])
    play.wait(5)
    assert told.fluxjobs["train"].nodes == ("n1", "n2") == tuple(play.where("train"))


def test_the_nodes_and_the_size_follow_the_parallelism(play: Play, told: Told) -> None:
    play.put(a_job("train", pods=1, cpu="3", completions=9))
    assert (told.fluxjobs["train"].nodes, told.fluxjobs["train"].size) == (("n1",), 1)
    play.patch("train", {"spec": {"parallelism": 2}})
    play.wait(2)
    assert (told.fluxjobs["train"].nodes, told.fluxjobs["train"].size) == (("n1", "n2"), 2)
    play.patch("train", {"spec": {"parallelism": 1}})
    play.wait(4)
    (node,) = play.where("train")
    assert (told.fluxjobs["train"].nodes, told.fluxjobs["train"].size) == ((node,), 1)


def test_a_gang_whose_pods_are_bound_in_any_order_has_few_views(play: Play, told: Told) -> None:
    """Every other view would be a write to the API server."""
    play.executor.luck.extend([Luck.SLOW, Luck.SLOW, Luck.GOOD, Luck.GOOD])
    for number in range(4):
        play.cluster.put(one_pod(f"g-{number}", cpu="2", group="ring", size=4))
    for _ in range(5):  # a second each, in which the pods of n2 are bound before those of n1
        play.cluster.now += 1
        play.step()
    play.wait(2)
    assert {each.nodes for each in told.views["ring"]} == {("n1", "n2")}
    states = [each.state.value for each in told.views["ring"]]
    assert states == ["allocated", "running"]


def test_the_nodes_are_still_named_after_the_end(play: Play, told: Told) -> None:
    play.put(a_job("train", pods=2, cpu="3"))
    first, second = play.pods("train")
    play.wait(1)
    play.end(first)
    play.wait(2)
    assert told.fluxjobs["train"].nodes == ("n1", "n2")
    play.end(second)
    view = told.fluxjobs["train"]
    assert (view.state, view.nodes) == (JobState.COMPLETED, ("n1", "n2"))


# -- why, position and start -----------------------------------------------------------------------


def test_the_events_of_a_job_without_pods_tell_why_the_position_and_the_start(
    play: Play, told: Told
) -> None:
    occupy(play)
    play.put(a_job("next", cpu="4", annotations={WALLTIME: "60s"}))
    play.wait(2)
    assert not play.pods("next")
    (why,) = told.about("Job/next", "FailedScheduling")
    assert why.startswith("Resources: not yet: needs 4 cpu")
    assert "it starts by 2027-01-15T08:10:00Z" in why
    assert why.endswith("position 1 in queue default")
    (start,) = told.about("Job/next", "StartPlanned")
    assert "it starts by 2027-01-15T08:10:00Z" in start and "position 1" in start


def test_a_start_that_moves_later_is_told_with_why_and_by_whom(play: Play, told: Told) -> None:
    occupy(play)
    play.put(a_job("next", pods=2, cpu="4", annotations={WALLTIME: "60s"}))
    play.wait(40)
    play.put(one_pod("urgent", cpu="4", priority=10, annotations={WALLTIME: "120s"}))
    play.wait(3)
    (moved,) = told.about("Job/next", "StartMoved")
    assert "from 2027-01-15T08:10:00Z to 2027-01-15T08:12:00Z" in moved
    assert "because pod/urgent is ordered before it" in moved
    assert moved.startswith("Priority: ")


def test_a_start_that_moves_earlier_is_told(play: Play, told: Told) -> None:
    occupy(play, 6000)
    play.put(one_pod("short", cpu="0", annotations={WALLTIME: "60s"}))
    play.put(a_job("next", pods=1, cpu="4", annotations={WALLTIME: "60s"}))
    play.wait(40)
    play.put(machine("n3", cpu="2"))
    play.put(a_job("half", pods=1, cpu="2", annotations={WALLTIME: "600s"}))
    play.wait(2)
    play.put(machine("n3", cpu="4"))
    play.wait(2)
    (moved,) = told.about("Job/next", "StartMoved")
    assert "its start moved earlier" in moved


def test_a_start_that_is_lost_is_told_with_why(play: Play, told: Told) -> None:
    occupy(play)
    play.put(a_job("next", cpu="4", annotations={WALLTIME: "60s"}))
    play.wait(40)
    play.patch("next", {"metadata": {"annotations": {HOLD: "true"}}})
    play.wait(2)
    (lost,) = told.about("Job/next", "StartLost")
    assert "no start is known any more" in lost and "2027-01-15T08:10:00Z" in lost
    assert lost.startswith("Held: ")


def test_a_group_gets_few_events_however_often_its_reason_changes(play: Play, told: Told) -> None:
    occupy(play)
    play.put(a_job("next", cpu="4", annotations={WALLTIME: "60s"}))
    for hold in ("true", None) * 10:
        play.patch("next", {"metadata": {"annotations": {HOLD: hold}}})
        play.wait(1)
    assert len([each for each in told.events if each.about == "Job/next"]) <= 4


def test_positions_of_the_first_hundred_are_told_within_two_seconds(play: Play, told: Told) -> None:
    occupy(play)
    for number in range(120):
        play.cluster.put(a_job(f"w{number:03}", cpu="4", annotations={WALLTIME: "60s"}))
    play.settle()
    play.wait(10)
    assert [told.fluxjobs[f"w{n:03}"].position for n in range(120)] == list(range(1, 121))
    play.cluster.delete_job(play.cluster.jobs["uid-default-job-w000"].metadata.uid)
    play.settle()
    play.wait(2)
    assert [told.fluxjobs[f"w{n:03}"].position for n in range(1, 101)] == list(range(1, 101))


def test_gated_pods_get_events_too(play: Play, told: Told) -> None:
    occupy(play)
    play.put(one_pod("gated", cpu="4", schedulingGates=[{"name": QUEUED}]))
    play.wait(2)
    (why,) = told.about("Pod/gated", "FailedScheduling")
    assert "position 1 in queue default" in why
