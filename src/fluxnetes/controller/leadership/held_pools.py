"""Keeps, across a restart, what running pods hold of pools that shrank or are gone.

The graph of a term is built from the nodes as they are. A pool of which nothing is left may be
missing there, while jobs hold some of it: the pods run on, and the device may come back. So such
pools stay, with nothing in them, and what pools had before counts for the pods that were there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.shrunken_pools import ANY_SIZE, EARLIER
from fluxnetes.common.arrays import Ints
from fluxnetes.controller.crowding import CrowdedNodes
from fluxnetes.controller.state import ControllerState
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Allocation
from fluxnetes.store.system import StoredSystem


def keep_held_pools(
    model: ClusterModel, before: StoredSystem | None, allocations: Iterable[Allocation]
) -> None:
    """Give nodes all pools that stored jobs, or running pods of ours, hold there."""
    node_graph = model.node_graph
    node_graph.ensure_pools(_held_by_pods(model))
    if before is not None and not _is_same_size(before.graph, node_graph.graph):
        node_graph.ensure_pools(_held_by_jobs(before, allocations))


def _held_by_pods(model: ClusterModel) -> Iterator[tuple[str, str]]:
    """Nodes and types of which pods of ours hold something. Their footprints were read before."""
    for group in model.groups.values():
        for member in group.pods.values():
            node = member.pod.spec.node_name
            if node and member.footprint is not None and not member.pod.is_over:
                for type, _ in member.footprint.amounts:
                    yield node, type


def _held_by_jobs(
    before: StoredSystem, allocations: Iterable[Allocation]
) -> Iterator[tuple[str, str]]:
    """Nodes and types of which stored jobs hold something."""
    graph = before.graph
    rows = [each.placement.vertex[each.placement.exclusive] for each in allocations]
    held = np.isin(before.rows, np.unique(np.concatenate(rows)) if rows else np.empty(0, np.int64))
    for _, node, type in _named(graph, np.flatnonzero(held & graph.divisible)):
        yield node, type


def _named(graph: ResourceGraph, pools: Ints) -> Iterator[tuple[int, str, str]]:
    """Each pool that a node owns, with the node and the type."""
    tree = graph.topology()
    parents = tree.vertex[tree.parent[tree.position[pools]]]
    for pool, node in zip(pools.tolist(), parents.tolist(), strict=True):
        if graph.type_name(node) == "node":
            yield pool, graph.name(node), graph.type_name(pool)


def _is_same_size(stored: ResourceGraph, graph: ResourceGraph) -> bool:
    """Whether all pools are as they were: nearly always, and quick to see."""
    return np.array_equal(stored.type_id, graph.type_id) and np.array_equal(stored.size, graph.size)


def resume_earlier_sizes(shared: ControllerState, before: StoredSystem | None) -> None:
    """Pods that were bound in an earlier term fitted then, if they did: remember it."""
    node_graph, crowding = shared.model.node_graph, CrowdedNodes(shared)
    if before is None:
        # Nothing is known of the past; what runs is not ended for what may have happened then.
        for node in list(shared.seats_on):
            for type in crowding.exceeded(node):
                crowding.remember(node, type, ANY_SIZE)
    else:
        _restore(node_graph, before.graph)
        if not _is_same_size(before.graph, node_graph.graph):
            _compare(node_graph, before.graph, crowding)
    if node_graph.shrunken:
        shared.graph_rewritten()


def _restore(node_graph: NodeGraph, stored: ResourceGraph) -> None:
    """Take over the earlier sizes that are stored with the pools."""
    having = [v for v, its in stored.vertices_with_properties().items() if EARLIER in its]
    for pool, node, type in _named(stored, np.array(having, np.int64)):
        graph_node = node_graph.nodes.get(node)
        if graph_node is not None and type in graph_node.pools:
            node_graph.shrunken.restore(node, type, stored.properties(pool)[EARLIER])
            node_graph.shrunken.grew(node, type, graph_node.sizes[type])
            node_graph.write_earlier_sizes(node, type)


def _compare(node_graph: NodeGraph, stored: ResourceGraph, crowding: CrowdedNodes) -> None:
    """Remember the stored size of pools that shrank while no controller ran."""
    for pool, node, type in _named(stored, np.flatnonzero(stored.divisible)):
        graph_node, before = node_graph.nodes.get(node), int(stored.size[pool])
        if graph_node is not None and before > graph_node.sizes.get(type, 0):
            crowding.remember(node, type, before)
