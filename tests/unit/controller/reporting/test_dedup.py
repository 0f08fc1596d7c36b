"""What is news, and what was said before."""

from __future__ import annotations

from fluxnetes.controller.reporting.dedup import EventDedup

A, B = ("uid-a", "Waits"), ("uid-b", "Waits")


def test_the_same_words_are_news_once_in_the_window() -> None:
    dedup = EventDedup(window=10, different=5, subjects=5)
    said = [dedup.is_news(A, "busy", now) for now in (0, 5, 9.9, 10, 19)]
    assert said == [True, False, False, True, False]


def test_another_subject_has_words_of_its_own() -> None:
    dedup = EventDedup(window=10, different=1, subjects=5)
    assert dedup.is_news(A, "busy", 0)
    assert dedup.is_news(B, "busy", 0)
    assert dedup.is_news(("uid-a", "Ended"), "busy", 0)


def test_words_that_always_change_are_news_a_few_times() -> None:
    dedup = EventDedup(window=10, different=2, subjects=5)
    assert [dedup.is_news(A, f"{n} free", n) for n in range(5)] == [True, True] + [False] * 3
    assert dedup.is_news(A, "5 free", 10.5)


def test_it_remembers_no_more_subjects_than_its_limit() -> None:
    dedup = EventDedup(window=10, different=1, subjects=2)
    for uid in "abc":
        assert dedup.is_news((uid, "Waits"), "busy", 0)
    assert dedup.is_news(("a", "Waits"), "busy", 0)
    assert not dedup.is_news(("c", "Waits"), "busy", 0)
