"""Builds the capacity plan: what is counted, what is held, set aside and promised.

The plan is built when the queue starts, and rebuilt when jobs of another kind arrive, when nodes or
windows change, or when counting turned out to be wrong. Promises are put back where they were.
When only foreign usage changes, the plan follows that without being rebuilt.

Units cannot be counted while jobs are on nodes that are down or closed, or hold more of a node than
foreign usage leaves them: what such a job frees is not available to the next one. Then jobs are
planned by vertex, until that is over.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.match.planning import Planning
from fluxnetes.queue.changes import NodeWindow
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.plan.base import CapacityPlan, RunningHold, WindowHold
from fluxnetes.queue.plan.by_count import CountPlan
from fluxnetes.queue.plan.by_vertex import VertexPlan
from fluxnetes.queue.plan.columns import PlanColumns, constraint_of
from fluxnetes.queue.plan.promises import PromiseKeeper
from fluxnetes.queue.plan.requests import PlanRequest

_BLOCK_KEYS = -(10**15)
"""Keys of blocks in the matcher are below this; those of bookings are the negated job ids."""


def new_plan(planning: Planning, columns: PlanColumns, now: int) -> CapacityPlan:
    """An empty plan of the form that the columns are for."""
    kind = VertexPlan if columns.by_vertex else CountPlan
    return kind(planning, columns, now)


class PlanBuilder:
    """Keeps the capacity plan up to date with the graph, the jobs and the windows."""

    def __init__(self, core: QueueCore, promises: PromiseKeeper, *, count: bool = True) -> None:
        self._core = core
        self.promises = promises
        self._never_count = not count
        self._detour = False
        """Whether jobs are planned by vertex only until units can be counted again."""

    def bring_up_to_date(self, now: int) -> None:
        """Rebuild the plan, or let it follow foreign usage, if that is due."""
        core = self._core
        if self._detour and self._is_countable():
            core.request_relayout(Reason.of(Message.COUNTABLE_AGAIN))
        if core.capacity.miscounted and not self._never_count:
            self._never_count = True
            core.request_relayout(Reason.of(Message.COUNTING_FELL_SHORT))
        is_due, reason = core.take_relayout()
        if is_due or (reason and not core.capacity.by_vertex and not self._is_countable()):
            self.rebuild(now, reason)
        elif reason and not core.capacity.follow():
            self.promises.keep_all(now, reason)

    def rebuild(self, now: int, reason: Reason | None, *, by_vertex: bool = False) -> None:
        """Build the plan anew, and put all promises back."""
        core = self._core
        taken = self.promises.take_all()
        old = core.capacity
        old.dissolve()
        capacity = new_plan(core.planning, self._columns(by_vertex), now)
        core.replace_capacity(capacity)
        capacity.enter_all(
            (id, self._request_of(holder), holder.until, core.records.amounts[id])
            for id, holder in old.holders.items()
        )
        for number, window in enumerate(core.windows.values()):
            self._block(capacity, window, _BLOCK_KEYS - number)
        self.promises.put_back(taken, now, reason)
        core.resources_freed()

    def _request_of(self, holder: RunningHold) -> PlanRequest:
        request = holder.request
        if request.window is not None and request.window not in self._core.windows:
            # Its reservation is over while it still runs: from now on it is an ordinary job.
            return replace(request, window=None)
        return request

    def _columns(self, by_vertex: bool) -> PlanColumns:
        core = self._core
        by_vertex = by_vertex or self._never_count or bool(core.windows)
        self._detour = not by_vertex and not self._is_countable()
        requests = [kind.example for kind in core.kinds.values()]
        return PlanColumns(core.planning, requests, by_vertex=by_vertex or self._detour)

    def _is_countable(self) -> bool:
        """Whether units can be counted: all that jobs hold is up, open, not overcommitted, and
        allowed by their constraints."""
        core = self._core
        engine = core.planning.engine
        if len(engine.ledger.overcommitted()):
            return False
        if engine.ledger.tags[~engine.reachable()].any():
            return False
        return not core.has_misplaced(self._is_misplaced)

    def _is_misplaced(self, job: int) -> bool:
        core = self._core
        unit = core.capacity.holders[job].request.unit
        constraint = constraint_of(unit) if unit is not None else None
        if constraint is None:
            return False
        nodes = core.planning.nodes.of(core.allocations[job].placement)
        return not core.planning.engine.allowed(constraint)[nodes].all()

    def _block(self, capacity: CapacityPlan, window: NodeWindow, key: int) -> None:
        planning = self._core.planning
        nodes = planning.nodes.named(window.nodes)
        if len(nodes):
            found = planning.nodes.whole(np.asarray(nodes))
            capacity.block(WindowHold(key, window.name, window.start, window.end, found))
