"""Placements node by node: who has how much of what, where."""

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
    """What a placement has for itself of each node, in the order of the placement."""
    tasks = tasks or UnknownTasks()
    return tuple(
        Share(node_name(graph, node), amounts, tasks.on(node, amounts))
        for node, amounts in amounts_by_node(graph, placement).items()
    )


def amounts_by_node(graph: ResourceGraph, placement: Placement) -> dict[int, dict[str, int]]:
    """The same, by the nodes' rows and without their names. One that is had whole is `node: 1`."""
    found: dict[int, dict[str, int]] = {}
    for vertex, node, needs in _rows(graph, placement):
        amounts = found.setdefault(node, {})
        if needs:
            type = graph.type_name(vertex)
            amounts[type] = amounts.get(type, 0) + needs
    return dict(reversed(found.items()))


def _rows(graph: ResourceGraph, placement: Placement) -> Iterator[tuple[int, int, int]]:
    """Each node, and each vertex on one: vertex, its node, how much of it is the job's alone."""
    is_node = graph.types.get(NODE)
    columns = (
        graph.type_id[placement.vertex].tolist(),
        placement.vertex.tolist(),
        placement.parent.tolist(),
        placement.needs.tolist(),
        placement.exclusive.tolist(),
    )
    node_of: dict[int, int] = {}
    # Rows come children first; whoever goes backwards meets every node before what is on it.
    for type, vertex, parent, needs, mine in reversed(list(zip(*columns, strict=True))):
        node = vertex if type == is_node else node_of.get(parent, -1)
        node_of[vertex] = node
        if node >= 0 and (mine or vertex == node):
            yield vertex, node, needs if mine else 0


def node_name(graph: ResourceGraph, vertex: int) -> str:
    """The name by which the outside knows a node.

    The old tools, when they make a graph of a Kubernetes cluster, put nodes into subnets, give the
    node's name as the basename and add a number to it for the name.
    """
    basename = graph.basename(vertex)
    is_theirs = basename != NODE and _type_above(graph, vertex) == SUBNET
    return basename if is_theirs else graph.name(vertex)


def _type_above(graph: ResourceGraph, vertex: int) -> str:
    """The type of what holds a vertex; nothing if it is held by nobody."""
    tree = graph.topology()
    position = int(tree.position[vertex])
    if position <= 0:
        return ""
    return graph.type_name(int(tree.vertex[tree.parent[position]]))
