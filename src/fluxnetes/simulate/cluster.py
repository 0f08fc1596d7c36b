"""The cluster of a simulation: a resource graph whose processors are numbered.

A trace counts processors. Here a processor is a core; on a graph that has none, it is a node. So a
cluster of 256 nodes with one core each is a machine of 256 processors, and a job of size 16
requests 16 slots of one core, which share nodes with other jobs where a node has several cores.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.build import jobspec, res, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.schedule import SimulatedMachine

MOST_PROCESSORS = 10_000_000
"""Maximum processors of a uniform cluster, so that a mistyped size does not exhaust the memory."""


@dataclass(frozen=True, slots=True)
class SimulatedCluster:
    """A graph, and which of its vertices are processors."""

    graph: ResourceGraph
    machine: SimulatedMachine
    processor: str
    """The type of vertex that is a processor."""
    unit: Ints
    """The number of the processor that each vertex is; -1: it is none."""

    def request(self, size: int) -> Jobspec:
        """The request of a job with this number of processors."""
        return jobspec(slot(size, res(self.processor)))

    def units(self, vertices: Ints) -> Ints:
        """The processors among some vertices, ascending."""
        units = self.unit[vertices]
        return np.sort(units[units >= 0])


def uniform_cluster(nodes: int, cores: int) -> SimulatedCluster:
    """A cluster of equal nodes."""
    if nodes < 1 or cores < 1 or nodes * cores > MOST_PROCESSORS:
        raise SimulationError(
            f"a cluster of {nodes} nodes with {cores} cores each: expected at least one of both, "
            f"and at most {MOST_PROCESSORS:,} cores"
        )
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0)
    numbers = np.arange(nodes)
    rows = patch.vertices("node", numbers, ranks=numbers)
    patch.edges(root, rows)
    held = patch.vertices("core", np.tile(np.arange(cores), nodes), ranks=np.repeat(numbers, cores))
    patch.edges(np.repeat(rows, cores), held)
    graph.apply(patch)
    return survey(graph)


def read_cluster(path: Path) -> SimulatedCluster:
    """The cluster that a JGF file describes."""
    try:
        return survey(read_graph(path.read_bytes(), "jgf"))
    except OSError as error:
        raise SimulationError(f"can't read the graph {path}: {error.strerror}") from None
    except GraphError as error:
        raise SimulationError(f"{path} is not a graph in JGF: {error}") from None


def with_more_nodes(cluster: SimulatedCluster, count: int) -> SimulatedCluster:
    """The cluster with more nodes, copies of its first one; existing vertices keep their rows."""
    graph = deepcopy(cluster.graph)
    tree = graph.topology()
    first = int(np.flatnonzero(graph.type_id[tree.vertex] == graph.types.get("node"))[0])
    if first == 0:
        raise SimulationError("the graph is a single node; nodes can only be added to a cluster")
    model = tree.vertex[tree.subtree(first)]
    copy = np.repeat(np.arange(count), len(model))
    patch = GraphPatch(graph)
    rows = _copy_rows(patch, np.tile(model, count), copy, model[0])
    above = np.tile(tree.parent[tree.subtree(first)] - first, count)
    holder = tree.vertex[tree.parent[first]]
    patch.edges(np.where(above < 0, holder, rows[above + copy * len(model)]), rows)
    graph.apply(patch)
    return survey(graph)


def _copy_rows(patch: GraphPatch, rows: Ints, copy: Ints, node: int) -> Ints:
    """Copies of vertices; ids of nodes and ranks continue from the largest."""
    graph = patch.graph
    nodes = graph.type_id == graph.types.get("node")
    made = patch.table(
        type_ids=graph.type_id[rows],
        basename_ids=graph.basename_id[rows],
        unit_ids=graph.unit_id[rows],
        ids=np.where(rows == node, int(graph.id[nodes].max()) + 1 + copy, graph.id[rows]),
        ranks=np.where(graph.rank[rows] >= 0, int(graph.rank.max()) + 1 + copy, -1),
        sizes=graph.size[rows],
        divisible=graph.divisible[rows],
    )
    for row, source in zip(made.tolist(), rows.tolist(), strict=True):
        if properties := graph.properties(source):
            patch.properties[row] = dict(properties)
    return made


def survey(graph: ResourceGraph) -> SimulatedCluster:
    """Number the processors of a graph, in the order of a walk through it."""
    tree = graph.topology()
    types = np.full(len(tree), -1)
    types[tree.once()] = graph.type_id[tree.vertex[tree.once()]]
    nodes = np.flatnonzero(types == graph.types.get("node"))
    if not len(nodes):
        raise SimulationError("the graph has no nodes; a simulation places jobs on nodes")
    cores = np.flatnonzero(types == graph.types.get("core"))
    processors = cores if len(cores) else nodes
    holder = np.searchsorted(nodes, processors, side="right") - 1
    if (holder < 0).any() or (processors >= tree.end[nodes[holder]]).any():
        raise SimulationError(
            "the graph has cores outside of nodes; a simulation cannot place them"
        )
    unit = np.full(graph.vertex_count, -1, np.int64)
    unit[tree.vertex[processors]] = np.arange(len(processors))
    machine = SimulatedMachine(holder, tuple(graph.names(tree.vertex[nodes])))
    return SimulatedCluster(graph, machine, "core" if len(cores) else "node", unit)
