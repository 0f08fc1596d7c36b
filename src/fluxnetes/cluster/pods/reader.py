"""Reads a pod's spec into its footprint, and puts on the graph what the footprint refers to.

Reading may find a rule that no pod asked for before, or a pool that no node has yet. Then the graph
changes, and the queue must be informed before it gets the footprint: `take_changes` returns what
changed, and `ControllerState` takes it before every event that it sends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.cluster.demand import Prerequisite, UnsupportedPod
from fluxnetes.cluster.labels.parse import WorkloadLabels
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeChanges
from fluxnetes.cluster.pods.anti_affinity import POOL_SIZE
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.cluster.pods.node_rules import read_rule
from fluxnetes.cluster.pods.requests import pod_amounts
from fluxnetes.cluster.pods.unsupported import check
from fluxnetes.cluster.pods.volumes import StorageObjects, volume_rules
from fluxnetes.cluster.quantities import InvalidQuantity
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.pods import PodSpec

PORT = "port:"
"""The prefix of pools that are host ports."""


@dataclass(slots=True, eq=False)
class PodReader:
    """Reads footprints for one cluster model."""

    model: ClusterModel
    storage: StorageObjects
    _changes: NodeChanges = field(default_factory=NodeChanges)

    def __call__(
        self, spec: PodSpec, metadata: Metadata, options: WorkloadLabels, namespace: str
    ) -> Footprint:
        """A pod's footprint. Raises `UnsupportedPod` or `Prerequisite`."""
        refusals = check(spec).refusals
        volumes = volume_rules(spec, namespace, self.storage)
        if refusals or volumes.refusals:
            raise UnsupportedPod("; ".join((*refusals, *volumes.refusals)))
        if volumes.waits:
            raise Prerequisite("; ".join(volumes.waits))
        rule = read_rule(spec, volumes.selectors)
        self._changes.add(self.model.node_graph.know(rule))
        try:
            amounts = pod_amounts(spec, exclusive=options.exclusive)
        except InvalidQuantity as bad:
            raise UnsupportedPod(str(bad)) from None
        ports = {type: 1 for type, _ in amounts if type.startswith(PORT)}
        if ports:
            self._changes.add(self.model.need(ports))
        return Footprint(amounts + self._apart(spec, metadata, namespace), rule.name)

    def _apart(
        self, spec: PodSpec, metadata: Metadata, namespace: str
    ) -> tuple[tuple[str, int], ...]:
        """What a pod takes of the pools of anti-affinity terms."""
        anti_affinity = self.model.anti_affinity
        terms = anti_affinity.concerning(spec, namespace, metadata.labels)
        new = [term for term in terms if term.name not in anti_affinity.pooled]
        if new:
            anti_affinity.add_pools(new)
            self._changes.add(self.model.need({term.name: POOL_SIZE for term in new}))
            self.model.account_all()
        return anti_affinity.amounts(terms, spec, namespace, metadata.labels)

    def take_changes(self) -> NodeChanges:
        """What reading changed about the graph since the last call."""
        changes, self._changes = self._changes, NodeChanges()
        return changes


def notes(spec: PodSpec, options: WorkloadLabels) -> tuple[str, ...]:
    """What of a pod is ignored without harm, in words for its user."""
    found = list(check(spec).notes)
    if options.unknown:
        found.append(f"unknown keys: {', '.join(options.unknown)}; see the reference of labels")
    return tuple(found)
