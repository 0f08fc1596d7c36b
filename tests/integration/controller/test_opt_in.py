"""Work that opted in: Jobs that the webhook suspends, pods that it gates, and forged owners."""

from __future__ import annotations

from tests.integration.controller.objects import Content, PodMaker, a_gang, a_job, a_pod
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import Stage

QUEUED = "fluxnetes.io/queued"


def test_a_job_is_suspended_until_there_is_room_for_all_of_it(stage: Stage, managed: Space) -> None:
    stage.leave_open("node-0", "node-1")
    managed.create(a_pod("first").with_cpu(10).on("node-0"))
    managed.until_bound("first")
    managed.create(a_job("train").of(2).with_cpu(10).of_others().running_for("1s"))
    managed.until_state("train-job", "pending")
    job = managed.get("Job", "train")
    assert (
        job["spec"]["suspend"] and job["spec"]["template"]["spec"]["schedulerName"] == "fluxnetes"
    )
    assert job["metadata"]["annotations"][QUEUED] == "true"
    managed.delete("Pod", "first")
    managed.until_condition("train", "Complete")
    assert QUEUED not in managed.get("Job", "train")["metadata"].get("annotations", {})
    assert managed.until_state("train-job", "completed")["nodes"] == ["node-0", "node-1"]


def test_a_job_that_its_user_suspended_is_held(managed: Space) -> None:
    managed.create(a_job("calm").of_others().with_job(suspend=True))
    managed.until_state("calm-job", "held")
    managed.annotate("Job", "calm", hold=None)
    managed.until_job_bound("calm", 1)


def test_a_bare_pod_is_gated_until_there_is_room(stage: Stage, managed: Space) -> None:
    stage.leave_open("node-0")
    managed.create(a_pod("first").with_cpu(10).of_others())
    managed.until_bound("first")
    managed.create(a_pod("second").with_cpu(10).of_others())
    assert gates(managed, "second") == [QUEUED]
    managed.until_waits("second")
    managed.delete("Pod", "first")
    managed.until_bound("second")
    assert gates(managed, "second") == []


def test_a_group_of_gated_pods_starts_together(managed: Space) -> None:
    pods = [pod.of_others() for pod in a_gang("g", 3)]
    managed.create(pods[:2])
    managed.let_the_scheduler_act()
    assert gates(managed, "g-0") == gates(managed, "g-1") == [QUEUED]
    managed.create(pods[2])
    managed.until_bound("g-0", "g-1", "g-2")


def test_a_gate_of_another_controller_is_waited_for_and_left_alone(space: Space) -> None:
    first, second = a_gang("g", 2)
    space.create(first, second.with_spec(schedulingGates=[{"name": "example.com/wait"}]))
    space.let_the_scheduler_act()
    assert space.node_of("g-0") == ""
    assert gates(space, "g-1") == ["example.com/wait"]
    space.patch("Pod", "g-1", {"spec": {"schedulingGates": None}})
    space.until_bound("g-0", "g-1")


def test_an_object_may_opt_in_alone(stage: Stage, managed: Space, space: Space) -> None:
    """`managed` is there for its webhook."""
    space.create(a_job("in").of_others().labelled({"fluxnetes.io/managed": "true"}))
    space.create(a_job("out").of_others())
    space.until_state("in-job", "running")
    space.until_job_bound("out", 1)
    (pod,) = (p for p in space.all("Pod").values() if "out-" in p["metadata"]["name"])
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    assert list(space.all("FluxJob")) == ["in-job"]


def test_a_job_whose_pods_do_not_fit_after_all_goes_back_by_being_suspended(
    stage: Stage, managed: Space
) -> None:
    """Never by deleting its pods, which would count as failures."""
    stage.leave_open("node-0")
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "10"}}]}
    managed.api.create(
        f"/api/v1/namespaces/{managed.namespace}/limitranges",
        {"metadata": {"name": "large"}, "spec": limits},
    )
    managed.create(a_job("grown").of(2).of_others().running_for("1h"))
    managed.until("Pod", lambda pods: len(pods) > 0)
    managed.until_state("grown-job", "pending")
    assert not any(node_of(pod) for pod in managed.all("Pod").values())
    stage.uncordon("node-1")
    pods = managed.until_job_bound("grown", 2)
    assert {node_of(pod) for pod in pods} == {"node-0", "node-1"}
    assert managed.get("Job", "grown")["status"].get("failed", 0) == 0


# --- owners that are only claimed --------------------------------------------------------------


def claiming(pod: PodMaker, name: str, uid: str) -> PodMaker:
    owner: Content = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}
    pod.pod_metadata["ownerReferences"] = [{**owner, "controller": True}]
    return pod


def uid_of(space: Space, job: str) -> str:
    return str(space.get("Job", job)["metadata"]["uid"])


def test_a_pod_that_claims_a_job_of_others_stands_for_itself(space: Space) -> None:
    space.create(a_job("theirs").of_others().running_for("1h"))
    space.until_job_bound("theirs", 1)
    space.create(claiming(a_pod("forged"), "theirs", uid_of(space, "theirs")))
    space.until_bound("forged")


def test_a_pod_that_claims_a_job_gets_none_of_its_room(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_job("real").with_cpu(10).running_for("1h"))
    space.until_job_bound("real", 1)
    space.create(claiming(a_pod("forged").with_cpu(10), "real", uid_of(space, "real")))
    space.until_waits("forged")
    assert space.until_state("real-job", "running")["size"] == 1


def test_a_forged_owner_does_not_slip_past_the_queue(stage: Stage, managed: Space) -> None:
    managed.create(a_job("real").of_others().running_for("1h"))
    managed.until_job_bound("real", 1)
    forged = a_pod("forged").with_cpu(16).of_others()
    managed.create(claiming(forged, "real", uid_of(managed, "real")))
    assert managed.get("Pod", "forged")["spec"]["schedulerName"] == "fluxnetes"


def gates(space: Space, name: str) -> list[str]:
    return [gate["name"] for gate in space.get("Pod", name)["spec"].get("schedulingGates", [])]
