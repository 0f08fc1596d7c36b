"""Holds, dependencies, begin times, priorities and the choice of a queue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fluxnetes.plane.api import Object
from tests.integration.controller.objects import PodMaker, a_gang, a_job, a_pod
from tests.integration.controller.space import Space, of_job
from tests.integration.controller.stage import Stage


def held(pod: PodMaker) -> PodMaker:
    return pod.annotated({"fluxnetes.io/hold": "true"})


# --- holds -------------------------------------------------------------------------------------


def test_a_job_on_hold_starts_when_the_hold_is_taken_away(space: Space) -> None:
    space.create(a_job("calm").annotated({"fluxnetes.io/hold": "true"}).queued())
    assert "hold" in space.until_state("calm-job", "held")["reason"]
    space.let_the_scheduler_act()
    assert space.get("Job", "calm")["spec"]["suspend"]
    space.annotate("Job", "calm", hold=None)
    space.until_job_bound("calm", 1)


def test_a_pod_on_hold_starts_when_the_hold_is_taken_away(space: Space) -> None:
    space.create(held(a_pod("calm")))
    space.let_the_scheduler_act()
    assert space.node_of("calm") == ""
    space.annotate("Pod", "calm", hold=None)
    space.until_bound("calm")


def test_a_group_is_held_by_any_of_its_pods(space: Space) -> None:
    first, second = a_gang("g", 2)
    space.create(first, held(second))
    space.until_state("g-group", "held")
    space.annotate("Pod", "g-1", hold="false")
    space.until_bound("g-0", "g-1")


def test_a_job_that_waits_can_be_held(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10))
    space.until_bound("first")
    space.create(a_job("next").with_cpu(10).queued())
    space.until_state("next-job", "pending")
    space.annotate("Job", "next", hold="true")
    space.until_state("next-job", "held")
    space.delete("Pod", "first")
    space.create(a_pod("other").with_cpu(10))
    space.until_bound("other")
    assert space.get("Job", "next")["spec"]["suspend"]


# --- dependencies ------------------------------------------------------------------------------


def after(kind: str, reference: str) -> dict[str, str]:
    return {f"fluxnetes.io/{kind}": reference}


def pods_of(space: Space, job: str) -> list[Object]:
    return [pod for pod in space.all("Pod").values() if of_job(pod) == job]


def test_afterok_waits_for_success(space: Space) -> None:
    space.create(a_job("prepare").running_for("2s"))
    space.create(a_job("train").annotated(after("afterok", "job/prepare")).queued())
    space.until_job_bound("prepare", 1)
    space.let_the_scheduler_act()
    assert space.get("Job", "train")["spec"]["suspend"]
    space.until_job_bound("train", 1)
    assert [pod["status"]["phase"] for pod in pods_of(space, "prepare")] == ["Succeeded"]


def test_afterok_of_a_failure_never_starts_and_says_so(space: Space) -> None:
    space.create(a_job("prepare").with_job(backoffLimit=0).running_for("1s").failing())
    space.create(a_job("train").annotated(after("afterok", "job/prepare")).queued())
    space.until_condition("prepare", "Failed")
    assert "and that failed" in space.until_state("train-job", "rejected")["reason"]
    assert space.get("Job", "train")["spec"]["suspend"]


def test_afterany_waits_for_the_end_however_it_was(space: Space) -> None:
    space.create(a_job("prepare").with_job(backoffLimit=0).running_for("1s").failing())
    space.create(a_job("train").annotated(after("afterany", "job/prepare")).queued())
    space.until_job_bound("train", 1)
    assert [pod["status"]["phase"] for pod in pods_of(space, "prepare")] == ["Failed"]


def test_after_waits_for_the_start(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10))
    space.until_bound("first")
    space.create(a_gang("g", 1, cpu=10))
    space.until_waits("g-0")
    space.create(a_job("beside").annotated(after("after", "group/g")).queued())
    space.until_state("beside-job", "pending")
    assert space.get("Job", "beside")["spec"]["suspend"]
    space.delete("Pod", "first")
    space.until_bound("g-0")
    space.until_job_bound("beside", 1)


def test_a_dependency_on_what_is_not_there_yet_waits_for_it(space: Space) -> None:
    space.create(a_pod("train").annotated(after("afterany", "job/prepare")))
    space.until_one("Pod", "train", lambda pod: "job/prepare" in str(pod["status"]))
    space.create(a_job("prepare").running_for("1s"))
    space.until_bound("train")
    assert [pod["status"]["phase"] for pod in pods_of(space, "prepare")] == ["Succeeded"]


def test_names_of_other_namespaces_do_not_count(stage: Stage, space: Space) -> None:
    other = stage.open_space()
    other.create(a_job("prepare").running_for("100ms"))
    other.until_state("prepare-job", "completed")
    space.create(a_pod("train").annotated(after("afterok", "job/prepare")))
    space.let_the_scheduler_act()
    assert space.node_of("train") == ""


# --- when, and in which order --------------------------------------------------------------------


def test_a_job_does_not_start_before_its_time(space: Space) -> None:
    begin = datetime.now(UTC) + timedelta(seconds=3)
    text = begin.strftime("%Y-%m-%dT%H:%M:%SZ")
    space.create(a_pod("later").in_group("g", 1).annotated({"fluxnetes.io/begin": text}))
    space.let_the_scheduler_act()
    assert space.node_of("later") == ""
    space.until_bound("later")
    assert space.until_state("g-group", "running")["start"] >= text


def make_class(stage: Stage, space: Space, value: int = 1000) -> str:
    """A priority class of this test; its name."""
    name = f"urgent-{space.namespace}"
    urgent = {"metadata": {"name": name}, "value": value}
    stage.api.create("/apis/scheduling.k8s.io/v1/priorityclasses", urgent)
    return name


def test_a_pod_of_a_higher_priority_class_goes_first(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    name = make_class(stage, space)
    space.create(a_pod("first").with_cpu(10))
    space.until_bound("first")
    space.create(a_pod("plain").with_cpu(10))
    space.until_waits("plain")
    space.create(a_pod("urgent").with_cpu(10).with_spec(priorityClassName=name))
    space.until_waits("urgent")
    space.delete("Pod", "first")
    space.until_bound("urgent")
    assert space.node_of("plain") == ""


def test_a_job_goes_first_by_the_priority_class_of_its_template(stage: Stage, space: Space) -> None:
    """It has no pods yet whose priority the server would have looked up."""
    stage.leave_open("node-0")
    name = make_class(stage, space)
    space.create(a_pod("first").with_cpu(10))
    space.until_bound("first")
    space.create(a_job("plain").with_cpu(10).queued())
    space.until_state("plain-job", "pending")
    space.create(a_job("urgent").with_cpu(10).with_spec(priorityClassName=name).queued())
    space.until_state("urgent-job", "pending")
    space.delete("Pod", "first")
    space.until_job_bound("urgent", 1)
    assert space.get("Job", "plain")["spec"]["suspend"]


def test_a_job_waits_for_its_priority_class(stage: Stage, space: Space) -> None:
    name = f"urgent-{space.namespace}"
    space.create(a_job("early").with_spec(priorityClassName=name).queued())
    space.until_event("early", "FailedScheduling", f"there is no PriorityClass {name}")
    assert space.get("Job", "early")["spec"]["suspend"]
    make_class(stage, space)
    space.until_job_bound("early", 1)


# --- queues ------------------------------------------------------------------------------------


def test_a_job_waits_in_the_queue_that_it_chose(space: Space) -> None:
    space.create(a_job("quick").annotated({"fluxnetes.io/queue": "short"}).running_for("1h"))
    status = space.until_state("quick-job", "running")
    assert (status["queue"], status["walltime"]) == ("short", 300)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fluxnetes.io/queue": "secret"}, "there is no queue secret"),
        ({"fluxnetes.io/queue": "short", "fluxnetes.io/walltime": "1h"}, "queue short allows 600"),
    ],
    ids=["unknown", "too-long"],
)
def test_what_a_queue_does_not_take_is_rejected_with_the_reason(
    space: Space, options: dict[str, str], words: str
) -> None:
    space.create(a_job("wrong").annotated(options).queued())
    assert words in space.until_state("wrong-job", "rejected")["reason"]
    space.until_event("wrong", "Rejected", words)
    assert space.get("Job", "wrong")["spec"]["suspend"]


# --- walltimes ---------------------------------------------------------------------------------

WALLTIMES = {
    "annotation": (a_job("j").with_walltime("1h30m"), 5400),
    "annotation-on-the-template": (
        a_job("j").on_template({"fluxnetes.io/walltime": "00:02:00"}),
        120,
    ),
    "deadline-of-the-job": (a_job("j").with_job(activeDeadlineSeconds=90), 90),
    "deadline-of-its-pods": (a_job("j").with_spec(activeDeadlineSeconds=80), 80),
    "annotation-before-deadline": (
        a_job("j").with_job(activeDeadlineSeconds=90).with_walltime(60),
        60,
    ),
    "default-of-the-queue": (a_job("j").annotated({"fluxnetes.io/queue": "short"}), 300),
    "none": (a_job("j"), None),
}


@pytest.mark.parametrize("kind", WALLTIMES)
def test_where_a_walltime_comes_from(space: Space, kind: str) -> None:
    job, seconds = WALLTIMES[kind]
    space.create(job.running_for("1h"))
    assert space.until_state("j-job", "running").get("walltime") == seconds


def test_a_group_lasts_as_long_as_the_longest_deadline_of_its_pods(space: Space) -> None:
    first, second = a_gang("g", 2)
    space.create(first.with_spec(activeDeadlineSeconds=50))
    space.create(second.with_spec(activeDeadlineSeconds=70))
    assert space.until_state("g-group", "running")["walltime"] == 70
