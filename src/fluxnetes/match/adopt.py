"""Adopting an allocation that was made elsewhere: by another scheduler, or before a restart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fluxnetes.graph.readers.jgf_selection import read_jgf_vertices
from fluxnetes.graph.readers.rv1 import read_rv1_vertices
from fluxnetes.graph.topology import ragged
from fluxnetes.match.engine import Engine
from fluxnetes.match.errors import MatchError
from fluxnetes.match.place import Selection

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def read_adopted(engine: Engine, text: str | bytes, format: str) -> Selection:
    """The vertices that a document gives to a job, as positions."""
    if format in ("jgf", "jgf_shorthand"):
        named = read_jgf_vertices(engine.graph, text)
        vertex, exclusive = named.vertex, named.exclusive
    elif format == "rv1exec":
        listed = read_rv1_vertices(engine.graph, text)
        vertex, exclusive = listed.vertex, listed.exclusive
    else:
        raise MatchError(f"unknown format {format!r}; it is jgf, jgf_shorthand or rv1exec")
    position = engine.tree.position[vertex]
    outside = vertex[position < 0]
    if len(outside):
        name = engine.graph.name(int(outside[0]))
        raise MatchError(f"{name} is not part of the subsystem {engine.subsystem!r}")
    if format == "jgf_shorthand":
        position, exclusive = _expand(engine, position, exclusive)
    return Selection(position, engine.ledger.size[position], exclusive)


def _expand(engine: Engine, position: Ints, exclusive: Bools) -> tuple[Ints, Bools]:
    """A vertex held alone stands for all below it."""
    roots = position[exclusive]
    covered = np.unique(ragged(roots, engine.tree.end[roots] - roots))
    shared = position[~exclusive]
    shared = shared[~np.isin(shared, covered)]
    flags = np.concatenate((np.ones(len(covered), np.bool_), np.zeros(len(shared), np.bool_)))
    return np.concatenate((covered, shared)), flags


def find_conflict(engine: Engine, adopted: Selection, start: int, end: int) -> str:
    """Why an allocation cannot be adopted: what of it somebody else holds; empty if nothing."""
    view = engine.ledger.later(start, end)
    depth = engine.tree.depth[adopted.position]
    for level in np.unique(depth).tolist():
        here = depth == level
        position = adopted.position[here]
        taken = view.free(position, level) < engine.ledger.size[position]
        if taken.any():
            vertex = int(engine.tree.vertex[position[taken][0]])
            return f"{engine.graph.path(vertex)} is held by another job then"
    return ""
