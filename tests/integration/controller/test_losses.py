"""What befalls groups that run: nodes go, kubelets refuse, pods are evicted, sizes change."""

from __future__ import annotations

from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import Stage
from tests.integration.controller.waiting import bound_of, wait_behind

# --- nodes and kubelets ------------------------------------------------------------------------


def test_a_pod_that_is_evicted_comes_back_to_its_room(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_job("steady").with_cpu(10).running_for("1h"))
    (first,) = space.until_job_bound("steady", 1)
    wait_behind(space)
    name = first["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    space.api.create(f"{space.path('Pod', name)}/eviction", eviction)
    space.until("Pod", lambda pods: set(bound_of(pods, "steady")) - {name})
    assert space.node_of("behind") == ""


def test_pods_that_a_kubelet_refuses_fail_their_group_and_leave_its_room(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    space.create([pod.refused_by_kubelet("OutOfcpu") for pod in a_gang("g", 2, cpu=8)])
    space.until_phase("Failed", "g-0", "g-1")
    space.until_state("g-group", "failed")
    space.create(a_pod("next").with_cpu(16))
    space.until_bound("next")


def test_a_job_whose_pod_a_kubelet_refuses_gets_another(stage: Stage, space: Space) -> None:
    """OutOfcpu counts as a failure to the Job controller, which makes another after ten seconds."""
    stage.leave_open("node-0")
    job = a_job("unlucky").with_cpu(10).with_job(backoffLimit=0)
    space.create(job.refused_by_kubelet("OutOfcpu"))
    space.until_condition("unlucky", "Failed")
    space.until_state("unlucky-job", "failed")
    space.create(a_pod("next").with_cpu(16))
    space.until_bound("next")


def test_a_job_on_a_node_that_is_deleted_goes_on_elsewhere(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    stage.add_node("special")
    space.create(a_job("steady").of(2).with_cpu(10).running_for("1h"))
    pods = space.until_job_bound("steady", 2)
    assert {node_of(pod) for pod in pods} == {"node-0", "special"}
    lost = next(pod["metadata"]["name"] for pod in pods if node_of(pod) == "special")
    stage.uncordon("node-1")
    stage.remove_node("special")
    # What the pod collector of Kubernetes does after a minute.
    space.api.delete(f"{space.path('Pod', lost)}?gracePeriodSeconds=0")
    moved = space.until_job_bound("steady", 2)
    assert {node_of(pod) for pod in moved} == {"node-0", "node-1"}
    assert space.until_state("steady-job", "running")["nodes"] == ["node-0", "node-1"]


def test_pods_without_an_owner_on_a_node_that_is_deleted_have_failed(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    stage.add_node("special")
    space.create(a_gang("g", 2, cpu=10))
    space.until_bound("g-0", "g-1")
    space.until_state("g-group", "running")
    stage.remove_node("special")
    for name in ("g-0", "g-1"):
        if space.node_of(name) == "special":
            space.api.delete(f"{space.path('Pod', name)}?gracePeriodSeconds=0")
        else:
            space.delete("Pod", name)
    space.until_state("g-group", "failed")
    space.create(a_pod("next").with_cpu(16))
    space.until_bound("next")


# --- sizes that change -------------------------------------------------------------------------


def test_a_job_that_is_given_more_pods_gets_room_for_them(space: Space) -> None:
    space.create(a_job("wide").with_job(parallelism=2, completions=9).running_for("1h"))
    space.until_job_bound("wide", 2)
    space.patch("Job", "wide", {"spec": {"parallelism": 5}})
    space.until_job_bound("wide", 5)


def test_a_job_that_is_given_fewer_pods_leaves_their_room(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_job("wide").with_job(parallelism=4, completions=9).with_cpu(4).running_for("1h"))
    space.until_job_bound("wide", 4)
    wait_behind(space, cpu=8)
    space.patch("Job", "wide", {"spec": {"parallelism": 2}})
    space.until_bound("behind")
    space.until_job_bound("wide", 2)


def test_a_job_that_its_user_suspends_leaves_its_room(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_job("paused").of(2).with_cpu(8).running_for("1h"))
    space.until_job_bound("paused", 2)
    wait_behind(space)
    space.patch("Job", "paused", {"spec": {"suspend": True}})
    space.until_bound("behind")
    space.patch("Job", "paused", {"spec": {"suspend": False}})
    space.delete("Pod", "behind")
    space.until_job_bound("paused", 2)
