"""The cluster's machines as a graph, kept up to date while nodes come, go and change.

    cluster0 ── subnet (zone) ── node ── cpu, memory, pods, tenancy, ...   (divisible pools)

A node is *closed* while it takes nothing new: cordoned, or its kubelet is not ready. What runs
there goes on. A node that is gone from the API takes all that was on it with it.

Every rule that somebody asks for (see `rules`) is a property of the nodes that it accepts. Pools
that only some pods ask for, such as host ports, are added to all nodes the first time somebody
does.

Nothing here tells the queue. `NodeChanges` says what changed, and whoever runs the queue tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.labels.names import AVAILABILITY
from fluxnetes.cluster.pods.node_rules import NodeRule
from fluxnetes.cluster.pods.requests import TENANCY
from fluxnetes.cluster.quantities import amounts
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import add_pools
from fluxnetes.kube.objects.nodes import Node

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
ZONE = "topology.kubernetes.io/zone"
_CLUSTER_UID = "uid"
"""The property of the root that tells clusters apart."""
NO_ZONE = "default"
"""The subnet of nodes that name no zone."""


def cluster_of(graph: ResourceGraph) -> str:
    """The uid of the cluster that a graph is of; empty: of none."""
    return graph.properties(0).get(_CLUSTER_UID, "")


@dataclass(slots=True)
class GraphNode:
    """One node of the graph."""

    node: Node
    vertex: int
    pools: dict[str, int] = field(default_factory=dict)
    """The vertex of each pool, by type."""
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def closed(self) -> bool:
        return is_closed(self.node)


@dataclass(slots=True)
class NodeChanges:
    """What changed about machines."""

    reshaped: bool = False
    """Vertices came or went, or have another size."""
    relabelled: bool = False
    """A rule accepts other nodes than before."""
    closed: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)

    def add(self, other: NodeChanges) -> None:
        """Both happened, the other one later."""
        self.reshaped |= other.reshaped
        self.relabelled |= other.relabelled
        self.closed = (self.closed - other.opened) | other.closed
        self.opened = (self.opened - other.closed) | other.opened

    def __bool__(self) -> bool:
        return bool(self.reshaped or self.relabelled or self.closed or self.opened)


def is_closed(node: Node) -> bool:
    """Whether a node takes nothing new at the moment."""
    going = node.metadata.deletion_timestamp is not None
    return node.spec.unschedulable or not node.is_ready or going or _is_unwell(node)


def _is_unwell(node: Node) -> bool:
    """Whether Kubernetes says that it lacks memory, disk, network or the like."""
    return any(
        taint.key.startswith(AVAILABILITY) and taint.effect != "PreferNoSchedule"
        for taint in node.spec.taints
    )


class NodeGraph:
    """All machines, and the graph that they make."""

    def __init__(self, *, control_plane: bool = False, uid: str = "") -> None:
        """`control_plane`: nodes of the control plane may be used too. `uid`: which cluster."""
        self.graph = ResourceGraph()
        self.node_graph: dict[str, GraphNode] = {}
        self.zones: dict[str, str] = {}
        """The subnet in which a node was before we were restarted. It stays there, whatever its
        label says now: to everybody who holds something of it, it would be another node."""
        self.rules: dict[str, NodeRule] = {}
        self._control_plane = control_plane
        self._extra: dict[str, int] = {}
        """Pools that every machine has besides its own, by type, with their size."""
        self._count = 0
        self._subnets: dict[str, int] = {}
        patch = GraphPatch(self.graph)
        self._root = patch.vertex("cluster", id=0, properties={_CLUSTER_UID: uid} if uid else None)
        self.graph.apply(patch)

    # -- nodes ---------------------------------------------------------------------------------

    def put(self, nodes: Iterable[Node]) -> NodeChanges:
        """Nodes are there, new or changed."""
        turn = NodeChanges()
        patch = GraphPatch(self.graph)
        for node in nodes:
            name = node.metadata.name
            if not self._is_used(node):
                self._remove(name, turn)
            elif name in self.node_graph:
                self._change(self.node_graph[name], node, patch, turn)
            else:
                self._add(node, patch, turn)
        if patch.count:
            self.graph.apply(patch)
            turn.reshaped = True
        return turn

    def drop(self, names: Iterable[str]) -> NodeChanges:
        """Nodes are gone."""
        turn = NodeChanges()
        for name in names:
            self._remove(name, turn)
        return turn

    def _is_used(self, node: Node) -> bool:
        return self._control_plane or CONTROL_PLANE not in node.metadata.labels

    def _add(self, node: Node, patch: GraphPatch, turn: NodeChanges) -> None:
        name = node.metadata.name
        zone = self.zones.get(name) or node.metadata.labels.get(ZONE) or NO_ZONE
        subnet = self._subnet(zone, patch)
        rank, self._count = self._count, self._count + 1
        properties = {rule.name: "" for rule in self.rules.values() if rule.accepts(node)}
        vertex = patch.vertex("node", id=rank, name=name, rank=rank, properties=properties)
        patch.edge(subnet, vertex)
        machine = self.node_graph[name] = GraphNode(node, vertex)
        self._add_pools(machine, self._sizes(node), patch)
        if machine.closed:
            turn.closed.add(name)

    def _subnet(self, zone: str, patch: GraphPatch) -> int:
        if zone not in self._subnets:
            vertex = patch.vertex("subnet", id=len(self._subnets), name=zone)
            patch.edge(self._root, vertex)
            self._subnets[zone] = vertex
        return self._subnets[zone]

    def _sizes(self, node: Node) -> dict[str, int]:
        return {**amounts(node.status.allocatable, up=False), "tenancy": TENANCY, **self._extra}

    def _add_pools(self, machine: GraphNode, sizes: Mapping[str, int], patch: GraphPatch) -> None:
        first = patch.first + patch.count
        add_pools(patch, machine.vertex, sizes)
        for number, (type, size) in enumerate(sizes.items()):
            machine.pools[type] = first + number
            machine.sizes[type] = size

    def _change(self, machine: GraphNode, node: Node, patch: GraphPatch, turn: NodeChanges) -> None:
        before, machine.node = machine.node, node
        if is_closed(node) != is_closed(before):
            (turn.closed if is_closed(node) else turn.opened).add(node.metadata.name)
        if node.status.allocatable != before.status.allocatable:
            self._resize(machine, patch, turn)
        if node.metadata.labels != before.metadata.labels or node.spec.taints != before.spec.taints:
            for rule in self.rules.values():
                turn.relabelled |= self._label(machine, rule)

    def _resize(self, machine: GraphNode, patch: GraphPatch, turn: NodeChanges) -> None:
        sizes = self._sizes(machine.node)
        new = {type: size for type, size in sizes.items() if type not in machine.pools}
        self._add_pools(machine, new, patch)
        for type, vertex in machine.pools.items():
            size = sizes.get(type, 0)
            if machine.sizes[type] != size:
                machine.sizes[type] = size
                self.graph.set_size(vertex, size)
                turn.reshaped = True

    def _remove(self, name: str, turn: NodeChanges) -> None:
        machine = self.node_graph.pop(name, None)
        if machine is not None:
            self.graph.remove([machine.vertex, *machine.pools.values()])
            turn.reshaped = True

    # -- rules and pools on demand -------------------------------------------------------------

    def know(self, rule: NodeRule) -> NodeChanges:
        """See to it that the nodes which a rule accepts carry its name."""
        turn = NodeChanges()
        if rule.name not in self.rules:
            self.rules[rule.name] = rule
            for machine in self.node_graph.values():
                turn.relabelled |= self._label(machine, rule)
        return turn

    def _label(self, machine: GraphNode, rule: NodeRule) -> bool:
        """Make a node carry a rule's name or not; True if that is a change."""
        accepts = rule.accepts(machine.node)
        if accepts == self.graph.has_property(machine.vertex, rule.name):
            return False
        if accepts:
            self.graph.set_property(machine.vertex, rule.name, "")
        else:
            self.graph.remove_property(machine.vertex, rule.name)
        return True

    def need(self, pools: Mapping[str, int]) -> NodeChanges:
        """See to it that every machine has these pools, now and later."""
        new = {type: size for type, size in pools.items() if type not in self._extra}
        turn = NodeChanges()
        if new:
            self._extra.update(new)
            patch = GraphPatch(self.graph)
            for machine in self.node_graph.values():
                self._add_pools(machine, new, patch)
            if patch.count:
                self.graph.apply(patch)
                turn.reshaped = True
        return turn
