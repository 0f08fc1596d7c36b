"""Pods that keep away from each other on a node, and what they hold of that.

A required anti-affinity term is a pool on every node (see `aparts`). Pools are made only for terms
that concern a pod of ours: it carries the term, or somebody carries it and it matches our pod.
Pods that were bound before the pool was there hold their part of it like everybody else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.cluster.pods.anti_affinity import AntiAffinityTerm, anti_affinity_terms, pool_share
from fluxnetes.cluster.usage.foreign import Amounts
from fluxnetes.kube.objects.base import Labels
from fluxnetes.kube.objects.pods import Pod, PodSpec


@dataclass(slots=True, eq=False)
class AntiAffinityIndex:
    """All terms that are carried, and those that have a pool."""

    carried: dict[AntiAffinityTerm, set[str]] = field(default_factory=dict)
    """By term, the uids of those who carry it."""
    pooled: dict[str, AntiAffinityTerm] = field(default_factory=dict)
    """By the name of the pool."""

    def see(self, pod: Pod) -> tuple[AntiAffinityTerm, ...]:
        """A pod is there; returns the terms that nobody carried so far."""
        new = []
        for term in anti_affinity_terms(pod.spec, pod.metadata.namespace):
            if term not in self.carried:
                self.carried[term] = set()
                new.append(term)
            self.carried[term].add(pod.metadata.uid)
        return tuple(new)

    def lose(self, pod: Pod) -> None:
        for term in anti_affinity_terms(pod.spec, pod.metadata.namespace):
            uids = self.carried.get(term, set())
            uids.discard(pod.metadata.uid)
            if not uids:
                self.carried.pop(term, None)

    def concerning(
        self, spec: PodSpec, namespace: str, labels: Labels
    ) -> tuple[AntiAffinityTerm, ...]:
        """The terms that a pod of ours carries or that others carry against it."""
        mine = anti_affinity_terms(spec, namespace)
        against = (term for term in self.carried if term.matches(namespace, labels))
        return tuple(dict.fromkeys((*mine, *against)))

    def amounts(
        self, terms: tuple[AntiAffinityTerm, ...], spec: PodSpec, namespace: str, labels: Labels
    ) -> Amounts:
        """What a pod holds of the pools of some terms."""
        if not terms:
            return ()
        mine = set(anti_affinity_terms(spec, namespace))
        held = ((t.name, pool_share(t in mine, t.matches(namespace, labels))) for t in terms)
        return tuple(sorted((name, amount) for name, amount in held if amount))

    def held_by(self, pod: Pod) -> Amounts:
        """What a bound pod holds of all pools that there are."""
        terms = tuple(self.pooled.values())
        return self.amounts(terms, pod.spec, pod.metadata.namespace, pod.metadata.labels)
