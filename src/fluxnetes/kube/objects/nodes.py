"""Nodes: what there is, and whether it may be used."""

from __future__ import annotations

from msgspec import field

from fluxnetes.kube.objects.base import Condition, Object, Part, Quantities, Resource


class Taint(Part, frozen=True):
    """What keeps pods away that do not tolerate it."""

    key: str
    effect: str
    """NoSchedule, NoExecute, or (a soft one) PreferNoSchedule."""
    value: str = ""


class NodeSpec(Part, frozen=True):
    """What an administrator says about a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(Part, frozen=True):
    """What the kubelet says about it."""

    allocatable: Quantities = field(default_factory=dict)
    capacity: Quantities = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class Node(Object, frozen=True):
    """A machine."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def is_ready(self) -> bool:
        """Whether its kubelet says that it takes pods."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)


NODES = Resource("", "v1", "nodes", "Node", Node, namespaced=False)
