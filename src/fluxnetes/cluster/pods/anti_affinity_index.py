"""Index of the anti-affinity terms that pods carry, and of the terms that have a pool on the nodes.

A required anti-affinity term is a pool on every node (see `anti_affinity`). Pools are made only for
terms that concern a pod of ours: our pod carries the term, or another pod carries it and it matches
our pod. Pods that were bound before the pool was made hold their share of it like all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fluxnetes.cluster.pods.anti_affinity import AntiAffinityTerm, anti_affinity_terms, pool_share
from fluxnetes.cluster.usage.foreign import Amounts
from fluxnetes.kube.objects.base import Labels
from fluxnetes.kube.objects.pods import Pod, PodSpec


@dataclass(slots=True, eq=False)
class AntiAffinityIndex:
    """All terms that are carried, and those that have a pool."""

    carried: dict[AntiAffinityTerm, set[str]] = field(default_factory=dict)
    """By term, the uids of the pods that carry it."""
    pooled: dict[str, AntiAffinityTerm] = field(default_factory=dict)
    """By the name of the pool."""

    def add(self, pod: Pod) -> tuple[AntiAffinityTerm, ...]:
        """A pod is new or changed; returns the terms that no pod carried so far."""
        new = []
        for term in anti_affinity_terms(pod.spec, pod.metadata.namespace):
            if term not in self.carried:
                self.carried[term] = set()
                new.append(term)
            self.carried[term].add(pod.metadata.uid)
        return tuple(new)

    def drop(self, pod: Pod) -> None:
        """A pod is gone."""
        for term in anti_affinity_terms(pod.spec, pod.metadata.namespace):
            uids = self.carried.get(term, set())
            uids.discard(pod.metadata.uid)
            if not uids:
                self.carried.pop(term, None)

    def concerning(
        self, spec: PodSpec, namespace: str, labels: Labels
    ) -> tuple[AntiAffinityTerm, ...]:
        """The terms that a pod of ours carries, or that other pods carry and that match it."""
        own = anti_affinity_terms(spec, namespace)
        against = (term for term in self.carried if term.matches(namespace, labels))
        return tuple(dict.fromkeys((*own, *against)))

    def add_pools(self, terms: Iterable[AntiAffinityTerm]) -> None:
        """The nodes have pools for these terms from now on."""
        self.pooled.update({term.name: term for term in terms})

    def amounts(
        self, terms: tuple[AntiAffinityTerm, ...], spec: PodSpec, namespace: str, labels: Labels
    ) -> Amounts:
        """What a pod holds of the pools of some terms."""
        if not terms:
            return ()
        own = set(anti_affinity_terms(spec, namespace))
        held = ((t.name, pool_share(t in own, t.matches(namespace, labels))) for t in terms)
        return tuple(sorted((name, amount) for name, amount in held if amount))

    def held_by(self, pod: Pod) -> Amounts:
        """What a bound pod holds of all pools."""
        terms = tuple(self.pooled.values())
        return self.amounts(terms, pod.spec, pod.metadata.namespace, pod.metadata.labels)
