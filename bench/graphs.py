"""The graphs that the benchmarks run on, made up by rule and written as text."""

from __future__ import annotations

import json


def jgf_racks(nodes: int = 4096, cores: int = 16, memories: int = 4, rack: int = 32) -> str:
    """JGF of a cluster of racks of nodes with `cores` cores and `memories` memories of size 4."""
    return json.dumps({"graph": _jgf(nodes, cores, memories, rack)})


def _jgf(nodes: int, cores: int, memories: int, rack: int) -> dict[str, list[object]]:
    vertices: list[object] = []
    edges: list[object] = []
    counter = iter(range(nodes * (cores + memories + 2) + 2))

    def add(
        type: str, number: int, above: tuple[str, str] | None, *, rank: int = -1, size: int = 1
    ) -> tuple[str, str]:
        key = str(next(counter))
        path = f"{above[1] if above else ''}/{type}{number}"
        metadata = {
            "type": type,
            "basename": type,
            "name": f"{type}{number}",
            "id": number,
            "uniq_id": int(key),
            "rank": rank,
            "exclusive": False,
            "unit": "",
            "size": size,
            "paths": {"containment": path},
        }
        vertices.append({"id": key, "metadata": metadata})
        if above:
            edges.append({"source": above[0], "target": key})
        return key, path

    cluster = add("cluster", 0, None)
    for r in range(-(-nodes // rack)):
        in_rack = add("rack", r, cluster)
        for n in range(r * rack, min((r + 1) * rack, nodes)):
            node = add("node", n, in_rack, rank=n)
            for c in range(cores):
                add("core", c, node, rank=n)
            for m in range(memories):
                add("memory", m, node, rank=n, size=4)
    return {"nodes": vertices, "edges": edges}


def rv1(nodes: int = 16384, cores: int = 64, gpus: int = 4) -> str:
    """R of a flat cluster of equal nodes."""
    children = {"core": f"0-{cores - 1}", "gpu": f"0-{gpus - 1}"}
    execution = {
        "R_lite": [{"rank": f"0-{nodes - 1}", "children": children}],
        "nodelist": [f"node[0-{nodes - 1}]"],
        "starttime": 0,
        "expiration": 0,
    }
    return json.dumps({"version": 1, "execution": execution})


def pool_nodes(nodes: int) -> dict[str, dict[str, int]]:
    """Nodes as Kubernetes has them; every fourth one has GPUs."""
    return {
        f"node-{n}": {
            "cpu": 15_500,
            "memory": 61_000,
            "ephemeral-storage": 100_000,
            "pods": 110,
            "nvidia.com/gpu": 0 if n % 4 else 8,
        }
        for n in range(nodes)
    }
