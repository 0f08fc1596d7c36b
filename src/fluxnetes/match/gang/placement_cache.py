"""Caches the last placement of a gang on one node, because a queue often repeats the same gang.

Nodes are used in a fixed order, the first one with enough capacity. So when a gang is placed on one
node, all nodes before that have too little capacity for it. As long as the only change since is
that this placement was allocated or released, they still have too little; and if the node has
capacity for the same gang once more, the gang is placed there.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.gang.model import Gang, Seats
from fluxnetes.match.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class CachedPlacement:
    """The nodes of a gang's pods, and what it holds."""

    seats: tuple[Seats, ...]
    held: HeldVertices


class PlacementCache:
    """The last gang that was placed on one node in the view of now."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._last: tuple[Gang, CachedPlacement] | None = None
        self._clock = 0

    def forget(self) -> None:
        """Drop the placement: the allowed or preferred nodes may have changed."""
        self._last = None

    def store(self, gang: Gang, seated: CachedPlacement) -> None:
        """Keep a placement that was just found, and is not allocated yet."""
        nodes = {int(node) for seats in seated.seats for node in seats.node}
        self._last = (gang, seated) if len(nodes) == 1 and not gang.shared else None
        self._clock = self._ledger.clock

    def find(self, gang: Gang) -> CachedPlacement | None:
        """The last placement, if it is valid for this gang too; None: a search is needed."""
        if self._last is None or self._last[0] != gang:
            return None
        seated = self._last[1]
        if not self._is_all_that_changed(seated.held) or not self._fits(seated.held):
            self._last = None
            return None
        self._clock = self._ledger.clock
        return seated

    def _is_all_that_changed(self, held: HeldVertices) -> bool:
        """Whether nothing changed since, or only that this placement was allocated or released."""
        behind = self._ledger.clock - self._clock
        return not behind or (
            behind == 1 and self._ledger.changed_since(self._clock) is held.position
        )

    def _fits(self, held: HeldVertices) -> bool:
        ledger, mine = self._ledger, held.position[held.exclusive]
        left = ledger.size[mine] - ledger.held[mine]
        return bool((left >= held.needs[held.exclusive]).all())
