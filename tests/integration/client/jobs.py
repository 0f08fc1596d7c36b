"""What the tests ask for, and what they look at."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fluxnetes.client import Client
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.writers.whole import write_graph


def cores(count: int, *, duration: int = 3600) -> str:
    """So many cores of one node, as a jobspec."""
    return _jobspec(1, "core", count, duration)


def nodes(count: int, *, duration: int = 3600) -> str:
    """So many nodes, whole, as a jobspec."""
    return _jobspec(count, "node", 1, duration)


def _jobspec(slots: int, type: str, each: int, duration: int) -> str:
    inside = [{"type": type, "count": each}]
    slot = {"type": "slot", "count": slots, "label": "task", "with": inside}
    task = {"command": ["app"], "slot": "task", "count": {"per_slot": 1}}
    system = {"system": {"duration": duration}}
    return json.dumps({"version": 9999, "resources": [slot], "tasks": [task], "attributes": system})


def pools(nodes: Mapping[str, Mapping[str, int]]) -> str:
    """Nodes as Kubernetes has them, as JGF."""
    return write_graph(pool_graph(nodes)).decode()


def free_cores(client: Client) -> dict[str, int]:
    """What is free, node by node."""
    return {
        node.name: sum(pool.free for pool in node.pools if pool.type == "core")
        for node in client.nodes()
    }
