"""Which placements a topology request allows: looks at all of them, on clusters of a few nodes.

A placement is the number of pods on each node, shape by shape. Domains are told apart by their
path, since two blocks may each have a rack of one name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fluxnetes.match.gang.model import TopologyRequest

Domains = Mapping[str, Mapping[str, str]]
"""By node and level, the domain of the node; a level that is not there: it is in none."""
Pods = Mapping[str, int]
"""The number of pods on each node."""


def is_allowed(request: TopologyRequest, shapes: Sequence[Pods], domains: Domains) -> bool:
    """Whether the pods of all shapes together are placed as a gang asks for."""
    whole: Counter[str] = Counter()
    for pods in shapes:
        whole.update(pods)
    together = _by_domain(whole, domains, request.required)
    if together is None or (request.required and len(together) > 1):
        return False
    apart = _by_domain(whole, domains, request.spread_level)
    if apart is None or (request.spread_level and max(apart.values()) > request.spread_most):
        return False
    return all(_is_sliced(request, pods, domains) for pods in shapes)


def _is_sliced(request: TopologyRequest, pods: Pods, domains: Domains) -> bool:
    if not request.slice_level:
        return True
    found = _by_domain(pods, domains, request.slice_level)
    if found is None:
        return False
    # Each domain has whole slices, but for one that has the pods that are left over, too.
    rests = [count % request.slice_size for count in found.values() if count % request.slice_size]
    return len(rests) <= 1 and sum(rests) == sum(pods.values()) % request.slice_size


def _by_domain(pods: Pods, domains: Domains, level: str | None) -> Counter[str] | None:
    """The pods in each domain of a level; None: some are in none."""
    found: Counter[str] = Counter()
    for node, count in pods.items():
        if count and level:
            if level not in domains[node]:
                return None
            found[domains[node][level]] += count
    return found


def placements(capacity: Pods, count: int) -> Iterator[dict[str, int]]:
    """All ways to place equal pods on nodes of these capacities."""
    nodes = sorted(capacity)

    def place(at: int, left: int) -> Iterator[dict[str, int]]:
        if at == len(nodes):
            if not left:
                yield {}
            return
        for pods in range(min(left, capacity[nodes[at]]) + 1):
            for others in place(at + 1, left - pods):
                yield {nodes[at]: pods, **others}

    return place(0, count)


def has_placement(request: TopologyRequest, capacity: Pods, count: int, domains: Domains) -> bool:
    """Whether equal pods can be placed as a gang asks for."""
    return any(is_allowed(request, [each], domains) for each in placements(capacity, count))
