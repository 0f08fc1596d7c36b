"""Reads and checks allocations that were made elsewhere: by another scheduler, or before a restart.

The matcher *adopts* them: it records what the document names instead of deciding itself.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.readers.jgf_selection import JgfSelection, read_jgf_vertices
from fluxnetes.graph.readers.rv1 import read_rv1_vertices
from fluxnetes.graph.topology import ragged
from fluxnetes.match.engine.closure import VertexSelection
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.errors import MatchError


def read_adopted(engine: MatchEngine, text: str | bytes, format: str) -> VertexSelection:
    """The vertices that a document allocates to a job, as positions."""
    path: Placement | None = None
    if format in ("jgf", "jgf_shorthand"):
        named = read_jgf_vertices(engine.graph, text)
        vertex, exclusive, amount = named.vertex, named.exclusive, named.amount
        path = None if engine.tree.is_tree else _path(engine, named)
    elif format == "rv1exec":
        listed = read_rv1_vertices(engine.graph, text)
        vertex, exclusive = listed.vertex, listed.exclusive
        amount = engine.graph.size[vertex]
    else:
        raise MatchError(f"unknown format {format!r}; known are jgf, jgf_shorthand and rv1exec")
    position = engine.positions(vertex, path)
    outside = vertex[position < 0]
    if len(outside):
        name = engine.graph.name(int(outside[0]))
        raise MatchError(f"{name} is not part of the subsystem {engine.subsystem!r}")
    named_here = VertexSelection(position, amount, exclusive)
    return _expand(engine, named_here) if format == "jgf_shorthand" else named_here


def _path(engine: MatchEngine, named: JgfSelection) -> Placement:
    """The vertices of a document with the parents that its edges name."""
    tree = engine.tree
    edges = zip(tree.vertex[tree.parent[1:]].tolist(), tree.vertex[1:].tolist(), strict=True)
    inside = set(edges)
    above = {child: parent for parent, child in named.edges if (parent, child) in inside}
    vertex = named.vertex.tolist()
    depth = []
    for row in vertex:
        path = [row]
        while path[-1] in above and len(path) <= len(vertex):
            path.append(above[path[-1]])
        depth.append(len(path) - 1)
    parent = np.array([above.get(row, -1) for row in vertex], np.int64)
    return Placement(named.vertex, parent, np.array(depth, np.int64), named.amount, named.exclusive)


def _expand(engine: MatchEngine, named: VertexSelection) -> VertexSelection:
    """Add what the shorthand omits: an exclusive vertex implies all below it."""
    tree = engine.tree
    roots = named.position[named.exclusive]
    implied = np.setdiff1d(ragged(roots + 1, tree.end[roots] - roots - 1), named.position)
    return VertexSelection(
        np.concatenate((named.position, implied)),
        np.concatenate((named.needs, engine.ledger.size[implied])),
        np.concatenate((named.exclusive, np.ones(len(implied), np.bool_))),
    )


def find_conflict(
    engine: MatchEngine, adopted: VertexSelection, start: int, end: int
) -> Reason | None:
    """Why an allocation cannot be adopted: which part another job holds; None if none."""
    view = engine.ledger.later(start, end)
    depth = engine.tree.depth[adopted.position]
    for level in np.unique(depth).tolist():
        here = depth == level
        position = adopted.position[here]
        # What is only shared must not be completely held; what is exclusive must be free.
        needs = np.where(adopted.exclusive[here], adopted.needs[here], engine.ledger.size[position])
        taken = view.free(position, level) < needs
        if taken.any():
            vertex = int(engine.tree.vertex[position[taken][0]])
            return Reason.of(Message.HELD_THEN, path=str(engine.graph.path(vertex)))
    return None
