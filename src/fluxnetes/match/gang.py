"""Gangs: groups of pods of several shapes, placed all or none on nodes that are pools.

A *shape* is a number of equal pods, each of which takes an amount from several pools of one node.
Shapes are placed one after the other, each on the first nodes in the policy's order that have room
for at least one of its pods, as many pods on each as fit. What earlier shapes took is gone for
later ones. A gang may besides take amounts from pools that no node owns, such as licences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.place import Selection, ancestors, handed_down
from fluxnetes.match.policy import Policy
from fluxnetes.match.scores import score_tree
from fluxnetes.match.views import View

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shape:
    """So many pods, each of which needs these amounts on one node."""

    count: int
    amounts: tuple[tuple[str, int], ...]
    constraint: Constraint | None = None

    @classmethod
    def of(
        cls, count: int, amounts: Mapping[str, int], constraint: Constraint | None = None
    ) -> Shape:
        return cls(count, tuple(sorted(amounts.items())), constraint)


@dataclass(frozen=True, slots=True)
class Gang:
    """A group of pods, all or none, with what it needs besides nodes."""

    shapes: tuple[Shape, ...]
    shared: tuple[tuple[str, int], ...] = ()
    """Amounts from pools that no node owns."""
    duration: float = 0.0
    queue: str | None = None

    def tidied(self) -> Gang:
        """The same with each type once, and without amounts of nothing."""
        shapes = (replace(s, amounts=_add_up(s.amounts)) for s in self.shapes)
        return replace(self, shapes=tuple(shapes), shared=_add_up(self.shared))

    def needs(self) -> dict[str, int]:
        """What the whole gang adds up to, by type."""
        sums: dict[str, int] = {}
        for shape in self.shapes:
            for type, amount in shape.amounts:
                sums[type] = sums.get(type, 0) + shape.count * amount
        for type, amount in self.shared:
            sums[type] = sums.get(type, 0) + amount
        return sums


def _add_up(amounts: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    sums: dict[str, int] = {}
    for type, amount in amounts:
        if amount:
            sums[type] = sums.get(type, 0) + amount
    return tuple(sums.items())


@dataclass(slots=True)
class Seats:
    """Where the pods of one shape go: so many on each node."""

    node: Ints
    """Row in the graph."""
    pods: Ints

    def each(self) -> list[int]:
        """The node of each pod, one after the other."""
        nodes: list[int] = np.repeat(self.node, self.pods).tolist()
        return nodes


@dataclass(slots=True)
class Seating:
    """Where a gang goes: the seats of each shape, and the parts of pools that this takes."""

    seats: list[Seats]
    selection: Selection


@dataclass(slots=True, eq=False)
class NodeTable:
    """The nodes of a tree that hold pools, in the policy's order, with each pool's position."""

    nodes: Ints
    above: Ints
    """Everything above a node or a pool; what is closed there closes all below."""
    depths: list[int]
    """The depths of the tree at which nodes, pools and what is above them stand."""
    pools: dict[str, Ints] = field(default_factory=dict)
    """Position of each node's pool of a type, the largest if it has several; -1: none."""
    loose: dict[str, Ints] = field(default_factory=dict)
    """Positions of pools that are in no node, in depth-first order."""


def build_table(graph: ResourceGraph, tree: Topology, policy: Policy) -> NodeTable:
    """Tabulate a tree's nodes and pools."""
    types = graph.type_id[tree.vertex]
    is_node: Bools = types == graph.types.get("node")
    pools = np.flatnonzero(graph.divisible[tree.vertex])
    holder = tree.parent[pools]
    owned = is_node[holder]
    loose = ~handed_down(tree, is_node)[pools]
    nodes = np.unique(holder[owned])
    above = ancestors(tree, np.concatenate((nodes, pools))) if len(pools) else nodes
    used = np.concatenate((nodes, above, pools))
    table = NodeTable(_in_order(graph, tree, policy, nodes), above, _depths(tree, used))
    row_of = np.full(len(tree), -1, np.int64)
    row_of[table.nodes] = np.arange(len(nodes))
    by_size = np.argsort(graph.size[tree.vertex[pools]], kind="stable")
    for number in np.unique(types[pools]).tolist():
        name, mine = graph.types.names[number], types[pools] == number
        column = np.full(len(nodes), -1, np.int64)
        rising = by_size[(mine & owned)[by_size]]
        column[row_of[holder[rising]]] = pools[rising]
        table.pools[name] = column
        table.loose[name] = pools[mine & loose]
    return table


def _in_order(graph: ResourceGraph, tree: Topology, policy: Policy, nodes: Ints) -> Ints:
    score = score_tree(graph, tree, policy)[nodes]
    found: Ints = nodes[np.argsort(score if policy.low else -score, kind="stable")]
    return found


def _depths(tree: Topology, positions: Ints) -> list[int]:
    depths: list[int] = np.unique(tree.depth[positions]).tolist()
    return depths


