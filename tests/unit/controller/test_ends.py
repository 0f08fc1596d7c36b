"""Jobs end as Kubernetes says, when it says so, and pods that should have ended are deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from fluxnetes.cluster.labels.names import AFTER_OK, GROUP, GROUP_SIZE, INCOMPLETE, WALLTIME
from fluxnetes.common.reasons import Reason
from fluxnetes.kube.objects.base import Condition
from fluxnetes.queue.events import Cancel
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.fake_executor import Luck
from tests.unit.controller.play import TIMEOUTS, Play

LATE = int(TIMEOUTS.forced_delete) + 3
"""Seconds after which pods that should have ended are deleted."""


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


def test_a_job_that_is_cancelled_while_its_user_suspends_it_is_cancelled(play: Play) -> None:
    play.put(a_job("train"))
    play.wait(2)
    play.cluster.stop_time = 3
    play.patch("train", {"spec": {"suspend": True}})
    play.shared.put(Cancel(1, Reason.from_text("enough")))
    play.wait(6)
    assert play.states() == ["cancelled"]


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


# -- pods without a workload that are deleted -----------------------------------------------------


def killed(play: Play, *names: str) -> None:
    """A user deletes pods one after the other. Each is seen to have ended before it is gone."""
    for name in names:
        (pod,) = [each for each in play.pods("ring") if each.metadata.name == name]
        going = replace(pod.metadata, deletion_timestamp=play.cluster.moment)
        play.put(replace(pod, metadata=going, status=replace(pod.status, phase="Failed")))
        play.drop(play.cluster.pods[pod.metadata.uid])


def ring_of(play: Play, *names: str, **more: Any) -> None:
    for name in names:
        play.cluster.put(one_pod(name, group="ring", size=len(names), **more))
    play.settle()
    play.wait(1)
    assert play.states() == ["running"]


def test_pods_that_are_deleted_one_by_one_are_a_group_that_was_cancelled(play: Play) -> None:
    ring_of(play, "a", "b", "c")
    killed(play, "a", "b", "c")
    assert play.states() == ["cancelled"]


def test_a_group_of_which_some_succeeded_and_some_were_deleted_has_failed(play: Play) -> None:
    ring_of(play, "a", "b")
    play.end(play.pods("a")[0])
    killed(play, "b")
    assert play.states() == ["failed"]


def test_pods_that_kubernetes_deletes_with_their_node_have_failed(play: Play) -> None:
    ring_of(play, "a", "b")
    for pod in play.pods("ring"):
        lost = Condition("DisruptionTarget", "True", "DeletionByPodGC")
        dead = replace(pod.status, phase="Failed", conditions=(lost,))
        gone = replace(pod.metadata, deletion_timestamp=play.cluster.moment)
        play.put(replace(pod, metadata=gone, status=dead))
        play.drop(play.cluster.pods[pod.metadata.uid])
    assert play.states() == ["failed"]


def test_pods_that_their_user_deleted_before_their_walltime_was_over_are_cancelled(
    play: Play,
) -> None:
    """They take longer to go than their walltime lasts."""
    play.cluster.stop_time = 8
    ring_of(play, "a", "b", annotations={WALLTIME: "5s"})
    for pod in play.pods("ring"):
        play.cluster.delete_pod(pod.metadata.uid)
    play.wait(12)
    assert play.states() == ["cancelled"]


@pytest.mark.parametrize("is_new_term", [True, False])
def test_a_pod_that_outlived_its_node_and_is_then_deleted_is_cancelled(
    play: Play, is_new_term: bool
) -> None:
    """Its job lost the node, which came back with the pod on it."""
    play.cluster.outlives = 100
    ring_of(play, "a")
    (pod,) = play.pods("ring")
    node = play.cluster.nodes[pod.spec.node_name]
    play.drop(node)
    play.put(node)
    if is_new_term:
        play.cluster.now += 5
        play.restart()
        play.settle()
    assert play.states() == ["ending"]
    play.wait(2)
    killed(play, "a")
    assert play.states() == ["cancelled"]


def test_pods_that_ended_before_their_leader_could_write_that_they_started(play: Play) -> None:
    """The next leader finds one of them, and cannot know how the other ended."""
    play.executor.luck.extend([Luck.GOOD, Luck.SLOW])
    for name in ("a", "b"):
        play.cluster.put(one_pod(name, group="ring", size=2))
    while not all(pod.spec.node_name for pod in play.cluster.pods.values()):
        play.look()
        play.executor.work()
    a, b = play.cluster.pods.values()
    play.cluster.end_pod(a.metadata.uid, "Succeeded")
    play.cluster.end_pod(b.metadata.uid, "Succeeded")
    play.cluster.drop(play.cluster.pods[b.metadata.uid])
    play.restart()
    play.wait(3)
    assert play.states() == ["cancelled"]


def test_a_group_of_which_one_job_was_deleted_and_the_other_completed_is_cancelled(
    play: Play,
) -> None:
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    play.put(a_job("a", labels=ring), a_job("b", labels=ring))
    play.wait(2)
    (deleted,) = [job for job in play.cluster.jobs.values() if job.metadata.name == "a"]
    play.cluster.delete_job(deleted.metadata.uid)
    play.wait(3)
    play.end(*play.pods("b"))
    play.wait(2)
    assert play.states() == ["cancelled"]


# -- jobs whose objects are gone -------------------------------------------------------------------


@pytest.mark.parametrize(("ended", "state"), [(True, "running"), (False, "rejected")])
def test_a_job_may_depend_on_one_that_ended_and_went_in_an_earlier_term(
    play: Play, ended: bool, state: str
) -> None:
    """Only the store knows of it."""
    play.put(a_job("prepare"))
    play.wait(1)
    if ended:
        play.end(*play.pods("prepare"))
        play.wait(1)
    (job,) = play.cluster.jobs.values()
    play.cluster.delete_job(job.metadata.uid)
    play.wait(5)
    play.restart()
    play.put(a_job("train", annotations={AFTER_OK: "job/prepare"}))
    play.wait(2)
    assert play.states()[-1] == state


def test_all_parts_of_a_job_end_as_one_though_only_one_of_them_has_timed_out(play: Play) -> None:
    """Kubernetes was asked to end the Job at its deadline, and will not let it complete."""
    play.put(a_job("train", pods=1, completions=2, annotations={WALLTIME: "5s"}))
    play.wait(3)
    play.patch("train", {"spec": {"parallelism": 2}})
    play.wait(1)
    without_job_controller(play)
    play.wait(2)
    assert play.states() == ["ending", "running"]
    play.end(*play.pods("train"))
    assert play.states() == ["ending", "gathering"]
    (job,) = play.cluster.jobs.values()
    failed = Condition("Failed", "True", "DeadlineExceeded")
    play.put(replace(job, status=replace(job.status, conditions=(failed,))))
    assert play.states() == ["timed out", "timed out"]


# -- pods that do not end -------------------------------------------------------------------------


def without_job_controller(play: Play) -> None:
    play.cluster.control = lambda: None  # type: ignore[method-assign]


def test_pods_that_run_on_after_their_walltime_are_deleted(play: Play) -> None:
    play.put(a_job("train", annotations={WALLTIME: "5s"}))
    play.wait(3)
    without_job_controller(play)
    play.wait(4)
    assert len(play.pods("train")) == 1, "Kubernetes has time to end it"
    play.wait(LATE)
    assert play.pods("train") == []


def test_pods_are_not_deleted_at_once_because_their_walltime_ended_before_the_term(
    play: Play,
) -> None:
    play.put(a_job("train", annotations={WALLTIME: "5s"}))
    play.wait(3)
    without_job_controller(play)
    play.cluster.now += 100
    play.restart()
    play.settle()
    assert [pod.metadata.deletion_timestamp for pod in play.pods("train")] == [None]
    play.wait(LATE)
    assert play.pods("train") == []


def test_a_gang_that_fails_is_ended_though_its_lost_pod_counts_as_no_failure() -> None:
    """A podFailurePolicy may ignore pods that were evicted: then no backoffLimit is exceeded."""
    with Play(machine("n1"), machine("n2")) as play:
        play.put(a_job("train", pods=2, cpu="4", annotations={INCOMPLETE: "fail"}))
        play.wait(2)
        play.put(machine("n1", cordoned=True))
        play.drop(next(pod for pod in play.pods("train") if pod.spec.node_name == "n1"))
        play.wait(int(TIMEOUTS.incomplete) + LATE + 4)
        assert play.pods("train") == []
        assert set(play.states()) == {"failed"}


def test_a_group_that_fails_before_all_of_it_runs_fails_its_jobs_too() -> None:
    """The pod cannot be bound again, and of the Job no pod has failed."""
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    with Play(machine("n1", cpu="1"), machine("n2")) as play:
        play.cluster.put(a_job("launcher", cpu="2", labels=ring))
        play.cluster.put(one_pod("worker", labels=ring))
        play.executor.luck.extend([Luck.STUCK, Luck.GOOD])
        for _ in range(4):
            play.step()
        assert play.where("worker") == ["n1"]
        play.drop(play.cluster.nodes["n2"])
        play.wait(LATE + 2)
        assert play.states() == ["failed"]
        (job,) = play.cluster.jobs.values()
        assert job.end is not None and job.end.type == "Failed"


# -- groups that come again under one label --------------------------------------------------------


def test_a_group_of_jobs_comes_again_beside_the_jobs_that_have_ended(play: Play) -> None:
    for time, walltime in enumerate(("20s", "40s")):
        options = {WALLTIME: walltime}
        for name in (f"a{time}", f"b{time}"):
            ring = {GROUP: "ring", GROUP_SIZE: "2"}
            play.cluster.put(a_job(name, labels=ring, annotations=options))
        play.wait(2)
        assert play.states() == ["completed"] * time + ["running"]
        play.end(*play.pods(f"a{time}"), *play.pods(f"b{time}"))
        play.wait(2)
        if time:
            assert play.states() == ["completed"] * 2
        else:
            play.restart()
    walltimes = [job.walltime for job in play.store.keeper.jobs.values()]
    assert sorted(w for w in walltimes if w is not None) == [20, 40]


def test_jobs_of_a_group_that_was_cancelled_are_not_queued_again(play: Play) -> None:
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    play.put(a_job("a", labels=ring), a_job("b", labels=ring))
    play.wait(2)
    play.shared.put(Cancel(1, Reason.from_text("enough")))
    play.wait(5)
    play.restart()
    play.wait(40)
    assert [job.state.value for job in play.store.keeper.jobs.values()] == ["cancelled"]
    assert play.controller.sweep.repairs == 0


def cancelled_then_again(play: Play) -> None:
    """A group of two Jobs is cancelled, and two other Jobs run as the next group of its label."""
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    play.put(a_job("a", labels=ring), a_job("b", labels=ring))
    play.wait(2)
    play.shared.put(Cancel(1, Reason.from_text("enough")))
    play.wait(5)
    play.put(a_job("c", labels=ring), a_job("d", labels=ring))
    play.wait(2)
    assert play.states() == ["cancelled", "running"]


def test_jobs_that_an_earlier_group_left_suspended_say_nothing_about_the_next(play: Play) -> None:
    cancelled_then_again(play)
    play.end(*play.pods("c"), *play.pods("d"))
    play.wait(40)
    assert play.states() == ["cancelled", "completed"]
    assert [job.spec.suspend for job in play.cluster.jobs.values()][:2] == [True, True]
    assert play.controller.sweep.repairs == 0


def test_that_a_job_of_an_earlier_group_is_deleted_does_not_cancel_the_next(play: Play) -> None:
    cancelled_then_again(play)
    play.drop(*[job for job in play.cluster.jobs.values() if job.metadata.name == "a"])
    play.end(*play.pods("c"), *play.pods("d"))
    play.wait(2)
    assert play.states() == ["cancelled", "completed"]


def test_a_job_of_a_group_that_waits_has_its_deadline_stand_still_the_second_time(
    play: Play,
) -> None:
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    play.put(one_pod("a", labels=ring), one_pod("b", labels=ring))
    play.wait(2)
    play.end(*play.pods("a"), *play.pods("b"))
    plain: dict[str, Any] = {"suspended": False, "queued": False, "activeDeadlineSeconds": 5}
    play.put(a_job("second", cpu="5", labels=ring, **plain), one_pod("c", labels=ring))
    play.wait(10)
    (job,) = play.cluster.jobs.values()
    assert job.spec.suspend and job.end is None
