"""Computes the minimum amounts of a request, and the times at which the whole graph has them.

Before a reservation is tried at some time, the sums at the root are checked: are there that many
cores and nodes, anywhere, through the window? The only times to try are those at which some job
starts or ends, since nothing changes in between.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.jobspec.model import SLOT, Resource


def add_up(
    resources: Sequence[Resource], tracked: frozenset[str], *, flexible: bool = False
) -> dict[str, int]:
    """The minimum amount of each tracked type that a request needs."""
    sums: dict[str, int] = {}
    alternatives: list[dict[str, int]] = []
    for resource in resources:
        if resource.type in tracked:
            sums[resource.type] = sums.get(resource.type, 0) + resource.count.min
        below = add_up(resource.children, tracked, flexible=flexible)
        needed = {type: resource.count.min * each for type, each in below.items()}
        if flexible and resource.type == SLOT:
            alternatives.append(needed)
        else:
            _add(sums, needed)
    # Of alternatives the minimum counts, and 0 for a type that one of them does not need.
    for type in set().union(*alternatives):
        _add(sums, {type: min(needed.get(type, 0) for needed in alternatives)})
    return sums


def _add(sums: dict[str, int], more: dict[str, int]) -> None:
    for type, amount in more.items():
        sums[type] = sums.get(type, 0) + amount


class AggregateProfile:
    """The amount of each type that the root has left, over time."""

    def __init__(self, totals: Ints) -> None:
        self.totals = totals
        self._spans: dict[int, tuple[int, int, Ints]] = {}
        self._points: Ints | None = None
        self._left = np.empty((0, len(totals)), np.int64)

    def add(self, jobid: int, start: int, end: int, counts: Ints) -> None:
        self._spans[jobid] = (start, end, counts)
        self._points = None

    def drop(self, jobid: int) -> None:
        if self._spans.pop(jobid, None) is not None:
            self._points = None

    def times(self, after: int, duration: int, needs: Ints) -> Ints:
        """The times from `after` on at which a window has enough of every type."""
        if (needs > self.totals).any():
            return np.empty(0, np.int64)
        points = self._layout()
        short = (self._left < needs).any(axis=1)
        shortages = np.concatenate(([0], np.cumsum(short)))
        until = np.searchsorted(points, points + duration)
        enough = shortages[until] == shortages[:-1]
        found: Ints = points[enough & (points >= after)]
        return found

    def _layout(self) -> Ints:
        """Arrange all spans along time: the points of change, and what is left at each."""
        if self._points is None:
            spans = list(self._spans.values())
            starts = np.array([s for s, _, _ in spans], np.int64)
            ends = np.array([e for _, e, _ in spans], np.int64)
            counts = np.array([c for _, _, c in spans], np.int64)
            self._points = np.unique(np.concatenate((starts, ends)))
            change = np.zeros((len(self._points), len(self.totals)), np.int64)
            if spans:
                np.add.at(change, np.searchsorted(self._points, starts), counts)
                np.subtract.at(change, np.searchsorted(self._points, ends), counts)
            self._left = self.totals - np.cumsum(change, axis=0)
        return self._points
