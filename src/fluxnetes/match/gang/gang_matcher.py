"""Places gangs on one engine's tree, and counts the pods that fit.

What was computed for one gang is reused for the next: the table of nodes is kept until the tree or
its properties change, and the table of what is free now is updated from the ledger's log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fluxnetes.common.arrays import Bools
from fluxnetes.common.reasons import Reason
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.gang.domains import LevelDomains, find_domains, levels_above
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.match.gang.node_table import FreeTable, NodeTable, build_table
from fluxnetes.match.gang.placement_cache import CachedPlacement, PlacementCache
from fluxnetes.match.gang.placer import GangPlacement, GangPlacer
from fluxnetes.match.gang.topology_placer import Levels, TopologyPlacer
from fluxnetes.match.gang.topology_reasons import explain_topology
from fluxnetes.match.ledger.views import LedgerView, WhatIfView

if TYPE_CHECKING:
    from fluxnetes.match.engine.engine import MatchEngine

_MAX_CONSTRAINTS = 256
"""Maximum number of constraints whose allowed rows a table caches."""


FindReason: TypeAlias = Callable[[], Reason]
"""Finds why a gang has no place; to be called before anything else is placed. The search can take
longer than the one for a place."""


class GangMatcher:
    """The part of an engine that places pods."""

    def __init__(self, engine: MatchEngine) -> None:
        self._engine = engine
        self._table: NodeTable | None = None
        self._free_now: tuple[int, FreeTable] | None = None
        """The ledger's clock, and what nodes had free then in the view of now."""
        self._cache = PlacementCache(engine.ledger)

    def relabelled(self) -> None:
        """Properties changed, and with them the nodes that are allowed or preferred."""
        self._table = self._free_now = None
        self._cache.forget()

    # -- where ---------------------------------------------------------------------------------

    def seat(self, gang: Gang, view: LedgerView) -> CachedPlacement | FindReason:
        """The nodes for a gang in a view; or what finds the reason why there are none."""
        if isinstance(view, WhatIfView):
            if not isinstance(view.table, FreeTable):
                view.table = FreeTable(self._engine.tree, self.table(), view)
            return self._place(gang, view.table)
        if type(view) is not LedgerView:
            return self._place(gang, FreeTable(self._engine.tree, self.table(), view))
        if gang.topology is not None:  # what it gets depends on more than the first node that fits
            return self._place(gang, self._free_table_now(view))
        cached = self._cache.find(gang)
        if cached is not None:
            return cached
        seated = self._place(gang, self._free_table_now(view))
        if isinstance(seated, CachedPlacement):
            self._cache.store(gang, seated)
        return seated

    def _place(self, gang: Gang, free_table: FreeTable) -> CachedPlacement | FindReason:
        seating = self._seat(gang, free_table)
        if not isinstance(seating, GangPlacement):
            return seating
        held = self._engine.hold_adopted(seating.selection)
        assert held is not None  # noqa: S101 - every pod takes something
        return CachedPlacement(tuple(seating.seats), held)

    def _seat(self, gang: Gang, free_table: FreeTable) -> GangPlacement | FindReason:
        if gang.topology is not None:
            return self._seat_by_topology(gang, gang.topology, free_table)
        placer = GangPlacer(self._engine.tree, free_table)
        seating = placer.seat(gang, self._rows_allowed)
        return seating or partial(_known, placer.why)

    def _seat_by_topology(
        self, gang: Gang, request: TopologyRequest, free_table: FreeTable
    ) -> GangPlacement | FindReason:
        levels = Levels(self._domains, self._wider, self._rows_of)

        def make(part: TopologyRequest) -> TopologyPlacer:
            asked = replace(gang, topology=part)
            return TopologyPlacer(self._engine.tree, free_table, levels, asked, self._rows_allowed)

        def find_reason() -> Reason:
            """Why it does not fit anywhere, or else why not as the request wants it."""
            plain = self._seat(replace(gang, topology=None), free_table)
            if isinstance(plain, GangPlacement):
                return explain_topology(request, make)
            return plain()

        return make(request).seat() or find_reason

    def _free_table_now(self, view: LedgerView) -> FreeTable:
        """What nodes have free now, updated from the last table if possible."""
        ledger = self._engine.ledger
        if self._free_now is not None:
            clock, free_table = self._free_now
            changed = ledger.changed_since(clock)
            if changed is not None and (not len(changed) or free_table.follow(changed)):
                self._free_now = (ledger.clock, free_table)
                return free_table
        free_table = FreeTable(self._engine.tree, self.table(), view)
        self._free_now = (ledger.clock, free_table)
        return free_table

    # -- how much ------------------------------------------------------------------------------

    def count(self, shape: Shape, view: LedgerView) -> int:
        """The number of pods of a shape that fit in a view."""
        free_table = FreeTable(self._engine.tree, self.table(), view)
        usable = free_table.usable
        if shape.constraint is not None:
            usable = usable & self._rows_allowed(shape.constraint)
        return int(free_table.capacity_for(shape)[usable].sum())

    def loose_pools(self, type: str) -> list[int]:
        """The sizes of the reachable pools of a type that are in no node."""
        engine = self._engine
        pools = self.table().loose.get(type, np.empty(0, np.int64))
        sizes: list[int] = engine.ledger.size[pools[engine.reachable()[pools]]].tolist()
        return sizes

    # -- which nodes ---------------------------------------------------------------------------

    def table(self) -> NodeTable:
        """The nodes that hold pools, in the policy's order."""
        if self._table is None:
            engine = self._engine
            self._table = build_table(engine.graph, engine.tree, engine.policy)
        return self._table

    def _domains(self, level: str) -> LevelDomains:
        """The domains of a level, over the rows of the table."""
        table, engine = self.table(), self._engine
        if level not in table.domains:
            found = find_domains(engine.graph, engine.tree, table.nodes, level)
            table.domains[level] = found
        return table.domains[level]

    def _wider(self, level: str) -> tuple[str, ...]:
        """The levels that are wider than one, the narrowest first."""
        table, engine = self.table(), self._engine
        if level not in table.wider:
            table.wider[level] = levels_above(engine.graph, engine.tree, level)
        return table.wider[level]

    def _rows_of(self, names: Iterable[str]) -> list[int]:
        """The rows of nodes by name; -1: the table has no such node."""
        table, engine = self.table(), self._engine
        if table.row_of_name is None:
            every = engine.graph.names(engine.tree.vertex[table.nodes])
            table.row_of_name = {name: row for row, name in enumerate(every)}
        return [table.row_of_name.get(name, -1) for name in names]

    def neighbours(self, level: str, names: Iterable[str]) -> list[str]:
        """The names of all nodes in the domains of a level that some nodes are in."""
        domains = self._domains(level)
        there = {int(domains.of_row[row]) for row in self._rows_of(names) if row >= 0} - {-1}
        rows = np.flatnonzero(np.isin(domains.of_row, list(there)))
        found: list[str] = self._engine.graph.names(
            self._engine.tree.vertex[self.table().nodes[rows]]
        )
        return found

    def _rows_allowed(self, constraint: Constraint) -> Bools:
        """Which rows of the table a constraint allows."""
        table = self.table()
        known = table.allowed.get(constraint)
        if known is None:
            if len(table.allowed) > _MAX_CONSTRAINTS:
                table.allowed.clear()
            known = table.allowed[constraint] = self._engine.allowed(constraint)[table.nodes]
        return known


def _known(reason: Reason | None) -> Reason:
    assert reason is not None  # noqa: S101 - a placer that found nothing says why
    return reason
