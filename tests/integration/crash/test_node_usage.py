"""The check for over-commitment finds it where it is, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from tests.integration.crash.checks.evidence import Away
from tests.integration.crash.checks.node_usage import (
    collisions,
    lasting_collisions,
    overcommitments,
    strangers,
)
from tests.integration.crash.fabricate import Story


def two_there() -> Story:
    """A node of four cores that is full."""
    return Story("n1").pod("a").pod("b").pod("c").bind("a").bind("b")


def others_first(seconds: float) -> Story:
    """Others fill a node; so much later we bind something to it."""
    story = Story("n1").pod("theirs", "other", 4, ours=False).pod("ours")
    return story.bind("theirs").after(seconds).bind("ours")


def test_a_full_node_is_no_overcommitment() -> None:
    assert not overcommitments(two_there().evidence())


def test_a_pod_too_many_of_ours_is_found() -> None:
    [found] = overcommitments(two_there().bind("c").evidence())
    assert "pod c was bound to n1" in found and "2000 of cpu" in found


def test_another_node_has_capacity_of_its_own() -> None:
    story = Story("n1", "n2").pod("a", cores=4).pod("b", cores=4)
    assert not overcommitments(story.bind("a").bind("b", "n2").evidence())


def test_what_has_ended_uses_no_capacity() -> None:
    assert not overcommitments(two_there().end("a").bind("c").evidence())
    assert not overcommitments(two_there().remove("a").bind("c").evidence())


def test_what_is_being_deleted_still_uses_capacity() -> None:
    assert overcommitments(two_there().run("a").bind("c").end("a").evidence())


def test_others_that_could_be_seen_count() -> None:
    assert overcommitments(others_first(3.0).evidence())


def test_others_that_came_at_the_same_moment_do_not() -> None:
    evidence = others_first(0.5).evidence()
    assert not overcommitments(evidence)
    assert len(collisions(evidence)) == 1


def test_nothing_can_be_seen_while_the_server_is_away() -> None:
    evidence = others_first(6.0).evidence()
    assert overcommitments(evidence)
    assert not overcommitments(replace(evidence, server_away=(Away(0.1, 5.0),)))


def test_others_that_crowd_us_are_a_collision_but_not_our_mistake() -> None:
    story = two_there().pod("theirs", "other", ours=False).after(9).bind("theirs")
    evidence = story.after(1).end("a").evidence()
    assert not overcommitments(evidence)
    [collision] = collisions(evidence)
    assert (collision.since, collision.until) == (9, 10)
    assert collision.works == {"w", "other"}


def test_a_collision_that_is_not_resolved_is_found() -> None:
    story = others_first(0.5)
    assert not lasting_collisions(story.evidence())
    assert lasting_collisions(story.after(60).end("ours").evidence())


def test_a_pod_of_ours_that_another_scheduler_bound_is_found() -> None:
    assert not strangers(two_there().evidence())
    assert strangers(Story("n1").pod("a").change("a", node="n1").evidence())
