"""Converts placements to shares: the amounts of each type, node by node."""

from __future__ import annotations

from collections.abc import Iterator

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.service.values import Share
from fluxnetes.service.views.tasks import TaskCounter, UnknownTasks

NODE = "node"
SUBNET = "subnet"


def shares(
    graph: ResourceGraph, placement: Placement, tasks: TaskCounter | None = None
) -> tuple[Share, ...]:
    """What a placement holds of each node, in the order of the placement."""
    tasks = tasks or UnknownTasks()
    return tuple(
        Share(node_name(graph, node), amounts, tasks.on(node, amounts))
        for node, amounts in amounts_by_node(graph, placement).items()
    )


def amounts_by_node(graph: ResourceGraph, placement: Placement) -> dict[int, dict[str, int]]:
    """The same, by rows of nodes. A node that is held exclusively is `node: 1`."""
    found: dict[int, dict[str, int]] = {}
    for vertex, node, needs in _rows(graph, placement):
        amounts = found.setdefault(node, {})
        if needs:
            type = graph.type_name(vertex)
            amounts[type] = amounts.get(type, 0) + needs
    return dict(reversed(found.items()))


def _rows(graph: ResourceGraph, placement: Placement) -> Iterator[tuple[int, int, int]]:
    """Each node, and each vertex on one: the vertex, its node, the amount that the job holds."""
    is_node = graph.types.get(NODE)
    columns = (
        graph.type_id[placement.vertex].tolist(),
        placement.vertex.tolist(),
        placement.parent.tolist(),
        placement.needs.tolist(),
        placement.exclusive.tolist(),
    )
    node_of: dict[int, int] = {}
    # Rows come children first; backwards, every node comes before the vertices on it.
    for type, vertex, parent, needs, mine in reversed(list(zip(*columns, strict=True))):
        node = vertex if type == is_node else node_of.get(parent, -1)
        node_of[vertex] = node
        if node >= 0 and (mine or vertex == node):
            yield vertex, node, needs if mine else 0


def node_name(graph: ResourceGraph, vertex: int) -> str:
    """The name of a node for callers.

    In graphs that the old tools make of a Kubernetes cluster, nodes are below subnets, their
    basename is the name of the Kubernetes node, and their name has a number appended to it.
    """
    basename = graph.basename(vertex)
    is_theirs = basename != NODE and _type_above(graph, vertex) == SUBNET
    return basename if is_theirs else graph.name(vertex)


def _type_above(graph: ResourceGraph, vertex: int) -> str:
    """The type of the parent of a vertex; empty for the root."""
    tree = graph.topology()
    position = int(tree.position[vertex])
    if position <= 0:
        return ""
    return graph.type_name(int(tree.vertex[tree.parent[position]]))
