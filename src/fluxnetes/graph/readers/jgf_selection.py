"""Finds the vertices of a graph that a JGF document names as an allocation.

Fluxion exchanges allocations as JGF. To adopt one, or to release a part of one, each node of the
document is looked up by its path and rank, and must agree with the vertex found there in type,
basename, size, id, name and paths; a document that was written for another graph is rejected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers.jgf_document import JgfDocument, JgfVertices, read_document


@dataclass(frozen=True, slots=True)
class JgfSelection:
    """The vertices of a graph that a document names, in the document's order."""

    vertex: Ints
    """Row in the graph."""
    exclusive: Bools
    amount: Ints
    """Amount of each vertex: its size, or a part of a pool."""
    edges: list[tuple[int, int]]
    """Rows of (holder, held); empty where the edges were not requested."""
    shorthand: bool
    """The document omits, and implies, what an exclusive vertex holds."""


def read_jgf_vertices(
    graph: ResourceGraph, text: bytes | str, *, with_edges: bool = True
) -> JgfSelection:
    """The vertices of `graph` that a document names, checked to agree with the document.

    Vertices of the document's `free_ranks` are checked and then omitted, with their edges. To
    cancel a part of a job the edges do not matter: `with_edges=False` does not decode them.
    """
    document = read_document(text)
    vertices = document.vertices
    rows = _find_all(graph, vertices)
    _check_same(graph, vertices, rows)
    kept = _not_freed(document)
    edges = _selected_edges(graph, document, rows, kept) if with_edges else []
    return JgfSelection(
        rows[kept], vertices.exclusive[kept], vertices.size[kept], edges, document.shorthand
    )


def vertex_at(graph: ResourceGraph, path: str, rank: int) -> int:
    """The row of the vertex with this path and rank, or -1."""
    return next((row for row in graph.find_path(path) if graph.rank[row] == rank), -1)


def _find_all(graph: ResourceGraph, vertices: JgfVertices) -> Ints:
    rows = np.full(len(vertices), -1, dtype=np.int64)
    for paths in vertices.paths.values():
        for vertex, path in paths.items():
            rank = int(vertices.rank[vertex])
            row = vertex_at(graph, path, rank)
            if row < 0 or rows[vertex] not in (-1, row):
                raise GraphError(
                    f"JGF node {vertices.keys[vertex]!r}: the graph has no such vertex at "
                    f"{path!r} with rank {rank}"
                )
            rows[vertex] = row
    if (rows < 0).any():
        raise GraphError(f"JGF node {vertices.keys[int(np.argmin(rows))]!r}: has no path")
    return rows


def _check_same(graph: ResourceGraph, vertices: JgfVertices, rows: Ints) -> None:
    """Raise for the first vertex that differs from the one in the graph."""
    types = np.array([graph.types.get(name) for name in vertices.types.names], dtype=np.int64)
    basenames = np.array([graph.basenames.get(n) for n in vertices.basenames.names], np.int64)
    differs = (
        (types[vertices.type_id] != graph.type_id[rows])
        | (basenames[vertices.basename_id] != graph.basename_id[rows])
        | _wrong_size(graph, vertices, rows)
        | (vertices.id != graph.id[rows])
    )
    for subsystem in graph.subsystems.names:
        given = np.zeros(len(vertices), dtype=np.bool_)
        given[list(vertices.paths.get(subsystem, ()))] = True
        differs |= given != _members(graph, subsystem)[rows]
    names = vertices.all_names()
    for vertex, row in enumerate(rows.tolist()):
        if differs[vertex] or names[vertex] != graph.name(row):
            raise _difference(graph, vertices, vertex, row)


def _wrong_size(graph: ResourceGraph, vertices: JgfVertices, rows: Ints) -> Bools:
    """A document may name whole vertices, and any part of a pool."""
    part = graph.divisible[rows] & (vertices.size > 0) & (vertices.size <= graph.size[rows])
    wrong: Bools = (vertices.size != graph.size[rows]) & ~part
    return wrong


def _members(graph: ResourceGraph, subsystem: str) -> Bools:
    """The vertices of a graph that are in a subsystem."""
    try:
        return graph.topology(subsystem).position >= 0
    except GraphError:
        return np.zeros(graph.vertex_count, dtype=np.bool_)


def _difference(graph: ResourceGraph, vertices: JgfVertices, vertex: int, row: int) -> GraphError:
    ours = {
        "type": graph.type_name(row),
        "basename": graph.basename(row),
        "size": int(graph.size[row]),
        "id": int(graph.id[row]),
        "name": graph.name(row),
        "paths": graph.paths(row),
    }
    theirs = {
        "type": vertices.types.names[int(vertices.type_id[vertex])],
        "basename": vertices.basenames.names[int(vertices.basename_id[vertex])],
        "size": int(vertices.size[vertex]),
        "id": int(vertices.id[vertex]),
        "name": vertices.all_names()[vertex],
        "paths": {s: paths[vertex] for s, paths in vertices.paths.items() if vertex in paths},
    }
    found = [f"{k} is {ours[k]!r}, not {theirs[k]!r}" for k in ours if ours[k] != theirs[k]]
    return GraphError(
        f"JGF node {vertices.keys[vertex]!r} is not what the graph has at "
        f"{graph.path(row)!r}: {'; '.join(found)}"
    )


def _not_freed(document: JgfDocument) -> Ints:
    vertices = document.vertices
    if not document.free_ranks:
        return np.arange(len(vertices))
    return np.flatnonzero(~np.isin(vertices.rank, np.array(sorted(document.free_ranks))))


def _selected_edges(
    graph: ResourceGraph, document: JgfDocument, rows: Ints, kept: Ints
) -> list[tuple[int, int]]:
    keys = document.vertices.keys
    known = {keys[vertex]: int(rows[vertex]) for vertex in kept.tolist()}
    edges = document.edges(known, partial=document.free_ranks is not None)
    there = set(_pairs(graph.edge_source, graph.edge_target))
    pairs = _pairs(edges.source, edges.target)
    for source, target in pairs:
        if (source, target) not in there:
            raise GraphError(
                f"JGF edge {graph.name(source)} -> {graph.name(target)}: the graph has no such edge"
            )
    return pairs


def _pairs(sources: Ints, targets: Ints) -> list[tuple[int, int]]:
    return list(zip(sources.tolist(), targets.tolist(), strict=True))
