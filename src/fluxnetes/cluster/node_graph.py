"""The cluster's nodes as a resource graph, kept up to date while nodes come, go and change.

    cluster0 ── subnet (zone) ── ... ── node ── cpu, memory, pods, tenancy, ...   (divisible pools)

The levels between the cluster and its nodes are those of its topology (see `topology`): labels of
the nodes say which domains they are in. A node whose labels say something else moves to another
place in the graph; what runs there goes on.

A node is *closed* while it takes no new pods: it is cordoned, or its kubelet is not ready. Pods
that run there go on. A node that is deleted from the API takes everything on it with it.

A node that may not be used (it is of the control plane, or lacks a label of the `scope`) has no
place in the graph. One that was used before is *reserved*: it is closed, and the caller drops it
once no job is on it (`NodeGraph.drop`).

Every rule that a pod asks for (see `node_rules`) is a property of the nodes that the rule accepts.
Pools that only some pods ask for, such as host ports, are added to all nodes when the first pod
asks.

Nothing here informs the queue. Each method returns `NodeChanges`, and the caller passes them on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.labels.names import AVAILABILITY
from fluxnetes.cluster.pods.node_rules import NodeRule
from fluxnetes.cluster.pods.requests import TENANCY
from fluxnetes.cluster.quantities import amounts
from fluxnetes.cluster.scope import WHOLE_CLUSTER, ClusterScope
from fluxnetes.cluster.shrunken_pools import EARLIER, ShrunkenPools
from fluxnetes.cluster.topology import DEFAULT, ClusterTopology
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.levels import DomainVertices, Place
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import add_pools
from fluxnetes.kube.objects.nodes import Node

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_CLUSTER_UID = "uid"
"""The property of the root vertex that identifies the cluster."""


def cluster_of(graph: ResourceGraph) -> str:
    """The uid of the cluster that a graph belongs to; empty: none."""
    return graph.properties(0).get(_CLUSTER_UID, "")


@dataclass(slots=True)
class GraphNode:
    """One node of the graph."""

    node: Node
    vertex: int
    place: Place
    """The domains that it is in, in the graph."""
    pools: dict[str, int] = field(default_factory=dict)
    """The vertex of each pool, by type."""
    sizes: dict[str, int] = field(default_factory=dict)
    reserved: bool = False
    """Whether it may not be used any more: it became a node of the control plane, or lost a label
    of the scope."""

    @property
    def closed(self) -> bool:
        return self.reserved or is_closed(self.node)


@dataclass(slots=True)
class NodeChanges:
    """What changed about nodes."""

    reshaped: bool = False
    """Vertices were added or removed, or have another size."""
    relabelled: bool = False
    """A rule accepts other nodes than before."""
    closed: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    shrunk: dict[tuple[str, str], int] = field(default_factory=dict)
    """What pools had that have less now, by node and type."""
    grown: dict[tuple[str, str], int] = field(default_factory=dict)
    """What pools have that had less before, by node and type."""

    def add(self, other: NodeChanges) -> None:
        """Both happened, the other one later."""
        self.reshaped |= other.reshaped
        self.relabelled |= other.relabelled
        self.closed = (self.closed - other.opened) | other.closed
        self.opened = (self.opened - other.closed) | other.opened
        self.shrunk |= other.shrunk
        self.grown |= other.grown

    def __bool__(self) -> bool:
        return bool(self.reshaped or self.relabelled or self.closed or self.opened)


def is_closed(node: Node) -> bool:
    """Whether a node takes no new pods at the moment."""
    is_deleting = node.metadata.deletion_timestamp is not None
    return node.spec.unschedulable or not node.is_ready or is_deleting or _is_unhealthy(node)


def _is_unhealthy(node: Node) -> bool:
    """Whether a taint of Kubernetes says that it lacks memory, disk, network or the like."""
    return any(
        taint.key.startswith(AVAILABILITY) and taint.effect != "PreferNoSchedule"
        for taint in node.spec.taints
    )


class NodeGraph:
    """All nodes that may be used, and their graph."""

    def __init__(
        self,
        *,
        control_plane: bool = False,
        scope: ClusterScope = WHOLE_CLUSTER,
        uid: str = "",
        topology: ClusterTopology | None = None,
    ) -> None:
        """`control_plane`: nodes of the control plane may be used too. `uid`: of the cluster.
        `topology`: the levels above the nodes; by default there are zones."""
        self.graph = ResourceGraph()
        self.scope = scope
        self.nodes: dict[str, GraphNode] = {}
        """By name."""
        self.reserved: set[str] = set()
        """The names of those that may not be used any more."""
        self.rules: dict[str, NodeRule] = {}
        self.shrunken = ShrunkenPools()
        self.topology = ClusterTopology.of(DEFAULT) if topology is None else topology
        self._places: dict[str, Place] = {}
        """Where nodes were before a restart, until they are settled."""
        self._control_plane = control_plane
        self._extra: dict[str, int] = {}
        """Pools that every node has besides its allocatable resources: their size, by type."""
        self._count = 0
        patch = GraphPatch(self.graph)
        self._root = patch.vertex("cluster", id=0, properties={_CLUSTER_UID: uid} if uid else None)
        self.graph.apply(patch)
        self._domains = DomainVertices(self._root)

    def keep_places(self, places: Mapping[str, Place]) -> None:
        """Put nodes where they were before a restart first, whatever their labels say now.

        In another place a node would be another vertex of the stored graph, and jobs that hold
        something of it would lose it. A node that may not be used now stays too, reserved. To be
        called before the first `put`, and `settle` when the queue knows the graph.
        """
        self._places.update(places)

    def settle(self) -> NodeChanges:
        """Move nodes that were kept in their places to where their labels say now."""
        self._places.clear()
        changes, patch = NodeChanges(), GraphPatch(self.graph)
        moves = [
            (graph_node.vertex, self._domains.at(place, patch))
            for graph_node in self.nodes.values()
            if (place := self._take_place(graph_node)) is not None
        ]
        self._apply(patch, moves, changes)
        return changes

    def has_domains(self, level: str) -> bool:
        """Whether some node is in a domain of a level."""
        return any(
            type == level and name is not None
            for graph_node in self.nodes.values()
            for type, name in graph_node.place
        )

    # -- nodes ---------------------------------------------------------------------------------

    def put(self, nodes: Iterable[Node]) -> NodeChanges:
        """Nodes are new or changed."""
        changes = NodeChanges()
        patch = GraphPatch(self.graph)
        moves: list[tuple[int, int]] = []
        for node in nodes:
            name = node.metadata.name
            if name in self.nodes:
                self._change(self.nodes[name], node, patch, changes)
                place = self._take_place(self.nodes[name])
                if place is not None:
                    moves.append((self.nodes[name].vertex, self._domains.at(place, patch)))
            elif self._may_be_used(node) or name in self._places:
                self._add(node, patch, changes)
        self._apply(patch, moves, changes)
        return changes

    def _apply(self, patch: GraphPatch, moves: list[tuple[int, int]], changes: NodeChanges) -> None:
        """Apply a patch, then move vertices to new parents, which may be of the patch."""
        if patch.count:
            self.graph.apply(patch)
            changes.reshaped = True
        if moves:
            self.graph.move(*zip(*moves, strict=True))
            changes.reshaped = True

    def _take_place(self, graph_node: GraphNode) -> Place | None:
        """Where a node belongs, if that is not where it is; it counts as being there then."""
        name, labels = graph_node.node.metadata.name, graph_node.node.metadata.labels
        place = self.topology.place(labels)
        if name in self._places or place == graph_node.place:
            return None
        graph_node.place = place
        return place

    def drop(self, names: Iterable[str]) -> NodeChanges:
        """Nodes are gone, or reserved and without a job."""
        changes = NodeChanges()
        for name in list(names):
            self._remove(name, changes)
        return changes

    def _may_be_used(self, node: Node) -> bool:
        is_free = self._control_plane or CONTROL_PLANE not in node.metadata.labels
        return is_free and self.scope.uses(node)

    def _add(self, node: Node, patch: GraphPatch, changes: NodeChanges) -> None:
        name = node.metadata.name
        place = self._places.get(name) or self.topology.place(node.metadata.labels)
        domain = self._domains.at(place, patch)
        rank, self._count = self._count, self._count + 1
        properties = {rule.name: "" for rule in self.rules.values() if rule.accepts(node)}
        vertex = patch.vertex("node", id=rank, name=name, rank=rank, properties=properties)
        patch.edge(domain, vertex)
        graph_node = self.nodes[name] = GraphNode(node, vertex, place)
        self._reserve(graph_node, node)
        self._add_pools(graph_node, self._sizes(node), patch)
        if graph_node.closed:
            changes.closed.add(name)

    def _sizes(self, node: Node) -> dict[str, int]:
        return {**amounts(node.status.allocatable, up=False), "tenancy": TENANCY, **self._extra}

    def _add_pools(
        self, graph_node: GraphNode, sizes: Mapping[str, int], patch: GraphPatch
    ) -> None:
        first = patch.first + patch.count
        add_pools(patch, graph_node.vertex, sizes)
        for number, (type, size) in enumerate(sizes.items()):
            graph_node.pools[type] = first + number
            graph_node.sizes[type] = size

    def _change(
        self, graph_node: GraphNode, node: Node, patch: GraphPatch, changes: NodeChanges
    ) -> None:
        was_closed, before = graph_node.closed, graph_node.node
        graph_node.node = node
        self._reserve(graph_node, node)
        if graph_node.closed != was_closed:
            (changes.closed if graph_node.closed else changes.opened).add(node.metadata.name)
        if node.status.allocatable != before.status.allocatable:
            self._resize(graph_node, patch, changes)
        if node.metadata.labels != before.metadata.labels or node.spec.taints != before.spec.taints:
            for rule in self.rules.values():
                changes.relabelled |= self._label(graph_node, rule)

    def _reserve(self, graph_node: GraphNode, node: Node) -> None:
        """What runs on a node that may not be used any more runs on; nothing new comes."""
        graph_node.reserved = not self._may_be_used(node)
        if graph_node.reserved:
            self.reserved.add(node.metadata.name)
        else:
            self.reserved.discard(node.metadata.name)

    def _resize(self, graph_node: GraphNode, patch: GraphPatch, changes: NodeChanges) -> None:
        sizes = self._sizes(graph_node.node)
        new = {type: size for type, size in sizes.items() if type not in graph_node.pools}
        self._add_pools(graph_node, new, patch)
        for type, vertex in graph_node.pools.items():
            before, size = graph_node.sizes[type], sizes.get(type, 0)
            if before != size:
                graph_node.sizes[type] = size
                self.graph.set_size(vertex, size)
                changes.reshaped = True
                pool = graph_node.node.metadata.name, type
                if size < before:
                    changes.shrunk[pool] = before
                else:
                    changes.grown[pool] = size

    def _remove(self, name: str, changes: NodeChanges) -> None:
        graph_node = self.nodes.pop(name, None)
        self.reserved.discard(name)
        if graph_node is not None:
            if graph_node.reserved:  # it comes back only as a node that may be used
                self._places.pop(name, None)
            self.shrunken.forget(name)
            self.graph.remove([graph_node.vertex, *graph_node.pools.values()])
            changes.reshaped = True

    # -- pools that jobs hold ------------------------------------------------------------------

    def ensure_pools(self, held: Iterable[tuple[str, str]]) -> NodeChanges:
        """Give nodes pools that jobs hold there, by node and type, even if nothing is left of them.

        A device that failed while no controller ran may come back, and its pods hold it until then.
        """
        patch = GraphPatch(self.graph)
        for name, type in held:
            graph_node = self.nodes.get(name)
            if graph_node is not None and type not in graph_node.pools:
                self._add_pools(graph_node, {type: 0}, patch)
        changes = NodeChanges(reshaped=bool(patch.count))
        if patch.count:
            self.graph.apply(patch)
        return changes

    def write_earlier_sizes(self, node: str, type: str) -> None:
        """Write the earlier sizes of a pool into its property, which is stored."""
        pool, text = self.nodes[node].pools[type], self.shrunken.text(node, type)
        if text:
            self.graph.set_property(pool, EARLIER, text)
        else:
            self.graph.remove_property(pool, EARLIER)

    # -- rules and pools on demand -------------------------------------------------------------

    def know(self, rule: NodeRule) -> NodeChanges:
        """Give the nodes that a rule accepts, now and later, the rule's name as a property."""
        changes = NodeChanges()
        if rule.name not in self.rules:
            self.rules[rule.name] = rule
            for graph_node in self.nodes.values():
                changes.relabelled |= self._label(graph_node, rule)
        return changes

    def _label(self, graph_node: GraphNode, rule: NodeRule) -> bool:
        """Add or remove a rule's name on a node; True if that is a change."""
        accepts = rule.accepts(graph_node.node)
        if accepts == self.graph.has_property(graph_node.vertex, rule.name):
            return False
        if accepts:
            self.graph.set_property(graph_node.vertex, rule.name, "")
        else:
            self.graph.remove_property(graph_node.vertex, rule.name)
        return True

    def need(self, pools: Mapping[str, int]) -> NodeChanges:
        """Give every node these pools, now and later."""
        new = {type: size for type, size in pools.items() if type not in self._extra}
        changes = NodeChanges()
        if new:
            self._extra.update(new)
            patch = GraphPatch(self.graph)
            for graph_node in self.nodes.values():
                if new.keys() & graph_node.pools.keys():  # a job holds some: see `ensure_pools`
                    self._resize(graph_node, patch, changes)
                else:
                    self._add_pools(graph_node, new, patch)
            if patch.count:
                self.graph.apply(patch)
                changes.reshaped = True
        return changes
