"""Evaluates a constraint to a column: which nodes it allows."""

from __future__ import annotations

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.jobspec.constraint import And, Constraint, Hostlist, Not, Or, Properties
from fluxnetes.match.engine.evaluate import CONSTRAINED_TYPES


def allowed_positions(graph: ResourceGraph, tree: Topology, constraint: Constraint) -> Bools:
    """By position, whether a vertex may be used; a constraint excludes nothing but nodes."""
    numbers = [graph.types.get(name) for name in sorted(CONSTRAINED_TYPES)]
    nodes = np.flatnonzero(np.isin(graph.type_id[tree.vertex], numbers))
    allowed = np.ones(len(tree), np.bool_)
    allowed[nodes] = _matches(graph, tree.vertex[nodes], constraint)
    return allowed


def _matches(graph: ResourceGraph, rows: Ints, constraint: Constraint) -> Bools:
    if isinstance(constraint, Properties):
        found = np.ones(len(rows), np.bool_)
        for key in constraint.require:
            found &= _having(graph, rows, key)
        for key in constraint.forbid:
            found &= ~_having(graph, rows, key)
        return found
    if isinstance(constraint, Hostlist):
        return np.array([name in constraint.hosts for name in graph.names(rows)], np.bool_)
    if isinstance(constraint, And | Or | Not):
        parts = [_matches(graph, rows, part) for part in constraint.of]
        start = np.full(len(rows), not isinstance(constraint, Or))
        combine = np.logical_or if isinstance(constraint, Or) else np.logical_and
        joined: Bools = combine.reduce([start, *parts])
        return ~joined if isinstance(constraint, Not) else joined
    return np.isin(graph.rank[rows], sorted(constraint.ranks))


def _having(graph: ResourceGraph, rows: Ints, key: str) -> Bools:
    vertices = [v for v, its in graph.vertices_with_properties().items() if key in its]
    return np.isin(rows, vertices)
