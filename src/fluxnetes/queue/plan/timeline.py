"""Tracks free amounts of countable resources over time.

A timeline has a column for each resource counted (whole nodes of some kind, slots of some shape,
licences) and a row of free amounts for each stretch of time in which nothing changes. A running or
promised job takes amounts for a span; the free amounts of that span go down.

    timeline = CapacityTimeline([256], now=0)
    timeline.take(0, 3600, [(0, 200)])
    timeline.earliest([(0, 100)], duration=60, after=0)      # 3600

Each query is a few array operations over the points of change, whatever the number of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fluxnetes.common.arrays import Bools, Ints

Needs = Sequence[tuple[int, int]]
"""Pairs of a column and an amount."""

FOREVER = 2**60
"""The end of all time; also the length of a span that never ends."""


class CapacityTimeline:
    """Free amounts by column and stretch of time, from `now` to the end of all time."""

    def __init__(self, capacity: Sequence[int], now: int) -> None:
        self._size = 1
        self._times: Ints = np.empty(64, np.int64)
        self._free: Ints = np.empty((len(capacity), 64), np.int64)
        self._times[0] = now
        self._free[:, 0] = capacity
        self._taken = 0

    @property
    def now(self) -> int:
        return int(self._times[0])

    # -- queries -------------------------------------------------------------------------------

    def fits(self, needs: Needs, start: int, end: int) -> bool:
        """Whether these amounts are free all through a span."""
        first = 0
        if start > self._times[0]:
            first = self._stretch(start)
        for column, amount in needs:  # most often the first moment says no already
            if self._free[column, first] < amount:
                return False
        last = int(self._times[: self._size].searchsorted(end))
        if last - first <= 1:
            return True
        return all(int(self._free[c, first:last].min()) >= amount for c, amount in needs)

    def least(self, column: int, start: int, end: int) -> int:
        """The least that is free of one column at any moment of a span."""
        first = self._stretch(start)
        last = int(self._times[: self._size].searchsorted(end))
        return int(self._free[column, first:last].min())

    def most(self, column: int, start: int, end: int) -> int:
        """The most that is free of one column at any moment of a span."""
        first = self._stretch(start)
        last = int(self._times[: self._size].searchsorted(end))
        return int(self._free[column, first:last].max())

    def earliest(self, needs: Needs, duration: int, after: int) -> int | None:
        """The first time from `after` on at which the needs are free for so long; None: never."""
        first = self._stretch(after)
        short: Bools | None = None
        for column, amount in needs:
            too_few = self._free[column, first : self._size] < amount
            short = too_few if short is None else short | too_few
        if short is None:
            return after
        gaps = short.nonzero()[0]
        if not len(gaps):
            return after
        # Between two stretches that are short of something lies a candidate: from the end of the
        # one to the beginning of the other.
        times = self._times[first : self._size + 1]
        times[len(short)] = FOREVER
        begin = np.empty(len(gaps) + 1, np.int64)
        until = np.empty(len(gaps) + 1, np.int64)
        begin[0], until[-1] = after, FOREVER
        np.take(times, gaps + 1, out=begin[1:])
        np.take(times, gaps, out=until[:-1])
        long_enough = until - begin >= min(duration, FOREVER // 2)
        found = int(long_enough.argmax())
        return int(begin[found]) if long_enough[found] else None

    def overdrawn(self, start: int, end: int) -> bool:
        """Whether more is taken than there is at any moment of a span."""
        first = self._stretch(start)
        last = int(self._times[: self._size].searchsorted(end))
        return bool((self._free[:, first:last] < 0).any())

    # -- changes -------------------------------------------------------------------------------

    def take(self, start: int, end: int, needs: Needs) -> None:
        """Take amounts for a span. More can be taken than there is; see `overdrawn`."""
        self._change(start, end, needs, -1)

    def take_until(self, ends: Sequence[int], needs: Sequence[Needs]) -> None:
        """Take amounts from now on, each until its end: many at once, before anything else is."""
        assert self._size == 1  # noqa: S101 - it is new
        parts = [(e, column, n) for e, each in zip(ends, needs, strict=True) for column, n in each]
        end, column, amount = np.array(parts, np.int64).reshape(-1, 3).T
        times = np.unique(np.append(end[(end > self.now) & (end < FOREVER)], self.now))
        self._times = np.concatenate((times, np.empty(len(times) + 64, np.int64)))
        self._size = len(times)
        # What ends at a time is taken up to the stretch before it.
        leaving = np.zeros((len(self._free), len(times) + 1), np.int64)
        np.add.at(leaving, (column, times.searchsorted(end)), amount)
        taken = leaving[:, :0:-1].cumsum(axis=1)[:, ::-1]
        free = np.empty((len(self._free), len(self._times)), np.int64)
        free[:, : self._size] = self._free[:, :1] - taken
        self._free = free

    def give(self, start: int, end: int, needs: Needs) -> None:
        """Give amounts back for a span: the reverse of `take`."""
        self._change(start, end, needs, 1)

    def _change(self, start: int, end: int, needs: Needs, sign: int) -> None:
        start = max(start, self.now)
        if end <= start:
            return
        first = self._split(start)
        last = self._split(end) if end < FOREVER else self._size
        for column, amount in needs:
            self._free[column, first:last] += sign * amount
        self._taken += 1
        if self._taken > self._size // 2 + 256:
            self._join()

    def widen(self, by: Sequence[int]) -> None:
        """The capacity of each column is larger by these amounts from now on, or smaller."""
        self._free[:, : self._size] += np.array(by, np.int64)[:, None]

    def advance(self, now: int) -> None:
        """Time has passed; forget what was before."""
        first = self._stretch(now)
        if first:
            self._size -= first
            self._times[: self._size] = self._times[first : first + self._size].copy()
            kept = self._free[:, first : first + self._size].copy()
            self._free[:, : self._size] = kept
        self._times[0] = max(now, self.now)

    def _stretch(self, time: int) -> int:
        """The stretch that a time lies in."""
        return max(0, int(self._times[: self._size].searchsorted(time, side="right")) - 1)

    def _split(self, time: int) -> int:
        """The stretch that begins at a time, made if there is none."""
        at = int(self._times[: self._size].searchsorted(time))
        if at < self._size and self._times[at] == time:
            return at
        if self._size + 1 >= len(self._times):
            self._grow()
        size = self._size
        self._times[at + 1 : size + 1] = self._times[at:size]
        self._free[:, at + 1 : size + 1] = self._free[:, at:size]
        self._times[at] = time
        self._free[:, at] = self._free[:, at - 1]
        self._size += 1
        return at

    def _grow(self) -> None:
        self._times = np.concatenate((self._times, np.empty_like(self._times)))
        self._free = np.concatenate((self._free, np.empty_like(self._free)), axis=1)

    def _join(self) -> None:
        """Join neighbouring stretches that no longer differ."""
        self._taken = 0
        free = self._free[:, : self._size]
        keep = np.ones(self._size, np.bool_)
        keep[1:] = (free[:, 1:] != free[:, :-1]).any(axis=0)
        kept = int(keep.sum())
        self._times[:kept] = self._times[: self._size][keep]
        self._free[:, :kept] = free[:, keep]
        self._size = kept
