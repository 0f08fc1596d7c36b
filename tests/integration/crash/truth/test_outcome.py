"""The truth table, line by line."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.integration.crash.record import KubeJob, Pod
from tests.integration.crash.truth.outcome import (
    Outcome,
    PodEnd,
    job_outcome,
    pod_end,
    pods_outcome,
)

NEW = KubeJob("u", "j", "j")


def job(**fields: object) -> KubeJob:
    return KubeJob("u", "j", "j", **fields)  # type: ignore[arg-type]


def pod(phase: str, **fields: object) -> Pod:
    return Pod("u", "p", phase=phase, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("final", "state"),
    [
        (job(end="Complete"), "completed"),
        (job(end="Failed", reason="DeadlineExceeded"), "timed out"),
        (job(end="Failed", reason="BackoffLimitExceeded"), "failed"),
        (job(end="Failed"), "failed"),
        (job(is_gone=True), "cancelled"),
        (job(suspended=True, is_gone=True), "cancelled"),
        (job(suspended=True), "held"),
        (job(suspended=True, is_queued=True), "none"),
        (job(), "none"),
        (job(is_deleting=True), "none"),
    ],
    ids=str,
)
def test_a_job_ends_as_its_last_condition_says(final: KubeJob, state: str) -> None:
    assert job_outcome([NEW, final]).allowed == {state}


def test_a_job_that_ended_and_was_then_suspended_has_ended() -> None:
    assert job_outcome([NEW, job(end="Complete"), job(end="Complete", suspended=True)]).is_end


def test_of_a_job_that_ended_and_was_then_deleted_either_may_be_said() -> None:
    found = job_outcome([NEW, job(end="Failed"), job(end="Failed", is_gone=True)])
    assert found.state == "failed" and found.allowed == {"failed", "cancelled"}


def test_being_held_is_no_end() -> None:
    assert not job_outcome([job(suspended=True)]).is_end
    assert not job_outcome([NEW]).is_end


# --- pods --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("versions", "by_user", "end"),
    [
        ([pod("Pending")], False, PodEnd.LIVE),
        ([pod("Running")], False, PodEnd.LIVE),
        ([pod("Running"), pod("Succeeded")], False, PodEnd.SUCCEEDED),
        ([pod("Succeeded"), pod("Succeeded", is_gone=True)], True, PodEnd.SUCCEEDED_AND_GONE),
        ([pod("Succeeded", is_deleting=True)], True, PodEnd.SUCCEEDED_AT_DELETION),
        ([pod("Failed", is_deleting=True)], True, PodEnd.DELETED_BY_USER),
        ([pod("Failed")], False, PodEnd.FAILED),
        ([pod("Failed", reason="DeadlineExceeded")], False, PodEnd.TIMED_OUT),
        (
            [pod("Running", is_deleting=True), pod("Failed", is_deleting=True)],
            False,
            PodEnd.DELETED,
        ),
        ([pod("Running", is_deleting=True)], True, PodEnd.DELETED_BY_USER),
        ([pod("Pending", is_gone=True)], True, PodEnd.DELETED_BY_USER),
    ],
)
def test_a_pod_ends_by_its_phase_unless_its_deletion_came_first(
    versions: list[Pod], by_user: bool, end: PodEnd
) -> None:
    assert pod_end(versions, by_user=by_user) is end


@pytest.mark.parametrize(
    ("ends", "allowed"),
    [
        ([], {"none"}),
        ([PodEnd.SUCCEEDED, PodEnd.SUCCEEDED], {"completed"}),
        ([PodEnd.SUCCEEDED, PodEnd.LIVE], {"none"}),
        ([PodEnd.SUCCEEDED, PodEnd.SUCCEEDED_AND_GONE], {"completed", "cancelled"}),
        ([PodEnd.FAILED, PodEnd.SUCCEEDED_AND_GONE], {"failed"}),
        ([PodEnd.FAILED, PodEnd.LIVE], {"none"}),
        ([PodEnd.SUCCEEDED, PodEnd.FAILED], {"failed"}),
        ([PodEnd.TIMED_OUT, PodEnd.TIMED_OUT], {"timed out"}),
        ([PodEnd.TIMED_OUT, PodEnd.SUCCEEDED], {"timed out"}),
        ([PodEnd.TIMED_OUT, PodEnd.FAILED], {"failed", "timed out"}),
        ([PodEnd.SUCCEEDED_OR_TIMED_OUT, PodEnd.SUCCEEDED], {"completed", "timed out"}),
        ([PodEnd.SUCCEEDED_OR_TIMED_OUT, PodEnd.FAILED], {"failed", "timed out"}),
        ([PodEnd.FAILED_OR_TIMED_OUT, PodEnd.SUCCEEDED], {"failed", "timed out"}),
        ([PodEnd.DELETED_BY_USER], {"cancelled"}),
        ([PodEnd.DELETED_BY_USER, PodEnd.DELETED_BY_USER], {"cancelled"}),
        ([PodEnd.DELETED_BY_USER, PodEnd.SUCCEEDED], {"failed", "cancelled"}),
        ([PodEnd.DELETED_BY_USER, PodEnd.SUCCEEDED_AT_DELETION], {"cancelled"}),
        ([PodEnd.SUCCEEDED_AT_DELETION], {"completed", "cancelled"}),
        ([PodEnd.DELETED, PodEnd.SUCCEEDED], {"failed", "timed out"}),
    ],
)
def test_pods_without_a_workload_end_together(ends: list[PodEnd], allowed: set[str]) -> None:
    assert pods_outcome(ends).allowed == allowed


@given(st.lists(st.sampled_from(PodEnd), min_size=1, max_size=5))
def test_a_group_completed_only_if_all_its_pods_succeeded(ends: list[PodEnd]) -> None:
    successes = [
        PodEnd.SUCCEEDED,
        PodEnd.SUCCEEDED_AND_GONE,
        PodEnd.SUCCEEDED_OR_TIMED_OUT,
        PodEnd.SUCCEEDED_AT_DELETION,
    ]
    may_have = set(ends) <= set(successes)
    assert ("completed" in pods_outcome(ends).allowed) == may_have


@given(st.lists(st.sampled_from(PodEnd), min_size=1, max_size=5))
def test_a_group_has_an_end_if_and_only_if_none_of_its_pods_lives(ends: list[PodEnd]) -> None:
    assert pods_outcome(ends).is_end == (PodEnd.LIVE not in ends)


def test_the_order_of_the_pods_does_not_matter() -> None:
    for ends in itertools.combinations(PodEnd, 3):
        found = {pods_outcome(each).allowed for each in itertools.permutations(ends)}
        assert len(found) == 1


def test_an_outcome_allows_its_own_state() -> None:
    assert Outcome("failed", frozenset({"timed out"})).allowed == {"failed", "timed out"}
