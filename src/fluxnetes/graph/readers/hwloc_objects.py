"""Decodes an hwloc XML document to a tree of objects, arranged as hwloc 2 arranges them.

hwloc describes one machine as a tree of objects. Version 2 separates three kinds of children:
processors and caches, memory, and I/O devices, in that order. Documents of version 1 mix them, and
nest processors inside NUMA nodes: there a NUMA node becomes a group that holds what the node held,
and the node itself a leaf in it.

Caches and groups that add no structure are omitted: where all of a kind have a single child each,
or each is the single child of its parent (all L1 caches of a machine with one core per cache).

A group or NUMA node that has the CPUs of exactly one package is the same place as that package, and
so its devices belong to the package. hwloc 2 merges objects of equal CPU sets; here that does not
depend on other groups of the machine, such as those around NUMA nodes without CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from fluxnetes.graph.columns import GraphError
from fluxnetes.graph.limits import MAX_DEPTH
from fluxnetes.graph.readers.xmltree import parse_xml

_IO = frozenset({"Bridge", "PCIDev", "OSDev"})
_GROUPS = frozenset({"Group", "NUMAGroup"})
_RENAMED = {"Socket": "Package", "Numanode": "NUMANode"}
_DMA = "4"


@dataclass(slots=True)
class HwlocObject:
    """One object; `kind` is hwloc 2's name of its type, such as L2Cache."""

    kind: str
    element: Element
    processors: list[HwlocObject] = field(default_factory=list)
    memory: list[HwlocObject] = field(default_factory=list)
    devices: list[HwlocObject] = field(default_factory=list)

    def children(self) -> Iterator[HwlocObject]:
        yield from self.processors
        yield from self.memory
        yield from self.devices

    def info(self, name: str) -> str | None:
        """One of the name and value pairs that hwloc attaches to an object."""
        for info in self.element.iterfind("info"):
            if info.get("name") == name:
                return info.get("value")
        return None


def read_objects(text: bytes | str) -> HwlocObject:
    """The machine at the root of a document."""
    topology = parse_xml(text, "an hwloc topology in XML")
    root = topology.find("object")
    if topology.tag != "topology" or root is None:
        raise GraphError("not an hwloc topology: expected <topology> with an <object> in it")
    machine = _arrange(root, 0)
    for kind in dict.fromkeys(
        o.kind for o in _walk(machine) if o.kind.endswith(("Cache", "Group"))
    ):
        _drop_if_plain(machine, kind)
    _move_devices(machine)
    return machine


def _arrange(element: Element, depth: int) -> HwlocObject:
    if depth > MAX_DEPTH:  # the walks over objects recurse
        raise GraphError(f"not an hwloc topology: objects are nested more than {MAX_DEPTH} deep")
    it = HwlocObject(_kind(element), element)
    for child in element.iterfind("object"):
        if child.get("osdev_type") == _DMA:
            continue
        held = _arrange(child, depth + 1)
        if held.kind in _IO:
            it.devices.append(held)
        elif held.kind == "NUMANode":
            it.memory.append(held)
        elif held.kind != "Misc":
            it.processors.append(held)
    if it.kind == "NUMANode" and it.processors:
        it.kind = "NUMAGroup"
        it.memory.insert(0, HwlocObject("NUMANode", element))
    return it


def _kind(element: Element) -> str:
    kind = element.get("type", "")
    if kind == "Cache":
        instruction = "i" if element.get("cache_type") == "2" else ""
        return f"L{element.get('depth', '')}{instruction}Cache"
    return _RENAMED.get(kind, kind)


def _walk(it: HwlocObject) -> Iterator[HwlocObject]:
    yield it
    for child in it.children():
        yield from _walk(child)


def _drop_if_plain(machine: HwlocObject, kind: str) -> None:
    parents = [o for o in _walk(machine) if any(child.kind == kind for child in o.processors)]
    each = [child for o in parents for child in o.processors if child.kind == kind]
    if all(len(o.processors) == 1 for o in each):
        for parent in parents:
            parent.processors = [_only_child(o) if o.kind == kind else o for o in parent.processors]
    elif all(len(o.processors) == 1 for o in parents):
        for parent in parents:
            (dropped,) = parent.processors
            parent.processors = dropped.processors
            parent.memory.extend(dropped.memory)
            parent.devices.extend(dropped.devices)


def _move_devices(it: HwlocObject) -> None:
    """Give the devices of groups with one package's CPUs to that package."""
    if it.kind in _GROUPS and it.devices:
        package = _sole_package(it)
        if package is not None:
            package.devices.extend(it.devices)
            it.devices = []
    for child in it.processors:
        _move_devices(child)


def _sole_package(it: HwlocObject) -> HwlocObject | None:
    """The package whose CPUs are exactly those of a group, or None."""
    while it.kind in _GROUPS:
        inside = [child for child in it.processors if _has_cpus(child)]
        if len(inside) != 1:
            return None
        (it,) = inside
    return it if it.kind == "Package" else None


def _has_cpus(it: HwlocObject) -> bool:
    """Whether an object contains processors; a group may be around nothing but memory."""
    return it.kind not in _GROUPS or any(_has_cpus(child) for child in it.processors)


def _only_child(dropped: HwlocObject) -> HwlocObject:
    """The child that replaces a dropped object; it takes over its memory and devices."""
    (child,) = dropped.processors
    child.memory.extend(dropped.memory)
    child.devices.extend(dropped.devices)
    return child
