"""Views of a ledger: what is free now, in a window of time, or on the empty graph.

A request is evaluated against a view: which positions of the tree are up, which are held by no job,
how much is left of each. The amount left of a pool is negative where more is held than can be used
(usage outside of the matcher's jobs grew).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fluxnetes.common.arrays import Bools, Ints

if TYPE_CHECKING:
    from fluxnetes.match.ledger.ledger import Ledger


class LedgerView:
    """What is free through one window of time."""

    lingering = True
    """Whether this is a view of now, in which a job that overruns still holds its vertices."""

    def __init__(self, size: Ints, up: Bools, held: Ints, tags: NDArray[np.int32]) -> None:
        self.size = size
        self.up = up
        self.held = held
        self.tags = tags

    def read(self, depths: Iterable[int]) -> None:
        """Load some depths of the tree, so that one call may ask about positions of all of them."""

    def is_open(self, positions: Ints, depth: int) -> Bools:
        """Whether each vertex is up and not completely held."""
        found: Bools = self.up[positions] & (self.held[positions] < self.size[positions])
        return found

    def is_alone(self, positions: Ints, depth: int) -> Bools:
        """Whether each vertex is up and no job holds it or anything below it."""
        found: Bools = self.up[positions] & (self.tags[positions] == 0)
        return found

    def free(self, positions: Ints, depth: int) -> Ints:
        """The amount left of each vertex."""
        return self.size[positions] - self.held[positions]


class WholeGraphView(LedgerView):
    """The view of satisfiability: the whole graph, all of it up and nothing held."""

    def __init__(self, size: Ints) -> None:
        self.size = size

    def is_open(self, positions: Ints, depth: int) -> Bools:
        return np.ones(len(positions), np.bool_)

    def is_alone(self, positions: Ints, depth: int) -> Bools:
        return np.ones(len(positions), np.bool_)

    def free(self, positions: Ints, depth: int) -> Ints:
        return self.size[positions]


class IdleView(WholeGraphView):
    """All that is up, as if no job held anything."""

    def __init__(self, size: Ints, up: Bools) -> None:
        super().__init__(size)
        self.up = up

    def is_open(self, positions: Ints, depth: int) -> Bools:
        return self.up[positions]

    def is_alone(self, positions: Ints, depth: int) -> Bools:
        return self.up[positions]


class WhatIfView(LedgerView):
    """Now, as if closed vertices were open, or as if others used nothing."""

    table: object = None
    """What its nodes have free, once that was computed; see `gang.node_table`."""


class WindowView(LedgerView):
    """A window of time, read from the spans depth by depth, on demand."""

    def __init__(self, ledger: Ledger, start: int, end: int, *, lingering: bool) -> None:
        count = len(ledger.size)
        super().__init__(
            ledger.size, ledger.up, np.zeros(count, np.int64), np.zeros(count, np.int32)
        )
        self.lingering = lingering
        self._ledger = ledger
        self._start, self._end = start, end
        self._read: set[int] = set()

    def read(self, depths: Iterable[int]) -> None:
        for depth in depths:
            if depth not in self._read:
                self._read_depth(depth)

    def _read_depth(self, depth: int) -> None:
        self._read.add(depth)
        table = self._ledger.spans(depth)
        position, needs, start, end = table.during(self._start, self._end, lingering=self.lingering)
        self.tags[position] = 1
        taken = needs > 0
        position, needs = position[taken], needs[taken]
        if depth in self._ledger.pool_depths:
            self.held += _peaks(position, needs, start[taken], end[taken], self._start, self.held)
        else:
            self.held[position] = needs

    def is_open(self, positions: Ints, depth: int) -> Bools:
        if depth not in self._read:
            self._read_depth(depth)
        return super().is_open(positions, depth)

    def is_alone(self, positions: Ints, depth: int) -> Bools:
        if depth not in self._read:
            self._read_depth(depth)
        return super().is_alone(positions, depth)

    def free(self, positions: Ints, depth: int) -> Ints:
        if depth not in self._read:
            self._read_depth(depth)
        return super().free(positions, depth)


def _peaks(position: Ints, needs: Ints, start: Ints, end: Ints, at: int, like: Ints) -> Ints:
    """The largest amount held at one instant from `at` on, by position.

    Where nothing begins later, that is what is held at `at`; only the other positions are swept.
    """
    here = start <= at
    held = np.bincount(position[here], weights=needs[here], minlength=len(like))
    peak: Ints = held.astype(np.int64)
    if not here.all():
        rising = np.zeros(len(like), np.bool_)
        rising[position[~here]] = True
        swept = rising[position]
        _sweep(peak, position[swept], needs[swept], start[swept], end[swept], at)
    return peak


def _sweep(peak: Ints, position: Ints, needs: Ints, start: Ints, end: Ints, at: int) -> None:
    """Find the peaks at some positions.

    Every span is a rise and a fall. Sorted by position and time, falls first, their running total
    is what is held after each; it is back at 0 where one position's rows end and the next begin.
    """
    where = np.concatenate((position, position))
    when = np.concatenate((np.maximum(start, at), np.maximum(end, at + 1)))
    step = np.concatenate((needs, -needs))
    order = np.lexsort((step, when, where))
    where = where[order]
    held = np.cumsum(step[order])
    first = np.flatnonzero(np.concatenate(([True], where[1:] != where[:-1])))
    peak[where[first]] = np.maximum.reduceat(held, first)
