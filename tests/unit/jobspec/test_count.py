"""Count.fit against a loop that walks the range."""

from __future__ import annotations

import doctest
import operator
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.jobspec import errors, model
from fluxnetes.jobspec.model import UINT_MAX, Count

small = st.integers(1, 300)
ranges = st.one_of(
    st.builds(Count, small, small, st.just("+"), st.integers(1, 40)),
    st.builds(Count, small, small, st.just("*"), st.integers(2, 9)),
    st.builds(Count, st.integers(2, 300), small, st.just("^"), st.integers(2, 5)),
)

STEP: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "*": operator.mul,
    "^": operator.pow,
}


def walk(count: Count, available: int) -> int:
    """The largest member of the range that is available, found by visiting each in turn."""
    best, member = 0, count.min
    while member <= min(count.max, available):
        best, member = member, STEP[count.operator](member, count.operand)
    return best


@given(ranges, st.integers(0, 400))
def test_fit_is_the_last_member_that_a_walk_reaches(count: Count, available: int) -> None:
    assert count.fit(available) == walk(count, available)


@given(st.integers(0, 300), st.integers(0, 400))
def test_a_fixed_count_fits_whole_or_not_at_all(number: int, available: int) -> None:
    assert Count(number, number).fit(available) == (number if number <= available else 0)


@given(ranges)
def test_more_resources_never_serve_less(count: Count) -> None:
    served = [count.fit(available) for available in range(400)]
    assert served == sorted(served)
    assert count.largest == served[-1] or count.largest > 300


def test_a_range_up_to_the_largest_number_ends_quickly() -> None:
    assert Count(1, UINT_MAX).largest == UINT_MAX
    assert Count(3, UINT_MAX, "*", 2).largest == 3 * 2**30
    assert Count(2, UINT_MAX, "^", 2).largest == 2**16
    assert Count(2, UINT_MAX, "^", 2**31 - 1).largest == 2


def test_the_examples_in_the_docstrings_hold() -> None:
    for module in (model, errors):
        results = doctest.testmod(module)
        assert results.attempted and not results.failed
