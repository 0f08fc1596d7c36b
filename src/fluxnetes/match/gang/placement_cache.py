"""The same again: a queue often asks for the same gang many times in a row.

Nodes are taken in a fixed order, the first that has room. So where a gang was put on one node, all
nodes before that had no room for it. As long as nothing else happened than that it was taken there
or given back, they still have none; and if the node has room for the same once more, there it goes.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.gang.model import Gang, Seats
from fluxnetes.match.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class CachedPlacement:
    """Where a gang went."""

    seats: tuple[Seats, ...]
    held: HeldVertices


class PlacementCache:
    """Remembers the last gang that was seated on one node, at the moment that it looks at."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._last: tuple[Gang, CachedPlacement] | None = None
        self._clock = 0

    def forget(self) -> None:
        """Other nodes may be allowed now than were."""
        self._last = None

    def store(self, gang: Gang, seated: CachedPlacement) -> None:
        """A gang was seated, and nobody has taken that yet."""
        nodes = {int(node) for seats in seated.seats for node in seats.node}
        self._last = (gang, seated) if len(nodes) == 1 and not gang.shared else None
        self._clock = self._ledger.clock

    def find(self, gang: Gang) -> CachedPlacement | None:
        """Where a gang goes that goes where the last one went; None: somebody has to look."""
        if self._last is None or self._last[0] != gang:
            return None
        seated = self._last[1]
        if not self._is_all_that_changed(seated.held) or not self._has_room(seated.held):
            self._last = None
            return None
        self._clock = self._ledger.clock
        return seated

    def _is_all_that_changed(self, held: HeldVertices) -> bool:
        """Whether nothing changed since, or only that this very thing was taken or given back."""
        behind = self._ledger.clock - self._clock
        return not behind or (
            behind == 1 and self._ledger.changed_since(self._clock) is held.position
        )

    def _has_room(self, held: HeldVertices) -> bool:
        ledger, mine = self._ledger, held.position[held.exclusive]
        left = ledger.size[mine] - ledger.held[mine]
        return bool((left >= held.needs[held.exclusive]).all())
