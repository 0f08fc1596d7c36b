"""What names one group is one gang, whoever made it; and what becomes of it when that changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from fluxnetes.cluster.labels.names import GROUP, GROUP_SIZE, HOLD, QUEUE, WALLTIME
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.podgroups import AnyPodGroup
from tests.unit.cluster.builders import (
    a_job,
    a_native_pod_group,
    a_pod_group,
    a_volcano_pod_group,
    changed,
    machine,
    one_pod,
)
from tests.unit.controller.play import TIMEOUTS, Play
from tests.unit.controller.reporting.told import Told

LABEL = "scheduling.x-k8s.io/pod-group"
VOLCANO = "scheduling.k8s.io/group-name"
SOON = int(TIMEOUTS.orphan_pod) + 2


@pytest.fixture
def play() -> Iterator[Play]:
    """Three nodes of four cpu."""
    with Play(machine("n1"), machine("n2"), machine("n3")) as play:
        yield play


def of_group(name: str, pods: int, **more: Any) -> Job:
    """A Job whose pods name the PodGroup `ring` of scheduler-plugins."""
    return a_job(name, pods=pods, template={"labels": {LABEL: "ring"}}, **more)


def bound(play: Play, *names: str) -> list[int]:
    """How many pods of each Job, or of each name, are on a node."""
    return [sum(map(bool, play.where(name))) for name in names]


# -- one gang --------------------------------------------------------------------------------------


def test_two_jobs_that_fill_a_pod_group_together_start_together(play: Play) -> None:
    play.put(a_pod_group("ring", 5), of_group("workers", 4))
    play.wait(SOON)
    assert bound(play, "workers") == [0]
    play.put(of_group("launcher", 1))
    assert bound(play, "workers", "launcher") == [4, 1]
    assert play.states() == ["running"]


@pytest.mark.parametrize(
    ("group", "names"),
    [
        (a_pod_group("ring", 3), {"labels": {LABEL: "ring"}}),
        (a_volcano_pod_group("ring", 3), {"annotations": {VOLCANO: "ring"}}),
    ],
    ids=["scheduler-plugins", "volcano"],
)
def test_so_it_is_in_every_dialect(play: Play, group: AnyPodGroup, names: Any) -> None:
    play.put(group, a_job("two", pods=2, template=names))
    play.wait(SOON)
    assert bound(play, "two") == [0]
    play.put(one_pod("one", **names))
    assert bound(play, "two", "one") == [2, 1]


def test_so_it_is_with_native_groups(play: Play) -> None:
    names: Any = {"schedulingGroup": {"podGroupName": "ring"}}
    play.put(a_native_pod_group("ring", 3), a_job("two", pods=2, pod=names))
    play.wait(SOON)
    assert bound(play, "two") == [0]
    play.put(one_pod("one", **names))
    assert bound(play, "two", "one") == [2, 1]


def test_jobs_and_bare_pods_of_one_group_label_start_together(play: Play) -> None:
    options = {GROUP: "ring", GROUP_SIZE: "3"}
    play.put(a_job("two", pods=2, labels=options))
    assert bound(play, "two") == [0]
    play.put(one_pod("one", labels=options))
    assert bound(play, "two", "one") == [2, 1]


def test_two_jobs_of_one_manifest_are_two_gangs(play: Play) -> None:
    play.put(a_pod_group("ring", 4), of_group("one", 4, cpu="2"), of_group("other", 4, cpu="2"))
    assert bound(play, "one", "other") == [4, 0]
    play.end(*play.pods("one"))
    assert bound(play, "other") == [4]


def test_a_job_alone_may_start_with_the_minimum_of_its_pod_group(play: Play) -> None:
    play.put(one_pod("before", cpu="4"), a_pod_group("ring", 2), of_group("one", 3, cpu="4"))
    assert bound(play, "one") == [2]
    play.end(*play.pods("before"))
    play.wait(int(TIMEOUTS.stalled_group))
    assert bound(play, "one") == [3]


def test_the_minimum_counts_across_jobs_of_which_one_fills_it_alone(play: Play) -> None:
    """The second Job has no gang of its own to wait for: the minimum of its PodGroup runs."""
    play.put(a_pod_group("ring", 3), one_pod("before", cpu="4"), of_group("rest", 1))
    play.put(of_group("most", 3, cpu="4"))
    assert bound(play, "most", "rest") == [0, 0]
    play.end(*play.pods("before"))
    assert bound(play, "most", "rest") == [3, 0], "the nodes are full"
    play.end(play.pods("most")[0])
    assert bound(play, "most", "rest") == [2, 1]


def test_a_group_of_jobs_ends_when_all_of_them_have(play: Play) -> None:
    play.put(a_pod_group("ring", 3), of_group("two", 2), of_group("one", 1))
    play.end(*play.pods("one"))
    assert play.states() == ["running"]
    play.end(*play.pods("two"))
    assert play.states() == ["completed"]


@pytest.mark.parametrize("first", ["two", "one"])
def test_a_group_of_jobs_that_are_deleted_was_cancelled(play: Play, first: str) -> None:
    play.put(a_pod_group("ring", 3), of_group("two", 2), of_group("one", 1))
    jobs = {job.metadata.name: job for job in play.cluster.jobs.values()}
    play.drop(jobs.pop(first))
    play.wait(SOON)
    assert play.states() == ["running"]
    play.drop(*jobs.values())
    play.wait(SOON)
    assert play.states() == ["cancelled"]


def test_a_group_was_cancelled_if_one_of_its_jobs_was(play: Play) -> None:
    play.put(a_pod_group("ring", 3), of_group("two", 2), of_group("one", 1))
    play.end(*play.pods("one"))
    play.drop(*(job for job in play.cluster.jobs.values() if job.metadata.name == "two"))
    play.wait(SOON)
    assert play.states() == ["cancelled"]


def test_a_name_can_be_used_again_by_jobs_once_its_group_is_over(play: Play) -> None:
    play.put(a_pod_group("ring", 3))
    for number in range(3):
        two, one = f"two-{number}", f"one-{number}"
        play.put(of_group(two, 2))
        play.wait(SOON)
        assert bound(play, two) == [0]
        play.put(of_group(one, 1))
        assert bound(play, two, one) == [2, 1]
        play.end(*play.pods(two), *play.pods(one))
    assert play.states() == ["completed"] * 3


# -- a PodGroup that is seen later -----------------------------------------------------------------


def test_a_job_waits_for_the_pod_group_that_it_names(play: Play) -> None:
    play.put(of_group("one", 2))
    assert bound(play, "one") == [0]
    play.put(a_pod_group("ring", 2))
    assert bound(play, "one") == [2]


def test_a_job_starts_alone_if_there_is_no_such_pod_group(play: Play) -> None:
    play.put(of_group("one", 2))
    play.wait(SOON)
    assert bound(play, "one") == [2]


def test_a_job_waits_for_a_native_pod_group_as_long_as_it_takes(play: Play) -> None:
    play.put(a_job("one", pods=2, pod={"schedulingGroup": {"podGroupName": "ring"}}))
    play.wait(SOON)
    assert bound(play, "one") == [0]
    play.put(a_native_pod_group("ring", 2))
    assert bound(play, "one") == [2]


def test_a_job_that_waits_joins_the_group_when_its_pod_group_is_seen(play: Play) -> None:
    """It was queued as a gang of its own, and that job is withdrawn."""
    play.put(of_group("held", 2, annotations={HOLD: "true"}))
    play.wait(SOON)
    assert play.states() == ["held"]
    play.put(a_pod_group("ring", 3))
    assert play.states() == ["cancelled"]
    play.patch("held", {"metadata": {"annotations": {HOLD: None}}})
    play.wait(SOON)
    assert bound(play, "held") == [0]
    play.put(of_group("one", 1))
    assert bound(play, "held", "one") == [2, 1]
    assert play.states() == ["cancelled", "running"]


def test_pods_that_wait_join_it_with_their_job(play: Play) -> None:
    """A Job that is not suspended has its pods already."""
    held = {"annotations": {HOLD: "true"}}
    play.put(of_group("held", 2, suspended=False, queued=False, **held))
    play.wait(SOON)
    play.put(a_pod_group("ring", 3))
    assert len(play.pods("held")) == 2
    play.patch("held", {"metadata": {"annotations": {HOLD: None}}})
    assert bound(play, "held") == [0]
    play.put(of_group("one", 1))
    assert bound(play, "held", "one") == [2, 1]


def test_a_job_that_runs_stays_where_it_is(play: Play) -> None:
    play.put(of_group("one", 2))
    play.wait(SOON)
    play.put(a_pod_group("ring", 3))
    play.wait(SOON)
    assert bound(play, "one") == [2]
    assert play.states() == ["running"]
    play.restart()
    play.wait(SOON)
    assert bound(play, "one") == [2]
    assert play.states() == ["running"]


# -- a PodGroup that changes -----------------------------------------------------------------------


def test_a_minimum_that_is_lowered_counts_for_what_waits(play: Play) -> None:
    play.put(a_pod_group("ring", 5), of_group("two", 2), of_group("one", 1))
    assert bound(play, "two", "one") == [0, 0]
    play.put(a_pod_group("ring", 3))
    assert bound(play, "two", "one") == [2, 1]


def test_a_minimum_that_is_raised_counts_for_what_waits(play: Play) -> None:
    play.put(one_pod("before", cpu="4"), a_pod_group("ring", 3), of_group("most", 3, cpu="3"))
    assert play.states() == ["running", "pending"]
    play.put(a_pod_group("ring", 4))
    play.end(*play.pods("before"))
    play.wait(SOON)
    assert bound(play, "most") == [0]
    play.put(of_group("one", 1))
    assert bound(play, "most", "one") == [3, 1]


@pytest.mark.parametrize("least", [1, 2, 9])
def test_what_runs_runs_on_whatever_its_pod_group_says_later(play: Play, least: int) -> None:
    play.put(a_pod_group("ring", 3), of_group("two", 2), of_group("one", 1))
    play.put(a_pod_group("ring", least))
    play.wait(SOON)
    assert bound(play, "two", "one") == [2, 1]
    play.restart()
    play.wait(SOON)
    assert bound(play, "two", "one") == [2, 1]
    assert play.states() == ["running"]
    play.end(*play.pods("two"), *play.pods("one"))
    assert play.states() == ["completed"]


def test_a_pod_group_that_is_deleted_is_waited_for(play: Play) -> None:
    group = a_pod_group("ring", 3)
    told = Told(play)
    play.put(group, of_group("two", 2))
    play.drop(group)
    play.put(of_group("one", 1))
    play.wait(3 * SOON)
    assert bound(play, "two", "one") == [0, 0], "neither starts alone"
    assert any("PodGroup ring was deleted" in each.note for each in told.events)
    play.put(group)
    assert bound(play, "two", "one") == [2, 1]


def test_what_runs_runs_on_when_its_pod_group_is_deleted(play: Play) -> None:
    group = a_pod_group("ring", 3)
    play.put(group, of_group("two", 2), of_group("one", 1))
    play.drop(group)
    play.wait(SOON)
    play.restart()
    play.wait(SOON)
    assert bound(play, "two", "one") == [2, 1]
    assert play.states() == ["running"]
    play.end(*play.pods("two"), *play.pods("one"))
    assert play.states() == ["completed"]
    play.drop(*play.cluster.jobs.values())
    assert not play.shared.model.groups


def test_a_group_that_is_half_bound_at_a_restart_is_finished_without_its_pod_group(
    play: Play,
) -> None:
    group = a_pod_group("ring", 3)
    play.cluster.put(group)
    play.cluster.put(of_group("two", 2))
    play.cluster.put(of_group("one", 1))
    while sum(bound(play, "two", "one")) < 1:
        play.step()
    play.cluster.drop(group)
    play.restart()
    play.wait(SOON)
    assert bound(play, "two", "one") == [2, 1]
    assert play.states() == ["running"]


def test_a_bare_pod_that_goes_before_its_group_starts_takes_the_others_back(play: Play) -> None:
    """A Job is a part of the group, too, and does not replace it."""
    play.meanwhile = lambda: play.cluster.delete_pod("uid-default-bare")
    pods = [one_pod(name, labels={LABEL: "ring"}) for name in ("bare", "other")]
    play.put(a_pod_group("ring", 3), of_group("one", 1), *pods)
    assert bound(play, "one", "other") == [0, 0]
    play.put(one_pod("late", labels={LABEL: "ring"}))
    assert bound(play, "one", "other", "late") == [1, 1, 1]


def test_nothing_is_left_of_a_group_whose_objects_are_all_deleted(play: Play) -> None:
    group = a_pod_group("ring", 5)
    play.put(group, of_group("two", 2), of_group("one", 1), one_pod("bare", labels={LABEL: "ring"}))
    play.drop(group)
    play.drop(*play.cluster.jobs.values(), *play.cluster.pods.values())
    play.wait(SOON)
    assert not play.shared.model.groups
    assert not play.shared.parts


# -- members that disagree -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "one", "other"),
    [(QUEUE, "default", "night"), (WALLTIME, "60s", "90s"), (GROUP_SIZE, "2", "3")],
)
def test_members_that_disagree_start_nothing_and_are_named(
    play: Play, key: str, one: str, other: str
) -> None:
    told = Told(play)
    size = {} if key == GROUP_SIZE else {GROUP_SIZE: "2"}
    first = one_pod("a", labels={GROUP: "ring", **size}, annotations={key: one})
    second = one_pod("b", labels={GROUP: "ring", **size}, annotations={key: other})
    play.put(first, second, one_pod("fine"))
    play.wait(SOON)
    assert bound(play, "a", "b", "fine") == [0, 0, 1]
    said = [each.note for each in told.events if key in each.note]
    assert said and "pod/a says" in said[0] and "pod/b says" in said[0]
    labels = {GROUP: "ring", GROUP_SIZE: "2"}
    same = replace(second.metadata, labels=labels, annotations={key: one})
    play.put(replace(second, metadata=same))
    assert bound(play, "a", "b") == [1, 1]


def test_a_member_that_says_nothing_agrees(play: Play) -> None:
    play.put(
        one_pod("a", group="ring", size=2),
        one_pod("b", group="ring", annotations={WALLTIME: "90s"}),
    )
    assert bound(play, "a", "b") == [1, 1]
    (job,) = play.shared.scheduler.jobs.values()
    assert job.walltime == 90


def test_jobs_that_disagree_are_named_and_wait(play: Play) -> None:
    told = Told(play)
    play.put(a_pod_group("ring", 3), of_group("two", 2, annotations={WALLTIME: "60s"}))
    play.put(of_group("one", 1, annotations={WALLTIME: "90s"}))
    play.wait(SOON)
    assert bound(play, "two", "one") == [0, 0]
    assert any("job/two says 60 s, job/one says 90 s" in each.note for each in told.events)
    play.patch("one", {"metadata": {"annotations": {WALLTIME: "60s"}}})
    assert bound(play, "two", "one") == [2, 1]


def test_a_group_that_runs_is_not_harmed_by_members_that_disagree_later(play: Play) -> None:
    play.put(one_pod("a", group="ring", size=2), one_pod("b", group="ring", size=2))
    play.put(changed(play.pods("a")[0], metadata={"annotations": {WALLTIME: "50s"}}))
    play.wait(SOON)
    assert bound(play, "a", "b") == [1, 1]
