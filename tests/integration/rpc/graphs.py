"""Clusters as JGF, written out by hand: as the reference writes them, and as the old tools did."""

from __future__ import annotations

import json
from typing import Any

JsonObject = dict[str, Any]


class Jgf:
    """A document that is put together vertex by vertex."""

    def __init__(self, first: int = 0) -> None:
        self.nodes: list[JsonObject] = []
        self.edges: list[JsonObject] = []
        self._first = first

    def vertex(self, type: str, id: int, above: str | None, path: str, **more: Any) -> str:
        """Add a vertex below another; returns its id in the document."""
        number = self._first + len(self.nodes)
        metadata = {"type": type, "id": id, "paths": {"containment": path}, "uniq_id": number}
        self.nodes.append({"id": str(number), "metadata": metadata | more})
        if above is not None:
            self.edges.append({"source": above, "target": str(number)})
        return str(number)

    def __str__(self) -> str:
        return json.dumps({"graph": {"nodes": self.nodes, "edges": self.edges}})


def a_cluster(nodes: int, cores: int, memory: int = 0) -> str:
    """Nodes node0, node1 ... of cores and, if asked for, memory of so much in one piece."""
    jgf = Jgf()
    root = jgf.vertex("cluster", 0, None, "/cluster0")
    for n in range(nodes):
        _add_node(jgf, root, n, cores, memory)
    return str(jgf)


def another_node(number: int, cores: int) -> str:
    """What grows a cluster by one node: the way to it, and it."""
    jgf = Jgf()
    root = jgf.vertex("cluster", 0, None, "/cluster0")
    jgf._first = 1_000_000 * number
    _add_node(jgf, root, number, cores, 0)
    return str(jgf)


def _add_node(jgf: Jgf, root: str, n: int, cores: int, memory: int) -> None:
    node = jgf.vertex("node", n, root, f"/cluster0/node{n}", rank=n)
    for c in range(cores):
        jgf.vertex("core", c, node, f"/cluster0/node{n}/core{c}", rank=n)
    if memory:
        jgf.vertex("memory", 0, node, f"/cluster0/node{n}/memory0", rank=n, size=memory)


def of_kubernetes(
    zones: dict[str, list[str]], cores: int = 4, memory: int = 2, gpus: int = 0, old: bool = False
) -> str:
    """What the old tools made of a Kubernetes cluster: zones, and nodes by their names.

    A node is called by its basename; its name has its number behind that. With `old`, edges say
    what they are as the first Fluxnetes said it.
    """
    jgf = Jgf()
    root = "/k8scluster0"
    top = _old_vertex(jgf, "cluster", "k8scluster", 0, None, root)
    number = 0
    for z, (zone, names) in enumerate(zones.items()):
        subnet = _old_vertex(jgf, "subnet", zone, z, top, f"{root}/{zone}{z}")
        for name in names:
            path = f"{root}/{zone}{z}/{name}{number}"
            node = _old_vertex(jgf, "node", name, number, subnet, path)
            for basename, count in (("nvidiagpu", gpus), ("core", cores)):
                for i in range(count):
                    type = basename.removeprefix("nvidia")
                    _old_vertex(jgf, type, basename, i, node, f"{path}/{basename}{i}")
            for i in range(memory):
                at = f"{path}/memory{i}"
                _old_vertex(jgf, "memory", "memory", i, node, at, size=1024, unit="MB")
            number += 1
    jgf.edges = [each for edge in jgf.edges for each in _both_ways(edge, old)]
    return json.dumps({"graph": {"nodes": jgf.nodes, "edges": jgf.edges}}, indent=2)


def _old_vertex(
    jgf: Jgf, type: str, basename: str, id: int, above: str | None, path: str, **more: Any
) -> str:
    usual = {"basename": basename, "name": f"{basename}{id}", "exclusive": False, "rank": -1}
    return jgf.vertex(type, id, above, path, **(usual | {"unit": "", "size": 1} | more))


def _both_ways(edge: JsonObject, old: bool) -> tuple[JsonObject, JsonObject]:
    back = {"source": edge["target"], "target": edge["source"]}
    if old:
        forth: JsonObject = edge | {"metadata": {"name": {"containment": "contains"}}}
        return forth, back | {"metadata": {"name": {"containment": "in"}}}
    said = {"metadata": {"subsystem": "containment"}}
    return edge | said, back | said


_KEYS = (
    ("root", "node", "int", "0"),
    ("type", "node", "string", ""),
    ("basename", "node", "string", ""),
    ("size", "node", "long", "1"),
    ("unit", "node", "string", ""),
    ("subsystem", "node", "string", "containment"),
    ("e_subsystem", "edge", "string", "containment"),
    ("relation", "edge", "string", "contains"),
    ("rrelation", "edge", "string", "in"),
    ("id_scope", "edge", "int", "0"),
    ("id_start", "edge", "int", "0"),
    ("id_stride", "edge", "int", "1"),
    ("gen_method", "edge", "string", "MULTIPLY"),
    ("multi_scale", "edge", "int", "1"),
)


def recipe(nodes: int, cores: int) -> str:
    """A GRUG recipe: a few lines for a cluster of any size."""
    declared = "".join(
        f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="{type}">'
        f"<default>{usual}</default></key>"
        for name, of, type, usual in _KEYS
    )
    return (
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{declared}'
        f'<graph id="g" edgedefault="directed">{_kind("cluster", 1)}{_kind("node")}{_kind("core")}'
        f"{_many('cluster', 'node', nodes)}{_many('node', 'core', cores)}</graph></graphml>"
    )


def _kind(type: str, root: int = 0) -> str:
    said = {"root": root, "type": type, "basename": type}
    data = "".join(f'<data key="{key}">{value}</data>' for key, value in said.items())
    return f'<node id="{type}">{data}</node>'


def _many(above: str, below: str, count: int) -> str:
    data = f'<data key="multi_scale">{count}</data>'
    return f'<edge id="{above}{below}" source="{above}" target="{below}">{data}</edge>'
