"""Builds small clusters, and placements on them, for the tests of the writers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT, GraphPatch
from fluxnetes.graph.placement import Placement


def a_cluster(
    nodes: int = 2,
    cores: int = 2,
    gpus: int = 0,
    *,
    node_type: str = "node",
    properties: Mapping[int, Mapping[str, str]] | None = None,
    ranks: Mapping[int, int] | None = None,
) -> ResourceGraph:
    """`tiny0` with its nodes, each with its cores, gpus and 8 units of memory."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster = patch.vertex("cluster", basename="tiny", id=0)
    for number in range(nodes):
        rank = (ranks or {}).get(number, number)
        its = (properties or {}).get(number)
        node = patch.vertex(node_type, id=number, rank=rank, properties=its)
        patch.edge(cluster, node)
        children = [patch.vertex("core", id=i, rank=rank) for i in range(cores)]
        children += [patch.vertex("gpu", id=i, rank=rank) for i in range(gpus)]
        children.append(patch.vertex("memory", id=0, rank=rank, size=8, unit="GB"))
        for child in children:
            patch.edge(node, child)
    graph.apply(patch)
    return graph


def place(
    graph: ResourceGraph,
    *exclusive: str,
    start: int = 0,
    end: int = 0,
    queue: str | None = None,
    labels: Mapping[str, str] | None = None,
    usage: Mapping[str, dict[str, str]] | None = None,
    subsystem: str = CONTAINMENT,
) -> Placement:
    """Hold the vertices at these paths alone, and share all above them."""
    held = {_row(graph, path) for path in exclusive}
    tree = graph.topology(subsystem)
    positions = _with_ancestors(graph, held, subsystem)
    positions = positions[np.argsort(tree.post[positions])]
    vertex, above = tree.vertex[positions], tree.parent[positions]
    return Placement(
        vertex=vertex,
        parent=np.where(above >= 0, tree.vertex[above], -1),
        depth=tree.depth[positions],
        needs=graph.size[vertex],
        exclusive=np.isin(vertex, list(held)),
        start=start,
        end=end,
        queue=queue,
        subsystem=subsystem,
        labels={_row(graph, path): label for path, label in (labels or {}).items()},
        usage=None if usage is None else {_row(graph, path): u for path, u in usage.items()},
    )


def whole(graph: ResourceGraph, *paths: str) -> list[str]:
    """The paths of all that stands at and below some paths."""
    tree = graph.topology()
    found: list[str] = []
    for path in paths:
        rows = tree.vertex[tree.subtree(int(tree.position[_row(graph, path)]))]
        found += [graph.path(row) or "" for row in rows.tolist()]
    return found


def nothing() -> Placement:
    none = np.empty(0, dtype=np.int64)
    return Placement(none, none, none, none, np.empty(0, dtype=np.bool_))


def _row(graph: ResourceGraph, path: str) -> int:
    (row,) = graph.find_path(path)
    return row


def _with_ancestors(
    graph: ResourceGraph, rows: Collection[int], subsystem: str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    tree = graph.topology(subsystem)
    found: set[int] = set()
    for row in rows:
        at = int(tree.position[row])
        while at >= 0:
            found.add(at)
            at = int(tree.parent[at])
    return np.array(sorted(found), dtype=np.int64)
