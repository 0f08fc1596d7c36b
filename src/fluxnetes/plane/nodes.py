"""The nodes that KWOK simulates: their capacity, and their registration.

A node is registered as a kubelet would do it: with its capacity, its labels and its conditions,
already Ready. KWOK then sends its heartbeats. Without KWOK (in benchmarks) it stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote

from fluxnetes.plane.api import Object, PlaneApi

NODES = "/api/v1/nodes"
OURS = "fluxnetes.io/plane"
"""The label of nodes that the plane created, and may delete."""


@dataclass(frozen=True, slots=True)
class NodeShape:
    """The capacity and the labels of a node."""

    cpu: str = "16"
    memory: str = "64Gi"
    pods: int = 110
    others: Mapping[str, str] = field(default_factory=dict)
    """Extended resources, such as nvidia.com/gpu."""
    labels: Mapping[str, str] = field(default_factory=dict)
    zones: int = 1
    """Nodes are distributed over this many zones."""

    @property
    def resources(self) -> dict[str, str]:
        size = {"cpu": self.cpu, "memory": self.memory, "pods": str(self.pods)}
        return {**size, "ephemeral-storage": "256Gi", **self.others}


def node_name(index: int) -> str:
    return f"node-{index}"


def make_nodes(api: PlaneApi, count: int, shape: NodeShape) -> None:
    """Create node-0 to node-(count - 1), and delete other nodes of the plane."""
    wanted = {node_name(index): index for index in range(count)}
    existing = {
        each["metadata"]["name"] for each in api.get(f"{NODES}?labelSelector={OURS}")["items"]
    }
    for name in existing - wanted.keys():
        api.delete(f"{NODES}/{quote(name)}")
    for name, index in wanted.items():
        if name not in existing:
            api.create(NODES, a_node(name, shape, zone=index % shape.zones))


def wait_until_ready(api: PlaneApi, count: int, seconds: float = 60.0) -> None:
    """Wait until all nodes of the plane are usable."""
    for nodes in api.follow(f"{NODES}?labelSelector={OURS}", seconds):
        if len(nodes) == count and all(is_usable(node) for node in nodes.values()):
            return


def is_usable(node: Object) -> bool:
    """Ready, and without the taint that each node has until the controllers have processed it."""
    taints = node["spec"].get("taints", [])
    return is_ready(node) and not any("not-ready" in taint["key"] for taint in taints)


def is_ready(node: Object) -> bool:
    conditions = node["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def a_node(name: str, shape: NodeShape, zone: int = 0) -> Object:
    """A node, as a kubelet would register it."""
    labels = {
        OURS: "node",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": f"zone-{zone}",
        **shape.labels,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": shape.resources,
            "allocatable": shape.resources,
            "conditions": _conditions(),
        },
    }


def _conditions() -> list[Object]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    return [
        {"type": "Ready", "status": "True", "reason": "KubeletReady", **times},
        {"type": "MemoryPressure", "status": "False", "reason": "KubeletHasRoom", **times},
        {"type": "DiskPressure", "status": "False", "reason": "KubeletHasRoom", **times},
        {"type": "PIDPressure", "status": "False", "reason": "KubeletHasRoom", **times},
    ]
