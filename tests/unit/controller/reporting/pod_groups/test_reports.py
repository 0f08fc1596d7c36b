"""Which PodGroups are written: those of groups that Fluxnetes schedules, as long as they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fluxnetes.controller.reporting.pod_groups.view import (
    PodGroupApi,
    PodGroupKey,
    PodGroupView,
    keys_of,
)
from fluxnetes.kube.objects.podgroups import NativePodGroup, PodGroup
from fluxnetes.queue.states import JobState
from tests.unit.cluster.builders import (
    a_job,
    a_native_pod_group,
    a_pod_group,
    machine,
    one_pod,
)
from tests.unit.controller.play import Play

LABEL = "scheduling.x-k8s.io/pod-group"
PLUGINS = PodGroupKey(PodGroupApi.PLUGINS, "default", "ring")
NATIVE = PodGroupKey(PodGroupApi.NATIVE, "default", "ring")


@pytest.fixture
def play() -> Iterator[Play]:
    """Two nodes of four cpu."""
    with Play(machine("n1"), machine("n2")) as play:
        yield play


def exists(play: Play, group: PodGroup | NativePodGroup) -> None:
    """A PodGroup is seen."""
    is_native = isinstance(group, NativePodGroup)
    known: Any = play.watchers.native_pod_groups if is_native else play.watchers.pod_groups
    next(each for each, _ in play.watchers._handlers if each.objects is known)._cache.objects[
        group.key
    ] = group
    play.watchers.model.put_pod_group(group)


def view(play: Play, key: PodGroupKey = PLUGINS) -> PodGroupView:
    """What was last said of a PodGroup."""
    play.wait(2)
    return play.controller.reporter.reports.pod_groups._wanted[key].view


def ring(name: str, **more: Any) -> Any:
    return one_pod(name, labels={LABEL: "ring"}, **more)


def test_a_group_that_gathers_says_what_is_missing(play: Play) -> None:
    exists(play, a_pod_group("ring", 2))
    play.put(ring("a"))
    seen = view(play)
    assert (seen.state, seen.pods) == (None, 1)
    assert seen.reason == "Gathering: waits: 1 of the 2 pods of group default/ring exist"


def test_pods_are_followed_until_they_have_ended(play: Play) -> None:
    exists(play, a_pod_group("ring", 2))
    pods = [ring("a"), ring("b")]
    play.put(*pods)
    seen = view(play)
    assert (seen.state, seen.bound, seen.running) == (JobState.RUNNING, 2, 2)
    play.end(*play.pods("a"), *play.pods("b"))
    seen = view(play)
    assert (seen.state, seen.live, seen.succeeded) == (JobState.COMPLETED, 0, 2)
    play.drop(*pods)
    play.wait(2)
    wanted = play.controller.reporter.reports.pod_groups._wanted[PLUGINS]
    assert wanted.is_last and wanted.view == PodGroupView()


def test_a_group_that_waits_in_the_queue_says_why(play: Play) -> None:
    exists(play, a_native_pod_group("ring", 2))
    play.put(a_job("all", pods=2, cpu="4"))
    group: Any = {"schedulingGroup": {"podGroupName": "ring"}}
    play.put(one_pod("a", cpu="4", **group), one_pod("b", cpu="4", **group))
    seen = view(play, NATIVE)
    assert seen.state is JobState.PENDING
    assert seen.reason.startswith("Resources: ") and not seen.is_refused
    play.end(*play.pods("all"))
    seen = view(play, NATIVE)
    assert (seen.bound, seen.reason) == (2, "")


def test_a_group_that_is_refused_says_so(play: Play) -> None:
    exists(play, a_pod_group("ring", 1))
    play.put(ring("a", resourceClaims=[{"name": "c"}]))
    seen = view(play)
    assert seen.is_refused and "resourceClaims" in seen.reason


def test_jobs_that_are_gangs_of_their_own_add_up_in_the_pod_group_that_they_name(
    play: Play,
) -> None:
    exists(play, a_pod_group("ring", 2))
    for name in ("one", "two"):
        play.put(a_job(name, pods=2, labels={LABEL: "ring"}))
    play.wait(2)
    keys = {keys_of(group) for group in play.shared.model.groups.values()}
    assert keys == {(PLUGINS,)}
    seen = view(play)
    assert (seen.pods, seen.running) == (4, 4)


def test_a_later_group_of_the_name_begins_anew(play: Play) -> None:
    exists(play, a_pod_group("ring", 2))
    play.put(ring("a"), ring("b"))
    play.end(*play.pods("a"), *play.pods("b"))
    assert view(play).state is JobState.COMPLETED
    play.put(ring("c"))
    seen = view(play)
    assert (seen.state, seen.pods, seen.succeeded) == (None, 1, 0)
    play.put(ring("d"))
    seen = view(play)
    assert (seen.state, seen.running) == (JobState.RUNNING, 2)


def test_a_pod_group_that_comes_after_the_job_that_names_it_is_found(play: Play) -> None:
    play.put(a_job("one", pods=2, labels={LABEL: "ring"}))
    play.wait(2)
    exists(play, a_pod_group("ring", 2))
    assert view(play).running == 2


def test_the_pods_of_other_schedulers_are_not_spoken_for(play: Play) -> None:
    exists(play, a_pod_group("ring", 1))
    play.put(ring("a", scheduler="default-scheduler"))
    play.wait(2)
    assert play.controller.reporter.reports.pod_groups._wanted == {}


def test_after_a_restart_the_same_is_said_of_what_runs_and_of_what_has_ended(play: Play) -> None:
    exists(play, a_pod_group("ring", 2))
    play.put(ring("a"), ring("b"))
    before = view(play)
    play.restart()
    exists(play, a_pod_group("ring", 2))
    assert view(play) == before
    play.end(*play.pods("a"), *play.pods("b"))
    before = view(play)
    play.restart()
    exists(play, a_pod_group("ring", 2))
    after = view(play)
    assert (after.pods, after.succeeded) == (before.pods, before.succeeded) == (2, 2)


def test_a_group_of_our_labels_alone_costs_nothing(play: Play) -> None:
    play.put(one_pod("a", group="g", size=1), one_pod("b"), a_job("train", pods=2))
    play.wait(2)
    assert play.controller.reporter.reports.pod_groups._wanted == {}
    assert play.controller.reporter._pod_groups._absent == set()


def test_a_native_pod_group_is_written_though_its_pods_name_it_in_another_dialect(
    play: Play,
) -> None:
    exists(play, a_native_pod_group("ring", 2))
    play.put(ring("a"), ring("b"))
    assert view(play, NATIVE).state is JobState.RUNNING
