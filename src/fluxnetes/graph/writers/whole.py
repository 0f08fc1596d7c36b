"""A whole graph as JSON Graph Format, so that reading it gives the same graph again.

Unlike a placement this says all there is to say: status, pools, every subsystem. Vertices come in
the order of their rows, so a graph without removed vertices is read back row by row. Units are
written, but our reader, as the reference's, does not keep them.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT


def living(graph: ResourceGraph) -> NDArray[np.int64]:
    """The rows of the vertices that were not removed, ascending."""
    used = set(graph.edge_subsystem.tolist()) | {graph.subsystems.get(CONTAINMENT)}
    rows = [graph.topology(graph.subsystems.names[number]).vertex for number in sorted(used)]
    return np.unique(np.concatenate(rows))


def write_graph(graph: ResourceGraph) -> bytes:
    """The graph as one JGF document."""
    rows = living(graph)
    ids = graph.uniq_id.tolist()
    nodes = [{"id": str(ids[v]), "metadata": _metadata(graph, v)} for v in rows.tolist()]
    return msgspec.json.encode({"graph": {"nodes": nodes, "edges": _edges(graph, rows)}})


def _metadata(graph: ResourceGraph, vertex: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "type": graph.type_name(vertex),
        "basename": graph.basename(vertex),
        "name": graph.name(vertex),
        "id": int(graph.id[vertex]),
        "uniq_id": int(graph.uniq_id[vertex]),
        "rank": int(graph.rank[vertex]),
        "size": int(graph.size[vertex]),
        "paths": graph.paths(vertex),
    }
    if not graph.up[vertex]:
        metadata["status"] = 1
    if graph.divisible[vertex]:
        metadata["divisible"] = True
    if unit := graph.unit(vertex):
        metadata["unit"] = unit
    if properties := graph.properties(vertex):
        metadata["properties"] = properties
    return metadata


def _edges(graph: ResourceGraph, rows: NDArray[np.int64]) -> list[dict[str, Any]]:
    alive = np.isin(graph.edge_source, rows) & np.isin(graph.edge_target, rows)
    columns = (graph.edge_source, graph.edge_target, graph.edge_subsystem)
    ids, names = graph.uniq_id.tolist(), graph.subsystems.names
    found = []
    for source, target, subsystem in zip(*(c[alive].tolist() for c in columns), strict=True):
        edge: dict[str, Any] = {"source": str(ids[source]), "target": str(ids[target])}
        if names[subsystem] != CONTAINMENT:
            edge["metadata"] = {"subsystem": names[subsystem]}
        found.append(edge)
    return found
