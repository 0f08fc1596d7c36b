"""Places a gang: selects the nodes for its pods.

Shapes are placed one after the other, each on the first nodes in the policy's order that have
capacity for at least one of its pods, as many pods on each as fit. What earlier shapes use is
unavailable to later ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.common.reasons import Amount, Message, Reason
from fluxnetes.graph.topology import Topology
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.engine.closure import VertexSelection
from fluxnetes.match.gang.model import Gang, Seats, Shape
from fluxnetes.match.gang.node_table import FreeTable

_CHUNK = 1024
"""Number of nodes that are examined first; most often they are enough. Later chunks double."""

Columns = list[tuple[str, int, Ints]]
"""A type, the amount of it that one pod needs, and what each node has left of it."""


@dataclass(slots=True)
class GangPlacement:
    """The nodes for a gang: the seats of each shape, and the parts of pools that they use."""

    seats: list[Seats]
    selection: VertexSelection


class GangPlacer:
    """One attempt to place a gang."""

    def __init__(self, tree: Topology, free_table: FreeTable) -> None:
        self._tree = tree
        self._table = free_table.table
        self._free = free_table
        self._left: dict[str, Ints] = {}
        """What is left of the types that the gang's earlier shapes use."""
        self._positions: list[Ints] = []
        self._needs: list[Ints] = []
        self.why: Reason | None = None

    def seat(self, gang: Gang, allowed: Callable[[Constraint], Bools]) -> GangPlacement | None:
        """Seats for the whole gang; None, and the reason in `why`, if there are not enough.

        `allowed` says which rows of the table a constraint allows.
        """
        seats: list[Seats] = []
        for number, shape in enumerate(gang.shapes, 1):
            usable = self._free.usable
            if shape.constraint is not None:
                usable = usable & allowed(shape.constraint)
            placed = self._seat_shape(shape, usable, last=number == len(gang.shapes))
            if placed is None:
                self.why = self._no_node(shape, allowed) or self.why
                return None
            seats.append(placed)
        for type, amount in gang.shared:
            if not self._take_shared(type, amount):
                return None
        position, needs = np.concatenate(self._positions), np.concatenate(self._needs)
        selection = VertexSelection(position, needs, np.ones(len(position), np.bool_))
        return GangPlacement(seats, selection)

    def _no_node(self, shape: Shape, allowed: Callable[[Constraint], Bools]) -> Reason | None:
        """Why no node is eligible for a shape, whatever its amounts; None if one is."""
        may = np.ones(len(self._table.nodes), np.bool_)
        if shape.constraint is not None:
            may = allowed(shape.constraint)
        if not may.any():
            return Reason.of(Message.NO_NODE_OF_KIND)
        if not (may & self._free.usable).any():
            return Reason.of(Message.NO_NODE_OPEN)
        return None

    def _column(self, type: str) -> Ints:
        """What each node has left of a type."""
        left = self._left.get(type)
        return self._free.free(type) if left is None else left

    def _seat_shape(self, shape: Shape, usable: Bools, *, last: bool) -> Seats | None:
        columns = [(type, amount, self._column(type)) for type, amount in shape.amounts]
        rows, capacity = _first_capacities(shape.count, columns, usable)
        taken = np.minimum(capacity, np.maximum(shape.count - (np.cumsum(capacity) - capacity), 0))
        rows, taken = rows[taken > 0], taken[taken > 0]
        if int(taken.sum()) < shape.count:
            self.why = _why(shape, columns, usable, int(taken.sum()), ever=self._free.is_ever)
            return None
        for type, amount, column in columns:
            needs = amount * taken
            self._positions.append(self._table.pools[type][rows])
            self._needs.append(needs)
            if not last:
                if type not in self._left:
                    self._left[type] = column.copy()
                self._left[type][rows] -= needs
        return Seats(self._tree.vertex[self._table.nodes[rows]], taken)

    def _take_shared(self, type: str, amount: int) -> bool:
        found = find_shared(self._free, type, amount)
        if isinstance(found, Reason):
            self.why = found
            return False
        self._positions.append(np.array([found]))
        self._needs.append(np.array([amount]))
        return True


def find_shared(free: FreeTable, type: str, amount: int) -> int | Reason:
    """The first pool in no node that has an amount left; or the reason why there is none."""
    pools = free.table.loose.get(type, np.empty(0, np.int64))
    left = np.where(free.is_open(pools), free.view.free(pools, 0), 0)
    enough = np.flatnonzero(left >= amount)
    if len(enough):
        return int(pools[enough[0]])
    best = int(left.max(initial=0))
    message = Message.SHARED_POOL if free.is_ever else Message.SHARED_POOL_FREE
    return Reason.of(message, needs=Amount(amount, type), best=Amount(best, type))


def _first_capacities(count: int, columns: Columns, usable: Bools) -> tuple[Ints, Ints]:
    """The first rows with capacity for pods, until `count` fit, and the number that each fits."""
    parts: list[tuple[Ints, Ints]] = []
    found, first, step = 0, 0, max(_CHUNK, count)
    while not parts or (found < count and first < len(usable)):  # at least once, even without nodes
        part = slice(first, first + step)
        fits = usable[part].copy()
        for _, amount, column in columns:
            fits &= column[part] >= amount
        rows = fits.nonzero()[0][:count] + first  # each fits at least one pod
        capacity = np.minimum.reduce([column[rows] // amount for _, amount, column in columns])
        parts.append((rows, capacity))
        found += int(capacity.sum())
        first, step = first + step, 2 * step
    if len(parts) == 1:
        return parts[0]
    rows, capacity = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, capacity


def _why(shape: Shape, columns: Columns, usable: Bools, found: int, *, ever: bool) -> Reason:
    for type, amount, column in columns:
        best = int(column[usable].max(initial=0))
        if best < amount:
            needs, most = Amount(amount, type), Amount(best, type)
            message = Message.POD_ON_ONE_NODE if ever else Message.POD_FREE_ON_ONE_NODE
            return Reason.of(message, needs=needs, best=most)
    pod = tuple(Amount(amount, type) for type, amount in shape.amounts)
    message = Message.PODS_EVER if ever else Message.PODS
    return Reason.of(message, count=shape.count, pod=pod, found=found)
