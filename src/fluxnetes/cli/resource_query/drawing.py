"""Writes the graph for other tools, as Graphviz dot or GraphML.

It has the vertices and edges of the subsystems that the matcher uses, as they are at the end of the
session: without what was removed, with what was attached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from fluxnetes.graph.columns import ResourceGraph

Edge = tuple[int, int, str]

_GRAPHML_VERTEX_KEYS = (
    ("type", "string"),
    ("basename", "string"),
    ("name", "string"),
    ("id", "long"),
    ("uniq_id", "long"),
    ("rank", "long"),
    ("size", "long"),
    ("unit", "string"),
    ("status", "string"),
    ("paths", "string"),
    ("properties", "string"),
)


def draw(graph: ResourceGraph, subsystems: Sequence[str], format: str, out: TextIO) -> None:
    """Write the graph as `dot` or `graphml`."""
    lines = _dot(graph, subsystems) if format == "dot" else _graphml(graph, subsystems)
    out.writelines(f"{line}\n" for line in lines)


def _edges(graph: ResourceGraph, subsystems: Sequence[str]) -> list[Edge]:
    numbers = [graph.subsystems.get(name) for name in subsystems]
    mine = np.flatnonzero(np.isin(graph.edge_subsystem, numbers))
    return [
        (int(graph.edge_source[e]), int(graph.edge_target[e]), graph.subsystems.names[s])
        for e, s in zip(mine.tolist(), graph.edge_subsystem[mine].tolist(), strict=True)
    ]


def _vertices(edges: Sequence[Edge]) -> list[int]:
    return sorted({vertex for source, target, _ in edges for vertex in (source, target)})


def _dot(graph: ResourceGraph, subsystems: Sequence[str]) -> Iterator[str]:
    edges = _edges(graph, subsystems)
    yield "digraph G {"
    for vertex in _vertices(edges):
        yield f"{vertex}[label={_dot_string(graph.name(vertex))}];"
    for source, target, subsystem in edges:
        yield f"{source}->{target} [label={_dot_string(subsystem)}];"
    yield "}"


def _dot_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _graphml(graph: ResourceGraph, subsystems: Sequence[str]) -> Iterator[str]:
    edges = _edges(graph, subsystems)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, type in _GRAPHML_VERTEX_KEYS:
        yield f'  <key id="{name}" for="node" attr.name="{name}" attr.type="{type}"/>'
    yield '  <key id="subsystem" for="edge" attr.name="subsystem" attr.type="string"/>'
    yield '  <graph id="G" edgedefault="directed">'
    for vertex in _vertices(edges):
        yield f'    <node id="n{vertex}">{_graphml_data(graph, vertex)}</node>'
    for number, (source, target, subsystem) in enumerate(edges):
        ends = f'id="e{number}" source="n{source}" target="n{target}"'
        yield f'    <edge {ends}><data key="subsystem">{escape(subsystem)}</data></edge>'
    yield "  </graph>"
    yield "</graphml>"


def _graphml_data(graph: ResourceGraph, vertex: int) -> str:
    values = {
        "type": graph.type_name(vertex),
        "basename": graph.basename(vertex),
        "name": graph.name(vertex),
        "id": graph.id[vertex],
        "uniq_id": graph.uniq_id[vertex],
        "rank": graph.rank[vertex],
        "size": graph.size[vertex],
        "unit": graph.unit(vertex),
        "status": "up" if graph.up[vertex] else "down",
        "paths": _pairs(graph.paths(vertex)),
        "properties": _pairs(graph.properties(vertex)),
    }
    return "".join(
        f"<data key={quoteattr(key)}>{escape(str(value))}</data>" for key, value in values.items()
    )


def _pairs(mapping: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in mapping.items())
