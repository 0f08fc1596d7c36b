"""The query language of `find`: parses queries for vertices in a given state, and evaluates them.

    status=down                                     sched-now=allocated and status=up
    jobid-alloc=7 (sched-future=free or names=node[0-3])

A query is a sequence of *terms*, each a predicate `key=value` or a query in parentheses, read
strictly from left to right: `a or b and c` is `(a or b) and c`. `and` may be omitted. Only blanks
separate terms, so a parenthesis must not touch the term before it. Keys and the words `and` and
`or` are lower case, values are of either case.

`parse_query` turns the text into a frozen `FindQuery`; `FindQuery.evaluate` reads `VertexFacts`,
columns over the positions of a tree, and combines them. `emitted` then adds what must be shown
around a match: the ancestors up to the root.

`agfilter=t` is true of every vertex and requests that each be shown with its aggregates, of all
jobs or of the last job that the query names.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.topology import Topology
from fluxnetes.notation.hostlist import decode_hostlist

_CHOICES = {
    "status": ("up", "down"),
    "sched-now": ("allocated", "free"),
    "sched-future": ("reserved", "free"),
    "agfilter": ("t", "true", "f", "false"),
}
_JOBID_KEYS = ("jobid-alloc", "jobid-reserved", "jobid-span", "jobid-tag")
PREDICATES = (*_CHOICES, *_JOBID_KEYS, "names", "property")

MAX_NESTING = 100
"""Maximum nesting of parentheses, because the parser recurses."""

_BLANK = re.compile(r"[ \t]")
_PARENTHESIS = re.compile(r"[()]")


class QueryError(ValueError):
    """A query is invalid; the text has the place, what was found and what is allowed."""


class VertexFacts(Protocol):
    """Columns over the positions of a tree.

    The first three are inherited from each vertex by all below it: what is in a down node is down.
    """

    def __len__(self) -> int:
        """The number of positions."""

    def down(self) -> Bools: ...
    def allocated(self) -> Bools: ...
    def reserved(self) -> Bools: ...
    def jobid_alloc(self, jobid: int) -> Bools: ...
    def jobid_reserved(self, jobid: int) -> Bools: ...
    def jobid_span(self, jobid: int) -> Bools: ...
    def jobid_tag(self, jobid: int) -> Bools: ...
    def named(self, names: Set[str]) -> Bools: ...
    def has_property(self, key: str) -> Bools: ...


# -- terms -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StatePredicate:
    """`status`, `sched-now` or `sched-future`, in lower case."""

    key: str
    value: str

    def evaluate(self, facts: VertexFacts) -> Bools:
        match self.key:
            case "status":
                column = facts.down()
            case "sched-now":
                column = facts.allocated()
            case _:
                column = facts.reserved()
        return ~column if self.value in ("up", "free") else column


@dataclass(frozen=True, slots=True)
class JobPredicate:
    """One of the `jobid-` predicates."""

    key: str
    jobid: int

    def evaluate(self, facts: VertexFacts) -> Bools:
        match self.key:
            case "jobid-alloc":
                return facts.jobid_alloc(self.jobid)
            case "jobid-reserved":
                return facts.jobid_reserved(self.jobid)
            case "jobid-span":
                return facts.jobid_span(self.jobid)
            case _:
                return facts.jobid_tag(self.jobid)


@dataclass(frozen=True, slots=True)
class NamePredicate:
    """`names`: the names as written and in lower case, which is how the reference reads them."""

    names: frozenset[str]

    def evaluate(self, facts: VertexFacts) -> Bools:
        return facts.named(self.names)


@dataclass(frozen=True, slots=True)
class PropertyPredicate:
    """`property`: the key as written or in lower case, which is how the reference reads it."""

    key: str

    def evaluate(self, facts: VertexFacts) -> Bools:
        lower = self.key.lower()
        found = facts.has_property(lower)
        return found if lower == self.key else found | facts.has_property(self.key)


@dataclass(frozen=True, slots=True)
class AggregateFilter:
    """`agfilter`: the same for every vertex; it requests aggregates in the output."""

    wanted: bool

    def evaluate(self, facts: VertexFacts) -> Bools:
        return np.full(len(facts), self.wanted)


@dataclass(frozen=True, slots=True)
class PredicateChain:
    """Terms joined from left to right."""

    first: Term
    rest: tuple[tuple[str, Term], ...]

    def evaluate(self, facts: VertexFacts) -> Bools:
        result = self.first.evaluate(facts)
        for word, term in self.rest:
            other = term.evaluate(facts)
            result = result | other if word == "or" else result & other
        return result


Predicate: TypeAlias = (
    StatePredicate | JobPredicate | NamePredicate | PropertyPredicate | AggregateFilter
)
Term: TypeAlias = Predicate | PredicateChain


@dataclass(frozen=True, slots=True)
class FindQuery:
    """A parsed query."""

    text: str
    term: Term
    jobid: int | None
    """The job that the last `jobid-` predicate names."""
    agfilter: bool
    """Show aggregates; the last `agfilter` predicate decides."""

    def evaluate(self, facts: VertexFacts) -> Bools:
        """Which positions match."""
        return self.term.evaluate(facts)


def emitted(matched: Bools, tree: Topology, within: Bools | None = None) -> Ints:
    """The positions to show for a match: those that match and those above them, children first.

    `within` keeps both to some positions, as a query with `agfilter` shows only vertices that have
    aggregates.
    """
    seeds = matched if within is None else matched & within
    if tree.paths is not None:
        seeds = seeds & tree.paths.primary  # each vertex once; what is above it is primary, too
    matches_before = np.zeros(len(tree) + 1, dtype=np.int64)
    np.cumsum(seeds, out=matches_before[1:])
    shown = matches_before[tree.end] > matches_before[:-1]
    if within is not None:
        shown &= within
    positions = np.flatnonzero(shown)
    return positions[np.argsort(tree.post[positions])]


# -- parsing -----------------------------------------------------------------------------------


def parse_query(text: str) -> FindQuery:
    """Parse a query. Raises QueryError."""
    parser = _Parser(text)
    term = parser.chain(0, len(text), nesting=0)
    return FindQuery(text, term, parser.jobid, parser.agfilter)


class _Parser:
    """Reads the text of one query; positions are offsets into the whole text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.jobid: int | None = None
        self.agfilter = False

    def chain(self, at: int, end: int, nesting: int) -> Term:
        """The terms in a stretch of the text."""
        first, at = self._term(at, end, nesting)
        rest: list[tuple[str, Term]] = []
        while (here := self._skip_blanks(at, end)) < end:
            if here == at:
                raise self._error(
                    at,
                    f"found {self._word(at, end)!r} right after a parenthesis",
                    "put a blank between them",
                )
            word = self._word(here, end)
            if word in ("and", "or"):
                at = here + len(word)
            term, at = self._term(at, end, nesting)
            rest.append(("or" if word == "or" else "and", term))
        return PredicateChain(first, tuple(rest)) if rest else first

    def _term(self, at: int, end: int, nesting: int) -> tuple[Term, int]:
        """The term that starts at or after `at`, and where it ends."""
        start = self._skip_blanks(at, end)
        if start == end:
            raise self._error(
                start,
                "the query ends where a term is expected",
                "a term is key=value or a query in parentheses",
            )
        if self.text[start] != "(":
            word = self._word(start, end)
            return self._predicate(word, start), start + len(word)
        if nesting == MAX_NESTING:
            raise self._error(
                start, f"more than {MAX_NESTING} parentheses within each other", "use fewer"
            )
        close = self._closing(start, end)
        return self.chain(start + 1, close, nesting + 1), close + 1

    def _skip_blanks(self, at: int, end: int) -> int:
        while at < end and self.text[at] in " \t":
            at += 1
        return at

    def _word(self, at: int, end: int) -> str:
        blank = _BLANK.search(self.text, at, end)
        return self.text[at : blank.start() if blank else end]

    def _closing(self, start: int, end: int) -> int:
        open = 0
        for found in _PARENTHESIS.finditer(self.text, start, end):
            open += 1 if found[0] == "(" else -1
            if open == 0:
                return found.start()
        raise self._error(start, "a parenthesis is opened and not closed", "add ')'")

    def _predicate(self, word: str, at: int) -> Predicate:
        key, equals, value = word.partition("=")
        if not equals:
            raise self._error(
                at, f"found {word!r}", "a term is key=value or a query in parentheses"
            )
        if key in _CHOICES:
            return self._choice(key, value, at)
        if key in _JOBID_KEYS:
            self.jobid = self._jobid(key, value, at)
            return JobPredicate(key, self.jobid)
        if key == "names":
            return NamePredicate(self._names(value, at))
        if key == "property":
            if not value:
                raise self._error(at, "property has no key", "write property=KEY")
            return PropertyPredicate(value)
        raise self._error(at, f"no predicate {key!r}", f"there are {', '.join(PREDICATES)}")

    def _choice(self, key: str, value: str, at: int) -> Predicate:
        lower = value.lower()
        if lower not in _CHOICES[key]:
            raise self._error(at, f"{key} is {value!r}", f"may be {', '.join(_CHOICES[key])}")
        if key != "agfilter":
            return StatePredicate(key, lower)
        self.agfilter = lower.startswith("t")
        return AggregateFilter(self.agfilter)

    def _jobid(self, key: str, value: str, at: int) -> int:
        jobid = parse_jobid(value)
        if jobid is None:
            raise self._error(at, f"{key} is {value!r}", _JOBID_FORMS)
        return jobid

    def _names(self, value: str, at: int) -> frozenset[str]:
        try:
            return frozenset(
                name for text in {value, value.lower()} for name in decode_hostlist(text)
            )
        except ValueError as problem:
            raise self._error(at, f"names is {value!r}", f"a hostlist: {problem}") from problem

    def _error(self, at: int, found: str, allowed: str) -> QueryError:
        return QueryError(f"query {self.text!r}, at character {at + 1}: {found}; {allowed}")


