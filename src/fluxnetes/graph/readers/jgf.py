"""Loads a graph from a JGF document, or attaches the document's new vertices to a graph.

The same kind of document has three uses:

- `load_jgf`: a graph.
- `attach_jgf`: a graph of which a part exists already. A vertex is identified by its path and rank:
  those that exist are left unchanged, the rest are added, with the edges of an added vertex.
- `read_jgf_vertices` (of `jgf_selection`): the vertices that a job holds. All must exist and agree
  with the document.

A document is checked as a whole before any of it is applied.

JGF has a path for every vertex, and nearly all follow from the tree. A loaded graph stores the
paths of a subsystem only when some vertex of it has another path than the one that follows from its
parent and its name; otherwise the root's path is enough.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import GraphError, Interner, ResourceGraph
from fluxnetes.graph.limits import check_depth, check_total
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.readers.jgf_document import JgfEdges, JgfVertices, read_document
from fluxnetes.graph.readers.jgf_selection import JgfSelection, read_jgf_vertices, vertex_at

__all__ = ["JgfSelection", "attach_jgf", "load_jgf", "read_jgf_vertices"]


# -- load and attach -------------------------------------------------------------------------------


def load_jgf(text: bytes | str) -> ResourceGraph:
    """A graph from a JGF document."""
    graph = ResourceGraph()
    attach_jgf(graph, text)
    return graph


def attach_jgf(graph: ResourceGraph, text: bytes | str) -> Ints:
    """Add the vertices that the graph does not have yet; the rows of the added vertices."""
    document = read_document(text)
    vertices = document.vertices
    edges = _without_back_edges(document.edges(), vertices)
    _check_identities(vertices)
    rows = _find_existing(graph, vertices)
    new = np.flatnonzero(rows < 0)
    rows[new] = graph.vertex_count + np.arange(len(new))
    edges = _touching(edges, rows >= graph.vertex_count)
    roots = _roots(graph, vertices, new)
    _check_edges(graph, vertices, edges, rows, roots)
    check_total(graph.size, vertices.size[new])
    if graph.vertex_count:  # a new graph is checked when it is walked
        _check_depth(graph, edges, rows, roots)
    return _apply(graph, vertices, edges, rows, new)


def _touching(edges: JgfEdges, added: Bools) -> JgfEdges:
    """The edges from or to an added vertex."""
    return _some(edges, added[edges.source] | added[edges.target])


def _without_back_edges(edges: JgfEdges, vertices: JgfVertices) -> JgfEdges:
    """The edges without those from a child to its parent.

    Old tools write two for each child: one to it, and one from it to its parent.
    """
    size = max(len(vertices), 1)
    place = edges.subsystem_id * size
    there = (place + edges.source) * size + edges.target
    again = (place + edges.target) * size + edges.source
    twice = np.flatnonzero(np.isin(again, there))
    if not len(twice):
        return edges
    keep = np.ones(len(edges), dtype=np.bool_)
    for number in np.unique(edges.subsystem_id[twice]).tolist():
        mine = twice[edges.subsystem_id[twice] == number]
        depth = np.zeros(size, dtype=np.int64)
        for vertex, path in vertices.paths.get(edges.subsystems.names[number], {}).items():
            depth[vertex] = path.count("/")
        keep[mine] = depth[edges.source[mine]] <= depth[edges.target[mine]]
    return _some(edges, keep)


def _some(edges: JgfEdges, keep: Bools) -> JgfEdges:
    return JgfEdges(
        edges.source[keep], edges.target[keep], edges.subsystems, edges.subsystem_id[keep]
    )


def _find_existing(graph: ResourceGraph, vertices: JgfVertices) -> Ints:
    """The row in the graph of each vertex of a document, or -1 where it is new."""
    rows = np.full(len(vertices), -1, dtype=np.int64)
    if graph.vertex_count:
        for paths in vertices.paths.values():
            for vertex, path in paths.items():
                if rows[vertex] < 0:
                    rows[vertex] = vertex_at(graph, path, int(vertices.rank[vertex]))
    return rows


def _apply(
    graph: ResourceGraph, vertices: JgfVertices, edges: JgfEdges, rows: Ints, new: Ints
) -> Ints:
    """Add the new vertices and the edges, all of which are checked already."""
    is_load = graph.vertex_count == 0
    patch = GraphPatch(graph)
    added = patch.table(
        type_ids=_renumber(vertices.types, vertices.type_id[new], graph.types),
        basename_ids=_renumber(vertices.basenames, vertices.basename_id[new], graph.basenames),
        ids=vertices.id[new],
        ranks=vertices.rank[new],
        sizes=vertices.size[new],
        uniq_ids=vertices.uniq_id[new],
        up=vertices.up[new],
        divisible=vertices.divisible[new],
    )
    row_of = dict(zip(new.tolist(), added.tolist(), strict=True))
    patch.names = {row_of[v]: name for v, name in vertices.names.items() if v in row_of}
    patch.properties = {row_of[v]: p for v, p in vertices.properties.items() if v in row_of}
    for subsystem, paths in vertices.paths.items():
        kept = _paths_to_keep(vertices, edges, subsystem) if is_load else paths
        patch.paths[subsystem] = {row_of[v]: path for v, path in kept.items() if v in row_of}
    subsystem_ids = _renumber(edges.subsystems, edges.subsystem_id, graph.subsystems)
    patch.edge_table(rows[edges.source], rows[edges.target], subsystem_ids)
    graph.apply(patch)
    return added


def _renumber(theirs: Interner, numbers: Ints, ours: Interner) -> Ints:
    """Translate a column of interned strings from the document's numbers to the graph's."""
    table = np.zeros(len(theirs), dtype=np.int64)
    for number in dict.fromkeys(numbers.tolist()):
        table[number] = ours.number(theirs.names[number])
    return table[numbers]


def _paths_to_keep(vertices: JgfVertices, edges: JgfEdges, subsystem: str) -> dict[int, str]:
    """The paths of a subsystem, or only its root's where all others follow from the tree."""
    paths = vertices.paths[subsystem]
    mine = edges.subsystem_id == edges.subsystems.get(subsystem)
    parents = dict(zip(edges.target[mine].tolist(), edges.source[mine].tolist(), strict=True))
    tops = [vertex for vertex in paths if vertex not in parents]
    if len(tops) != 1 or len(parents) != mine.sum() or len(parents) != len(paths) - 1:
        return paths
    root, names = tops[0], vertices.all_names()
    follow = all(
        path == f"{paths.get(parents[vertex])}/{names[vertex]}"
        for vertex, path in paths.items()
        if vertex != root
    )
    return {root: paths[root]} if follow and paths[root] == f"/{names[root]}" else paths


