"""What a group asks of the levels of the cluster, in whichever words.

The first of these that says something counts: our keys, or Kueue's, on its objects; the constraint
in the spec of its only workload; that of its PodGroup; and Fluence's label for one zone. A level
that the cluster does not have is refused, with what said it and the levels that there are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fluxnetes.cluster.adapters.scheduling import TOPOLOGY_KEY, topology_declared
from fluxnetes.cluster.demand import UnsupportedPod
from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.cluster.labels.topology import LevelWord, TopologyWords
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.parts import NO_NODE
from fluxnetes.cluster.topology import HOSTNAME, ZONE, ClusterTopology, level_type
from fluxnetes.jobspec.errors import quote
from fluxnetes.kube.objects.podgroups import NativePodGroup, NetworkTopology
from fluxnetes.match.gang.model import TopologyRequest

NATIVE_KEY = "spec.schedulingConstraints.topology[0].key"
"""The field of Kubernetes' own PodGroup that names a level."""


def topology_of(group: WorkloadGroup, node_graph: NodeGraph) -> TopologyRequest | None:
    """The topology request of a group; None: it has none. Raises `UnsupportedPod`."""
    topology = node_graph.topology
    words = group.options.topology or _declared_words(group) or _native_words(group)
    if words is not None:
        request = _resolved(words, topology)
    elif group.options.zone_together:
        request = _one_zone(node_graph)
    else:
        return None
    if request == TopologyRequest():
        return None
    return replace(request, beside=_placed(group))


def _declared_words(group: WorkloadGroup) -> TopologyWords | None:
    """What the only workload of a group says in its own spec."""
    if len(group.workloads) != 1:
        return None
    (workload,) = group.workloads.values()
    key = topology_declared(workload)
    return None if key is None else TopologyWords(required=LevelWord(TOPOLOGY_KEY, key))


def _native_words(group: WorkloadGroup) -> TopologyWords | None:
    """What Kubernetes' own PodGroup says."""
    if not isinstance(group.pod_group, NativePodGroup):
        return None
    for constraint in group.pod_group.spec.scheduling_constraints.topology:
        return TopologyWords(required=LevelWord(NATIVE_KEY, constraint.key))
    return None


def volcano_request(network: NetworkTopology, topology: ClusterTopology) -> TopologyRequest:
    """What Volcano's PodGroup asks for.

    Tier 1 is the narrowest level above the nodes. A tier that the cluster does not have is all of
    it. The narrowest domain that fits is preferred, also if a wider one is allowed.
    """
    narrowest = topology.tier(1)
    if network.mode == "soft":
        return TopologyRequest(preferred=narrowest)
    highest = topology.tier(network.highest_tier_allowed or 1)
    return TopologyRequest(required=highest, preferred=narrowest)


def _one_zone(node_graph: NodeGraph) -> TopologyRequest:
    """Fluence's request for one zone, and one node of it if that has capacity.

    Where no node says in which zone it is, all of them count as one zone, as they did for Fluence.
    """
    zone = level_type(ZONE)
    has_zones = ZONE in node_graph.topology.labels and node_graph.has_domains(zone)
    return TopologyRequest(required=zone if has_zones else None, preferred=level_type(HOSTNAME))


def _resolved(words: TopologyWords, topology: ClusterTopology) -> TopologyRequest:
    return TopologyRequest(
        required=_find(words.required, topology),
        preferred=_find(words.preferred, topology),
        slice_level=_find(words.slice_level, topology),
        slice_size=words.slice_size,
        spread_level=_find(words.spread_level, topology),
        spread_most=words.spread_most,
    )


def _find(word: LevelWord | None, topology: ClusterTopology) -> str | None:
    if word is None:
        return None
    found = topology.find(word.name)
    if found is None:
        known = ", ".join(topology.names())
        raise UnsupportedPod(
            f"{word.key}: found {quote(word.name)}, expected a level of this cluster: {known}"
        )
    return found


def _placed(group: WorkloadGroup) -> tuple[tuple[str, int], ...]:
    """The pods that the group has on nodes already, beside which others are to be placed."""
    nodes: Counter[str] = Counter()
    for part in group.holding:
        nodes.update(node for task, node in enumerate(part.nodes) if task not in part.ended)
    del nodes[NO_NODE]
    return tuple(sorted(nodes.items()))
