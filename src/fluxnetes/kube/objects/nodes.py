"""Nodes: capacity, taints and readiness."""

from __future__ import annotations

from msgspec import field

from fluxnetes.kube.objects.base import Condition, Object, Part, Quantities, Resource


class Taint(Part, frozen=True):
    """Repels pods that do not tolerate it."""

    key: str
    effect: str
    """NoSchedule, NoExecute, or (a soft one) PreferNoSchedule."""
    value: str = ""


class NodeSpec(Part, frozen=True):
    """Settings of an administrator or a controller."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(Part, frozen=True):
    """The kubelet's report."""

    allocatable: Quantities = field(default_factory=dict)
    capacity: Quantities = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class Node(Object, frozen=True):
    """A node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def is_ready(self) -> bool:
        """Whether its condition Ready is true."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)


NODES = Resource("", "v1", "nodes", "Node", Node, namespaced=False)
