"""Nodes by name: finds them, and sets their status, whether they are closed, and foreign usage.

Three kinds of changes leave the shape of the graph as it is. A node goes *down* and comes up again.
A node is *closed* to new jobs, and opened again. And *foreign usage*, that of pods which are not
the matcher's jobs, occupies parts of its pools and releases them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.pools import MAX_AMOUNT
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.candidate import Candidate
from fluxnetes.match.engine.closure import VertexSelection, hold
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.matcher import Matcher


@dataclass(frozen=True, slots=True)
class ForeignUsageChange:
    """The pools whose usable amount changed with foreign usage."""

    less: Ints
    """Positions of the pools of which less can be used now."""
    more: Ints
    """Positions of the pools of which more can be used now."""


class NodeIndex:
    """The nodes of one matcher's graph; positions are those of nodes unless stated otherwise."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._by_name = lru_cache(maxsize=1)(self._find_by_name)
        self._pools = lru_cache(maxsize=1)(self._find_pools)

    @property
    def _engine(self) -> MatchEngine:
        return self._matcher.engine

    # -- lookup --------------------------------------------------------------------------------

    def named(self, names: Iterable[str]) -> Ints:
        """Positions of nodes by name; unknown names are ignored."""
        known = self._by_name(self._engine.version)
        return np.array(sorted(known[name] for name in set(names) if name in known), np.int64)

    def at(self, names: Iterable[str]) -> list[int | None]:
        """The position of each named node, in that order; None for an unknown name."""
        known = self._by_name(self._engine.version)
        return [known.get(name) for name in names]

    def _find_by_name(self, version: int) -> dict[str, int]:
        engine = self._engine
        vertices = engine.tree.vertex[engine.nodes]
        return dict(zip(engine.graph.names(vertices), engine.nodes.tolist(), strict=True))

    def allowed(self, constraint: Constraint | None) -> Ints:
        """Positions of the nodes that a constraint allows."""
        engine = self._engine
        if constraint is None:
            return engine.nodes
        nodes: Ints = engine.nodes[engine.allowed(constraint)[engine.nodes]]
        return nodes

    def names(self, nodes: Ints) -> list[str]:
        return self._engine.graph.names(self._engine.tree.vertex[nodes])

    def of(self, placement: Placement) -> Ints:
        """Positions of the nodes that a placement touches."""
        position = self._engine.tree.position[placement.vertex]
        is_node = self._engine.types[position] == self._engine.graph.types.get("node")
        nodes: Ints = position[is_node & (position >= 0)]
        return nodes

    def owning(self, pools: Ints) -> list[str]:
        """The names of the nodes that hold some pools, each once, in the order of the tree."""
        return self.names(np.unique(self._engine.tree.parent[pools]))

    def whole(self, nodes: Ints) -> Candidate:
        """Whole nodes with all below them, as a candidate to book."""
        engine = self._engine
        of_node = np.zeros(len(engine.tree), np.bool_)
        of_node[nodes] = True
        selection = VertexSelection(nodes, engine.ledger.size[nodes], np.ones(len(nodes), np.bool_))
        held = hold(engine.tree, engine.ledger.size, of_node, selection)
        assert held is not None or not len(nodes)  # noqa: S101 - whole nodes are exclusive
        return Candidate(held) if held is not None else Candidate(engine.hold(nodes[:0], nodes[:0]))

    # -- changes -------------------------------------------------------------------------------

    def mark(self, nodes: Ints, up: bool) -> None:
        """Mark nodes up or down."""
        engine = self._engine
        for position in nodes.tolist():
            engine.graph.set_status(int(engine.tree.vertex[position]), up)
            engine.follow_status(position)

    def close(self, nodes: Ints, closed: bool) -> bool:
        """Close nodes to new jobs, or open them again; whether that changed any of them."""
        engine = self._engine
        vertices = engine.tree.vertex[nodes]
        changed = engine.graph.closed[vertices] != closed
        pairs = zip(nodes[changed].tolist(), vertices[changed].tolist(), strict=True)
        for position, vertex in pairs:
            engine.graph.set_closed(vertex, closed)
            engine.follow_status(position)
        return bool(changed.any())

    def occupy(self, nodes: Mapping[str, Mapping[str, int]]) -> ForeignUsageChange:
        """Set the foreign usage of nodes' pools, by type; 0 for types that are not named.

        Nodes that are not named are unchanged; unknown names are ignored.
        """
        engine = self._engine
        pools = self._pools(engine.version)
        asked = [
            (position, min(held.get(type, 0), MAX_AMOUNT))
            for name, held in nodes.items()
            for type, position in pools.get(name, {}).items()
        ]
        position, amount = np.array(asked, np.int64).reshape(-1, 2).T
        changed = engine.graph.occupied[engine.tree.vertex[position]] != amount
        if not changed.any():
            return ForeignUsageChange(position[:0], position[:0])
        position, amount = position[changed], amount[changed]
        engine.graph.set_occupied(engine.tree.vertex[position], amount)
        before = engine.ledger.size[position]
        engine.ledger.occupy(position, amount)
        after = engine.ledger.size[position]
        return ForeignUsageChange(position[after < before], position[after > before])

    def _find_pools(self, version: int) -> dict[str, dict[str, int]]:
        """For each node the positions of its pools, by type."""
        engine = self._engine
        graph, tree = engine.graph, engine.tree
        position = np.flatnonzero(graph.divisible[tree.vertex])
        position = position[np.isin(tree.parent[position], engine.nodes)]
        types = [graph.types.names[number] for number in engine.types[position].tolist()]
        nodes = self.names(tree.parent[position])
        found: dict[str, dict[str, int]] = {}
        for node, type, pool in zip(nodes, types, position.tolist(), strict=True):
            found.setdefault(node, {})[type] = pool
        return found
