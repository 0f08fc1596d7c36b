"""The ledger: records what every job holds on one tree, and when.

Every job holds rows of the tree for a span of time: some exclusively (with an amount), and all
ancestors of those shared (a *tag*: a job holds something at or below this vertex). The ledger keeps

- for *now*: the amount of each vertex that allocations hold, and the number of jobs that tag it, as
  columns that change with every job, so that "free now" is a comparison over a column;
- for *later*: the spans themselves, in a table for each depth of the tree, so that "free from t1
  to t2" reads only the depths that a request needs;
- a log of the positions that changed, so that code that caches values derived from "now" recomputes
  only those.

An allocation blocks its vertices now until it is cancelled, even past its end: a job that overruns
still holds them. For later windows only spans count. A vertex that can be allocated in part (a
pool) is counted by the largest amount held at any instant of the window.

Where a vertex has several parents, what is held of it is held at each of its positions (`twins`).

Usage outside of the matcher's jobs (*occupied*) reduces a pool: `size` is what jobs can use,
`nominal` the whole. Such usage may grow beyond what is free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.match.engine.closure import ancestors
from fluxnetes.match.ledger.twins import extend, positions_of
from fluxnetes.match.ledger.views import IdleView, LedgerView, WholeGraphView, WindowView

FOREVER = 2**62
"""A time after all others."""


@dataclass(frozen=True, slots=True)
class JobHolding:
    """What one job holds: ascending positions with amounts, for a span of time."""

    position: Ints
    needs: Ints
    exclusive: Bools
    start: int
    end: int
    reserved: bool

    @property
    def taken(self) -> Ints:
        """The amounts that are unavailable to other jobs: 0 for what is only shared."""
        return np.where(self.exclusive, self.needs, 0)


class SpanTable:
    """Spans of one depth of the tree, as growing columns: position, needs, start, end, reserved.

    A deleted span stays in the table, with an end before all others, until the next compaction.
    """

    def __init__(self) -> None:
        self.size = 0
        self.dead = 0
        self._columns = np.empty((5, 64), np.int64)

    def add(self, rows: Ints) -> int:
        """Append spans, as columns; returns the index of the first."""
        first, last = self.size, self.size + rows.shape[1]
        if last > self._columns.shape[1]:
            grown = np.empty((5, 2 * last), np.int64)
            grown[:, :first] = self._columns[:, :first]
            self._columns = grown
        self._columns[:, first:last] = rows
        self.size = last
        return first

    def kill(self, rows: slice) -> None:
        self._columns[2, rows] = FOREVER
        self._columns[3, rows] = -FOREVER
        self._columns[4, rows] = 1
        self.dead += rows.stop - rows.start

    def during(self, start: int, end: int, *, lingering: bool) -> Ints:
        """The spans that overlap a window, as columns position, needs, start, end.

        `lingering` adds the allocations whose end is past but that still hold their vertices.
        """
        live = self._columns[:, : self.size]
        overlap = live[3] > start
        if lingering:
            overlap |= live[4] == 0
        overlap &= live[2] < end
        return live[:4, overlap]


class Ledger:
    """All holdings on one tree."""

    _LOG_LIMIT = 1024
    """Maximum number of logged changes; a cache that is further behind recomputes everything."""

    def __init__(self, graph: ResourceGraph, tree: Topology) -> None:
        count = len(tree)
        self.tree = tree
        self.nominal: Ints = graph.size[tree.vertex]
        self.size: Ints = np.maximum(self.nominal - graph.occupied[tree.vertex], 0)
        self.up: Bools = graph.up[tree.vertex] & ~graph.closed[tree.vertex]
        self.held: Ints = np.zeros(count, np.int64)
        self.tags: NDArray[np.int32] = np.zeros(count, np.int32)
        self._depths = int(tree.depth.max()) + 1
        self._tables = [SpanTable() for _ in range(self._depths)]
        pools = graph.divisible[tree.vertex]
        self.pool_depths = frozenset(np.unique(tree.depth[pools]).tolist())
        self.clock = 0
        """Counts changes of what is free now; see `changed_since`."""
        self._log: list[Ints] = []
        self._holdings: dict[int, JobHolding] = {}
        self._unfiled: dict[int, JobHolding] = {}
        """Holdings whose spans are not in the tables yet; they are added when a window is read."""
        self._filed: dict[int, tuple[list[Ints], int]] = {}
        """For each job the batch with which its spans were added, and its number in the batch."""
        self._promised: dict[int, tuple[int, int]] = {}
        """Start and end of each reservation and booking."""

    # -- changes -------------------------------------------------------------------------------

    def add(self, jobid: int, holding: JobHolding) -> None:
        if self.tree.paths is not None:
            holding = self._everywhere(holding)
        self._holdings[jobid] = holding
        self._unfiled[jobid] = holding
        if holding.reserved:
            self._promised[jobid] = (holding.start, holding.end)
        else:
            self.held[holding.position] += holding.taken
            self.tags[holding.position] += 1
            self._changed(holding.position)

    def _everywhere(self, holding: JobHolding) -> JobHolding:
        """A holding at all positions of its vertices."""
        position, needs, exclusive = extend(
            self.tree, self.size, holding.position, holding.needs, holding.exclusive
        )
        return replace(holding, position=position, needs=needs, exclusive=exclusive)

    def drop(self, jobid: int) -> JobHolding | None:
        """Remove and return a job's holding; None if it has none."""
        holding = self._holdings.pop(jobid, None)
        if holding is None:
            return None
        if self._unfiled.pop(jobid, None) is None:
            self._unfile(jobid)
        if self._promised.pop(jobid, None) is None:
            self.held[holding.position] -= holding.taken
            self.tags[holding.position] -= 1
            self._changed(holding.position)
        return holding

    def mark(self, position: int, up: bool) -> None:
        """Mark a vertex up or down."""
        twins = self.tree.twins(position)
        self.up[twins] = up
        above = ancestors(self.tree, twins)
        self._changed(np.union1d(twins, above) if len(twins) > 1 else np.append(above, position))

    def occupy(self, positions: Ints, amounts: Ints) -> None:
        """Set the amounts of pools that are in use outside of the matcher's jobs."""
        if self.tree.paths is not None:
            positions, of = positions_of(self.tree.paths, self.tree.vertex[positions])
            amounts = amounts[of]
        self.size[positions] = np.maximum(self.nominal[positions] - amounts, 0)
        self._changed(np.union1d(positions, ancestors(self.tree, positions)))

    def overcommitted(self) -> Ints:
        """Positions of which more is held now than can be used."""
        return np.flatnonzero(self.held > self.size)

    # -- spans ---------------------------------------------------------------------------------

    def spans(self, depth: int) -> SpanTable:
        """The spans of all holdings at one depth of the tree."""
        if self._unfiled:
            self._file(self._unfiled)
            self._unfiled = {}
        return self._tables[depth]

    def _file(self, holdings: dict[int, JobHolding]) -> None:
        """Add the spans of many holdings to the tables at once."""
        held = list(holdings.values())
        lengths = [len(h.position) for h in held]
        position = np.concatenate([h.position for h in held])
        rows = np.stack(
            (
                position,
                np.concatenate([h.taken for h in held]),
                np.repeat([h.start for h in held], lengths),
                np.repeat([h.end for h in held], lengths),
                np.repeat([int(h.reserved) for h in held], lengths),
            )
        )
        owner = np.repeat(np.arange(len(held)), lengths)
        depth = self.tree.depth[position]
        batch = []
        for level, table in enumerate(self._tables):
            here = depth == level
            counts = np.bincount(owner[here], minlength=len(held))
            batch.append(table.add(rows[:, here]) + np.concatenate(([0], np.cumsum(counts))))
        for number, jobid in enumerate(holdings):
            self._filed[jobid] = (batch, number)

    def _unfile(self, jobid: int) -> None:
        batch, number = self._filed.pop(jobid)
        for table, starts in zip(self._tables, batch, strict=True):
            table.kill(slice(int(starts[number]), int(starts[number + 1])))
        self._compact()

    def _compact(self) -> None:
        """Rebuild the tables once more spans are deleted than live."""
        if sum(t.dead for t in self._tables) * 2 <= sum(t.size for t in self._tables) + 4096:
            return
        self._tables = [SpanTable() for _ in range(self._depths)]
        self._filed.clear()
        self._unfiled = dict(self._holdings)

    def _changed(self, positions: Ints) -> None:
        self.clock += 1
        self._log.append(positions)
        if len(self._log) > self._LOG_LIMIT:
            del self._log[: self._LOG_LIMIT // 2]

    def changed_since(self, clock: int) -> Ints | None:
        """Ascending positions that changed since then (ancestors included); None: too long ago."""
        behind = self.clock - clock
        if behind > len(self._log):
            return None
        recent = self._log[len(self._log) - behind :]
        if len(recent) == 1:
            return recent[0]
        return np.unique(np.concatenate(recent)) if recent else np.empty(0, np.int64)

    # -- views ---------------------------------------------------------------------------------

    def now(self) -> LedgerView:
        """What is free at this moment, reservations for later ignored."""
        return LedgerView(self.size, self.up, self.held, self.tags)

    def during(self, start: int, end: int) -> LedgerView:
        """What is free from now (`start`) until `end`, reservations respected."""
        if any(s < end and e > start for s, e in self._promised.values()):
            return WindowView(self, start, end, lingering=True)
        return self.now()

    def later(self, start: int, end: int) -> LedgerView:
        """What will be free through a window that begins after now."""
        return WindowView(self, start, end, lingering=False)

    def ever_since(self, now: int) -> LedgerView:
        """The most that is held at any time from now on."""
        view = WindowView(self, now, FOREVER, lingering=True)
        view.read(range(self._depths))
        return view

    def everything(self) -> LedgerView:
        """The whole graph: up or down, free or held."""
        return WholeGraphView(self.nominal)

    def idle(self) -> LedgerView:
        """All that is up and not occupied outside of the matcher, as if no job held anything."""
        return IdleView(self.size, self.up)
