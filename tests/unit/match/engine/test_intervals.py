"""Intervals of scores, kept as slots come and go, against counting them anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.match.engine.intervals import NONE, SlotScores, interval_of
from tests.property.profile import examples

Rows = list[list[int]]
"""For each member the scores of its slots, falling."""

falling = st.lists(st.integers(0, 12), max_size=4).map(lambda s: sorted(s, reverse=True))


def table(rows: Rows) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    width = max([len(row) for row in rows] + [1])
    return np.array([row + [NONE] * (width - len(row)) for row in rows], np.int64)


def intervals(scores: list[int]) -> list[list[int]]:
    """Runs of scores next to each other, the lowest first."""
    runs: list[list[int]] = []
    for score in sorted(set(scores)):
        if runs and score == runs[-1][-1] + 1:
            runs[-1].append(score)
        else:
            runs.append([score])
    return runs


@examples(200)
@given(st.lists(st.integers(0, 30), min_size=1))
def test_scores_next_to_each_other_are_one_interval(scores: list[int]) -> None:
    seen = np.unique(scores)
    expected = {s: number for number, run in enumerate(intervals(scores)) for s in run}
    assert interval_of(seen, np.array(scores)).tolist() == [expected[s] for s in scores]


@examples(200)
@given(st.lists(falling, min_size=1, max_size=6), st.data())
def test_scores_kept_through_changes_are_those_counted_anew(
    rows: Rows, data: st.DataObject
) -> None:
    kept = SlotScores(table(rows))
    for _ in range(data.draw(st.integers(0, 5))):
        some = data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1))
        for member in some:
            rows[member] = data.draw(falling)
        kept.replace(np.array(sorted(some)), table([rows[member] for member in sorted(some)]))
        assert kept.seen().tolist() == sorted({score for row in rows for score in row})


@examples(300)
@given(st.lists(falling, min_size=1, max_size=6), falling, st.integers(1, 6))
def test_leaders_are_the_first_members_with_slots_in_the_highest_interval(
    rows: Rows, others: list[int], count: int
) -> None:
    """Slots of other stages may connect two intervals of this one, or be above both."""
    scores = [score for row in rows for score in row]
    if not scores:
        return
    top = set(intervals(scores + others)[-1])
    having = [member for member, row in enumerate(rows) if top.intersection(row)][:count]
    slots = sum(score in top for member in having for score in rows[member])
    found = SlotScores(table(rows)).leaders(count, np.unique(scores + others))
    assert (None if found is None else found.tolist()) == (having if slots >= count else None)
