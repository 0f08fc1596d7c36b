"""Writes a whole graph as JSON Graph Format, so that reading it gives the same graph again.

Unlike the JGF of a placement this is complete: status, pools, every subsystem. Vertices come in the
order of their rows, so a graph without removed vertices is read back row by row. Units are written,
but our reader, like the reference's, does not keep them.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT


def living(graph: ResourceGraph) -> Ints:
    """The rows of the vertices that were not removed, ascending."""
    used = set(graph.edge_subsystem.tolist()) | {graph.subsystems.get(CONTAINMENT)}
    rows = [graph.topology(graph.subsystems.names[number]).vertex for number in sorted(used)]
    return np.unique(np.concatenate(rows))


def write_graph(graph: ResourceGraph) -> bytes:
    """The graph as one JGF document."""
    rows = living(graph)
    content = {"nodes": _nodes(graph, rows), "edges": _edges(graph, rows)}
    return msgspec.json.encode({"graph": content})


def _nodes(graph: ResourceGraph, rows: Ints) -> list[dict[str, Any]]:
    paths = {subsystem: graph.all_paths(subsystem) for subsystem in graph.subsystems.names}
    columns = {
        "type": [graph.types.names[number] for number in graph.type_id[rows].tolist()],
        "basename": [graph.basenames.names[number] for number in graph.basename_id[rows].tolist()],
        "name": graph.names(rows),
        "id": graph.id[rows].tolist(),
        "uniq_id": graph.uniq_id[rows].tolist(),
        "rank": graph.rank[rows].tolist(),
        "size": graph.size[rows].tolist(),
    }
    nodes = []
    for vertex, *values in zip(rows.tolist(), *columns.values(), strict=True):
        metadata: dict[str, Any] = dict(zip(columns, values, strict=True))
        metadata["paths"] = {name: all[vertex] for name, all in paths.items() if vertex in all}
        nodes.append({"id": str(metadata["uniq_id"]), "metadata": metadata})
        _add_optional_keys(metadata, graph, vertex)
    return nodes


def _add_optional_keys(metadata: dict[str, Any], graph: ResourceGraph, vertex: int) -> None:
    if not graph.up[vertex]:
        metadata["status"] = 1
    if graph.divisible[vertex]:
        metadata["divisible"] = True
    if unit := graph.unit(vertex):
        metadata["unit"] = unit
    if properties := graph.properties(vertex):
        metadata["properties"] = properties


def _edges(graph: ResourceGraph, rows: Ints) -> list[dict[str, Any]]:
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
