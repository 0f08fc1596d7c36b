"""Policies from their names and from their options."""

from __future__ import annotations

import doctest

import pytest

from fluxnetes.match import policy
from fluxnetes.match.policy import NAMED, MatchPolicy, PolicyError, parse_policy

# low, node centric, node exclusive, stops at the first match
MEANING = {
    "first": (False, True, False, True),
    "firstnodex": (False, True, True, True),
    "high": (False, False, False, False),
    "low": (True, False, False, False),
    "hinode": (False, True, False, False),
    "lonode": (True, True, False, False),
    "hinodex": (False, True, True, False),
    "lonodex": (True, True, True, False),
}


def switches(found: MatchPolicy) -> tuple[bool, bool, bool, bool]:
    return found.low, found.node_centric, found.node_exclusive, found.first


@pytest.mark.parametrize("name", NAMED)
def test_a_name_stands_for_its_options(name: str) -> None:
    by_name = parse_policy(name)
    assert switches(by_name) == MEANING[name]
    assert switches(parse_policy(NAMED[name])) == MEANING[name]
    assert (by_name.name, by_name.scoring) == (name, "id")


def test_locality_and_variation_score_otherwise() -> None:
    locality, variation = parse_policy("locality"), parse_policy("variation")
    assert (locality.scoring, locality.low) == ("interval", False)
    assert (variation.scoring, variation.low) == ("property", True)


def test_variation_prefers_low_classes_and_fills_slots_from_the_high_ones() -> None:
    assert parse_policy("low").slots_low
    assert not parse_policy("high").slots_low
    assert not parse_policy("variation").slots_low


def test_high_wins_where_both_are_given() -> None:
    assert not parse_policy("policy=high policy=low").low
    assert not parse_policy("policy=low policy=high").low


def test_the_first_of_two_switches_counts() -> None:
    assert parse_policy("policy=low node_centric=true node_centric=false").node_centric


def test_a_switch_turned_off_is_off() -> None:
    text = "policy=low node_centric=false node_exclusive=false stop_on_1_matches=false"
    assert switches(parse_policy(text)) == (True, False, False, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("best", "unknown match policy or option 'best'; policies are first, firstnodex"),
        ("", "unknown match policy or option ''"),
        ("policy=high  node_centric=true", "unknown match policy or option ''"),
        ("policy=high set_stop_on_1_matches=true", "option 'set_stop_on_1_matches=true'"),
        ("policy=best", "option 'policy' takes high or low, not 'best'"),
        ("policy=low node_centric=yes", "option 'node_centric' takes true or false, not 'yes'"),
        ("policy=low node_centric", "takes true or false, not ''"),
        ("node_centric=true", "names neither policy=high nor policy=low"),
    ],
)
def test_what_is_no_policy_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert message in str(caught.value)


def test_the_examples_in_the_documentation_are_true() -> None:
    assert doctest.testmod(policy).failed == 0
