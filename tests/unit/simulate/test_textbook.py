"""The oracle itself, on examples worked by hand. Jobs are (submit, runtime, walltime, size)."""

from __future__ import annotations

import pytest

from tests.oracle.textbook import Job, simulate

POLICIES = ("fcfs", "easy", "conservative")

EXAMPLE: list[Job] = [
    (0, 10, 10, 3),  # runs from 0 to 10 and leaves one node free
    (1, 10, 10, 4),  # needs all: waits until 10
    (2, 8, 8, 1),  # fits beside the first and is gone at 10
    (3, 9, 9, 1),  # would be there until 12 or later
    (4, 5, 5, 1),
]


def test_under_fcfs_no_job_passes_the_head() -> None:
    assert simulate(EXAMPLE, 4, "fcfs") == [0, 10, 20, 20, 20]


def test_easy_backfills_what_ends_before_the_head_starts() -> None:
    assert simulate(EXAMPLE, 4, "easy") == [0, 10, 2, 20, 20]


def test_easy_may_delay_a_job_that_is_not_the_head_where_conservative_does_not() -> None:
    jobs = [(0, 10, 10, 2), (1, 10, 10, 3), (2, 10, 10, 4), (3, 30, 30, 1)]
    # The last fits beside the head after 10, and so passes all under easy; the third must then
    # wait until 33. Under conservative it was promised 20, and the last waits until 30.
    assert simulate(jobs, 4, "easy") == [0, 10, 33, 3]
    assert simulate(jobs, 4, "conservative") == [0, 10, 20, 30]


def test_conservative_moves_plans_earlier_when_a_job_ends_early() -> None:
    jobs = [(0, 4, 10, 4), (1, 5, 5, 4), (2, 5, 5, 2)]
    assert simulate(jobs, 4, "conservative") == [0, 4, 9]


def test_conservative_keeps_a_promise_that_planning_anew_would_break() -> None:
    # When the first job leaves at 2 rather than 3, the third could start at 2, and planning from
    # scratch in queue order would start it there; but the fourth was promised 2.
    jobs = [(0, 2, 3, 1), (0, 2, 2, 2), (0, 1, 1, 4), (1, 1, 1, 2)]
    assert simulate(jobs, 4, "conservative") == [0, 0, 3, 2]


@pytest.mark.parametrize("policy", POLICIES)
def test_ends_come_before_submits_and_submits_before_starts(policy: str) -> None:
    assert simulate([(0, 5, 5, 4), (5, 1, 1, 4)], 4, policy) == [0, 5]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_of_no_run_time_makes_room_at_the_instant_of_its_start(policy: str) -> None:
    assert simulate([(0, 0, 1, 4), (0, 2, 2, 4)], 4, policy) == [0, 0]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_is_killed_at_its_walltime(policy: str) -> None:
    assert simulate([(0, 100, 5, 4), (0, 1, 1, 4)], 4, policy) == [0, 5]


def test_who_moves_earlier_makes_room_for_one_before_it() -> None:
    jobs = [(1, 10, 10, 5), (6, 1, 4, 3), (6, 7, 7, 2), (11, 4, 4, 7), (11, 1, 1, 3)]
    # At 12 the second job is gone early. The fourth was planned for 15 and can move to 14 only,
    # for the last one is planned for 13; once that has moved to 12, the fourth moves to 13.
    assert simulate(jobs, 7, "conservative") == [1, 11, 6, 13, 12]


@pytest.mark.parametrize("job", [(0, 1, 1, 5), (0, 1, 0, 1), (0, -1, 1, 1), (0, 1, 1, 0)])
def test_what_is_no_job_is_refused(job: Job) -> None:
    with pytest.raises(ValueError, match="not a job"):
        simulate([job], 4, "fcfs")