# -- checks before anything is applied -------------------------------------------------------------


def _check_identities(vertices: JgfVertices) -> None:
    """No two vertices of a document may have the same path and rank."""
    for subsystem, paths in vertices.paths.items():
        if len(set(paths.values())) == len(paths):
            continue
        seen: dict[tuple[str, int], int] = {}
        for vertex, path in paths.items():
            other = seen.setdefault((path, int(vertices.rank[vertex])), vertex)
            if other != vertex:
                raise GraphError(
                    f"JGF nodes {vertices.keys[other]!r} and {vertices.keys[vertex]!r} have the "
                    f"same path {path!r} in subsystem {subsystem!r} and the same rank"
                )


def _roots(graph: ResourceGraph, vertices: JgfVertices, new: Ints) -> dict[str, int]:
    """The root of each subsystem after the change: the vertex whose path has one slash."""
    roots: dict[str, int] = {}
    for subsystem in graph.subsystems.names:
        try:
            roots[subsystem] = int(graph.topology(subsystem).vertex[0])
        except GraphError:
            continue
    rows = dict(zip(new.tolist(), count(graph.vertex_count), strict=False))
    for subsystem, paths in vertices.paths.items():
        for vertex, path in paths.items():
            if path.count("/") == 1 and vertex in rows:
                root = roots.setdefault(subsystem, rows[vertex])
                if root != rows[vertex]:
                    raise GraphError(
                        f"JGF node {vertices.keys[vertex]!r}: path {path!r} makes it a second root "
                        f"of subsystem {subsystem!r}"
                    )
    return roots


