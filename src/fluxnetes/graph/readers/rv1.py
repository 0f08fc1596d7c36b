"""Loads the flat graph of a cluster from an R (RFC 20), or finds the vertices that a job's R names.

R lists *ranks* (execution targets, one per node) and for each the ids of what the node holds:

    {"version": 1, "execution": {
        "R_lite": [{"rank": "0-1", "children": {"core": "0-15", "gpu": "0-3"}}],
        "nodelist": ["node[0-1]"], "properties": {"fast": "1"}}}

Loaded, that is a tree of three levels, cluster0 -> host -> core0, core1 ... The hosts of the
nodelist belong to the ranks in ascending order. Every vertex below the cluster has its node's rank.
A whole entry of R_lite is one block of columns, repeated for each of its ranks.

R that describes a job has the same form. `read_rv1_vertices` finds its vertices by rank, type and
id; `read_rv1_ranks` reads the ranks alone, which is enough to release whole ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import GraphPatch, derived_name
from fluxnetes.graph.readers.rv1_document import RankBlock, read_resources, read_rv1_ranks

__all__ = ["Rv1Selection", "load_rv1", "read_rv1_ranks", "read_rv1_vertices"]

MAX_VERTICES = 2**24
"""Maximum number of vertices: a short R can describe more than memory holds."""


@dataclass(frozen=True, slots=True)
class Rv1Selection:
    """The vertices of a graph that an R names: each node, then what the R lists of it."""

    ranks: list[int]
    vertex: Ints
    """Row in the graph."""
    exclusive: Bools
    """True for every listed vertex; for a node, whether all that it holds is listed."""


# -- load ------------------------------------------------------------------------------------------


def load_rv1(text: bytes | str) -> ResourceGraph:
    """The graph of the cluster that R describes."""
    resources = read_resources(text)
    _check_load(resources.blocks)
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster = patch.vertex("cluster", id=0)
    node_of_rank: dict[int, int] = {}
    for block in resources.blocks:
        nodes = _add_block(patch, cluster, block, [resources.hosts[rank] for rank in block.ranks])
        node_of_rank.update(zip(block.ranks, nodes.tolist(), strict=True))
    for name, ranks in resources.properties.items():
        for rank in ranks:
            if rank in node_of_rank:
                patch.properties.setdefault(node_of_rank[rank], {})[name] = ""
    graph.apply(patch)
    return graph


def _check_load(blocks: Sequence[RankBlock]) -> None:
    seen: set[int] = set()
    total = 1
    for block in blocks:
        total += len(block.ranks) * (1 + sum(len(ids) for _, ids in block.children))
        twice = seen.intersection(block.ranks)
        if twice:
            raise GraphError(f"R: rank {min(twice)} is in two entries of execution.R_lite")
        seen.update(block.ranks)
    if total > MAX_VERTICES:
        raise GraphError(f"R describes {total} vertices, more than the {MAX_VERTICES} allowed")


def _add_block(patch: GraphPatch, cluster: int, block: RankBlock, hosts: Sequence[str]) -> Ints:
    """Add the nodes of an entry, each followed by what it holds; the rows of the nodes."""
    graph = patch.graph
    split = [_split_host(host) for host in hosts]
    one_node = np.array([-1], dtype=np.int64)
    ids = np.concatenate((one_node, *(ids for _, ids in block.children)))
    lengths = [1, *(len(ids) for _, ids in block.children)]
    types = ["node", *(type for type, _ in block.children)]
    step, count = len(ids), len(hosts)
    type_ids = np.tile(np.repeat([graph.types.number(t) for t in types], lengths), count)
    basename_ids = np.tile(np.repeat([graph.basenames.number(t) for t in types], lengths), count)
    basename_ids[::step] = [graph.basenames.number(basename) for basename, _ in split]
    ids = np.tile(ids, count)
    ids[::step] = [id for _, id in split]
    rows = patch.table(
        type_ids=type_ids,
        basename_ids=basename_ids,
        ids=ids,
        ranks=np.repeat(np.array(block.ranks, dtype=np.int64), step),
    )
    nodes = rows[::step]
    sources = np.repeat(nodes, step)
    sources[::step] = cluster
    patch.edges(sources, rows)
    for host, (basename, id), row in zip(hosts, split, nodes.tolist(), strict=True):
        if host != derived_name(basename, id):
            patch.names[row] = host
    return nodes


def _split_host(host: str) -> tuple[str, int]:
    """The basename and the id of a host: what is before the number at its end, and the number."""
    basename = host.rstrip("0123456789")
    digits = host[len(basename) :]
    if len(digits) > 18:
        raise GraphError(f"R: the number at the end of host {host[:80]!r} is too large")
    return basename or host, int(digits) if digits else -1


# -- vertices that a job holds ---------------------------------------------------------------------


def read_rv1_vertices(graph: ResourceGraph, text: bytes | str) -> Rv1Selection:
    """The vertices of `graph` that R names, found by rank, type and id."""
    resources = read_resources(text)
    in_tree = graph.topology().position >= 0
    listed: dict[int, list[Ints]] = {rank: [] for rank in sorted(resources.hosts)}
    held: dict[int, Ints] = {}
    for block in resources.blocks:
        for rank in block.ranks:
            if rank not in held:
                rows = graph.vertices_of_rank(rank)
                held[rank] = rows[in_tree[rows]]
            for type, ids in block.children:
                listed[rank].append(_find(graph, held[rank], rank, type, ids))
    return _select(graph, resources.hosts, held, listed)


def _select(
    graph: ResourceGraph,
    hosts: dict[int, str],
    held: dict[int, Ints],
    listed: dict[int, list[Ints]],
) -> Rv1Selection:
    vertices: list[Ints] = []
    exclusive: list[Bools] = []
    for rank, parts in listed.items():
        node = _find_node(graph, held[rank], rank, hosts[rank])
        rows = np.concatenate((np.array([node]), *parts))
        if len(np.unique(rows)) != len(rows):
            raise GraphError(f"R names a resource of rank {rank} twice")
        alone = np.ones(len(rows), dtype=np.bool_)
        alone[0] = len(rows) == len(held[rank])
        vertices.append(rows)
        exclusive.append(alone)
    if not vertices:
        return Rv1Selection([], np.empty(0, np.int64), np.empty(0, np.bool_))
    return Rv1Selection(list(listed), np.concatenate(vertices), np.concatenate(exclusive))


def _find_node(graph: ResourceGraph, rows: Ints, rank: int, host: str) -> int:
    nodes = rows[graph.type_id[rows] == graph.types.get("node")].tolist()
    found = [graph.name(node) for node in nodes]
    if found != [host]:
        there = ", ".join(found[:3]) or "no node"
        raise GraphError(f"R says that rank {rank} is host {host!r}; the graph has {there} there")
    return int(nodes[0])


def _find(graph: ResourceGraph, rows: Ints, rank: int, type: str, ids: Ints) -> Ints:
    """The vertices of a rank that have this type and these ids."""
    rows = rows[graph.type_id[rows] == graph.types.get(type)]
    order = np.argsort(graph.id[rows], kind="stable")
    there = graph.id[rows][order]
    first = np.searchsorted(there, ids)
    number = np.searchsorted(there, ids, side="right") - first
    if (number != 1).any():
        at = int(np.argmax(number != 1))
        raise GraphError(
            f"R names {type} {ids[at]} of rank {rank}; the graph has {number[at]} of those there"
        )
    return rows[order[first]]
