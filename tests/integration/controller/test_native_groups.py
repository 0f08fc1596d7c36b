"""PodGroups of Kubernetes itself, on every version of Kubernetes that has them.

Each version is a control plane of its own, with the programs of that version and our controller.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.plane.api import Object
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.versions import PINNED
from tests.integration.controller.objects import PodMaker, a_job, a_pod
from tests.integration.controller.pod_groups import (
    NATIVE,
    make_native_pod_group,
    native_version,
    status_of,
    until_condition,
)
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage, a_stage

CONDITION = {"v1alpha2": "PodGroupScheduled", "v1beta1": "PodGroupInitiallyScheduled"}


@pytest.fixture(scope="module", params=PINNED)
def whole_stage(
    request: pytest.FixtureRequest, binaries: PlaneBinaries, newest_binaries: PlaneBinaries
) -> Iterator[Stage]:
    """Three nodes of 16 cpu."""
    version = request.param
    programs = newest_binaries if version == PINNED[-1] else binaries
    with a_stage(programs, nodes=3, kubernetes=version) as stage:
        yield stage


def members(name: str, count: int, group: str = "g", cpu: int = 1) -> list[PodMaker]:
    """Pods that name a PodGroup."""
    pod = a_pod(name).with_cpu(cpu).with_spec(schedulingGroup={"podGroupName": group})
    return pod.times(count)


def test_a_pod_group_says_how_many_pods_start_together(space: Space) -> None:
    path = make_native_pod_group(space, "g", 3)
    pods = members("a", 3)
    space.create(pods[:2])
    waits = until_condition(space, path, "g", "False")
    assert waits["type"] == CONDITION[native_version(space.api)]
    assert waits["reason"] == "Unschedulable"
    assert "2 of the 3 pods" in waits["message"]
    assert space.node_of("a-0") == space.node_of("a-1") == ""
    space.create(pods[2])
    space.until_bound("a-0", "a-1", "a-2")
    scheduled = until_condition(space, path, "g", "True")
    assert (scheduled["type"], scheduled["reason"]) == (waits["type"], "Scheduled")
    assert scheduled["lastTransitionTime"] >= waits["lastTransitionTime"]


def test_pods_wait_for_a_pod_group_that_is_made_after_them(space: Space) -> None:
    """A pod that names one cannot mean anything without it."""
    space.create(members("a", 2))
    space.let_the_scheduler_act()
    assert space.node_of("a-0") == space.node_of("a-1") == ""
    path = make_native_pod_group(space, "g", 2)
    space.until_bound("a-0", "a-1")
    until_condition(space, path, "g", "True")


def test_a_gang_that_does_not_fit_says_why_and_stays_scheduled_once_it_was(space: Space) -> None:
    space.create(a_pod("big").with_cpu(10).running_for("1h"))
    space.until_bound("big")
    path = make_native_pod_group(space, "g", 3)
    space.create(members("a", 3, cpu=12))
    waits = until_condition(space, path, "g", "False", "Resources: ")
    assert waits["reason"] == "Unschedulable"
    assert {space.node_of(f"a-{n}") for n in range(3)} == {""}
    space.delete("Pod", "big")
    space.until_bound("a-0", "a-1", "a-2")
    until_condition(space, path, "g", "True")
    space.delete("Pod", "a-0", "a-1", "a-2")
    space.until_state("g-group", "cancelled")
    space.create(members("b", 2))
    space.let_the_scheduler_act()
    space.until_event("b-0", "FailedScheduling", "2 of the 3 pods")
    until_condition(space, path, "g", "True")


def test_a_group_that_is_refused_has_an_error(space: Space) -> None:
    path = make_native_pod_group(space, "g", 1)
    space.create(pod.annotated({"fluxnetes.io/walltime": "soon"}) for pod in members("a", 1))
    refused = until_condition(space, path, "g", "False", "fluxnetes.io/walltime")
    assert refused["reason"] == "SchedulerError"


def test_a_pod_group_that_is_deleted_while_its_pods_wait_starts_nothing(space: Space) -> None:
    path = make_native_pod_group(space, "g", 3)
    space.create(members("a", 2))
    until_condition(space, path, "g", "False")
    # The server keeps it for as long as pods name it; a user with the right to can insist.
    space.delete(path, "g")
    space.patch(path, "g", {"metadata": {"finalizers": None}})
    space.until_gone(path, "g")
    space.create(members("b", 1))
    assert "there is no PodGroup g yet" in space.until_reason("g-group", "Prerequisite")["reason"]
    assert {space.node_of(name) for name in ("a-0", "a-1", "b-0")} == {""}
    again = make_native_pod_group(space, "g", 3)
    space.until_bound("a-0", "a-1", "b-0")
    until_condition(space, again, "g", "True")


def test_a_restart_of_the_controller_writes_nothing_that_is_so_already(
    stage: Stage, space: Space
) -> None:
    path = make_native_pod_group(space, "g", 2)
    space.create(members("a", 2, cpu=1))
    until_condition(space, path, "g", "True")
    before = space.get(path, "g")
    stage.controller.kill()
    stage.controller.start()
    later = make_native_pod_group(space, "later", 1)
    space.create(members("b", 1, "later"))
    until_condition(space, later, "later", "True")
    assert space.get(path, "g") == before


def test_the_groups_of_other_schedulers_are_left_to_them(space: Space) -> None:
    path = make_native_pod_group(space, "theirs", 1)
    space.create(pod.of_others() for pod in members("t", 1, "theirs"))
    space.until_bound("t-0")
    make_native_pod_group(space, "ours", 1)
    space.create(members("a", 1, "ours"))
    until_condition(space, path, "ours", "True")
    assert status_of(space, path, "theirs") == {}


def test_the_controller_follows_an_upgrade_of_the_api_server(
    binaries: PlaneBinaries, newest_binaries: PlaneBinaries
) -> None:
    """Without a restart of its own: what runs goes on, and the new version is found."""
    with a_stage(binaries, nodes=2) as stage:
        space = stage.open_space()
        path = make_native_pod_group(space, "g", 2)
        space.create(pod.running_for("1h") for pod in members("a", 2))
        space.until_bound("a-0", "a-1")
        before = until_condition(space, path, "g", "True")
        # The newer server cannot read groups that the older one stored.
        space.delete(path, "g")
        space.patch(path, "g", {"metadata": {"finalizers": None}})
        space.until_gone(path, "g")
        nodes = space.until_bound("a-0", "a-1")
        stage.upgrade(newest_binaries, PINNED[-1])
        space.api = stage.api
        later = make_native_pod_group(space, "later", 2)
        space.create(members("b", 2, "later"))
        space.until_bound("b-0", "b-1")
        after = until_condition(space, later, "later", "True")
        assert (before["type"], after["type"]) == tuple(CONDITION.values())
        assert space.until_bound("a-0", "a-1") == nodes
        assert space.until_state("g-group", "running")["size"] == 2


# --- what only newer versions have -------------------------------------------------------------


# Groups that can change, and Jobs that say how they start, of which Kubernetes makes groups.
ON_THE_NEWEST = pytest.mark.parametrize("whole_stage", PINNED[-1:], indirect=True)


@ON_THE_NEWEST
def test_a_minimum_that_is_lowered_lets_the_pods_start_that_wait(space: Space) -> None:
    path = make_native_pod_group(space, "g", 3)
    space.create(members("a", 2))
    until_condition(space, path, "g", "False", "2 of the 3 pods")
    space.patch(path, "g", {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}})
    space.until_bound("a-0", "a-1")
    until_condition(space, path, "g", "True")


def gang(least: int) -> Object:
    return {"schedulingPolicy": {"gang": {"minCount": least}}}


@ON_THE_NEWEST
def test_a_job_says_in_its_spec_how_many_of_its_pods_start_together(
    stage: Stage, space: Space
) -> None:
    """There are nodes for three of its four pods, and two are enough."""
    space.create(a_job("train").of(4).indexed().with_cpu(12).with_job(scheduling=gang(2)))
    space.until_job_bound("train", 3)
    assert space.until_state("train-job", "running")["size"] == 3


@ON_THE_NEWEST
def test_the_pod_group_that_kubernetes_makes_of_a_job_has_its_condition(space: Space) -> None:
    space.create(a_job("train").of(2).indexed().with_job(scheduling=gang(2)))
    space.until_job_bound("train", 2)
    path = NATIVE.format(native_version(space.api), space.namespace)
    (name,) = space.all(path)
    until_condition(space, path, name, "True")
