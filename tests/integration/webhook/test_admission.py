"""What becomes of Jobs and Pods that opted in, and of all others."""

from __future__ import annotations

import pytest

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.errors import RequestRefused
from fluxnetes.plane.plane import ControlPlane
from tests.integration.webhook.objects import (
    GATES,
    HOLD,
    MANAGED,
    QUEUED,
    a_daemon_set,
    a_job,
    a_pod,
    as_user,
    comparable,
    daemon_sets,
    first_pod,
    jobs,
    pods,
)

pytestmark = pytest.mark.usefixtures("webhook")


# --- what is ours ---


def test_a_job_of_an_opted_in_namespace_is_suspended_and_nothing_else_in_it_changes(
    api: PlaneApi, opted_in: str, ordinary: str
) -> None:
    # Without labels of its own a Job gets those of its template, and the API server counts what it
    # adds to these among them; but not when there is a webhook, whichever that is.
    job = a_job(metadata={"labels": {"own": "yes"}, "annotations": {"a": "b"}})
    made, wanted = (comparable(api.create(jobs(where), job)) for where in (opted_in, ordinary))
    wanted["metadata"]["annotations"][QUEUED] = "true"
    wanted["spec"]["suspend"] = True
    wanted["spec"]["template"]["spec"]["schedulerName"] = "fluxnetes"
    assert made == wanted


def test_a_bare_pod_of_an_opted_in_namespace_is_gated_and_nothing_else_in_it_changes(
    api: PlaneApi, opted_in: str, ordinary: str
) -> None:
    made = comparable(api.create(pods(opted_in), a_pod()))
    wanted = comparable(api.create(pods(ordinary), a_pod()))
    wanted["spec"]["schedulerName"] = "fluxnetes"
    wanted["spec"]["schedulingGates"] = GATES
    assert made.pop("status")["conditions"][0]["reason"] == "SchedulingGated"
    wanted.pop("status")
    assert made == wanted


def test_an_object_can_opt_in_by_itself(api: PlaneApi, ordinary: str) -> None:
    labelled = {"labels": MANAGED}
    assert api.create(jobs(ordinary), a_job(metadata=labelled))["spec"]["suspend"]
    assert api.create(pods(ordinary), a_pod(metadata=labelled))["spec"]["schedulingGates"] == GATES


def test_no_label_leads_out_of_an_opted_in_namespace(api: PlaneApi, opted_in: str) -> None:
    labelled = {"labels": {"fluxnetes.io/managed": "false"}}
    assert api.create(pods(opted_in), a_pod(metadata=labelled))["spec"]["schedulingGates"] == GATES


def test_a_job_that_its_user_suspended_is_held(api: PlaneApi, opted_in: str) -> None:
    made = api.create(jobs(opted_in), a_job(suspend=True))
    assert made["metadata"]["annotations"] == {QUEUED: "true", HOLD: "true"}


def test_a_dry_run_shows_what_would_be(api: PlaneApi, opted_in: str) -> None:
    made = api.create(f"{pods(opted_in)}?dryRun=All", a_pod())
    assert made["spec"]["schedulingGates"] == GATES
    assert api.get(pods(opted_in))["items"] == []


# --- what is not ---


def test_namespaces_that_did_not_opt_in_are_untouched(api: PlaneApi, ordinary: str) -> None:
    job = api.create(jobs(ordinary), a_job())
    assert not job["spec"]["suspend"]
    assert job["spec"]["template"]["spec"]["schedulerName"] == "default-scheduler"
    assert "schedulingGates" not in api.create(pods(ordinary), a_pod())["spec"]


def test_kube_system_is_untouched_even_if_it_opts_in(api: PlaneApi) -> None:
    api.patch("/api/v1/namespaces/kube-system", {"metadata": {"labels": MANAGED}})
    made = api.create(pods("kube-system"), a_pod(metadata={"labels": MANAGED}))
    assert made["spec"]["schedulerName"] == "default-scheduler"
    assert "schedulingGates" not in made["spec"]


def test_the_pods_of_a_job_that_was_let_go_are_made_as_its_template_says(
    api: PlaneApi, opted_in: str
) -> None:
    api.create(jobs(opted_in), a_job())
    api.patch(f"{jobs(opted_in)}/a", {"spec": {"suspend": False}})
    pod = first_pod(api, opted_in)
    assert pod["spec"]["schedulerName"] == "fluxnetes"
    assert "schedulingGates" not in pod["spec"]


def test_the_pods_of_a_daemon_set_are_untouched(api: PlaneApi, opted_in: str) -> None:
    api.create(daemon_sets(opted_in), a_daemon_set("daemon"))
    pod = first_pod(api, opted_in)
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    assert "schedulingGates" not in pod["spec"]


def test_a_kubelet_may_tell_of_its_own_pods(plane: ControlPlane, opted_in: str) -> None:
    mirror = {"annotations": {"kubernetes.io/config.mirror": "hash"}}
    with as_user(plane, "system:node:node-0", "system:nodes") as kubelet:
        made = kubelet.create(pods(opted_in), a_pod(metadata=mirror, nodeName="node-0"))
    assert made["spec"]["nodeName"] == "node-0"


# --- who tries to slip past ---


def test_a_forged_owner_is_not_believed(api: PlaneApi, opted_in: str) -> None:
    job = api.create(jobs(opted_in), a_job())
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": job["metadata"]["uid"]}
    for kind in ("Job", "DaemonSet"):
        forged = {"ownerReferences": [{**owner, "kind": kind, "controller": True}]}
        made = api.create(pods(opted_in), a_pod(kind.lower(), metadata=forged))
        assert made["spec"]["schedulingGates"] == GATES


def test_a_forged_mirror_pod_is_refused(api: PlaneApi, opted_in: str) -> None:
    mirror = {"annotations": {"kubernetes.io/config.mirror": "hash"}}
    with pytest.raises(RequestRefused, match="would bypass the queue"):
        api.create(pods(opted_in), a_pod(metadata=mirror, nodeName="node-0"))


def test_who_chooses_a_node_is_refused(api: PlaneApi, opted_in: str, ordinary: str) -> None:
    chosen = a_pod(nodeName="node-0")
    with pytest.raises(RequestRefused, match=r"spec.nodeName is 'node-0', which would bypass"):
        api.create(pods(opted_in), chosen)
    api.create(pods(ordinary), chosen)


def test_a_bad_label_is_refused_in_words(api: PlaneApi, opted_in: str) -> None:
    bad = {"annotations": {"fluxnetes.io/walltime": "soon"}}
    with pytest.raises(RequestRefused, match=r"fluxnetes.io/walltime: found 'soon', expected"):
        api.create(jobs(opted_in), a_job(metadata=bad))
