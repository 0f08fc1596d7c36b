"""The figures, on schedules small enough to be worked by hand."""

from __future__ import annotations

import math

import pytest

from fluxnetes.simulate.metrics import DEFINITIONS, Figures, measure, processors_used, queue_length
from fluxnetes.simulate.table import TITLES, span, written
from fluxnetes.simulate.workload import SkippedJob
from tests.oracle.textbook import simulate
from tests.unit.simulate.jobs import schedule, textbook_jobs, workload

# Four nodes. The second job waits from 11 to 20 and the third passes it.
THREE = workload((10, 10, 10, 3), (11, 40, 40, 4), (12, 5, 8, 1))
EASY = schedule(THREE, [10, 20, 12], 4)


def test_the_example_is_what_easy_does() -> None:
    assert simulate(textbook_jobs(THREE), 4, "easy") == EASY.start.tolist()


def test_figures_of_a_schedule_worked_by_hand() -> None:
    figures = measure(EASY)
    assert figures.jobs == 3
    assert figures.makespan == 50
    assert figures.utilisation == pytest.approx((3 * 10 + 4 * 40 + 5) / (4 * 50))
    assert figures.mean_wait == 3
    assert figures.median_wait == 0
    assert figures.p95_wait == pytest.approx(0.9 * 9)
    assert figures.mean_bounded_slowdown == pytest.approx((1 + 49 / 40 + 1) / 3)
    assert figures.longest_queue == 1
    assert figures.backfilled == pytest.approx(1 / 3)
    assert figures.seconds == 0.5


def test_a_job_that_was_killed_counts_as_long_as_it_ran() -> None:
    killed = schedule(workload((0, 100, 20, 4)), [0], 4)
    assert measure(killed).makespan == 20
    assert measure(killed).utilisation == 1


def test_short_runs_count_as_ten_seconds_in_the_slowdown() -> None:
    waited = schedule(workload((0, 100, 100, 4), (90, 1, 1, 4)), [0, 100], 4)
    assert measure(waited).mean_bounded_slowdown == pytest.approx((1 + 11 / 10) / 2)


def test_a_job_that_starts_at_once_was_never_in_the_queue() -> None:
    assert measure(schedule(workload((0, 5, 5, 4), (5, 5, 5, 4)), [0, 5], 4)).longest_queue == 0


def test_a_job_that_starts_together_with_an_earlier_one_is_not_backfilled() -> None:
    together = schedule(workload((0, 5, 5, 4), (1, 5, 5, 2), (2, 5, 5, 2)), [0, 5, 5], 4)
    assert together.backfilled.tolist() == [False, False, False]


def test_passing_any_earlier_job_is_backfill_not_only_passing_the_head() -> None:
    passed = schedule(workload((0, 9, 9, 4), (0, 1, 1, 1), (0, 1, 1, 1)), [0, 10, 9], 4)
    assert passed.backfilled.tolist() == [False, False, True]


def test_queue_and_use_are_those_after_all_that_happens_at_an_instant() -> None:
    queue, used = queue_length(EASY), processors_used(EASY)
    assert dict(zip(queue.time.tolist(), queue.value.tolist(), strict=True)) == {
        10: 0, 11: 1, 12: 1, 20: 0,
    }  # fmt: skip
    assert dict(zip(used.time.tolist(), used.value.tolist(), strict=True)) == {
        10: 3, 12: 4, 17: 3, 20: 4, 60: 0,
    }  # fmt: skip


def test_a_workload_without_jobs_has_figures_too() -> None:
    empty = measure(schedule(workload(skipped={SkippedJob.TOO_LARGE: 2}), [], 4))
    assert (empty.jobs, empty.skipped, empty.utilisation) == (0, 2, 0.0)


def test_jobs_of_no_run_time_alone_have_figures_too() -> None:
    figures = measure(schedule(workload((5, 0, 1, 4)), [5], 4))
    assert (figures.makespan, figures.utilisation) == (0, 0.0)
    assert all(math.isfinite(getattr(figures, name)) for name in DEFINITIONS)


def test_every_figure_has_a_title_and_a_definition() -> None:
    names = list(Figures.__dataclass_fields__)
    assert list(TITLES) == names
    assert list(DEFINITIONS) == names
    assert list(written(measure(EASY))) == names


def test_figures_are_written_for_people() -> None:
    texts = written(measure(EASY))
    assert texts["makespan"] == "00:00:50"
    assert texts["utilisation"] == "97.5%"
    assert texts["mean_bounded_slowdown"] == "1.07"
    assert span(2 * 86_400 + 3661) == "2 d 01:01:01"