# -- job ids -----------------------------------------------------------------------------------

_JOBID_FORMS = (
    "a job id is a number (7), hexadecimal (0x7), dotted hexadecimal (0000.0000.0000.0007) "
    "or f58 (ƒ8), up to 64 bits"
)
_BASE58 = {
    digit: value
    for value, digit in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
}
_DECIMAL = re.compile(r"0*([0-9]{1,20})")
_HEXADECIMAL = re.compile(r"0x0*([0-9a-fA-F]{1,16})")
_DOTTED = re.compile(
    r"([0-9a-fA-F]{1,4})\.([0-9a-fA-F]{1,4})\.([0-9a-fA-F]{1,4})\.([0-9a-fA-F]{1,4})"
)
_F58 = re.compile(r"[fƒ]([1-9A-HJ-NP-Za-km-z]{1,12})")


def parse_jobid(text: str) -> int | None:
    """A job id as Flux writes it, in numbers or in base 58, or None if it is not one."""
    text = text.removeprefix("job.")
    if found := _DECIMAL.fullmatch(text):
        jobid = int(found[1])
    elif found := _HEXADECIMAL.fullmatch(text):
        jobid = int(found[1], 16)
    elif found := _DOTTED.fullmatch(text):
        jobid = int("".join(group.zfill(4) for group in found.groups()), 16)
    elif found := _F58.fullmatch(text):
        jobid = 0
        for digit in found[1]:
            jobid = jobid * 58 + _BASE58[digit]
    else:
        return None
    return jobid if jobid < 1 << 64 else None
