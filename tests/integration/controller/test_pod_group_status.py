"""The status of scheduler-plugins' PodGroups: what `kubectl get podgroups` shows."""

from __future__ import annotations

from typing import Any

from tests.integration.controller.objects import PodMaker, a_job, a_pod
from tests.integration.controller.pod_groups import make_pod_group, status_of, until_phase
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage

LABEL = "scheduling.x-k8s.io/pod-group"


def members(name: str, count: int, group: str = "g", time: str = "1h") -> list[PodMaker]:
    """Pods that name a PodGroup."""
    return a_pod(name).with_cpu(12).labelled({LABEL: group}).running_for(time).times(count)


def counts(status: dict[str, Any]) -> tuple[int, int, int]:
    return tuple(status.get(each, 0) for each in ("running", "succeeded", "failed"))


def test_the_phases_follow_the_pods_from_the_first_to_the_end(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(a_pod("big").with_cpu(12))
    space.until_bound("big")
    path = make_pod_group(space, "g", 2)
    first, second = members("a", 2)
    space.create(first)
    until_phase(space, path, "g", "Pending")
    space.create(second)
    waits = until_phase(space, path, "g", "PreScheduling")
    assert counts(waits) == (0, 0, 0)
    assert waits["scheduleStartTime"]
    space.delete("Pod", "big")
    space.until_bound("a-0", "a-1")
    runs = until_phase(space, path, "g", "Running")
    assert counts(runs) == (2, 0, 0)
    assert runs["scheduleStartTime"] == waits["scheduleStartTime"]


def test_a_group_that_ends_well_is_finished_also_after_its_pods_are_deleted(space: Space) -> None:
    path = make_pod_group(space, "g", 2)
    space.create(members("a", 2, time="1s"))
    ended = until_phase(space, path, "g", "Finished")
    assert counts(ended) == (0, 2, 0)
    space.delete("Pod", "a-0", "a-1")
    space.until_gone("Pod", "a-0", "a-1")
    other = make_pod_group(space, "other", 1)
    space.create(members("b", 1, "other"))
    until_phase(space, other, "other", "Running")
    assert status_of(space, path, "g") == ended


def test_a_group_of_which_a_pod_fails_is_failed(space: Space) -> None:
    path = make_pod_group(space, "g", 2)
    good, bad = members("a", 2, time="1s")
    space.create(good, bad.failing())
    failed = until_phase(space, path, "g", "Failed")
    assert counts(failed) == (0, 1, 1)


def test_a_job_occupies_the_pod_group_that_it_names(space: Space) -> None:
    path = make_pod_group(space, "g", 2)
    space.create(a_job("train").of(2).labelled({LABEL: "g"}).running_for("1s"))
    ended = until_phase(space, path, "g", "Finished")
    assert ended["occupiedBy"] == f"{space.namespace}/train"


def test_what_another_controller_writes_is_not_written_over_until_pods_change(space: Space) -> None:
    path = make_pod_group(space, "g", 2)
    space.create(members("a", 2))
    until_phase(space, path, "g", "Running")
    space.patch(path, "g/status", {"status": {"phase": "Scheduling"}})
    other = make_pod_group(space, "other", 1)
    space.create(members("b", 1, "other"))
    until_phase(space, other, "other", "Running")
    assert status_of(space, path, "g")["phase"] == "Scheduling"
    space.delete("Pod", "a-0")
    until_phase(space, path, "g", "Unknown")
