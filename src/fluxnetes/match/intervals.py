"""Intervals of scores, for the locality policy.

Under `locality` scores next to each other form an interval, and the highest interval wins: with
ids for scores this prefers long runs of free neighbours. To know the intervals one must know every
score there is; `SlotScores` keeps them for the slots of all members of a stage as jobs come and go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

NONE = -(2**62)
"""Stands where a member has no further slot."""


def interval_of(seen: Ints, score: Ints) -> Ints:
    """The number of the interval of each score, the lowest first; `seen` are all scores, sorted."""
    breaks = np.concatenate(([0], np.cumsum(np.diff(seen) > 1)))
    found: Ints = breaks[np.searchsorted(seen, score)]
    return found


class SlotScores:
    """The scores of each member's slots, in the order in which they are filled."""

    def __init__(self, rows: Ints) -> None:
        self.rows = rows
        self._highest: Ints = rows.max(axis=1)
        self._values, self._counts = np.unique(rows[rows != NONE], return_counts=True)

    def replace(self, members: Ints, rows: Ints) -> None:
        """Some members' slots changed."""
        width = max(self.rows.shape[1], rows.shape[1])
        self.rows, rows = _widen(self.rows, width), _widen(rows, width)
        self._count(self.rows[members], -1)
        self.rows[members] = rows
        self._highest[members] = rows.max(axis=1)
        self._count(rows, 1)

    def _count(self, rows: Ints, step: int) -> None:
        scores, times = np.unique(rows[rows != NONE], return_counts=True)
        at = np.searchsorted(self._values, scores)
        known = at < len(self._values)
        known[known] = self._values[at[known]] == scores[known]
        self._counts[at[known]] += step * times[known]
        if not known.all():
            self._values = np.insert(self._values, at[~known], scores[~known])
            self._counts = np.insert(self._counts, at[~known], step * times[~known])

    def seen(self) -> Ints:
        """Every score that some slot has, ascending."""
        present: Ints = self._values[self._counts > 0]
        return present

    def leaders(self, count: int) -> Ints | None:
        """The first members with `count` slots in the highest interval; None: there are too few."""
        seen = self.seen()
        gaps = np.flatnonzero(np.diff(seen) > 1)
        lowest = seen[gaps[-1] + 1] if len(gaps) else seen[0]
        members = np.flatnonzero(self._highest >= lowest)[:count]
        enough = int(np.count_nonzero(self.rows[members] >= lowest)) >= count
        return members if enough else None


def _widen(rows: Ints, width: int) -> Ints:
    missing = width - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, missing)), constant_values=NONE) if missing else rows
