"""The check for half-placed groups finds them, and lets whole ones be."""

from __future__ import annotations

from tests.integration.crash.checks.gangs import half_run_groups, partial_groups
from tests.integration.crash.fabricate import Story, a_gang, a_job


def a_pair() -> Story:
    return Story("n1").pod("a").pod("b")


def test_a_group_that_is_placed_at_once_is_well() -> None:
    evidence = a_pair().bind("a").after(1).bind("b").after(200).end("a").evidence()
    assert not partial_groups(evidence) and not half_run_groups(evidence)


def test_a_group_that_is_half_placed_for_long_is_found() -> None:
    evidence = a_pair().bind("a").after(61).bind("b").evidence()
    [found] = partial_groups(evidence)
    assert found == "w had 2 of 2 pods placed for 61.0 s"


def test_a_group_that_stays_half_placed_is_found() -> None:
    evidence = a_pair().bind("a").after(61).run("a").evidence()
    assert partial_groups(evidence) and half_run_groups(evidence)


def test_a_group_of_which_half_never_ran_is_found() -> None:
    evidence = a_pair().bind("a").after(5).end("a").evidence()
    assert not partial_groups(evidence)
    assert half_run_groups(evidence) == ["w: 1 of 2 pods ran in the end"]


def test_a_group_that_is_taken_back_in_time_is_well() -> None:
    story = a_pair().bind("a").after(30).remove("a").after(100).pod("c").bind("b").bind("c")
    assert not partial_groups(story.evidence())
    assert not half_run_groups(story.evidence())


def test_a_group_that_is_taken_back_late_is_found() -> None:
    assert partial_groups(a_pair().bind("a").after(70).remove("a").evidence())


def test_what_has_ended_before_the_rest_is_placed_holds_nothing() -> None:
    story = a_pair().bind("a").after(5).end("a").after(70).bind("b").after(100).end("b")
    assert not partial_groups(story.evidence()) and not half_run_groups(story.evidence())


def test_a_job_that_starts_again_needs_only_what_is_left() -> None:
    story = a_pair().bind("a").bind("b").end("a").remove("a").remove("b")
    evidence = story.after(5).pod("c").bind("c").after(100).end("c").evidence(a_job())
    assert not partial_groups(evidence) and not half_run_groups(evidence)


def test_of_three_pods_two_are_not_enough() -> None:
    assert half_run_groups(a_pair().bind("a").bind("b").evidence(a_gang(3)))
