"""Builds the graph of one machine from the hwloc XML that `lstopo` writes.

    cluster0 -> host -> socket0 -> core0, core1 ... gpu0, storage0

Which types become vertices is limited by an allowlist of the names below; the content of an omitted
object is attached to the nearest object above it that is kept. Ids are hwloc's logical indexes: the
first, second, third of their kind. The id of a GPU comes from its driver's name instead (cuda0,
rsmi1, opencl0d2).

| name in the allowlist | object | |
|---|---|---|
| node | Machine with a HostName | named after the host |
| group, numanode, socket, core, pu | Group, NUMANode, Package, Core, PU | |
| L1cache, L2cache, L3cache | data caches | type cache, size in KiB |
| gpu | co-processor, or GPU with the RSMI driver | |
| storage | block device | size in GB, property LinuxDeviceID |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.readers.hwloc_objects import HwlocObject, read_objects

_PLAIN = {
    "Group": "group",
    "NUMAGroup": "group",
    "NUMANode": "numanode",
    "Package": "socket",
    "Core": "core",
    "PU": "pu",
}
_CACHES = {"L1Cache": "L1cache", "L2Cache": "L2cache", "L3Cache": "L3cache"}
_BLOCK, _GPU, _COPROCESSOR = "0", "1", "5"
_GPU_NUMBER = re.compile(r"(?:cuda|rsmi|opencl[0-9]*d)([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class _Vertex:
    """The vertex of one object."""

    type: str
    basename: str
    id: int
    name: str | None = None
    size: int = 1
    properties: dict[str, str] = field(default_factory=dict)


def load_hwloc(text: bytes | str, allowlist: Collection[str] | None = None) -> ResourceGraph:
    """The graph of a machine; an empty or missing allowlist allows everything."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    _Walk(patch, frozenset(allowlist or ())).add(read_objects(text), patch.vertex("cluster", id=0))
    graph.apply(patch)
    return graph


class _Walk:
    """Converts objects to vertices, depth first."""

    def __init__(self, patch: GraphPatch, allowlist: frozenset[str]) -> None:
        self.patch = patch
        self.allowlist = allowlist
        self.met: Counter[str] = Counter()

    def add(self, it: HwlocObject, parent: int) -> None:
        logical_index = self.met[it.kind]
        self.met[it.kind] += 1
        vertex = self._vertex(it, logical_index)
        if vertex is not None:
            row = self.patch.vertex(
                vertex.type,
                basename=vertex.basename,
                id=vertex.id,
                name=vertex.name,
                size=vertex.size,
                properties=vertex.properties,
            )
            self.patch.edge(parent, row)
            parent = row
        for child in it.children():
            self.add(child, parent)

    def _allows(self, name: str) -> bool:
        return not self.allowlist or name in self.allowlist

    def _vertex(self, it: HwlocObject, logical_index: int) -> _Vertex | None:
        """The vertex of an object, or None where it is not supported or not allowed."""
        if it.kind == "Machine":
            host = it.info("HostName")
            return _host(host) if host and self._allows("node") else None
        if it.kind == "OSDev":
            return self._device(it, logical_index)
        if it.kind in _CACHES and self._allows(_CACHES[it.kind]):
            size = _number(it, it.element.get("cache_size"), "cache_size") // 1024
            return _Vertex("cache", _CACHES[it.kind], logical_index, size=size)
        if it.kind in _PLAIN and self._allows(_PLAIN[it.kind]):
            return _Vertex(_PLAIN[it.kind], _PLAIN[it.kind], logical_index)
        return None

    def _device(self, it: HwlocObject, logical_index: int) -> _Vertex | None:
        kind, name = it.element.get("osdev_type"), it.element.get("name", "")
        if kind == _COPROCESSOR or (kind == _GPU and name.startswith("rsmi")):
            number = _GPU_NUMBER.match(name)
            id = int(number[1]) if number else logical_index
            return _Vertex("gpu", "gpu", id) if self._allows("gpu") else None
        if kind == _BLOCK and self._allows("storage"):
            return _storage(it, logical_index)
        return None


def _storage(it: HwlocObject, logical_index: int) -> _Vertex:
    kilobytes = _number(it, it.info("Size"), "Size")
    if kilobytes == 0:
        raise GraphError(f"hwloc: block device {it.element.get('name')!r} has Size 0")
    properties = {"LinuxDeviceID": it.info("LinuxDeviceID") or "-1"}
    return _Vertex(
        "storage", "storage", logical_index, size=kilobytes // 1_000_000, properties=properties
    )


def _host(name: str) -> _Vertex:
    basename = name.rstrip("0123456789")
    digits = name[len(basename) :]
    if len(digits) > 18:
        raise GraphError(f"hwloc: the number at the end of HostName {name[:80]!r} is too large")
    return _Vertex("node", basename or name, int(digits) if digits else -1, name=name)


def _number(it: HwlocObject, text: str | None, key: str) -> int:
    if text is None or not (text.isascii() and text.isdigit() and len(text) <= 18):
        name = it.element.get("name") or it.kind
        raise GraphError(f"hwloc: {key} of {name!r} must be a number, not {text!r}")
    return int(text)
