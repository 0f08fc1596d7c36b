"""What is left over time, entered in one go or step by step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.queue.plan.timeline import FOREVER, CapacityTimeline, Needs
from tests.property.profile import examples

COLUMNS = 3
LATE = 40

needs = st.dictionaries(st.integers(0, COLUMNS - 1), st.integers(0, 5)).map(
    lambda found: tuple(found.items())
)
holders = st.lists(st.tuples(st.integers(0, 30) | st.just(FOREVER), needs), max_size=12)
capacities = st.tuples(*[st.integers(0, 20)] * COLUMNS)


def free(timeline: CapacityTimeline) -> list[list[int]]:
    """What is free at every moment."""
    times = range(timeline.now, LATE)
    return [[timeline.least(c, time, time + 1) for time in times] for c in range(COLUMNS)]


@given(capacities, st.integers(0, 10), holders, needs)
@examples(200)
def test_many_who_are_there_already_are_entered_at_once_as_one_by_one(
    capacity: tuple[int, ...], now: int, holders: list[tuple[int, Needs]], later: Needs
) -> None:
    one_by_one, at_once = CapacityTimeline(capacity, now), CapacityTimeline(capacity, now)
    for end, amounts in holders:
        one_by_one.take(now, end, amounts)
    at_once.take_until([end for end, _ in holders], [amounts for _, amounts in holders])
    assert free(at_once) == free(one_by_one)
    for timeline in (one_by_one, at_once):
        timeline.take(now + 2, now + 9, later)
        timeline.advance(now + 1)
    assert free(at_once) == free(one_by_one)


@given(capacities, capacities, holders)
@examples(100)
def test_a_wider_timeline_is_as_though_it_had_always_been_so_wide(
    before: tuple[int, ...], after: tuple[int, ...], holders: list[tuple[int, Needs]]
) -> None:
    widened, wide = CapacityTimeline(before, 0), CapacityTimeline(after, 0)
    for timeline in (widened, wide):
        for end, amounts in holders:
            timeline.take(0, end, amounts)
    widened.widen([now - was for now, was in zip(after, before, strict=True)])
    assert free(widened) == free(wide)
