"""Running work is not harmed: nodes shrink, deadlines wait, gangs lose pods, walltimes change."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.labels.names import INCOMPLETE, QUEUED, WALLTIME
from fluxnetes.plane.api import Object
from fluxnetes.plane.nodes import NODES, NodeShape
from tests.integration.controller.objects import a_job, a_pod
from tests.integration.controller.space import Space, Things, node_of, of_job
from tests.integration.controller.stage import Stage
from tests.integration.controller.waiting import bound_of, wait_behind

GPU = "nvidia.com/gpu"

# --- nodes shrink ------------------------------------------------------------------------------


def set_gpus(stage: Stage, node: str, gpus: int) -> None:
    """What a kubelet reports when devices fail."""
    stage.api.patch(f"{NODES}/{node}/status", {"status": {"allocatable": {GPU: str(gpus)}}})


def test_a_gang_outlives_a_device_that_fails_also_across_a_restart(
    stage: Stage, space: Space
) -> None:
    stage.add_node("gpu-0", NodeShape(others={GPU: "2"}))
    stage.leave_open("gpu-0")
    space.create(a_job("train").of(2).asking_for_extended(GPU, 1).running_for("1h"))
    before = {pod["metadata"]["uid"] for pod in space.until_job_bound("train", 2)}
    space.until_state("train-job", "running")
    set_gpus(stage, "gpu-0", 1)
    # A foreign pod that holds no device makes the controller count the node's usage again.
    space.create(a_pod("daemon").of_others().on("gpu-0"))
    space.create(a_pod("later").asking_for_extended(GPU, 1))
    space.until_waits("later")
    stage.controller.kill()
    stage.controller.start()
    space.create(a_pod("signal").of_others().on("gpu-0"))
    space.create(a_pod("more").with_cpu(1))
    space.until_bound("more")
    set_gpus(stage, "gpu-0", 2)
    space.until_waits("later")
    after = {pod["metadata"]["uid"] for pod in space.until_job_bound("train", 2)}
    assert after == before


# --- deadlines ---------------------------------------------------------------------------------


def test_the_deadline_of_a_job_does_not_run_while_it_waits(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(16).running_for("1h"))
    space.until_bound("first")
    deadline = 4
    job = a_job("late").with_cpu(16).with_job(activeDeadlineSeconds=deadline, backoffLimit=0)
    space.create(job.running_for("1h"))
    suspended = space.until_one("Job", "late", lambda job: bool(job["spec"].get("suspend")))
    assert suspended["metadata"]["annotations"][QUEUED] == "true"
    space.until_event("late", "Suspended")

    def without_start(job: Object) -> bool:
        return not job["status"].get("startTime")

    space.until_one("Job", "late", without_start)
    space.delete("Pod", "first")
    space.until_job_bound("late", 1)
    resumed = space.get("Job", "late")
    assert resumed["spec"]["activeDeadlineSeconds"] == deadline
    assert QUEUED not in resumed["metadata"].get("annotations", {})
    assert space.until_condition("late", "Failed")["reason"] == "DeadlineExceeded"
    assert space.until_state("late-job", "timed out")["walltime"] == deadline


# --- gangs that lose pods ----------------------------------------------------------------------


def drain(stage: Stage, space: Space, job: str, node: str) -> None:
    """Cordon a node and evict the pods of a Job there."""
    stage.cordon(node)
    for name, pod in space.all("Pod").items():
        if of_job(pod) == job and node_of(pod) == node:
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            space.api.create(f"{space.path('Pod', name)}/eviction", eviction)


@pytest.mark.parametrize("action", ["wait", "requeue", "fail"])
def test_a_gang_that_is_drained_without_capacity_does_what_it_asked_for(
    stage: Stage, space: Space, action: str
) -> None:
    stage.leave_open("node-0", "node-1")
    asked = {INCOMPLETE: action}
    space.create(a_job("gang").of(2).with_cpu(16).annotated(asked).running_for("1h"))
    space.until_job_bound("gang", 2)
    space.until_state("gang-job", "running")
    wait_behind(space)
    drain(stage, space, "gang", "node-1")
    space.until_event("gang", "Incomplete")
    if action == "wait":
        incomplete = space.until_one(
            "FluxJob", "gang-job", lambda each: each["status"].get("reasonCode") == "Incomplete"
        )
        assert incomplete["status"]["state"] == "running"
        stage.uncordon("node-1")
        nodes = {node_of(pod) for pod in space.until_job_bound("gang", 2)}
        assert nodes == {"node-0", "node-1"}
        assert space.node_of("behind") == "", "what is missing goes first"
        return
    space.until_bound("behind")
    if action == "fail":
        assert space.until_condition("gang", "Failed")["reason"] == "BackoffLimitExceeded"
        space.until_state("gang-job", "failed")
        return
    space.until_state("gang-job", "pending")
    space.delete("Pod", "behind")
    stage.uncordon("node-1")

    def is_whole(pods: Things) -> bool:
        live = [name for name in bound_of(pods, "gang") if not is_over(pods[name])]
        return len(live) == 2

    space.until("Pod", is_whole)
    space.until_state("gang-job", "running")


def is_over(pod: Object) -> bool:
    is_going = "deletionTimestamp" in pod["metadata"]
    return is_going or pod["status"]["phase"] in ("Succeeded", "Failed")


# --- walltimes ---------------------------------------------------------------------------------


def test_a_running_job_gets_the_time_that_it_asks_for_unless_that_breaks_a_promise(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    space.create(a_job("long").with_cpu(16).with_walltime(600).running_for("1h"))
    space.until_job_bound("long", 1)
    space.until_state("long-job", "running")
    space.patch("Job", "long", {"metadata": {"annotations": {WALLTIME: "20m"}}})
    space.until_event("long", "WalltimeChanged", "1200")
    space.until_one("FluxJob", "long-job", lambda each: each["status"]["walltime"] == 1200)
    space.create(a_pod("behind").with_cpu(16).with_walltime(60))
    space.until_waits("behind")
    space.patch("Job", "long", {"metadata": {"annotations": {WALLTIME: "1h"}}})
    space.until_event("long", "WalltimeRefused", "promised")
    assert space.until_state("long-job", "running")["walltime"] == 1200
    space.patch("Job", "long", {"metadata": {"annotations": {WALLTIME: "5s"}}})
    space.until_bound("behind")
    space.until_state("long-job", "timed out")
