"""Writes the cores and gpus of a placement by rank: R_lite and its companion keys (RFC 20).

An *execution target* is a vertex that runs a Flux broker: a node, or a storage node whose cores are
allocated. Targets with the same cores and gpus share one entry. The entries are sorted by those
cores and gpus, written as JSON; hosts are listed by rank.

A node of which only other resources are allocated (memory, or the bare node) is still a target,
with nothing in `children`; Fluxion omits such a node and so can produce an empty R. A storage node
is a target only if its cores or gpus are allocated or it is exclusive: a job that uses its disks
does not run there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers.jsontext import JsonObject, json_text
from fluxnetes.notation.hostlist import encode_hostlist
from fluxnetes.notation.idset import encode_idset

_DEVICE_TYPES = ("core", "gpu")

DeviceIds = list[tuple[int, int]]
"""Type and id of cores and gpus."""


@dataclass(frozen=True, slots=True)
class ExecutionTarget:
    """One execution target of a placement."""

    vertex: int
    rank: int
    children: str
    """Its allocated cores and gpus, as JSON."""


def targets(graph: ResourceGraph, placement: Placement) -> list[ExecutionTarget]:
    """The execution targets of a placement, by rank."""
    found = [
        ExecutionTarget(vertex, _rank(graph, vertex), _children(graph, devices))
        for vertex, devices in _gather(graph, placement)
    ]
    return sorted(found, key=lambda target: target.rank)


def rlite(targets: list[ExecutionTarget]) -> list[JsonObject]:
    """The array R_lite: entries of ranks and of the cores and gpus on each of these ranks."""
    ranks: dict[str, list[int]] = {}
    for target in targets:
        ranks.setdefault(target.children, []).append(target.rank)
    return [
        {"rank": encode_idset(ranks[children]), "children": msgspec.Raw(children.encode())}
        for children in sorted(ranks)
    ]


def nodelist(graph: ResourceGraph, targets: list[ExecutionTarget]) -> list[str]:
    """The hosts by rank, compressed into one hostlist."""
    hosts = [graph.name(target.vertex) for target in targets]
    return [encode_hostlist(hosts)] if hosts else []


def properties(graph: ResourceGraph, targets: list[ExecutionTarget]) -> dict[str, str]:
    """Which ranks have which property; one with a value is written `key=value`."""
    ranks: dict[str, list[int]] = {}
    for target in targets:
        for key, value in graph.properties(target.vertex).items():
            ranks.setdefault(f"{key}={value}" if value else key, []).append(target.rank)
    return {name: encode_idset(ranks[name]) for name in sorted(ranks)}


def _gather(graph: ResourceGraph, placement: Placement) -> Iterator[tuple[int, DeviceIds]]:
    """Each execution target and the cores and gpus below it that are below no other target.

    The rows come children first, so a row's subtree is what came before it at a greater depth.
    """
    device_types = {graph.types.get(name) for name in _DEVICE_TYPES}
    node, storage_node = graph.types.get("node"), graph.types.get("storage_node")
    unclaimed: list[tuple[int, DeviceIds]] = []
    for vertex, depth, type, id, exclusive in zip(
        placement.vertex.tolist(),
        placement.depth.tolist(),
        graph.type_id[placement.vertex].tolist(),
        graph.id[placement.vertex].tolist(),
        placement.exclusive.tolist(),
        strict=True,
    ):
        below: DeviceIds = []
        while unclaimed and unclaimed[-1][0] > depth:
            below = unclaimed.pop()[1] + below
        if type in device_types:
            below.append((type, id))
        elif type == node or (type == storage_node and (below or exclusive)):
            yield vertex, below
            continue
        if not below:
            continue
        if unclaimed and unclaimed[-1][0] == depth:
            unclaimed[-1][1].extend(below)
        else:
            unclaimed.append((depth, below))


def _children(graph: ResourceGraph, devices: DeviceIds) -> str:
    ids: dict[int, list[int]] = {}
    for type, id in devices:
        ids.setdefault(type, []).append(id)
    return json_text({graph.types.names[type]: encode_idset(ids[type]) for type in sorted(ids)})


def _rank(graph: ResourceGraph, vertex: int) -> int:
    rank = int(graph.rank[vertex])
    if rank < 0:
        raise GraphError(
            f"a resource set (rlite, rv1) names nodes by rank, and {graph.path(vertex)} has rank "
            f"{rank}; give the nodes of the graph ranks from 0, or use simple or jgf"
        )
    return rank
