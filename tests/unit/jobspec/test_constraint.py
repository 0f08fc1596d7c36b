"""RFC 31 constraints: what they mean, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.jobspec import Constraint, JobspecError, parse_constraint
from fluxnetes.jobspec.constraint import (
    MAX_NAMES,
    And,
    Hostlist,
    Not,
    Or,
    Properties,
    Ranks,
)

OPERATORS = ("properties", "hostlist", "ranks", "and", "or", "not")


def holds(document: object, name: str = "foo0", rank: int = 0) -> bool:
    """Whether a node with the properties xx and yy is allowed."""
    constraint = parse_constraint(document)
    return constraint is None or constraint.matches(name, rank, {"xx", "yy"}.__contains__)


def refusal(document: object) -> JobspecError:
    with pytest.raises(JobspecError) as caught:
        parse_constraint(document, "c")
    return caught.value


XX, YY, ZZ = ({"properties": [name]} for name in ("xx", "yy", "zz"))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, True),
        ({"properties": []}, True),
        (XX, True),
        (ZZ, False),
        ({"properties": ["^xx"]}, False),
        ({"properties": ["^zz"]}, True),
        ({"properties": ["xx", "yy"]}, True),
        ({"properties": ["xx", "zz"]}, False),
        ({"properties": ["xx", "^yy"]}, False),
        ({"properties": [""]}, False),
        ({"hostlist": []}, False),
        ({"hostlist": ["foo[0-2]"]}, True),
        ({"hostlist": ["foo[1-3]"]}, False),
        ({"hostlist": ["bar", "foo0,foo7"]}, True),
        ({"ranks": []}, False),
        ({"ranks": ["0-2"]}, True),
        ({"ranks": ["1-3"]}, False),
        ({"ranks": ["7", 0]}, True),
        ({"and": []}, True),
        ({"and": [XX, YY]}, True),
        ({"and": [XX, ZZ]}, False),
        ({"and": [{}, XX]}, True),
        ({"or": []}, False),
        ({"or": [ZZ, YY]}, True),
        ({"or": [ZZ, ZZ]}, False),
        ({"not": []}, False),
        ({"not": [XX]}, False),
        ({"not": [ZZ]}, True),
        ({"not": [XX, ZZ]}, True),
        ({"not": [{"or": [ZZ, YY]}]}, False),
    ],
)
def test_a_constraint_means_what_the_reference_says(document: object, expected: bool) -> None:
    assert holds(document) is expected


def test_a_vertex_without_a_rank_is_in_no_ranks() -> None:
    assert not holds({"ranks": ["0-100"]}, rank=-1)


def test_a_constraint_is_read_into_values() -> None:
    document = {"and": [{"or": [XX, {"ranks": ["0-1"]}]}, {"not": [{"hostlist": ["a[1-2]"]}]}, {}]}
    ranks, hosts = Ranks(frozenset({0, 1})), Hostlist(frozenset({"a1", "a2"}))
    expected = And((Or((Properties(("xx",)), ranks)), Not((hosts,)), And()))
    assert parse_constraint(document) == expected
    assert parse_constraint({}) is None


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([], "c"),
        (None, "c"),
        ("gpu", "c"),
        ({"properties": ["x"], "ranks": ["0"]}, "c"),
        ({"foo": []}, "c.foo"),
        ({1: []}, "c['1']"),
        *(({operator: "foo"}, f"c.{operator}") for operator in OPERATORS),
        *(({operator: None}, f"c.{operator}") for operator in OPERATORS),
        *(({operator: {}}, f"c.{operator}") for operator in OPERATORS),
        *(({operator: [None]}, f"c.{operator}[0]") for operator in OPERATORS),
        ({"and": [XX, 1]}, "c.and[1]"),
        ({"and": [XX, {"or": [{"not": [{"bad": []}]}]}]}, "c.and[1].or[0].not[0].bad"),
        ({"properties": ["foo", 42]}, "c.properties[1]"),
        ({"properties": [True]}, "c.properties[0]"),
        ({"properties": ["foo", "bar&"]}, "c.properties[1]"),
        ({"properties": ["f^oo"]}, "c.properties[0]"),
        ({"properties": ["^^foo"]}, "c.properties[0]"),
        ({"hostlist": ["foo0-10]"]}, "c.hostlist[0]"),
        ({"hostlist": ["a", ["b"]]}, "c.hostlist[1]"),
        ({"ranks": ["0", "5,1-3"]}, "c.ranks[1]"),
        ({"ranks": ["3-3"]}, "c.ranks[0]"),
        ({"ranks": ["1,1"]}, "c.ranks[0]"),
        ({"ranks": [-1]}, "c.ranks[0]"),
        ({"ranks": ["x"]}, "c.ranks[0]"),
        ({"ranks": ["0-4294967295"]}, "c.ranks[0]"),
    ],
)
def test_what_is_no_constraint_is_refused_where_it_stands(document: object, path: str) -> None:
    assert refusal(document).path == path


@pytest.mark.parametrize("character", "!&'\"^`|()")
def test_a_property_may_not_hold_a_character_of_the_query_language(character: str) -> None:
    refusal({"properties": [f"a{character}b"]})
    refusal({"properties": [f"^a{character}"]})


def test_nesting_without_end_is_refused() -> None:
    document: dict[str, Any] = {}
    document["and"] = [document]
    assert "at most 64 levels" in refusal(document).allowed


@pytest.mark.parametrize(
    "document",
    [
        {"hostlist": [f"a[1-{MAX_NAMES}]", "b"]},
        {"hostlist": [f"a[0-{MAX_NAMES}]"]},
        {"hostlist": ["a[0-999]b[0-999]"]},
        {"hostlist": ["a" * 300 + "[0-9]"]},
        {"ranks": [f"0-{MAX_NAMES}"]},
        {"or": [{"ranks": [f"1-{MAX_NAMES}"]}, {"hostlist": ["a"]}]},
    ],
)
def test_a_short_text_cannot_name_very_many_nodes(document: object) -> None:
    assert "more than" in (found := refusal(document).found) or found == "too many nodes"


def test_equal_constraints_are_one_cache_key() -> None:
    document = {"and": [{"hostlist": ["a[0-3]"]}, {"ranks": ["0-3"]}, {"not": [XX]}]}
    other = {"and": [{"hostlist": ["a[0,1]", "a[2-3]"]}, {"ranks": ["0,1-3"]}, {"not": [XX]}]}
    assert len({parse_constraint(document), parse_constraint(other)}) == 1


# -- against plain logic ---------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "c"])
leaves = st.one_of(
    st.builds(Properties, st.lists(names).map(tuple), st.lists(names).map(tuple)),
    st.builds(Hostlist, st.frozensets(st.sampled_from(["n0", "n1"]))),
    st.builds(Ranks, st.frozensets(st.integers(0, 2))),
)
constraints: st.SearchStrategy[Constraint] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        *(st.builds(kind, st.lists(inner, max_size=3).map(tuple)) for kind in (And, Or, Not))
    ),
)


def to_document(constraint: Constraint) -> dict[str, Any]:
    match constraint:
        case Properties(require, forbid):
            return {"properties": [*require, *(f"^{name}" for name in forbid)]}
        case Hostlist(hosts):
            return {"hostlist": sorted(hosts)}
        case Ranks(ranks):
            return {"ranks": sorted(ranks)}
    return {type(constraint).__name__.lower(): [to_document(part) for part in constraint.of]}


@given(constraints)
def test_a_constraint_that_is_written_is_read_back(constraint: Constraint) -> None:
    assert parse_constraint(to_document(constraint)) == constraint


@given(constraints, st.sampled_from(["n0", "n1"]), st.integers(-1, 2), st.frozensets(names))
def test_not_is_the_opposite_of_and(
    constraint: Constraint, name: str, rank: int, has: frozenset[str]
) -> None:
    def allowed(of: Constraint) -> bool:
        return of.matches(name, rank, has.__contains__)

    pair = (constraint, Properties(("a",)))
    assert allowed(Not(pair)) != allowed(And(pair))
    assert allowed(Or(pair)) == (not allowed(And((Not(pair[:1]), Not(pair[1:])))))
