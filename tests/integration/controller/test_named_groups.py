"""What names one group is one gang, whichever controllers made it; and groups that change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.controller.objects import JobMaker, PodMaker, a_job, a_pod
from tests.integration.controller.pod_groups import (
    change_pod_group,
    delete_pod_group,
    make_native_pod_group,
    make_pod_group,
    make_volcano_pod_group,
)
from tests.integration.controller.space import Space, node_of, of_job
from tests.integration.controller.stage import Stage

LABEL = "scheduling.x-k8s.io/pod-group"
VOLCANO = "scheduling.k8s.io/group-name"


def names_ring(job: JobMaker) -> JobMaker:
    """Its pods name the PodGroup `ring` of scheduler-plugins."""
    job.pod_metadata.setdefault("labels", {})[LABEL] = "ring"
    return job.queued().running_for("1h")


def bound_of(space: Space, job: str) -> int:
    """How many pods of a Job have a node."""
    return sum(of_job(pod) == job and bool(node_of(pod)) for pod in space.all("Pod").values())


# --- one gang ----------------------------------------------------------------------------------


def test_a_job_of_four_and_a_job_of_one_fill_a_pod_group_of_five_together(space: Space) -> None:
    make_pod_group(space, "ring", 5)
    space.create(names_ring(a_job("workers").of(4)))
    space.until_reason("ring-group", "Gathering")
    assert space.get("Job", "workers")["spec"]["suspend"]
    space.create(names_ring(a_job("launcher")))
    space.until_job_bound("workers", 4)
    space.until_job_bound("launcher", 1)
    status = space.until_state("ring-group", "running")
    assert status["size"] == 5
    assert list(space.all("FluxJob")) == ["ring-group"]


def test_with_a_cluster_too_small_none_of_it_starts(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    make_pod_group(space, "ring", 3)
    space.create(names_ring(a_job("workers").of(2).with_cpu(10)))
    space.create(names_ring(a_job("launcher").with_cpu(10)))
    assert space.until_state("ring-group", "pending")
    space.until_event("workers", "FailedScheduling", "not yet: ")
    assert not space.all("Pod")
    stage.uncordon("node-2")
    space.until_job_bound("workers", 2)
    space.until_job_bound("launcher", 1)


def test_when_it_has_ended_everything_is_free(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    make_pod_group(space, "ring", 2)
    for name in ("one", "other"):
        space.create(names_ring(a_job(name).with_cpu(16)).running_for("1s"))
    for name in ("one", "other"):
        space.until_condition(name, "Complete")
    space.until_state("ring-group", "completed")
    space.create(a_pod("next").with_cpu(16).times(2))
    space.until_bound("next-0", "next-1")


def bare(native: bool) -> PodMaker:
    pod = a_pod("bare")
    if native:
        return pod.with_spec(schedulingGroup={"podGroupName": "ring"})
    return pod.annotated({VOLCANO: "ring"})


@pytest.mark.parametrize("native", [True, False], ids=["native", "volcano"])
def test_so_it_is_with_jobs_and_bare_pods_in_other_dialects(space: Space, native: bool) -> None:
    job = a_job("two").of(2).running_for("1h").queued()
    if native:
        make_native_pod_group(space, "ring", 3)
        job.with_spec(schedulingGroup={"podGroupName": "ring"})
    else:
        make_volcano_pod_group(space, "ring", 3)
        job.on_template({VOLCANO: "ring"})
    space.create(job)
    space.until_reason("ring-group", "Gathering")
    assert not space.all("Pod")
    space.create(bare(native))
    space.until_job_bound("two", 2)
    space.until_bound("bare")


def test_two_jobs_of_one_manifest_are_two_gangs(space: Space) -> None:
    make_pod_group(space, "ring", 2)
    for name in ("one", "other"):
        space.create(names_ring(a_job(name).of(2)))
        space.until_job_bound(name, 2)
        space.until_state(f"{name}-job", "running")


# --- PodGroups that come, change and go --------------------------------------------------------


def test_jobs_wait_for_the_pod_group_that_they_name(space: Space) -> None:
    """Kubernetes' own, which is waited for as long as it takes."""
    group: dict[str, Any] = {"schedulingGroup": {"podGroupName": "ring"}}
    for name in ("one", "other"):
        space.create(a_job(name).with_spec(**group).running_for("1h").queued())
        space.until_event(name, "FailedScheduling", "there is no PodGroup ring yet")
    make_native_pod_group(space, "ring", 2)
    for name in ("one", "other"):
        space.until_job_bound(name, 1)
    assert space.until_state("ring-group", "running")["size"] == 2


