"""JGF documents, as another program would write them: parts of a graph, and branches to attach."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from fluxnetes.graph.columns import ResourceGraph
from tests.oracle.generate import V


def jgf_of_vertices(graph: ResourceGraph, rows: Iterable[int]) -> str:
    """A document that names some vertices of a graph, without edges."""
    return json.dumps({"graph": {"nodes": [_existing(graph, row) for row in rows], "edges": []}})


def jgf_of_branch(graph: ResourceGraph, parent: int, branch: V) -> str:
    """A document that adds a branch below a vertex; it holds the way down to that vertex too."""
    way = _way_down(graph, parent)
    nodes = [_existing(graph, row) for row in way]
    edges = [{"source": above["id"], "target": below["id"]} for above, below in _pairs(nodes)]
    writer = _BranchWriter(graph, nodes, edges)
    writer.write(branch, nodes[-1])
    return json.dumps({"graph": {"nodes": nodes, "edges": edges}})


class _BranchWriter:
    """Writes new vertices with numbers and ranks that the graph does not have yet."""

    def __init__(
        self, graph: ResourceGraph, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]
    ) -> None:
        self.nodes = nodes
        self.edges = edges
        self.number = int(graph.uniq_id.max())
        self.rank = int(graph.rank.max())

    def write(self, vertex: V, above: dict[str, Any]) -> None:
        self.number += 1
        name = f"{vertex.type}{vertex.id}"
        metadata: dict[str, Any] = {
            "type": vertex.type,
            "id": vertex.id,
            "uniq_id": self.number,
            "size": vertex.size,
            "properties": dict(vertex.properties),
            "paths": {"containment": f"{above['metadata']['paths']['containment']}/{name}"},
        }
        if vertex.type == "node":
            self.rank += 1
            metadata["rank"] = self.rank
        node = {"id": str(self.number), "metadata": metadata}
        self.nodes.append(node)
        self.edges.append({"source": above["id"], "target": node["id"]})
        for child in vertex.below:
            self.write(child, node)


def _existing(graph: ResourceGraph, row: int) -> dict[str, Any]:
    return {
        "id": str(graph.uniq_id[row]),
        "metadata": {
            "type": graph.type_name(row),
            "basename": graph.basename(row),
            "name": graph.name(row),
            "id": int(graph.id[row]),
            "uniq_id": int(graph.uniq_id[row]),
            "rank": int(graph.rank[row]),
            "size": int(graph.size[row]),
            "paths": {"containment": graph.path(row)},
        },
    }


def _way_down(graph: ResourceGraph, row: int) -> list[int]:
    parent = dict(zip(graph.edge_target.tolist(), graph.edge_source.tolist(), strict=True))
    way = [row]
    while way[0] in parent:
        way.insert(0, parent[way[0]])
    return way


def _pairs(nodes: list[dict[str, Any]]) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    return pairwise(nodes)
