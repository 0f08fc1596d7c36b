"""Pods of others on the same nodes, placed by a real kube-scheduler."""

from __future__ import annotations

from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import Stage


def test_what_others_hold_counts_and_comes_back(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    theirs = a_pod("theirs").of_others().with_cpu(10).times(2)
    space.create(theirs)
    assert set(space.until_bound("theirs-0", "theirs-1").values()) == {"node-0", "node-1"}
    space.create(a_gang("g", 2, cpu=8))
    space.until_waits("g-0", "g-1")
    space.create(a_pod("small").with_cpu(6))
    space.until_bound("small")
    space.delete("Pod", "theirs-0", "theirs-1")
    space.delete("Pod", "small")
    assert set(space.until_bound("g-0", "g-1").values()) <= {"node-0", "node-1"}


def test_others_that_have_ended_hold_nothing(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("theirs").of_others().with_cpu(10).running_for("2s"))
    space.until_bound("theirs")
    space.create(a_pod("ours").with_cpu(10))
    space.until_waits("ours")
    space.until_bound("ours")
    assert space.get("Pod", "theirs")["status"]["phase"] == "Succeeded"


def test_kube_scheduler_and_we_share_nodes_and_everything_gets_done(
    stage: Stage, space: Space
) -> None:
    """Both at once; pods that do not fit wait. A collision, if there is one, fails no Job."""
    stage.leave_open("node-0", "node-1", "node-2")
    for number in range(12):
        space.create(a_pod(f"theirs-{number}").of_others().with_cpu(3).running_for("1s"))
        space.create(a_job(f"ours-{number}").of(2).with_cpu(3).running_for("1s"))
    space.until_phase("Succeeded", *(f"theirs-{number}" for number in range(12)))
    for number in range(12):
        space.until_condition(f"ours-{number}", "Complete")
    assert not any(job["status"].get("failed") for job in space.all("Job").values())


def test_a_collision_is_found_and_our_pod_is_evicted(stage: Stage, space: Space) -> None:
    """A pod is created with a nodeName, past all schedulers; the API server checks nothing."""
    stage.leave_open("node-0", "node-1")
    space.create(a_job("ours").with_cpu(10).running_for("1h"))
    assert node_of(space.until_job_bound("ours", 1)[0]) == "node-0"
    space.until_state("ours-job", "running")
    space.create(a_pod("theirs").of_others().with_cpu(10).with_spec(nodeName="node-0"))
    space.until("Pod", lambda pods: any(node_of(pod) == "node-1" for pod in pods.values()))
    assert space.get("Job", "ours")["status"].get("failed", 0) == 0


def test_a_pod_of_ours_that_another_scheduler_binds_is_left_where_it_is(
    stage: Stage, space: Space
) -> None:
    """And what it holds there counts."""
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10))
    space.until_bound("first")
    space.create(a_pod("ours").with_cpu(10))
    space.until_waits("ours")
    to = {"kind": "Node", "name": "node-1"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "ours"}, "target": to}
    space.api.create(f"{space.path('Pod', 'ours')}/binding", binding)
    space.until_phase("Running", "ours")
    stage.uncordon("node-1")
    space.create(a_pod("late").with_cpu(10).on("node-1"))
    space.until_waits("late")
    space.delete("Pod", "ours")
    space.until_bound("late")
