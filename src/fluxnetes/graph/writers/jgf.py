"""Writes placements as JSON Graph Format: the placed vertices and the edges between them.

What a reader can derive is omitted: a basename that equals the type, a name that is basename and
id, a size of one, the subsystem of an edge where it is containment. Nodes come in the order of the
placement, children first, and the edge to a vertex follows the edges within its subtree.

The shorthand omits everything below an exclusive vertex, because it is implied, and marks the
document in `writer`, but only if something was omitted: otherwise the graph is complete and any
reader may use it.
"""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT, derived_name
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers.jsontext import JsonObject, json_text

SHORTHAND_WRITER = "fluxion:jgf_shorthand"


def write_jgf(graph: ResourceGraph, placement: Placement) -> str:
    return json_text(graph_object(graph, placement)) + "\n"


def write_jgf_in_full(graph: ResourceGraph, placement: Placement) -> str:
    """The same with every key written, for readers that have no defaults."""
    document = graph_object(graph, placement)
    rows = placement.vertex.tolist()
    for node, vertex, needs in zip(
        document["graph"]["nodes"], rows, placement.needs.tolist(), strict=True
    ):
        defaults: JsonObject = {
            "name": graph.name(vertex),
            "uniq_id": int(graph.uniq_id[vertex]),
            "unit": "",
            "exclusive": False,
            "size": needs,
        }
        node["metadata"] = defaults | node["metadata"] | {"basename": _host_name(graph, vertex)}
    for edge in document["graph"]["edges"]:
        edge.setdefault("metadata", {"subsystem": placement.subsystem})
    return json_text(document) + "\n"


def _host_name(graph: ResourceGraph, vertex: int) -> str:
    """The basename, by which some readers identify a node; the name where it is not derived."""
    name, basename = graph.name(vertex), graph.basename(vertex)
    is_named = name != derived_name(basename, int(graph.id[vertex]))
    return name if is_named and graph.type_name(vertex) == "node" else basename


def write_jgf_shorthand(graph: ResourceGraph, placement: Placement) -> str:
    return json_text(shorthand_object(graph, placement)) + "\n"


def graph_object(
    graph: ResourceGraph, placement: Placement, implied: frozenset[int] = frozenset()
) -> JsonObject:
    """The graph of a placement as a JSON object, without the vertices that are `implied`."""
    nodes: list[JsonObject] = []
    edges: list[JsonObject] = []
    for vertex, parent, needs, exclusive in zip(
        placement.vertex.tolist(),
        placement.parent.tolist(),
        placement.needs.tolist(),
        placement.exclusive.tolist(),
        strict=True,
    ):
        if vertex in implied:
            continue
        metadata = _metadata(graph, vertex, needs, exclusive)
        _add_annotations(metadata, placement, vertex)
        nodes.append({"id": str(graph.uniq_id[vertex]), "metadata": metadata})
        if parent >= 0:
            edges.append(_edge(graph, parent, vertex, placement.subsystem))
    return {"graph": {"nodes": nodes, "edges": edges}}


def shorthand_object(graph: ResourceGraph, placement: Placement) -> JsonObject:
    """The graph of a placement without what is below its exclusive vertices."""
    implied = _below_exclusive(placement)
    shorthand = graph_object(graph, placement, implied)
    if implied:
        shorthand["writer"] = SHORTHAND_WRITER
    return shorthand


def _metadata(graph: ResourceGraph, vertex: int, needs: int, exclusive: bool) -> JsonObject:
    """The attributes of one vertex, and how the job holds it."""
    type, basename, id = graph.type_name(vertex), graph.basename(vertex), int(graph.id[vertex])
    name, unit = graph.name(vertex), graph.unit(vertex)
    metadata: JsonObject = {"type": type}
    if basename != type:
        metadata["basename"] = basename
    if name != derived_name(basename, id):
        metadata["name"] = name
    metadata["id"] = id
    metadata["rank"] = int(graph.rank[vertex])
    if properties := graph.properties(vertex):
        metadata["properties"] = properties
    if unit:
        metadata["unit"] = unit
    if exclusive:
        metadata["exclusive"] = True
    if needs != 1:
        metadata["size"] = needs
    metadata["paths"] = graph.paths(vertex)
    return metadata


def _add_annotations(metadata: JsonObject, placement: Placement, vertex: int) -> None:
    """Add the label that the request set on a vertex, and the aggregates that a query asked for."""
    if label := placement.labels.get(vertex):
        metadata["ephemeral"] = {"label": label}
    if placement.usage and (usage := placement.usage.get(vertex)):
        metadata["agfilter"] = dict(sorted(usage.items()))


def _edge(graph: ResourceGraph, source: int, target: int, subsystem: str) -> JsonObject:
    ids = graph.uniq_id
    edge: JsonObject = {"source": str(ids[source]), "target": str(ids[target])}
    if subsystem != CONTAINMENT:
        edge["metadata"] = {"subsystem": subsystem}
    return edge


def _below_exclusive(placement: Placement) -> frozenset[int]:
    """The vertices below an exclusive vertex, found from the root down."""
    held: set[int] = set()
    implied: set[int] = set()
    rows = zip(
        placement.vertex.tolist(),
        placement.parent.tolist(),
        placement.exclusive.tolist(),
        strict=True,
    )
    for vertex, parent, exclusive in reversed(list(rows)):
        if parent in held:
            implied.add(vertex)
            held.add(vertex)
        elif exclusive:
            held.add(vertex)
    return frozenset(implied)
