"""Who holds what, and when.

Every job holds rows of the tree for a span of time: some exclusively (with an amount), and all
ancestors of those shared (a *tag*, which says that somebody is below). The ledger keeps

- for *now*: how much of each vertex is held by allocations, and by how many jobs it is tagged, as
  columns that change with every job, so that "free now" is a comparison over a column;
- for *later*: the spans themselves, in a table for each depth of the tree, so that "free from t1
  to t2" reads only the depths that a request asks about;
- a log of the positions that changed, so that whoever caches something derived from "now" needs to
  look only at those again.

An allocation blocks its vertices now until it is cancelled, even past its end: a job that overruns
is still there. Later, only spans count. A vertex of which a part can be taken (a pool) is judged by
the largest amount held at any instant of the window.

What others hold of a pool, of whom nothing else is known, is as though it were not there: `size` is
what can be used, `nominal` what there is. They may come to hold more than was free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.match.engine.closure import ancestors
from fluxnetes.match.ledger.views import IdleView, LedgerView, WholeGraphView, WindowView

FOREVER = 2**62


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
        """The amounts that nobody else can have: none of what is only shared."""
        return np.where(self.exclusive, self.needs, 0)


class SpanTable:
    """Spans of one depth of the tree, as growing columns; a dead span ends before all time."""

    def __init__(self) -> None:
        self.size = 0
        self.dead = 0
        self._columns = np.empty((5, 64), np.int64)

    def add(self, rows: Ints) -> int:
        """Append spans, given as columns; returns where they begin."""
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

        `lingering` adds the allocations that should have ended before it but are still there.
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
        """Holdings whose spans are not in the tables yet; nobody asked about later so far."""
        self._filed: dict[int, tuple[list[Ints], int]] = {}
        """For each job the batch that it was filed with, and its number in that."""
        self._promised: dict[int, tuple[int, int]] = {}

    # -- changes -------------------------------------------------------------------------------

    def add(self, jobid: int, holding: JobHolding) -> None:
        self._holdings[jobid] = holding
        self._unfiled[jobid] = holding
        if holding.reserved:
            self._promised[jobid] = (holding.start, holding.end)
        else:
            self.held[holding.position] += holding.taken
            self.tags[holding.position] += 1
            self._changed(holding.position)

    def drop(self, jobid: int) -> JobHolding | None:
        """Take a job's holding out; None if it had none."""
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
        """A vertex went up or down."""
        self.up[position] = up
        ancestors = [position]
        while ancestors[-1] > 0:
            ancestors.append(int(self.tree.parent[ancestors[-1]]))
        self._changed(np.array(ancestors[::-1]))

    def occupy(self, positions: Ints, amounts: Ints) -> None:
        """Others hold so much of these pools from now on."""
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
        """Enter many holdings into the tables at once."""
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
        """Lay the tables anew once more spans are dead than alive."""
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
        """What is free at this moment, whatever was promised for later."""
        return LedgerView(self.size, self.up, self.held, self.tags)

    def during(self, start: int, end: int) -> LedgerView:
        """What is free from now (`start`) on until `end`, promises honoured."""
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
        """All that there is, up or not, whoever holds it."""
        return WholeGraphView(self.nominal)

    def idle(self) -> LedgerView:
        """All that is up and that others leave us, as though no job held anything."""
        return IdleView(self.size, self.up)