def test_a_job_that_waits_in_the_queue_joins_its_group_when_the_pod_group_is_seen(
    space: Space,
) -> None:
    space.create(names_ring(a_job("one").of(2).annotated({"fluxnetes.io/hold": "true"})))
    space.until_state("one-job", "held")
    make_pod_group(space, "ring", 3)
    space.until_gone("FluxJob", "one-job")
    space.annotate("Job", "one", hold=None)
    space.create(names_ring(a_job("other")))
    space.until_job_bound("one", 2)
    space.until_job_bound("other", 1)
    assert space.until_state("ring-group", "running")["size"] == 3


def test_a_minimum_that_is_lowered_counts_at_once(space: Space) -> None:
    make_pod_group(space, "ring", 5)
    space.create(names_ring(a_job("one").of(2)), names_ring(a_job("other")))
    space.until_reason("ring-group", "Gathering")
    change_pod_group(space, "ring", 3)
    space.until_job_bound("one", 2)
    space.until_job_bound("other", 1)


def test_a_pod_group_that_is_deleted_while_its_jobs_wait_is_waited_for(space: Space) -> None:
    make_pod_group(space, "ring", 3)
    space.create(names_ring(a_job("one").of(2)))
    space.until_reason("ring-group", "Gathering")
    delete_pod_group(space, "ring")
    space.until_event("one", "FailedScheduling", "PodGroup ring was deleted")
    space.create(names_ring(a_job("other")))
    space.until_event("other", "FailedScheduling", "PodGroup ring was deleted")
    assert not space.all("Pod")
    make_pod_group(space, "ring", 3)
    space.until_job_bound("one", 2)
    space.until_job_bound("other", 1)


def test_what_runs_is_not_touched_when_its_pod_group_changes_or_goes(
    stage: Stage, space: Space
) -> None:
    make_pod_group(space, "ring", 3)
    space.create(names_ring(a_job("one").of(2)), names_ring(a_job("other")))
    before = space.until_state("ring-group", "running")
    change_pod_group(space, "ring", 9)
    stage.controller.kill()
    delete_pod_group(space, "ring")
    stage.controller.start()
    space.let_the_scheduler_act()
    assert (bound_of(space, "one"), bound_of(space, "other")) == (2, 1)
    after = space.until_state("ring-group", "running")
    assert (after["jobID"], after["size"]) == (before["jobID"], 3)
    space.delete("Job", "one", "other")
    space.until_gone("Pod", *(name for name in space.all("Pod") if name != "signal"))
    space.until_state("ring-group", "cancelled")


# --- members that disagree ---------------------------------------------------------------------


def test_members_that_disagree_start_nothing_until_they_agree(space: Space) -> None:
    make_pod_group(space, "ring", 2)
    space.create(names_ring(a_job("one")).with_walltime("1h"))
    space.create(names_ring(a_job("other")).with_walltime("2h"))
    words = "on fluxnetes.io/walltime: job/one says 3600 s, job/other says 7200 s"
    for name in ("one", "other"):
        event = space.until_event(name, "FailedScheduling", words)
        assert event["type"] == "Warning"
    assert space.until_reason("ring-group", "Invalid")["state"] == "rejected"
    space.let_the_scheduler_act()
    assert list(space.all("Pod")) == ["signal"]
    space.annotate("Job", "other", walltime="1h")
    space.until_job_bound("one", 1)
    space.until_job_bound("other", 1)
    assert space.until_state("ring-group", "running")["walltime"] == 3600
