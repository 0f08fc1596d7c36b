"""Reads and checks allocations that were made elsewhere: by another scheduler, or before a restart.

The matcher *adopts* them: it records what the document names instead of deciding itself.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.graph.readers.jgf_selection import read_jgf_vertices
from fluxnetes.graph.readers.rv1 import read_rv1_vertices
from fluxnetes.graph.topology import ragged
from fluxnetes.match.engine.closure import VertexSelection
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.errors import MatchError


def read_adopted(engine: MatchEngine, text: str | bytes, format: str) -> VertexSelection:
    """The vertices that a document allocates to a job, as positions."""
    if format in ("jgf", "jgf_shorthand"):
        named = read_jgf_vertices(engine.graph, text)
        vertex, exclusive, amount = named.vertex, named.exclusive, named.amount
    elif format == "rv1exec":
        listed = read_rv1_vertices(engine.graph, text)
        vertex, exclusive = listed.vertex, listed.exclusive
        amount = engine.graph.size[vertex]
    else:
        raise MatchError(f"unknown format {format!r}; known are jgf, jgf_shorthand and rv1exec")
    position = engine.tree.position[vertex]
    outside = vertex[position < 0]
    if len(outside):
        name = engine.graph.name(int(outside[0]))
        raise MatchError(f"{name} is not part of the subsystem {engine.subsystem!r}")
    named_here = VertexSelection(position, amount, exclusive)
    return _expand(engine, named_here) if format == "jgf_shorthand" else named_here


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
