"""Gangs on one tree: which nodes have pools, what is free of them, and where a gang's pods go.

What was worked out for one gang serves the next: the table of nodes stays until the tree or its
properties change, and what nodes have free now follows the ledger's changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fluxnetes.common.arrays import Bools
from fluxnetes.common.reasons import Reason
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.gang.node_table import FreeTable, NodeTable, build_table
from fluxnetes.match.gang.placement_cache import CachedPlacement, PlacementCache
from fluxnetes.match.gang.placer import GangPlacer
from fluxnetes.match.ledger.views import LedgerView

if TYPE_CHECKING:
    from fluxnetes.match.engine.engine import MatchEngine

_CONSTRAINTS_KEPT = 256


class GangMatcher:
    """The part of an engine that knows of pods."""

    def __init__(self, engine: MatchEngine) -> None:
        self._engine = engine
        self._table: NodeTable | None = None
        self._free_now: tuple[int, FreeTable] | None = None
        """What nodes have free now, and the ledger's clock when that was so."""
        self._cache = PlacementCache(engine.ledger)

    def relabelled(self) -> None:
        """Properties changed, and with them which nodes are allowed, or come first."""
        self._table = self._free_now = None
        self._cache.forget()

    # -- where ---------------------------------------------------------------------------------

    def seat(self, gang: Gang, view: LedgerView) -> CachedPlacement | Reason:
        """Where a gang goes in a view; or why it cannot."""
        if type(view) is not LedgerView:
            return self._place(gang, FreeTable(self._engine.tree, self.table(), view))
        cached = self._cache.find(gang)
        if cached is not None:
            return cached
        seated = self._place(gang, self._free_table_now(view))
        if isinstance(seated, CachedPlacement):
            self._cache.store(gang, seated)
        return seated

    def _place(self, gang: Gang, free_table: FreeTable) -> CachedPlacement | Reason:
        placer = GangPlacer(self._engine.tree, free_table)
        seating = placer.seat(gang, self._rows_allowed)
        if seating is None:
            assert placer.why is not None  # noqa: S101 - it says why it found nothing
            return placer.why
        held = self._engine.hold_adopted(seating.selection)
        assert held is not None  # noqa: S101 - every pod takes something
        return CachedPlacement(tuple(seating.seats), held)

    def _free_table_now(self, view: LedgerView) -> FreeTable:
        """What nodes have free now, from the last time that somebody asked if possible."""
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
        """How many pods of a shape there is room for in a view."""
        free_table = FreeTable(self._engine.tree, self.table(), view)
        usable = free_table.usable
        if shape.constraint is not None:
            usable = usable & self._rows_allowed(shape.constraint)
        return int(free_table.capacity_for(shape)[usable].sum())

    def loose_pools(self, type: str) -> list[int]:
        """The sizes of the pools of a type that no node owns, of those that can be reached."""
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

    def _rows_allowed(self, constraint: Constraint) -> Bools:
        """Which rows of the table a constraint allows."""
        table = self.table()
        known = table.allowed.get(constraint)
        if known is None:
            if len(table.allowed) > _CONSTRAINTS_KEPT:
                table.allowed.clear()
            known = table.allowed[constraint] = self._engine.allowed(constraint)[table.nodes]
        return known
