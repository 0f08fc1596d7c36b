"""What is done to a Job and to a Pod when they are made."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.unit.webhook.reviews import (
    DEPLOYMENT_CONTROLLER,
    JOB_CONTROLLER,
    KUBELET,
    Content,
    a_job,
    a_pod,
    a_service,
    admit,
    ask,
    owned_by,
    refuse,
)

QUEUED, HOLD = "fluxnetes.io/queued", "fluxnetes.io/hold"
MIRROR = {"annotations": {"kubernetes.io/config.mirror": "hash"}}


# --- jobs ---


def test_a_job_is_suspended_and_its_pods_will_be_ours_and_nothing_else_changes() -> None:
    job = a_job(metadata={"labels": {"a": "b"}}, unheardOf={"deep": [1, None]})
    wanted = copy.deepcopy(job)
    wanted["metadata"]["annotations"] = {QUEUED: "true"}
    wanted["spec"]["suspend"] = True
    wanted["spec"]["template"]["spec"]["schedulerName"] = "fluxnetes"
    assert admit(job) == wanted


def test_the_annotations_of_a_job_survive() -> None:
    admitted = admit(a_job(metadata={"annotations": {"a~b/c": "d"}}))
    assert admitted["metadata"]["annotations"] == {"a~b/c": "d", QUEUED: "true"}


def test_a_job_that_its_user_suspended_is_held_with_a_warning() -> None:
    response = ask(a_job(suspend=True))
    assert HOLD in response["warnings"][0]
    admitted = admit(a_job(suspend=True))
    assert admitted["metadata"]["annotations"] == {QUEUED: "true", HOLD: "true"}


def test_a_job_that_we_see_again_is_left_as_it_is() -> None:
    for job in (a_job(), a_job(suspend=True)):
        admitted = admit(job)
        assert admit(admitted) == admitted
        assert "warnings" not in ask(admitted)


@pytest.mark.parametrize("name", ["fluxnetes", "fluence", "fluxqueue", "FluxionScheduler"])
def test_a_name_of_ours_that_the_user_chose_stays(name: str) -> None:
    job = a_job(template={"spec": {"schedulerName": name}})
    assert admit(job)["spec"]["template"]["spec"]["schedulerName"] == name
    pod = a_pod(schedulerName=name)
    assert admit(pod) == pod


def test_a_job_of_a_cron_job_is_queued() -> None:
    assert admit(a_job(metadata=owned_by("CronJob")), JOB_CONTROLLER)["spec"]["suspend"]


def test_a_job_that_another_controller_manages_is_left_alone() -> None:
    job = a_job(managedBy="example.com/other")
    assert admit(job) == job
    assert admit(a_job(managedBy="kubernetes.io/job-controller"))["spec"]["suspend"]


# --- pods ---


def test_a_bare_pod_is_gated_and_ours_and_nothing_else_changes() -> None:
    pod = a_pod(unheardOf=True)
    wanted = copy.deepcopy(pod)
    wanted["spec"]["schedulerName"] = "fluxnetes"
    wanted["spec"]["schedulingGates"] = [{"name": QUEUED}]
    assert admit(pod) == wanted


def test_gates_of_others_stay_and_ours_is_not_doubled() -> None:
    for gate in ("fluxqueue", QUEUED):
        pod = a_pod(schedulingGates=[{"name": gate}])
        assert admit(pod)["spec"]["schedulingGates"] == [{"name": gate}]
    pod = a_pod(schedulingGates=[{"name": "example.com/x"}])
    assert admit(pod)["spec"]["schedulingGates"] == [{"name": "example.com/x"}, {"name": QUEUED}]


def test_pods_that_a_controller_makes_are_its_workloads() -> None:
    for kind in ("Job", "DaemonSet", "ReplicaSet"):
        pod = a_pod(metadata=owned_by(kind))
        assert admit(pod, JOB_CONTROLLER) == pod
        assert admit(pod, "system:kube-controller-manager") == pod


@pytest.mark.parametrize(
    "user",
    [
        "eve",
        "system:serviceaccount:team:job-controller",
        "system:serviceaccount:kube-system-2:job-controller",
        KUBELET,
    ],
)
def test_a_forged_owner_is_not_believed(user: str) -> None:
    for kind in ("Job", "DaemonSet"):
        admitted = admit(a_pod(metadata=owned_by(kind)), user)
        assert admitted["spec"]["schedulingGates"] == [{"name": QUEUED}]
    assert admit(a_job(metadata=owned_by("Job")), user)["spec"]["suspend"]


def test_an_owner_that_does_not_manage_the_pod_does_not_count() -> None:
    pod = a_pod(metadata=owned_by("Job", controller=False))
    assert "schedulingGates" in admit(pod, JOB_CONTROLLER)["spec"]


def test_a_mirror_pod_is_left_alone_if_a_kubelet_made_it() -> None:
    pod = a_pod(metadata=MIRROR, nodeName="node-0")
    assert admit(pod, KUBELET) == pod
    assert "nodeName" in refuse(pod, "eve")
    assert "schedulingGates" in admit(a_pod(metadata=MIRROR), "eve")["spec"]


# --- services ---

KINDS = ["Deployment", "ReplicaSet", "StatefulSet"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_pods_of_a_service_will_be_gated_and_ours_and_nothing_else_changes(kind: str) -> None:
    service = a_service(kind, metadata={"labels": {"a": "b"}}, unheardOf={"deep": [1, None]})
    wanted = copy.deepcopy(service)
    wanted["spec"]["template"]["spec"]["schedulerName"] = "fluxnetes"
    wanted["spec"]["template"]["spec"]["schedulingGates"] = [{"name": QUEUED}]
    admitted = admit(service)
    assert admitted == wanted
    assert admit(admitted) == admitted


def test_a_service_that_names_our_scheduler_is_left_as_it_is() -> None:
    service = a_service(template={"spec": {"schedulerName": "fluence"}})
    assert admit(service) == service


def test_the_sets_of_a_deployment_are_left_to_it() -> None:
    """Else it would find that none is what its template says, and make more and more of them."""
    replica_set = a_service("ReplicaSet", metadata=owned_by("Deployment"))
    assert admit(replica_set, DEPLOYMENT_CONTROLLER) == replica_set
    assert admit(replica_set, "eve") != replica_set, "of others it is only a claim"


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_whose_template_changes_stays_in_the_queue(kind: str) -> None:
    """A manifest that is applied again knows nothing of our gate."""
    before, after = admit(a_service(kind)), a_service(kind, template={"spec": {"image": "new"}})
    spec = admit(after, operation="UPDATE", oldObject=before)["spec"]["template"]["spec"]
    assert (spec["schedulerName"], spec["schedulingGates"]) == ("fluxnetes", [{"name": QUEUED}])


def test_a_service_that_was_there_before_is_left_alone_until_its_template_changes() -> None:
    before = a_service()
    after = a_service(replicas=7, metadata={"labels": {"new": "label"}})
    assert admit(after, operation="UPDATE", oldObject=before) == after


# --- what is refused ---


def test_a_pod_that_chooses_a_node_is_refused_with_advice_how_to_ask_for_it() -> None:
    for made, path in (
        (a_pod(nodeName="node-1"), "spec.nodeName"),
        (a_pod(nodeName="node-1", schedulerName="fluxnetes"), "spec.nodeName"),
        (a_job(template={"spec": {"nodeName": "node-1"}}), "spec.template.spec.nodeName"),
        (a_service(template={"spec": {"nodeName": "node-1"}}), "spec.template.spec.nodeName"),
    ):
        message = refuse(made)
        assert message.startswith(f"{path} is 'node-1'")
        assert "kubernetes.io/hostname" in message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fluxnetes.io/group-size", "two"),
        ("fluxnetes.io/group-size", "-1"),
        ("fluxnetes.io/walltime", "soon"),
        ("fluence.group-size", "0"),
    ],
)
def test_labels_of_ours_that_make_no_sense_are_refused(key: str, value: str) -> None:
    bad: Content = {"annotations": {key: value}}
    for made in (
        a_pod(metadata=bad),
        a_pod(metadata=bad, schedulerName="fluxnetes"),
        a_job(metadata=bad),
        a_job(template={"metadata": bad}),
        a_service(metadata=bad),
        a_service("StatefulSet", template={"metadata": bad}),
    ):
        message = refuse(made)
        assert key in message and value in message


def test_bad_labels_on_what_is_not_ours_are_not_our_business() -> None:
    bad: Any = {"annotations": {"fluxnetes.io/walltime": "soon"}}
    pod = a_pod(metadata=bad | owned_by("Job"))
    assert admit(pod, JOB_CONTROLLER) == pod


# --- where ---


@pytest.mark.parametrize(
    "request_",
    [
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
        {"subResource": "binding"},
        {"namespace": "kube-system"},
        {"namespace": "kube-public"},
        {"namespace": "kube-node-lease"},
        {"namespace": "fluxnetes-system"},
        {"resource": {"group": "apps", "version": "v1", "resource": "daemonsets"}},
        {"resource": {"group": "example.com", "version": "v1", "resource": "jobs"}},
    ],
)
def test_what_we_are_asked_by_mistake_is_let_through(request_: Content) -> None:
    for made in (a_job(), a_pod(nodeName="node-1")):
        assert ask(made, **request_) == {"uid": "705ab4f5", "allowed": True}
