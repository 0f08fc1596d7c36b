"""Tracks intervals of scores, for the locality policy.

Under `locality` consecutive scores form an interval, and the highest interval wins: with ids for
scores this prefers long runs of free neighbours. The intervals depend on every existing score;
`SlotScores` keeps the scores of the slots of all members of a stage up to date as jobs start and
end.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.arrays import Ints

NONE = -(2**62)
"""The score in a row where a member has no further slot."""


def interval_of(seen: Ints, score: Ints) -> Ints:
    """The number of the interval of each score, the lowest first; `seen` are all scores, sorted."""
    breaks = np.concatenate(([0], np.cumsum(np.diff(seen) > 1)))
    found: Ints = breaks[np.searchsorted(seen, score)]
    return found


class SlotScores:
    """The scores of each member's slots, in the order in which they are filled."""

    _WIDEST = 2**22
    """Maximum range of scores that is counted, to bound the table's memory; beyond it `leaders`
    returns None, and all members are considered."""

    def __init__(self, rows: Ints) -> None:
        self.rows = rows
        self._highest: Ints = rows.max(axis=1)
        self._recount()

    def _recount(self) -> None:
        """Count how many slots have each score, from the lowest score on."""
        there = self.rows[self.rows != NONE]
        self._lowest = int(there.min(initial=0)) if len(there) else 0
        span = int(there.max(initial=self._lowest)) - self._lowest + 1
        self._counts: Ints | None = None
        if span <= self._WIDEST:
            self._counts = np.bincount(there - self._lowest, minlength=span)

    def replace(self, members: Ints, rows: Ints) -> None:
        """Replace the scores of some members' slots."""
        width = max(self.rows.shape[1], rows.shape[1])
        self.rows, rows = _widen(self.rows, width), _widen(rows, width)
        before = self.rows[members]
        self.rows[members] = rows
        self._highest[members] = rows.max(axis=1)
        new = rows[rows != NONE] - self._lowest
        known = self._counts is not None and (
            not len(new) or (new.min() >= 0 and new.max() < len(self._counts))
        )
        if self._counts is None or not known:
            self._recount()
            return
        old = before[before != NONE] - self._lowest
        span = len(self._counts)
        self._counts += np.bincount(new, minlength=span) - np.bincount(old, minlength=span)

    def seen(self) -> Ints:
        """Every score that some slot has, ascending."""
        if self._counts is None:
            return np.unique(self.rows[self.rows != NONE])
        present: Ints = self._counts.nonzero()[0] + self._lowest
        return present

    def leaders(self, count: int, seen: Ints) -> Ints | None:
        """The first members that together have `count` slots in the highest interval.

        `seen` are all scores that make intervals: those here, and those of other stages. None:
        there are too few members, or the scores are not counted.
        """
        if self._counts is None:
            return None
        gaps = np.flatnonzero(np.diff(seen) > 1)
        lowest = seen[gaps[-1] + 1] if len(gaps) else seen[0]
        members = np.flatnonzero(self._highest >= lowest)[:count]
        enough = int(np.count_nonzero(self.rows[members] >= lowest)) >= count
        return members if enough else None


def _widen(rows: Ints, width: int) -> Ints:
    missing = width - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, missing)), constant_values=NONE) if missing else rows
