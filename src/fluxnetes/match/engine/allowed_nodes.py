"""Evaluates a constraint to a column: which nodes it allows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.jobspec.constraint import And, Constraint, Hostlist, Not, Or, Properties
from fluxnetes.match.engine.evaluate import CONSTRAINED_TYPES


class AllowedNodes:
    """The nodes of a tree, indexed by what constraints ask for.

    So constraints of many parts, and many constraints, cost one walk over the nodes in all.
    """

    def __init__(self, graph: ResourceGraph, tree: Topology) -> None:
        self._graph = graph
        self._count = len(tree)
        numbers = [graph.types.get(name) for name in sorted(CONSTRAINED_TYPES)]
        self._nodes = np.flatnonzero(np.isin(graph.type_id[tree.vertex], numbers))
        self._rows: Ints = tree.vertex[self._nodes]

    def allowed(self, constraint: Constraint) -> Bools:
        """By position, whether a vertex may be used; a constraint excludes nothing but nodes."""
        found = np.ones(self._count, np.bool_)
        found[self._nodes] = self._matching(constraint)
        return found

    def relabelled(self) -> None:
        """Properties changed: index them anew when they are asked for."""
        self.__dict__.pop("_with_property", None)

    def _matching(self, constraint: Constraint) -> Bools:
        if isinstance(constraint, Properties):
            found = np.ones(len(self._rows), np.bool_)
            for key in constraint.require:
                found &= self._marked(self._with_property.get(key, []))
            for key in constraint.forbid:
                found &= ~self._marked(self._with_property.get(key, []))
            return found
        if isinstance(constraint, Hostlist):
            named = self._named
            hosts = constraint.hosts if len(constraint.hosts) < len(named) else named.keys()
            return self._marked(
                [n for host in hosts if host in constraint.hosts for n in named.get(host, ())]
            )
        if isinstance(constraint, And | Or | Not):
            parts = [self._matching(part) for part in constraint.of]
            start = np.full(len(self._rows), not isinstance(constraint, Or))
            combine = np.logical_or if isinstance(constraint, Or) else np.logical_and
            joined: Bools = combine.reduce([start, *parts])
            return ~joined if isinstance(constraint, Not) else joined
        return np.isin(self._graph.rank[self._rows], sorted(constraint.ranks))

    def _marked(self, numbers: list[int]) -> Bools:
        found = np.zeros(len(self._rows), np.bool_)
        found[numbers] = True
        return found

    @cached_property
    def _named(self) -> dict[str, list[int]]:
        """The numbers of the nodes of each name."""
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self._graph.names(self._rows)):
            found.setdefault(name, []).append(number)
        return found

    @cached_property
    def _with_property(self) -> dict[str, list[int]]:
        """The numbers of the nodes that have each property."""
        properties = self._graph.vertices_with_properties()
        found: dict[str, list[int]] = {}
        for number, vertex in enumerate(self._rows.tolist()):
            for key in properties.get(vertex, ()):
                found.setdefault(key, []).append(number)
        return found