class Benches:
    """What nodes have free in one view; worked out once, however many gangs are tried."""

    def __init__(self, tree: Topology, table: NodeTable, view: View) -> None:
        self.table = table
        self.view = view
        self._tree = tree
        view.read(table.depths)
        self._shut = self._find_shut()
        self.usable = self.is_open(table.nodes)
        self._free: dict[str, Ints] = {}

    def _find_shut(self) -> Bools | None:
        """What is below something that is down or held whole; None: nothing."""
        above = self.table.above
        closed = above[~self.view.is_open(above, 0)]
        if not len(closed):
            return None
        marked = np.zeros(len(self._tree), np.bool_)
        marked[closed] = True
        return handed_down(self._tree, marked)

    def is_open(self, positions: Ints) -> Bools:
        open_ = self.view.is_open(positions, 0)
        return open_ if self._shut is None else open_ & ~self._shut[positions]

    def free(self, type: str) -> Ints:
        """What each node has left of a type. Not to be changed."""
        if type not in self._free:
            pools = self.table.pools.get(type)
            if pools is None:
                self._free[type] = np.zeros(len(self.table.nodes), np.int64)
            else:
                usable = (pools >= 0) & self.view.is_open(pools, 0)
                self._free[type] = np.where(usable, self.view.free(pools, 0), 0)
        return self._free[type]

    def room_for(self, shape: Shape) -> Ints:
        """How many pods of a shape each node has room for."""
        each = [self.free(type) // amount for type, amount in shape.amounts]
        room: Ints = np.maximum(np.minimum.reduce(each), 0)
        return room


class Seater:
    """One attempt to seat a gang."""

    def __init__(self, tree: Topology, benches: Benches) -> None:
        self._tree = tree
        self._table = benches.table
        self._benches = benches
        self._left: dict[str, Ints] = {}
        """What is left of the types of which the gang's earlier shapes took something."""
        self._positions: list[Ints] = []
        self._needs: list[Ints] = []
        self.why = ""

    def seat(self, gang: Gang, allowed: Mapping[Constraint, Bools]) -> Seating | None:
        """Seats for the whole gang; None, and the reason in `why`, if there are not enough."""
        seats: list[Seats] = []
        for shape in gang.shapes:
            usable = self._benches.usable
            if shape.constraint is not None:
                usable = usable & allowed[shape.constraint][self._table.nodes]
            placed = self._seat_shape(shape, usable)
            if placed is None:
                return None
            seats.append(placed)
        for type, amount in gang.shared:
            if not self._take_shared(type, amount):
                return None
        position, needs = np.concatenate(self._positions), np.concatenate(self._needs)
        selection = Selection(position, needs, np.ones(len(position), np.bool_))
        return Seating(seats, selection)

    def _column(self, type: str) -> Ints:
        """What each node has left of a type."""
        left = self._left.get(type)
        return self._benches.free(type) if left is None else left

    def _seat_shape(self, shape: Shape, usable: Bools) -> Seats | None:
        fits = usable.copy()
        columns = [(type, amount, self._column(type)) for type, amount in shape.amounts]
        for _, amount, column in columns:
            fits &= column >= amount
        rows = np.flatnonzero(fits)[: shape.count]
        room = np.full(len(rows), shape.count, np.int64)
        for _, amount, column in columns:
            if amount > 0:
                np.minimum(room, column[rows] // amount, out=room)
        taken = np.minimum(room, np.maximum(shape.count - (np.cumsum(room) - room), 0))
        rows, taken = rows[taken > 0], taken[taken > 0]
        if int(taken.sum()) < shape.count:
            self.why = self._why(shape, columns, usable, int(taken.sum()))
            return None
        for type, amount, column in columns:
            if amount > 0:
                if type not in self._left:
                    self._left[type] = column.copy()
                self._left[type][rows] -= amount * taken
                self._positions.append(self._table.pools[type][rows])
                self._needs.append(amount * taken)
        return Seats(self._tree.vertex[self._table.nodes[rows]], taken)

    def _why(
        self, shape: Shape, columns: list[tuple[str, int, Ints]], usable: Bools, found: int
    ) -> str:
        for type, amount, column in columns:
            best = int(column[usable].max(initial=0))
            if best < amount:
                return f"needs {amount} {type} on one node; the most that one has is {best}"
        asked = ", ".join(f"{amount} {type}" for type, amount in shape.amounts)
        return f"needs room for {shape.count} pods of {asked}; there is room for {found}"

    def _take_shared(self, type: str, amount: int) -> bool:
        pools = self._table.loose.get(type, np.empty(0, np.int64))
        left = np.where(self._benches.is_open(pools), self._benches.view.free(pools, 0), 0)
        enough = np.flatnonzero(left >= amount)
        if len(enough):
            self._positions.append(pools[enough[:1]])
            self._needs.append(np.array([amount]))
            return True
        best = int(left.max(initial=0))
        self.why = f"needs {amount} {type} that no node owns; the most in one place is {best}"
        return False