def _check_edges(
    graph: ResourceGraph,
    vertices: JgfVertices,
    edges: JgfEdges,
    rows: Ints,
    roots: dict[str, int],
) -> None:
    """A vertex holds another once, its children differ in uniq_id, and no vertex holds a root."""
    uniq_id = vertices.uniq_id.copy()
    exists = rows < graph.vertex_count
    uniq_id[exists] = graph.uniq_id[rows[exists]]
    for number, subsystem in enumerate(edges.subsystems.names):
        mine = np.flatnonzero(edges.subsystem_id == number)
        source, target = edges.source[mine], edges.target[mine]
        into_root = rows[target] == roots.get(subsystem, -1)
        there = graph.edge_subsystem == graph.subsystems.get(subsystem)
        holders = np.concatenate((graph.edge_source[there], rows[source]))
        held = np.concatenate((graph.uniq_id[graph.edge_target[there]], uniq_id[target]))
        again = _repeats(holders, held)[int(there.sum()) :]
        for wrong, why in (
            (into_root, f"leads to the root of subsystem {subsystem!r}"),
            (again, "its source holds a vertex with that uniq_id already"),
        ):
            if wrong.any():
                at = int(np.argmax(wrong))
                key, other = vertices.keys[source[at]], vertices.keys[target[at]]
                raise GraphError(f"JGF edge {key!r} -> {other!r}: {why}")


def _check_depth(graph: ResourceGraph, edges: JgfEdges, rows: Ints, roots: dict[str, int]) -> None:
    """No vertex may be too many levels below the root of a subsystem."""
    for number, subsystem in enumerate(edges.subsystems.names):
        if subsystem in roots:
            mine = edges.subsystem_id == number
            source, target = rows[edges.source[mine]], rows[edges.target[mine]]
            if (target < graph.vertex_count).any():  # what those hold moves down with them
                there = graph.edge_subsystem == graph.subsystems.get(subsystem)
                source = np.concatenate((source, graph.edge_source[there]))
                target = np.concatenate((target, graph.edge_target[there]))
            depth = _depths(graph, subsystem, len(rows))
            depth[roots[subsystem]] = 0
            _deepen(depth, source, target)


def _depths(graph: ResourceGraph, subsystem: str, more: int) -> Ints:
    """The depth of every vertex in a subsystem, with space for more; -1: not in it."""
    depth = np.full(graph.vertex_count + more, -1, dtype=np.int64)
    try:
        tree = graph.topology(subsystem)
    except GraphError:  # the document brings the first vertices of this subsystem
        return depth
    depth[tree.vertex] = tree.depth
    return depth


def _deepen(depth: Ints, source: Ints, target: Ints) -> None:
    """Move each target below the deepest of its sources, and raise where that is too deep."""
    while True:
        below = np.where(depth[source] >= 0, depth[source] + 1, -1)
        deeper = below > depth[target]
        if not deeper.any():
            return
        check_depth(int(below.max()))
        np.maximum.at(depth, target[deeper], below[deeper])


def _repeats(first: Ints, second: Ints) -> Bools:
    """The pairs that repeat an earlier one."""
    order = np.lexsort((second, first))
    same = (np.diff(first[order]) == 0) & (np.diff(second[order]) == 0)
    repeated = np.zeros(len(first), dtype=np.bool_)
    repeated[order[1:][same]] = True
    return repeated
