"""Nodes that hold pools, as a table: one row per node in the policy's order, one column per type.

`NodeTable` depends on the graph alone; `FreeTable` is what the nodes have free in one view. That of
the view of *now* is kept between gangs, and only what changed is read again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.engine.closure import ancestors, propagate_down
from fluxnetes.match.engine.scores import score_tree
from fluxnetes.match.gang.domains import LevelDomains
from fluxnetes.match.gang.model import Shape
from fluxnetes.match.ledger.views import LedgerView, WholeGraphView
from fluxnetes.match.policy import MatchPolicy


@dataclass(slots=True, eq=False)
class NodeTable:
    """The nodes of a tree that hold pools, in the policy's order, with each pool's position."""

    nodes: Ints
    above: Ints
    """All ancestors of nodes and pools, ascending; one that is not open blocks all below it."""
    depths: list[int]
    """The depths of the tree that have nodes, pools or ancestors of them."""
    row: Ints
    """By position: the row of the node that has this pool in `pools`; -1: none has."""
    column: Ints
    """By position: the column of the pool's type."""
    pools: dict[str, Ints] = field(default_factory=dict)
    """Position of each node's pool of a type, the largest if it has several; -1: none. In the order
    of the columns."""
    loose: dict[str, Ints] = field(default_factory=dict)
    """Positions of pools that are in no node, in depth-first order."""
    allowed: dict[Constraint, Bools] = field(default_factory=dict)
    """The rows that each constraint allows, for the constraints used so far."""
    domains: dict[str, LevelDomains] = field(default_factory=dict)
    """The domains of each level used so far."""
    wider: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The levels that are wider than each level used so far."""
    row_of_name: dict[str, int] | None = None
    """The row of each node by its name, once it was asked for."""


def build_table(graph: ResourceGraph, tree: Topology, policy: MatchPolicy) -> NodeTable:
    """Tabulate a tree's nodes and pools."""
    types = graph.type_id[tree.vertex]
    is_node: Bools = types == graph.types.get("node")
    pools = np.flatnonzero(graph.divisible[tree.vertex])
    if tree.paths is not None:  # what several nodes share belongs to the first: it exists once
        pools = pools[tree.paths.primary[pools]]
    holder = tree.parent[pools]
    owned = is_node[holder]
    loose = ~propagate_down(tree, is_node)[pools]
    nodes = np.unique(holder[owned])
    above = ancestors(tree, np.concatenate((nodes, pools))) if len(pools) else nodes
    used = np.concatenate((nodes, above, pools))
    nowhere = np.full(len(tree), -1, np.int64)
    table = NodeTable(
        _in_order(graph, tree, policy, nodes), above, _depths(tree, used), nowhere, nowhere.copy()
    )
    row_of = nowhere.copy()
    row_of[table.nodes] = np.arange(len(nodes))
    by_size = np.argsort(graph.size[tree.vertex[pools]], kind="stable")
    for number in np.unique(types[pools]).tolist():
        name, mine = graph.types.names[number], types[pools] == number
        column = np.full(len(nodes), -1, np.int64)
        rising = by_size[(mine & owned)[by_size]]
        column[row_of[holder[rising]]] = pools[rising]
        has_one = np.flatnonzero(column >= 0)
        table.row[column[has_one]], table.column[column[has_one]] = has_one, len(table.pools)
        table.pools[name] = column
        table.loose[name] = pools[mine & loose]
    return table


def _in_order(graph: ResourceGraph, tree: Topology, policy: MatchPolicy, nodes: Ints) -> Ints:
    score = score_tree(graph, tree, policy)[nodes]
    found: Ints = nodes[np.argsort(score if policy.low else -score, kind="stable")]
    return found


def _depths(tree: Topology, positions: Ints) -> list[int]:
    depths: list[int] = np.unique(tree.depth[positions]).tolist()
    return depths


class FreeTable:
    """What nodes have free in one view; computed once, however many gangs are tried."""

    def __init__(self, tree: Topology, table: NodeTable, view: LedgerView) -> None:
        self.table = table
        self.view = view
        self._tree = tree
        view.read(table.depths)
        self._is_open_above = view.is_open(table.above, 0)
        self._shut = self._find_shut()
        self.usable = self.is_open(table.nodes)
        self._columns = {type: column for column, type in enumerate(table.pools)}
        self._free: Ints = np.empty((len(table.pools), len(table.nodes)), np.int64)
        self._is_known = [False] * len(table.pools)

    def _find_shut(self) -> Bools | None:
        """What is below a vertex that is down or completely held; None: nothing is."""
        closed = self.table.above[~self._is_open_above]
        if not len(closed):
            return None
        marked = np.zeros(len(self._tree), np.bool_)
        marked[closed] = True
        return propagate_down(self._tree, marked)

    @property
    def is_ever(self) -> bool:
        """Whether this is about what nodes have at all, not what they have free."""
        return type(self.view) is WholeGraphView

    def is_open(self, positions: Ints) -> Bools:
        open_ = self.view.is_open(positions, 0)
        return open_ if self._shut is None else open_ & ~self._shut[positions]

    def free(self, type: str) -> Ints:
        """What each node has left of a type. The caller must not modify it."""
        column = self._columns.get(type)
        if column is None:
            return np.zeros(len(self.table.nodes), np.int64)
        if not self._is_known[column]:
            pools = self.table.pools[type]
            self._free[column] = np.where(pools >= 0, self._free_of(pools), 0)
            self._is_known[column] = True
        free: Ints = self._free[column]
        return free

    def _free_of(self, pools: Ints) -> Ints:
        return np.where(self.view.is_open(pools, 0), self.view.free(pools, 0), 0)

    def capacity_for(self, shape: Shape) -> Ints:
        """The number of pods of a shape that fit on each node."""
        each = [self.free(type) // amount for type, amount in shape.amounts]
        capacity: Ints = np.maximum(np.minimum.reduce(each), 0)
        return capacity

    def follow(self, changed: Ints) -> bool:
        """Update the positions that changed in the view; False: the table must be rebuilt."""
        table = self.table
        if not len(table.above):
            return False
        at = np.minimum(table.above.searchsorted(changed), len(table.above) - 1)
        is_above = table.above[at] == changed
        is_open = self.view.is_open(changed[is_above], 0)
        if (is_open != self._is_open_above[at[is_above]]).any():
            return False
        pools = changed[table.row[changed] >= 0]
        self._free[table.column[pools], table.row[pools]] = self._free_of(pools)
        return True
