"""Reports to users: events, conditions and FluxJobs."""

from __future__ import annotations

import json
import ssl
from contextlib import closing
from http.client import HTTPSConnection
from urllib.parse import urlsplit

import pytest

from fluxnetes.cluster.labels.names import AFTER_OK
from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.space import Space, condition
from tests.integration.controller.stage import Stage


@pytest.mark.parametrize("name", ["fluxnetes", "fluence", "fluxqueue", "FluxionScheduler"])
def test_events_come_from_the_scheduler_that_the_pod_asked_for(
    stage: Stage, space: Space, name: str
) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10).from_scheduler(name))
    event = space.until_event("first", "Scheduled", "to node-0")
    assert (event["type"], event["reportingController"]) == ("Normal", name)
    space.create(a_pod("second").with_cpu(10).from_scheduler(name))
    event = space.until_event("second", "FailedScheduling", "not yet: ")
    assert (event["type"], event["reportingController"]) == ("Warning", name)


def test_a_pod_is_reported_to_be_scheduled_once(space: Space) -> None:
    space.create(a_gang("g", 3), a_pod("signal"))
    space.until_bound("g-0", "g-1", "g-2", "signal")
    space.until_event("signal", "Scheduled")
    space.create(a_pod("last"))
    space.until_event("last", "Scheduled")
    scheduled = [e for e in space.events("g-0") if e["reason"] == "Scheduled"]
    assert len(scheduled) == 1


def test_the_condition_of_a_pod_says_why_it_waits_and_until_when(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10).with_walltime("1h"))
    space.until_bound("first")
    space.create(a_pod("second").with_cpu(10).with_walltime(60))
    pod = space.until_one(
        "Pod", "second", lambda pod: "starts by" in str(condition(pod, "PodScheduled"))
    )
    said = condition(pod, "PodScheduled")
    assert (said["status"], said["reason"]) == ("False", "Unschedulable")
    assert said["message"].startswith("Resources: ")
    assert "cpu" in said["message"] and "position 1 in queue default" in said["message"]
    space.delete("Pod", "first")
    space.until_bound("second")
    assert condition(space.get("Pod", "second"), "PodScheduled")["status"] == "True"


def test_the_condition_of_a_group_that_is_not_complete_says_who_is_missing(space: Space) -> None:
    space.create(a_gang("g", 3)[:2])
    space.until_one("Pod", "g-0", lambda pod: "2 of the 3 pods" in str(pod["status"]))


def test_a_fluxjob_follows_its_job_from_the_queue_to_the_end(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10).with_walltime(600))
    space.until_bound("first")
    space.create(a_job("train").of(2).with_cpu(8).with_walltime(60).running_for("2s"))
    waiting = space.until_state("train-job", "pending")
    assert waiting["queue"] == "default" and waiting["walltime"] == 60
    assert "cpu" in waiting["reason"] and waiting["eta"]
    assert waiting["reasonCode"] == "Resources"
    space.delete("Pod", "first")
    running = space.until_state("train-job", "running")
    assert (running["nodes"], running["size"]) == (["node-0"], 2)
    assert "eta" not in running and "position" not in running
    over = space.until_state("train-job", "completed")
    assert over["start"] == running["start"] < over["end"]
    record = space.get("FluxJob", "train-job")
    assert condition(record, "Complete")["status"] == "True"
    assert record["spec"]["type"] == 1 and record["spec"]["duration"] == 60


def kubectl_get(stage: Stage, space: Space, kind: str) -> list[dict[str, object]]:
    """The rows that `kubectl get` shows, by column; it asks the server for them in this way."""
    keys = stage.plane.paths.keys
    trust = ssl.create_default_context(cafile=keys / "ca.crt")
    trust.load_cert_chain(keys / "admin.crt", keys / "admin.key")
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    server = urlsplit(stage.plane.server).netloc
    with closing(HTTPSConnection(server, context=trust)) as connection:
        connection.request("GET", space.path(kind), headers=accept)
        table = json.load(connection.getresponse())
    columns = [each["name"] for each in table["columnDefinitions"]]
    return [dict(zip(columns, row["cells"], strict=True)) for row in table["rows"]]


def test_kubectl_get_shows_what_matters(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_job("train").of(2).with_cpu(8).with_walltime(60).running_for("1h"))
    space.until_state("train-job", "running")
    space.create(a_job("next").with_cpu(8).queued())
    space.until_one("FluxJob", "next-job", lambda it: "position" in it.get("status", {}))
    waits, runs = sorted(kubectl_get(stage, space, "FluxJob"), key=lambda row: str(row["Name"]))
    assert (runs["State"], runs["Nodes"], runs["Queue"]) == ("running", "node-0", "default")
    assert (waits["State"], waits["Position"]) == ("pending", 1)
    assert "cpu" in str(waits["Reason"]) and waits["ETA"]


