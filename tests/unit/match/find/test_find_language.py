"""What the language of `find` promises: how queries are read, answered and refused."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.arrays import Bools
from fluxnetes.match.find.query import MAX_NESTING, PREDICATES, QueryError, parse_query


@dataclass
class SixVertices:
    """Facts of six positions, each given as the set of positions where it holds."""

    facts: dict[str, set[int]] = field(default_factory=dict)
    names: tuple[str, ...] = ("c0", "n0", "n1", "N2", "n3", "n4")

    def __len__(self) -> int:
        return 6

    def _column(self, fact: str) -> Bools:
        return np.isin(np.arange(6), list(self.facts.get(fact, ())))

    def down(self) -> Bools:
        return self._column("down")

    def allocated(self) -> Bools:
        return self._column("allocated")

    def reserved(self) -> Bools:
        return self._column("reserved")

    def jobid_alloc(self, jobid: int) -> Bools:
        return self._column(f"alloc {jobid}")

    def jobid_reserved(self, jobid: int) -> Bools:
        return self._column(f"reserved {jobid}")

    def jobid_span(self, jobid: int) -> Bools:
        return self._column(f"span {jobid}")

    def jobid_tag(self, jobid: int) -> Bools:
        return self._column(f"tag {jobid}")

    def named(self, names: Set[str]) -> Bools:
        return np.array([name in names for name in self.names])

    def has_property(self, key: str) -> Bools:
        return self._column(f"property {key}")


FACTS = SixVertices(
    {
        "down": {1, 2},
        "allocated": {2, 3},
        "reserved": {4},
        "alloc 7": {2},
        "reserved 7": {3},
        "span 7": {0, 2},
        "tag 7": {0, 1, 2},
        "property gpu": {4},
        "property GPU": {5},
    }
)


def _find(text: str) -> set[int]:
    return set(np.flatnonzero(parse_query(text).evaluate(FACTS)).tolist())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("status=down", {1, 2}),
        ("status=up", {0, 3, 4, 5}),
        ("sched-now=allocated", {2, 3}),
        ("sched-now=free", {0, 1, 4, 5}),
        ("sched-future=reserved", {4}),
        ("sched-future=free", {0, 1, 2, 3, 5}),
        ("jobid-alloc=7", {2}),
        ("jobid-reserved=7", {3}),
        ("jobid-span=7", {0, 2}),
        ("jobid-tag=7", {0, 1, 2}),
        ("jobid-tag=8", set()),
        ("names=n[0-1,4],c0", {0, 1, 2, 5}),
        ("property=gpu", {4}),
        ("agfilter=t", {0, 1, 2, 3, 4, 5}),
        ("agfilter=false", set()),
    ],
)
def test_each_predicate_finds_what_it_says(text: str, found: set[int]) -> None:
    assert _find(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("status=down and sched-now=allocated", {2}),
        ("status=down sched-now=allocated", {2}),
        ("status=down or sched-now=allocated", {1, 2, 3}),
        ("  status=down \t or\tsched-now=allocated  ", {1, 2, 3}),
        ("status=down ((sched-now=allocated))", {2}),
        ("( status=down ) or (sched-future=reserved and status=up)", {1, 2, 4}),
    ],
)
def test_terms_are_joined_by_and_or_nothing_and_parentheses(text: str, found: set[int]) -> None:
    assert _find(text) == found


def test_terms_are_read_from_left_to_right_without_precedence() -> None:
    assert _find("status=down or sched-now=allocated and sched-future=reserved") == set()
    assert _find("status=down or (sched-now=allocated and sched-future=reserved)") == {1, 2}


def test_values_are_of_either_case_and_keys_are_not() -> None:
    assert _find("status=DOWN") == {1, 2}
    assert _find("agfilter=True") == set(range(6))
    with pytest.raises(QueryError, match="no predicate 'Status'"):
        parse_query("Status=down")


def test_names_and_properties_are_found_as_written_and_in_lower_case() -> None:
    assert _find("names=N[2-3]") == {3, 4}
    assert _find("property=GPU") == {4, 5}


def test_a_query_tells_the_last_job_that_it_names() -> None:
    assert parse_query("jobid-alloc=3 or (jobid-tag=5 or status=up)").jobid == 5
    assert parse_query("status=up").jobid is None


def test_the_last_agfilter_decides_whether_aggregates_are_shown() -> None:
    assert parse_query("jobid-alloc=1 agfilter=t").agfilter
    assert not parse_query("agfilter=t agfilter=f").agfilter
    assert not parse_query("status=up").agfilter


@pytest.mark.parametrize(
    "jobid",
    ["7", "007", "0x7", "0x0007", "0.0.0.7", "0000.0000.0000.0007", "job.0.0.0.7", "f8", "ƒ8"],
)
def test_a_job_id_is_read_in_every_way_that_flux_writes_numbers(jobid: str) -> None:
    assert parse_query(f"jobid-alloc={jobid}").jobid == 7


def test_long_job_ids_are_read_exactly() -> None:
    assert parse_query("jobid-alloc=18446744073709551615").jobid == 2**64 - 1
    assert parse_query("jobid-alloc=ƒjpXCZedGfVQ").jobid == 2**64 - 1
    assert parse_query("jobid-alloc=0001.0002.0003.0004").jobid == 0x1000200030004


@pytest.mark.parametrize(
    "jobid",
    [
        "",
        "-1",
        "x",
        "0x",
        "1.2.3",
        "12345.0.0.0",
        "f0",
        "f",
        "ƒjpXCZedGfVR",
        "18446744073709551616",
    ],
)
def test_what_is_no_job_id_is_refused_with_the_forms_that_are(jobid: str) -> None:
    with pytest.raises(QueryError, match=r"jobid-tag is .*a job id is a number"):
        parse_query(f"jobid-tag={jobid}")


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("", 1, "ends where a term is expected"),
        (" \t", 3, "ends where a term is expected"),
        ("()", 2, "ends where a term is expected"),
        ("status=up and", 14, "ends where a term is expected"),
        ("and status=up", 1, "found 'and'"),
        ("status=up and and status=up", 15, "found 'and'"),
        ("status=up or AND status=up", 14, "found 'AND'"),
        ("status=u p", 1, "status is 'u'; may be up, down"),
        ("status=up and sched-now=foo", 15, "sched-now is 'foo'; may be allocated, free"),
        ("agfilter=yes", 1, "agfilter is 'yes'; may be t, true, f, false"),
        ("sched=free", 1, "no predicate 'sched'; there are status,"),
        ("property=", 1, "property has no key"),
        ("names=n[0-", 1, "names is 'n[0-'"),
        ("status=up ((status=down)", 11, "opened and not closed"),
        ("(status=up)(status=down)", 12, "right after a parenthesis"),
        ("(status=up)status=down", 12, "right after a parenthesis"),
        ("(status=up))", 12, "right after a parenthesis"),
        ("status=up)", 1, "status is 'up)'"),
        ("(status=up and)", 15, "ends where a term is expected"),
    ],
)
def test_a_bad_query_is_refused_with_the_place_and_the_reason(
    text: str, at: int, says: str
) -> None:
    with pytest.raises(QueryError, match=re.escape(f"at character {at}: ")) as refused:
        parse_query(text)
    assert says in str(refused.value)


def test_parentheses_may_be_nested_only_so_deep() -> None:
    assert parse_query("(" * MAX_NESTING + "status=up" + ")" * MAX_NESTING)
    deeper = MAX_NESTING + 1
    with pytest.raises(QueryError, match="more than 100 parentheses"):
        parse_query("(" * deeper + "status=up" + ")" * deeper)


def test_a_query_is_a_value() -> None:
    text = "status=up (names=n0 or jobid-tag=1) property=x agfilter=t"
    assert parse_query(text) == parse_query(text)
    assert hash(parse_query(text)) == hash(parse_query(text))


_PIECES = st.sampled_from(
    [*PREDICATES, "=", "(", ")", " ", "\t", "and", "or", "up", "free", "7", "f8", "0x", "n[0-1]"]
)


@given(st.one_of(st.text(), st.lists(_PIECES).map("".join)))
def test_no_text_makes_the_parser_fail_in_another_way_than_by_refusing_it(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError:
        return
    assert query.evaluate(FACTS).shape == (6,)


_TERMS = st.recursive(
    st.sampled_from(["status=down", "sched-now=allocated", "sched-future=reserved"]),
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(
        lambda terms: st.lists(
            st.sampled_from([" and ", " or ", " "]),
            min_size=len(terms) - 1,
            max_size=len(terms) - 1,
        ).map(lambda words: f"({_joined(terms, words)})")
    ),
)


def _joined(terms: list[str], words: list[str]) -> str:
    return terms[0] + "".join(word + term for word, term in zip(words, terms[1:], strict=True))


@given(_TERMS)
def test_any_nesting_of_terms_is_folded_from_the_left(text: str) -> None:
    assert _find(text) == {at for at in range(6) if _holds(text, at)}


def _holds(text: str, at: int) -> bool:
    """Read the text piece by piece, folding to the left: a second opinion."""
    folds: list[tuple[bool | None, str]] = [(None, "and")]
    states = {"status=down": "down", "sched-now=allocated": "allocated"}
    for piece in text.replace("(", " ( ").replace(")", " ) ").split():
        if piece == "(":
            folds.append((None, "and"))
            continue
        if piece in ("and", "or"):
            folds[-1] = (folds[-1][0], piece)
            continue
        if piece == ")":
            value = folds.pop()[0]
            assert value is not None
        else:
            value = at in FACTS.facts[states.get(piece, "reserved")]
        left, word = folds[-1]
        folded = value if left is None else (left or value if word == "or" else left and value)
        folds[-1] = (folded, "and")
    (answer, _) = folds[0]
    assert answer is not None
    return answer
