"""Pods that must not share a node: required anti-affinity on the host name.

A term of one pod keeps it off nodes with pods that the term selects, and keeps those pods off its
own node. To the matcher that is a pool: every node has a million of `apart:<hash>`. A pod that
*carries* the term takes all of it, one that only *matches* takes 1. So a carrier is alone, and
matching pods can share a node with each other.

That is Kubernetes' meaning but for two cases, in which we are stricter. Two pods that carry a term
by which neither is selected could share a node, and here they do not. And a term of a foreign pod
that selects namespaces by their labels counts for all namespaces; on a pod of ours it is refused
(see `unsupported`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.labels.names import HOSTNAME
from fluxnetes.cluster.pods.selectors import (
    Canonical,
    Requirements,
    all_hold,
    as_requirements,
    canonical_requirement,
    digest,
)
from fluxnetes.kube.objects.affinity import LabelSelector, PodTerm
from fluxnetes.kube.objects.pods import PodSpec

POOL_SIZE = 1_000_000
"""The size of an `AntiAffinityTerm`'s pool on each node: more than a node ever has pods."""


@dataclass(frozen=True, slots=True)
class AntiAffinityTerm:
    """Pods of these namespaces for which all of these conditions hold."""

    namespaces: tuple[str, ...] | None
    """None: all namespaces."""
    requirements: Requirements
    name: str = field(init=False, compare=False)
    """Its pool: `apart:` and twelve hex digits."""

    def __post_init__(self) -> None:
        spaces: Canonical = [] if self.namespaces is None else [[*self.namespaces]]
        content: Canonical = [spaces, [canonical_requirement(each) for each in self.requirements]]
        object.__setattr__(self, "name", f"apart:{digest(content)}")

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether it selects a pod."""
        if self.namespaces is not None and namespace not in self.namespaces:
            return False
        return all_hold(self.requirements, labels)


def anti_affinity_terms(spec: PodSpec, namespace: str) -> tuple[AntiAffinityTerm, ...]:
    """The terms about host names that a pod of this namespace carries, each once."""
    if spec.affinity is None or spec.affinity.pod_anti_affinity is None:
        return ()
    terms = spec.affinity.pod_anti_affinity.required
    found = (_term(term, namespace) for term in terms if term.topology_key == HOSTNAME)
    return tuple(dict.fromkeys(term for term in found if term is not None))


def _term(term: PodTerm, namespace: str) -> AntiAffinityTerm | None:
    if term.label_selector is None:
        return None  # it selects no pod
    namespaces: tuple[str, ...] | None = tuple(sorted(set(term.namespaces))) or (namespace,)
    if term.namespace_selector is not None:
        namespaces = None  # an empty one is every namespace
    return AntiAffinityTerm(namespaces, as_requirements(term.label_selector))


def why_not_honoured(term: PodTerm) -> str:
    """Why a pod of ours may not carry a required anti-affinity term; empty if it may.

    In a pod, `matchLabelKeys` would do no harm: the API server has merged them into the selector.
    In a template it has not, and a pod must mean the same as its template.
    """
    if term.topology_key != HOSTNAME:
        return f"the topologyKey is {term.topology_key}; only {HOSTNAME} is honoured"
    if term.namespace_selector not in (None, LabelSelector()):
        return "a namespaceSelector is not honoured; list the namespaces"
    if term.match_label_keys or term.mismatch_label_keys:
        return "matchLabelKeys and mismatchLabelKeys are not honoured; use the labelSelector"
    return ""


def pool_share(carries: bool, matches: bool) -> int:
    """What a pod takes of an `AntiAffinityTerm`'s pool."""
    return POOL_SIZE if carries else 1 if matches else 0