def test_the_position_in_the_queue_is_reported(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(16))
    space.until_bound("first")
    for name in ("second", "third"):
        space.create(a_job(name).with_cpu(16).queued())
        space.until_state(f"{name}-job", "pending")
    for place, name in enumerate(("second", "third"), start=1):
        record = space.until_one("FluxJob", f"{name}-job", lambda it: "position" in it["status"])
        assert record["status"]["position"] == place


def test_a_fluxjob_belongs_to_its_job_and_goes_with_it(space: Space) -> None:
    space.create(a_job("train").running_for("1h"))
    space.until_state("train-job", "running")
    owners = space.get("FluxJob", "train-job")["metadata"]["ownerReferences"]
    assert [(owner["kind"], owner["name"]) for owner in owners] == [("Job", "train")]
    space.delete("Job", "train")
    space.until_gone("FluxJob", "train-job")


def test_a_single_pod_goes_without_a_fluxjob(space: Space) -> None:
    space.create(a_pod("alone"), a_gang("g", 2))
    space.until_state("g-group", "running")
    assert list(space.all("FluxJob")) == ["g-group"]


def test_a_group_that_gathers_has_a_fluxjob(space: Space) -> None:
    space.create(a_gang("g", 3)[:2])
    gathers = space.until_state("g-group", "gathering")
    assert "2 of the 3 pods" in gathers["reason"] and gathers["reasonCode"] == "Gathering"
    space.until_event("g-0", "FailedScheduling", "2 of the 3 pods")
    space.create(a_gang("g", 3)[2:])
    assert space.until_state("g-group", "running")["size"] == 3


def test_a_single_pod_that_waits_has_a_fluxjob_also_after_a_restart(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(16).with_walltime(600))
    space.until_bound("first")
    space.create(a_pod("second").with_cpu(16).with_walltime(60))
    waits = space.until_state("second-pod", "pending")
    assert (waits["position"], waits["reasonCode"]) == (1, "Resources")
    owners = space.get("FluxJob", "second-pod")["metadata"]["ownerReferences"]
    assert [(owner["kind"], owner["name"]) for owner in owners] == [("Pod", "second")]
    space.delete("Pod", "first")
    space.until_state("second-pod", "running")
    before = space.get("FluxJob", "second-pod")["metadata"]["uid"]
    stage.controller.stop()
    stage.controller.start()
    space.create(a_gang("g", 2, 0))  # is reported after the FluxJobs of the last term are read
    space.until_state("g-group", "running")
    space.delete("FluxJob", "g-group")
    space.until_state("g-group", "running")
    assert space.get("FluxJob", "second-pod")["metadata"]["uid"] == before
    space.delete("Pod", "second")
    space.until_gone("FluxJob", "second-pod")


def test_the_events_of_a_job_without_pods_tell_all(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(16).with_walltime(600))
    space.until_bound("first")
    space.create(a_job("next").with_cpu(16).with_walltime(60).queued())
    why = space.until_event("next", "FailedScheduling", "not yet: ")
    assert "it starts by " in why["note"] and "position 1 in queue default" in why["note"]
    space.until_event("next", "StartPlanned", "it starts by ")
    assert not [pod for pod in space.all("Pod") if pod.startswith("next")]
    space.create(a_job("later").with_cpu(16).queued().annotated({AFTER_OK: "job/next"}))
    space.until_event("later", "FailedScheduling", "after job/next succeeded")


def test_an_ordered_stateful_set_in_a_group_is_told_why_it_cannot_start(space: Space) -> None:
    template = a_gang("web", 2)[0].content
    labels = {**template["metadata"]["labels"], "app": "web"}
    spec = {**template["spec"], "restartPolicy": "Always"}
    content = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    sets = f"/apis/apps/v1/namespaces/{space.namespace}/statefulsets"
    space.api.create(sets, content)
    space.until_event("web-0", "FailedScheduling", "podManagementPolicy: Parallel")
    space.until_event("web", "FailedScheduling", "podManagementPolicy: Parallel")
    space.api.delete(f"{sets}/web")


def test_a_deleted_fluxjob_is_written_again(space: Space) -> None:
    space.create(a_gang("g", 2))
    before = space.until_state("g-group", "running")
    space.delete("FluxJob", "g-group")
    assert space.until_state("g-group", "running")["jobID"] == before["jobID"]
