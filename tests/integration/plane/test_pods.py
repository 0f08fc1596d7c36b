"""A pod lives as its annotations say, on a node that KWOK plays."""

from __future__ import annotations

import pytest

from fluxnetes.plane.api import PlaneApi
from tests.integration.plane.objects import (
    PODS,
    a_pod,
    conditions,
    exit_code,
    has_ended,
    is_running,
    wait_for,
    wait_until_gone,
)

RUN_TIME, EXIT_CODE = "fluxnetes.io/run-time", "fluxnetes.io/exit-code"
REFUSE, STOP_TIME = "fluxnetes.io/refuse", "fluxnetes.io/stop-time"


def test_a_pod_runs_for_its_time_and_succeeds(api: PlaneApi) -> None:
    api.create(PODS, a_pod("short", {RUN_TIME: "1.5s"}))
    running = wait_for(api, PODS, "short", is_running)
    assert conditions(running)["Ready"] == "True"
    assert running["spec"]["nodeName"].startswith("node-")
    ended = wait_for(api, PODS, "short", has_ended)
    assert ended["status"]["phase"] == "Succeeded"
    assert exit_code(ended) == 0
    assert conditions(ended)["Ready"] == "False"


def test_a_pod_with_an_exit_code_fails_with_it(api: PlaneApi) -> None:
    api.create(PODS, a_pod("failing", {RUN_TIME: "100ms", EXIT_CODE: "3"}))
    ended = wait_for(api, PODS, "failing", has_ended)
    assert ended["status"]["phase"] == "Failed"
    assert exit_code(ended) == 3


def test_a_kubelet_can_refuse_a_pod(api: PlaneApi) -> None:
    api.create(PODS, a_pod("refused", {REFUSE: "OutOfcpu"}))
    ended = wait_for(api, PODS, "refused", has_ended)
    assert (ended["status"]["phase"], ended["status"]["reason"]) == ("Failed", "OutOfcpu")
    assert "containerStatuses" not in ended["status"]


@pytest.mark.parametrize("annotations", [{}, {RUN_TIME: "1h"}], ids=["endless", "long"])
def test_a_pod_ends_at_its_deadline(api: PlaneApi, annotations: dict[str, str]) -> None:
    name = f"late-{len(annotations)}"
    api.create(PODS, a_pod(name, annotations, activeDeadlineSeconds=1))
    ended = wait_for(api, PODS, name, has_ended)
    assert (ended["status"]["phase"], ended["status"]["reason"]) == ("Failed", "DeadlineExceeded")


def test_a_pod_that_ends_before_its_deadline_succeeds(api: PlaneApi) -> None:
    api.create(PODS, a_pod("in-time", {RUN_TIME: "1s"}, activeDeadlineSeconds=600))
    assert wait_for(api, PODS, "in-time", has_ended)["status"]["phase"] == "Succeeded"


def test_a_time_that_cannot_be_read_is_said_so(api: PlaneApi) -> None:
    api.create(PODS, a_pod("unclear", {RUN_TIME: "soon"}))
    ended = wait_for(api, PODS, "unclear", has_ended)
    assert ended["status"]["reason"] == "BadAnnotation"
    assert "90s" in ended["status"]["message"]


def test_a_pod_that_is_changed_while_it_runs_does_not_run_longer(api: PlaneApi) -> None:
    """If each change started its time anew, it would outlive a calm one that has more time."""
    api.create(PODS, a_pod("calm", {RUN_TIME: "6s"}))
    api.create(PODS, a_pod("restless", {RUN_TIME: "2s"}))
    changes = 0
    for pods in api.follow(f"{PODS}?labelSelector=!job-name"):
        if has_ended(pods["restless"]):
            break
        assert not has_ended(pods["calm"])
        changes += 1
        api.patch(f"{PODS}/restless", {"metadata": {"annotations": {"change": str(changes)}}})
    assert changes > 10


def test_a_running_pod_that_is_deleted_takes_its_time_to_stop(api: PlaneApi) -> None:
    api.create(PODS, a_pod("stubborn", {STOP_TIME: "1s"}))
    wait_for(api, PODS, "stubborn", is_running)
    api.delete(f"{PODS}/stubborn")
    seen = wait_until_gone(api, PODS, "stubborn")
    assert is_running(seen[0]) and "deletionTimestamp" in seen[0]["metadata"]
    assert exit_code(seen[-1]) == 143


def test_a_pod_without_a_time_runs_until_it_is_deleted(api: PlaneApi) -> None:
    api.create(PODS, a_pod("service"))
    api.create(PODS, a_pod("other", {RUN_TIME: "1s"}))
    wait_for(api, PODS, "service", is_running)
    wait_for(api, PODS, "other", has_ended)
    assert is_running(api.get(f"{PODS}/service"))
    api.delete(f"{PODS}/service")
    wait_until_gone(api, PODS, "service")


def test_a_pod_that_names_another_scheduler_waits_for_it(api: PlaneApi) -> None:
    """And runs on just the node that it is bound to."""
    api.create(PODS, a_pod("ours", {RUN_TIME: "100ms"}, schedulerName="fluxnetes"))
    api.create(PODS, a_pod("theirs", {RUN_TIME: "100ms"}))
    wait_for(api, PODS, "theirs", has_ended)
    waiting = api.get(f"{PODS}/ours")
    assert "nodeName" not in waiting["spec"]
    to = {"kind": "Node", "name": "node-3"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "ours"}, "target": to}
    api.create(f"{PODS}/ours/binding", binding)
    ended = wait_for(api, PODS, "ours", has_ended)
    assert (ended["spec"]["nodeName"], ended["status"]["phase"]) == ("node-3", "Succeeded")
