"""The condition of a native PodGroup says what kube-scheduler would say, in every version."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fluxnetes.controller.reporting.pod_groups.native import LONGEST_MESSAGE, native_status
from fluxnetes.controller.reporting.pod_groups.view import PodGroupView
from fluxnetes.kube.objects.podgroups import NATIVE_POD_GROUPS, NativePodGroup
from fluxnetes.queue.states import JobState

NOW = 1_800_000_000.5
WAITS = PodGroupView(JobState.PENDING, pods=3, live=3, reason="Resources: all nodes are busy")
BOUND = PodGroupView(JobState.ALLOCATED, pods=3, live=3, bound=3)


def a_group(
    type: type[NativePodGroup] = NativePodGroup, least: int | None = 3, **condition: str
) -> NativePodGroup:
    policy: dict[str, Any] = {"basic": {}} if least is None else {"gang": {"minCount": least}}
    content = {
        "metadata": {"name": "g", "uid": "u", "resourceVersion": "7", "generation": 2},
        "spec": {"schedulingPolicy": policy},
        "status": {"conditions": [{"type": type.SCHEDULED, **condition}] if condition else []},
    }
    return msgspec.convert(content, type)


def written(group: NativePodGroup, view: PodGroupView) -> dict[str, Any] | None:
    patch = native_status(group, view, NOW)
    if patch is None:
        return None
    assert patch.content["metadata"] == {"uid": "u", "resourceVersion": "7"}
    (condition,) = patch.content["status"]["conditions"]
    assert condition.pop("observedGeneration") == 2
    return dict(condition)


@pytest.mark.parametrize("resource", NATIVE_POD_GROUPS, ids=lambda each: each.version)
def test_the_condition_has_the_type_of_its_version(resource: Any) -> None:
    name = {"v1alpha2": "PodGroupScheduled", "v1beta1": "PodGroupInitiallyScheduled"}
    condition = written(a_group(resource.type), BOUND)
    assert condition is not None
    assert condition["type"] == name[resource.version]
    assert (condition["status"], condition["reason"]) == ("True", "Scheduled")


def test_a_group_that_waits_is_unschedulable_for_its_reason() -> None:
    condition = written(a_group(), WAITS)
    assert condition is not None
    time = condition.pop("lastTransitionTime")
    assert time.isoformat() == "2027-01-15T08:00:00+00:00"
    assert condition == {
        "type": "PodGroupScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "Resources: all nodes are busy",
    }


def test_a_group_that_cannot_be_scheduled_as_it_is_has_an_error() -> None:
    condition = written(a_group(), PodGroupView(reason="no", is_refused=True))
    assert condition is not None and condition["reason"] == "SchedulerError"


def test_another_reason_keeps_the_time_of_the_transition() -> None:
    before = a_group(status="False", reason="Unschedulable", message="another")
    condition = written(before, WAITS)
    assert condition is not None and "lastTransitionTime" not in condition


def test_what_is_so_already_is_not_written() -> None:
    group = a_group(status="False", reason="Unschedulable", message=WAITS.reason)
    assert written(group, WAITS) is None


def test_a_group_of_which_nothing_is_known_says_nothing() -> None:
    assert written(a_group(), PodGroupView(pods=1, live=1)) is None
    assert written(a_group(), PodGroupView(JobState.ALLOCATED, pods=3, live=3, bound=2)) is None


def test_once_scheduled_is_for_ever() -> None:
    for view in (WAITS, BOUND):
        assert written(a_group(status="True", reason="Scheduled", message="before"), view) is None


def test_pods_that_are_scheduled_one_by_one_are_scheduled_with_the_first() -> None:
    condition = written(a_group(least=None), PodGroupView(pods=3, live=3, bound=1))
    assert condition is not None and condition["status"] == "True"


def test_pods_that_have_ended_were_scheduled() -> None:
    view = PodGroupView(JobState.FAILED, pods=3, bound=3, failed=3)
    condition = written(a_group(), view)
    assert condition is not None and condition["status"] == "True"


def test_a_long_message_is_cut() -> None:
    condition = written(a_group(), PodGroupView(reason="x" * 5000))
    assert condition is not None and len(condition["message"]) == LONGEST_MESSAGE
