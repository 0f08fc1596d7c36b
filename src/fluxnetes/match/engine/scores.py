"""Computes the scores by which a policy prefers one vertex to another.

A score depends only on a vertex and on its ancestors, never on which jobs run, so it is a column
computed once for a tree (again only when a property that it depends on changes).
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.match.policy import MatchPolicy

MATCH_MET = 1
"""What the reference adds to the score of everything that matches."""
_NODE_WEIGHT = 10_000
"""Factor of a node's id in the scores below it, as in the reference: above any id in a node."""
_WORST_CLASS = 9_999
"""The performance class of a vertex that has none or an invalid one."""


def score_tree(graph: ResourceGraph, tree: Topology, policy: MatchPolicy) -> Ints:
    """The score of every position of the tree."""
    if policy.scoring == "property":
        return _performance_classes(graph, tree) + MATCH_MET
    scores = graph.id[tree.vertex] + 1 + MATCH_MET
    if policy.node_centric:
        scores = scores + _node_weights(graph, tree)
    return scores


def unscorable(graph: ResourceGraph, tree: Topology, policy: MatchPolicy) -> Bools:
    """Vertices that a node-centric policy cannot score: nodes with an id below -1."""
    if not policy.node_centric:
        return np.zeros(len(tree), np.bool_)
    is_node = graph.type_id[tree.vertex] == graph.types.get("node")
    unscorable: Bools = is_node & ((graph.id[tree.vertex] < -1) | (graph.uniq_id[tree.vertex] < 0))
    return unscorable


def _node_weights(graph: ResourceGraph, tree: Topology) -> Ints:
    """For each position the sum of the weights of the nodes above it."""
    is_node = graph.type_id[tree.vertex] == graph.types.get("node")
    nodes = np.flatnonzero(is_node)
    rows = tree.vertex[nodes]
    weight = (graph.id[rows] + 2) * _NODE_WEIGHT + np.abs(graph.uniq_id[rows] % _NODE_WEIGHT - 1)
    # A node's weight counts for all below it: add it where its subtree begins, subtract it
    # where that ends, and sum along the positions.
    steps = np.zeros(len(tree) + 1, np.int64)
    np.add.at(steps, nodes + 1, weight)
    np.subtract.at(steps, tree.end[nodes], weight)
    return np.cumsum(steps)[:-1]


def _performance_classes(graph: ResourceGraph, tree: Topology) -> Ints:
    classes = np.full(graph.vertex_count, _WORST_CLASS, np.int64)
    for vertex, properties in graph.vertices_with_properties().items():
        if "perf_class" in properties:
            classes[vertex] = _class_of(properties["perf_class"])
    return classes[tree.vertex]


def _class_of(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        return _WORST_CLASS
    return number if 0 <= number <= _WORST_CLASS else _WORST_CLASS
