"""What a Job means: how many pods, whether it waits for us, how it ended, how it is patched."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.adapters import ADAPTERS, WorkloadOutcome
from fluxnetes.cluster.adapters.jobs import JobAdapter
from fluxnetes.cluster.labels.names import COMPLETION_INDEX, QUEUED
from fluxnetes.kube.objects.jobs import Job
from tests.unit.cluster.builders import a_job, changed, one_pod

JOBS = JobAdapter()


def ended(type: str, status: str = "True", **more: str) -> dict[str, Any]:
    return {"conditions": [{"type": type, "status": status, **more}]}


def test_jobs_are_known_by_the_kind_that_their_pods_name() -> None:
    assert isinstance(ADAPTERS["Job"], JobAdapter)
    assert ADAPTERS["Job"].resource.api_version == "batch/v1"


# -- how many --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parallelism", "completions", "succeeded", "size"),
    [
        (4, 4, 0, 4),
        (4, 10, 0, 4),
        (4, 10, 8, 2),
        (4, 2, 0, 2),
        (4, 4, 4, 0),
        (0, 4, 0, 0),
        (4, 0, 0, 0),
        (4, None, 0, 4),
        (4, None, 1, 0),
    ],
)
def test_a_job_is_as_large_as_run_side_by_side_and_no_more_than_are_to_succeed(
    parallelism: int, completions: int | None, succeeded: int, size: int
) -> None:
    job = a_job(pods=parallelism, completions=completions, status={"succeeded": succeeded})
    assert JOBS.size(job) == size


@pytest.mark.parametrize(("failed", "size"), [("", 4), ("2", 4), ("0,2-4", 2), ("0-5", 0)])
def test_indexes_that_failed_for_good_are_not_created_again(failed: str, size: int) -> None:
    job = a_job(pods=4, completions=6, status={"failedIndexes": failed})
    assert JOBS.size(job) == size


@pytest.mark.parametrize(
    ("completions", "counted", "live", "seen", "to_come"),
    [
        (10, 0, 4, 0, 0),
        (10, 0, 3, 0, 1),
        (10, 7, 3, 7, 0),
        (10, 7, 2, 8, 0),
        (10, 8, 2, 7, 0),
        (10, 5, 2, 5, 2),
        (None, 0, 3, 0, 1),
        (None, 0, 3, 1, 0),
        (4, 0, 6, 0, 0),
    ],
)
def test_a_job_makes_pods_until_enough_live_or_are_done(
    completions: int | None, counted: int, live: int, seen: int, to_come: int
) -> None:
    """Its own count of successes may lag behind the pods that we see, or be ahead of them."""
    job = a_job(pods=4, completions=completions, status={"succeeded": counted})
    assert JOBS.to_come(job, live, seen) == to_come


def test_a_job_that_ended_makes_no_pods() -> None:
    job = a_job(pods=4, status=ended("Failed"))
    assert JOBS.to_come(job, 0, 0) == 0
    assert JOBS.size(job) == 0


# -- time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "pod", "walltime"), [(None, None, None), (60, None, 60), (None, 30, 30), (60, 30, 30)]
)
def test_the_walltime_is_the_first_deadline_that_kubernetes_enforces(
    job: int | None, pod: int | None, walltime: int | None
) -> None:
    template = {"spec": {"activeDeadlineSeconds": pod, "schedulerName": "fluxnetes"}}
    made = a_job(activeDeadlineSeconds=job)
    assert JOBS.walltime(changed(made, spec={"template": template})) == walltime


# -- waiting and going -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suspended", "queued", "is_ours"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_only_a_job_that_we_suspended_waits_for_us(
    suspended: bool, queued: bool, is_ours: bool
) -> None:
    job = a_job(suspended=suspended, queued=queued)
    assert JOBS.is_suspended(job) == suspended
    assert JOBS.is_waiting_for_us(job) == is_ours


def merged(job: Job, content: dict[str, Any]) -> Job:
    """As the server would merge it."""
    annotations = {**job.metadata.annotations, **content.get("metadata", {}).get("annotations", {})}
    kept = {key: value for key, value in annotations.items() if value is not None}
    return changed(job, metadata={"annotations": kept}, spec=content.get("spec"))


def test_a_job_that_is_let_go_runs_and_no_longer_waits_for_us() -> None:
    job = a_job(annotations={"mine": "1"})
    gone = merged(job, JOBS.release(job))
    assert not JOBS.is_suspended(gone)
    assert not JOBS.is_waiting_for_us(gone)
    assert QUEUED not in gone.metadata.annotations
    assert gone.metadata.annotations["mine"] == "1"


def test_a_job_that_is_taken_back_waits_for_us_again() -> None:
    job = a_job(suspended=False, queued=False)
    assert JOBS.is_waiting_for_us(merged(job, JOBS.suspend(job)))


def test_a_job_that_is_out_of_time_gets_a_deadline_that_is_over() -> None:
    job = a_job(suspended=False)
    assert merged(job, JOBS.end_by_deadline(job)).spec.active_deadline_seconds == 1


# -- the end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ({}, None),
        (ended("Complete"), WorkloadOutcome(True)),
        (ended("Complete", "False"), None),
        (ended("FailureTarget"), None),
        (
            ended("Failed", reason="DeadlineExceeded", message="too long"),
            WorkloadOutcome(False, "DeadlineExceeded: too long", timed_out=True),
        ),
        (
            ended("Failed", reason="BackoffLimitExceeded"),
            WorkloadOutcome(False, "BackoffLimitExceeded"),
        ),
    ],
)
def test_how_a_job_ended_is_what_its_conditions_say(
    status: dict[str, Any], outcome: WorkloadOutcome | None
) -> None:
    assert JOBS.end(a_job(status=status)) == outcome


# -- numbers ---------------------------------------------------------------------------------------


def test_pods_of_indexed_jobs_have_numbers_as_a_label_or_an_annotation() -> None:
    assert JOBS.index(one_pod(labels={COMPLETION_INDEX: "3"})) == 3
    assert JOBS.index(one_pod(annotations={COMPLETION_INDEX: "3"})) == 3
    assert JOBS.index(one_pod()) is None


@pytest.mark.parametrize("text", ["", "-1", "x", "1.5", "9" * 5000])
def test_a_number_that_is_none_is_not_believed(text: str) -> None:
    assert JOBS.index(one_pod(annotations={COMPLETION_INDEX: text})) is None
