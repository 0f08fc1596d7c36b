"""How groups end, and that what they held is there for others at once."""

from __future__ import annotations

import pytest

from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.recording import Moment, recorded
from tests.integration.controller.space import Space, condition, node_of, of_job
from tests.integration.controller.stage import Stage
from tests.integration.controller.waiting import bound_of, wait_behind


def test_a_pod_that_ends_gives_back_its_share_while_others_of_its_group_run(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    short, long = a_gang("g", 2, cpu=8)
    space.create(short.running_for("3s"), long.running_for("1h"))
    space.until_bound("g-0", "g-1")
    wait_behind(space, cpu=8)
    space.until_bound("behind")
    assert space.get("Pod", "g-1")["status"]["phase"] == "Running"
    assert space.until_state("g-group", "running")


def test_a_job_that_completes_leaves_its_room_to_the_next(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_job("first").of(2).with_cpu(8).running_for("3s"))
    space.until_job_bound("first", 2)
    wait_behind(space)
    space.until_condition("first", "Complete")
    space.until_bound("behind")
    assert space.until_state("first-job", "completed")["end"]


def test_a_group_with_a_pod_that_fails_has_failed(stage: Stage, space: Space) -> None:
    first, second = a_gang("g", 2)
    space.create(first.running_for("1s").failing(3), second.running_for("1s"))
    status = space.until_state("g-group", "failed")
    assert status["reason"] == "pod g-0 failed: Failed"
    assert condition(space.get("FluxJob", "g-group"), "Failed")["status"] == "True"


def test_the_room_of_a_pod_that_failed_is_kept_for_its_retry(stage: Stage, space: Space) -> None:
    """The Job controller takes ten seconds to make another pod."""
    stage.leave_open("node-0")
    space.create(a_job("flaky").with_cpu(10).with_job(backoffLimit=1).running_for("1s").failing())
    space.until_job_bound("flaky", 1)
    wait_behind(space)
    space.until("Pod", lambda pods: len(bound_of(pods, "flaky")) == 2)
    assert space.node_of("behind") == ""
    space.until_condition("flaky", "Failed")
    space.until_state("flaky-job", "failed")
    space.until_bound("behind")


def test_room_is_not_kept_for_ever_for_a_pod_that_is_never_made(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    quotas = f"/api/v1/namespaces/{space.namespace}/resourcequotas"
    with stage.with_timeouts(replacement_pod=2):
        space.create(a_job("stuck").with_cpu(10).running_for("1h"))
        (pod,) = space.until_job_bound("stuck", 1)
        wait_behind(space)
        space.api.create(quotas, {"metadata": {"name": "no-more"}, "spec": {"hard": {"pods": "1"}}})
        space.delete("Pod", pod["metadata"]["name"])
        space.until_bound("behind")


def test_the_room_of_a_job_that_has_failed_for_good_is_free_at_once(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    job = a_job("bad").of(2).with_cpu(8).with_job(backoffLimit=0)
    space.create(job.running_for("3s").failing())
    space.until_job_bound("bad", 2)
    wait_behind(space)
    space.until_bound("behind")
    space.until_state("bad-job", "failed")


def test_more_completions_than_pods_run_one_after_the_other_in_the_same_room(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    job = a_job("chain").with_job(parallelism=1, completions=3).with_cpu(10)
    space.create(job.running_for("1s"))
    space.until_job_bound("chain", 1)
    wait_behind(space)
    space.until_condition("chain", "Complete")
    space.until_bound("behind")
    ran = [pod for pod in space.all("Pod").values() if of_job(pod) == "chain"]
    bound = {condition(pod, "PodScheduled")["lastTransitionTime"] for pod in ran}
    assert len(ran) == 3
    behind = condition(space.get("Pod", "behind"), "PodScheduled")["lastTransitionTime"]
    assert behind >= max(bound)


# --- deletion ----------------------------------------------------------------------------------


def test_a_job_that_is_deleted_leaves_its_room(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_job("first").of(2).with_cpu(8).running_for("1h"))
    space.until_job_bound("first", 2)
    wait_behind(space)
    space.delete("Job", "first")
    space.until_bound("behind")


def test_a_group_that_is_deleted_while_it_waits_is_out_of_the_queue(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10))
    space.until_bound("first")
    space.create(a_gang("g", 1, cpu=16))
    space.until_waits("g-0")
    # It would delay the head of the queue, which is not promised anything before `first` ends.
    space.create(a_pod("small").with_cpu(6))
    space.until_waits("small")
    space.delete("Pod", "g-0")
    space.until_bound("small")
    assert space.until_state("g-group", "cancelled")["submitStatus"] == "statusCancel"


def test_a_pod_that_takes_its_time_to_stop_holds_its_room_until_then(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    slow = a_pod("slow").with_cpu(10).with_spec(terminationGracePeriodSeconds=30)
    space.create(slow.stopping_for("2s"))
    space.until_phase("Running", "slow")
    wait_behind(space)
    with recorded(stage, space) as moments:
        space.delete("Pod", "slow")
        space.until_bound("behind")
    assert not any(is_running(m, "slow") and node_of(m["behind"]) for m in moments)


def is_running(moment: Moment, name: str) -> bool:
    return name in moment and moment[name]["status"]["phase"] == "Running"


# --- time is over ------------------------------------------------------------------------------


def test_pods_whose_walltime_is_over_are_ended_and_can_be_looked_at(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    space.create([pod.with_walltime(3) for pod in a_gang("g", 2, cpu=8)])
    space.until_bound("g-0", "g-1")
    wait_behind(space)
    space.until_bound("behind")
    for pod in space.until_phase("Failed", "g-0", "g-1"):
        assert pod["status"]["reason"] == "DeadlineExceeded"
    status = space.until_state("g-group", "timed out")
    assert status["walltime"] == 3


def test_a_job_whose_walltime_is_over_has_failed_by_its_deadline(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    space.create(a_job("long").of(2).with_cpu(8).with_walltime(3).running_for("1h"))
    space.until_job_bound("long", 2)
    wait_behind(space)
    assert space.until_condition("long", "Failed")["reason"] == "DeadlineExceeded"
    space.until_bound("behind")
    space.until_state("long-job", "timed out")


@pytest.mark.parametrize("where", ["job", "template"])
def test_kubernetes_own_deadline_is_the_walltime(stage: Stage, space: Space, where: str) -> None:
    stage.leave_open("node-0")
    job = a_job("late").with_cpu(10).with_job(backoffLimit=0).running_for("1h")
    if where == "job":
        job.with_job(activeDeadlineSeconds=3)
    else:
        job.with_spec(activeDeadlineSeconds=3)
    space.create(job)
    assert space.until_state("late-job", "running")["walltime"] == 3
    space.create(a_pod("behind").with_cpu(10))
    space.until_bound("behind")
    space.until_condition("late", "Failed")
