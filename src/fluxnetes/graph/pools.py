"""Builds graphs of pools: nodes whose resources are quantities, not numbered devices.

Kubernetes allocates millicores and MiB, not cores 0 to 15. Here a node holds *divisible pools*, one
vertex for each quantity, of which a job holds a part. Pools may be anywhere: the licences of a
program below the cluster, the bandwidth of a file system below a rack.

    graph = pool_graph(
        {"n1": {"cpu": 15_500, "memory": 61_000, "pods": 110, "nvidia.com/gpu": 8}},
        shared={"licence": 40},
    )
"""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.levels import NO_NAME, DomainVertices
from fluxnetes.graph.limits import MAX_AMOUNT
from fluxnetes.graph.patch import GraphPatch

__all__ = ["MAX_AMOUNT", "add_pools", "pool_graph"]


def pool_graph(
    nodes: Mapping[str, Mapping[str, int]],
    *,
    cluster: str = "cluster",
    zones: Mapping[str, str] | None = None,
    levels: Mapping[str, Mapping[str, str]] | None = None,
    shared: Mapping[str, int] | None = None,
    properties: Mapping[str, Mapping[str, str]] | None = None,
) -> ResourceGraph:
    """A cluster of nodes with the given quantities, by node name.

    `zones` maps a node to its subnet; `levels` has for each level, from the widest to the
    narrowest, the domain of each node that is in one; `shared` are quantities of the whole
    cluster; `properties` are those of nodes.
    """
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", basename=cluster, id=0)
    add_pools(patch, root, shared or {})
    domains = DomainVertices(root)
    for rank, (name, amounts) in enumerate(nodes.items()):
        place = tuple((level, its.get(name)) for level, its in (levels or {}).items())
        if zones is not None:
            place = (("subnet", zones.get(name, NO_NAME)), *place)
        labels = (properties or {}).get(name)
        above = domains.at(place, patch)
        node = patch.vertex("node", id=rank, name=name, rank=rank, properties=labels)
        patch.edge(above, node)
        add_pools(patch, node, amounts)
    graph.apply(patch)
    return graph


def add_pools(patch: GraphPatch, holder: int, amounts: Mapping[str, int]) -> None:
    """Add pools below a vertex: one for each type, of the given size."""
    for type, amount in amounts.items():
        if not 0 <= amount <= MAX_AMOUNT:
            raise GraphError(f"a pool of {amount} {type}: expected 0 to {MAX_AMOUNT}")
        pool = patch.vertex(type, id=0, size=amount, divisible=True)
        patch.edge(holder, pool)
