"""What a request adds up to, and when the root has that much, against looking at every second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.jobspec.build import core, gpu, memory, node, slot
from fluxnetes.jobspec.model import Count, Resource
from fluxnetes.match.ledger.aggregates import AggregateProfile, add_up
from tests.property.profile import examples

TRACKED = frozenset({"node", "core", "gpu"})


def needs(*resources: Resource, flexible: bool = False) -> dict[str, int]:
    return add_up(resources, TRACKED, flexible=flexible)


def test_counts_multiply_on_the_way_down() -> None:
    asked = node(3, slot(2, core(4), gpu(1)))
    assert needs(asked) == {"node": 3, "core": 24, "gpu": 6}


def test_types_that_are_not_counted_are_left_out() -> None:
    assert needs(slot(2, memory(8), core(1))) == {"core": 2}


def test_a_range_needs_its_least() -> None:
    assert needs(node(Count(2, 9), slot(1, core(Count(3, 30))))) == {"node": 2, "core": 6}


def test_requests_side_by_side_add_up() -> None:
    assert needs(node(1, core(2)), core(1)) == {"node": 1, "core": 3}


def test_alternatives_need_the_least_that_any_of_them_needs() -> None:
    either = (slot(2, core(4)), slot(2, core(1), gpu(1)))
    assert needs(*either, flexible=True)["core"] == 2
    assert needs(*either) == {"core": 10, "gpu": 2}


@dataclass(frozen=True)
class Span:
    start: int
    length: int
    counts: tuple[int, int]

    @property
    def end(self) -> int:
        return self.start + self.length


spans = st.builds(
    Span, st.integers(0, 12), st.integers(1, 8), st.tuples(st.integers(0, 3), st.integers(0, 3))
)
TOTALS = (6, 4)


def brute(live: dict[int, Span], after: int, duration: int, wanted: tuple[int, int]) -> list[int]:
    """The times at which something begins or ends, where every second has enough."""
    points = sorted({t for span in live.values() for t in (span.start, span.end)})
    return [
        point
        for point in points
        if point >= after and all(suffices(live, t, wanted) for t in range(point, point + duration))
    ]


def suffices(live: dict[int, Span], second: int, wanted: tuple[int, int]) -> bool:
    for kind, total in enumerate(TOTALS):
        taken = sum(s.counts[kind] for s in live.values() if s.start <= second < s.end)
        if total - taken < wanted[kind]:
            return False
    return True


@examples(300)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.none() | spans), max_size=10),
    st.integers(0, 20),
    st.integers(1, 12),
    st.tuples(st.integers(0, 7), st.integers(0, 5)),
)
def test_the_times_worth_trying_are_those_at_which_every_second_has_enough(
    changes: list[tuple[int, Span | None]], after: int, duration: int, wanted: tuple[int, int]
) -> None:
    profile = AggregateProfile(np.array(TOTALS))
    live: dict[int, Span] = {}
    for jobid, span in changes:
        profile.drop(jobid)
        live.pop(jobid, None)
        if span is not None:
            profile.add(jobid, span.start, span.end, np.array(span.counts))
            live[jobid] = span
        found = profile.times(after, duration, np.array(wanted))
        assert found.tolist() == brute(live, after, duration, wanted)


def test_an_empty_profile_has_no_time_worth_trying() -> None:
    assert AggregateProfile(np.array(TOTALS)).times(0, 1, np.array([1, 1])).tolist() == []
