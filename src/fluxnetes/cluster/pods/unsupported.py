"""Checks which parts of a pod's spec are not supported.

A hard constraint that is not supported is a *refusal*: the pod is not scheduled, and an event names
the field that is the cause. A soft one is ignored with a *note*. Nothing is ignored silently.

Volumes are checked in `volumes`, but for ephemeral claims, which are refused here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fluxnetes.cluster.labels.names import AVAILABILITY
from fluxnetes.cluster.pods.anti_affinity import why_not_honoured
from fluxnetes.kube.objects.affinity import Affinity
from fluxnetes.kube.objects.pods import PodSpec

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class SupportVerdict:
    """What is refused and what is ignored; both in words that name the field."""

    refusals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


FINE = SupportVerdict()


def check(spec: PodSpec) -> SupportVerdict:
    """Which parts of a pod's spec are not supported."""
    unusual = spec.affinity or spec.topology_spread_constraints or spec.resource_claims
    if not unusual and not spec.volumes and not spec.tolerations:
        return FINE
    refusals = tuple(_refusals(spec)) if unusual or spec.volumes else ()
    notes = tuple(_notes(spec)) if unusual or spec.tolerations else ()
    return SupportVerdict(refusals, notes) if refusals or notes else FINE


def _refusals(spec: PodSpec) -> Iterator[str]:
    if spec.resource_claims:
        yield "spec.resourceClaims: resource claims are not honoured; ask for extended resources"
    for number, volume in enumerate(spec.volumes):
        if volume.ephemeral is not None:
            why = "a claim made for one pod is not honoured; use a claim that is bound, or emptyDir"
            yield f"spec.volumes[{number}].ephemeral: {why}"
    for number, spread in enumerate(spec.topology_spread_constraints):
        if spread.when_unsatisfiable != "ScheduleAnyway":
            path = f"spec.topologySpreadConstraints[{number}]"
            yield f"{path}: {spread.when_unsatisfiable} is not honoured; use ScheduleAnyway"
    if spec.affinity is not None:
        yield from _refused_affinity(spec.affinity)


def _refused_affinity(affinity: Affinity) -> Iterator[str]:
    near, apart = affinity.pod_affinity, affinity.pod_anti_affinity
    if near is not None and near.required:
        yield f"spec.affinity.podAffinity.{_REQUIRED}: pod affinity is not honoured"
    for number, term in enumerate(apart.required if apart is not None else ()):
        why = why_not_honoured(term)
        if why:
            yield f"spec.affinity.podAntiAffinity.{_REQUIRED}[{number}]: {why}"


def _notes(spec: PodSpec) -> Iterator[str]:
    if spec.affinity is not None:
        yield from _soft_affinity(spec.affinity)
    for number, spread in enumerate(spec.topology_spread_constraints):
        if spread.when_unsatisfiable == "ScheduleAnyway":
            yield f"spec.topologySpreadConstraints[{number}]: pods are not spread"
    for number, toleration in enumerate(spec.tolerations):
        # The API server puts those for NoExecute on every pod.
        if toleration.key.startswith(AVAILABILITY) and toleration.effect != "NoExecute":
            path = f"spec.tolerations[{number}]"
            yield f"{path}: nodes that are cordoned or in trouble get nothing new, tolerated or not"


def _soft_affinity(affinity: Affinity) -> Iterator[str]:
    kinds = {
        "nodeAffinity": affinity.node_affinity,
        "podAffinity": affinity.pod_affinity,
        "podAntiAffinity": affinity.pod_anti_affinity,
    }
    for kind, rules in kinds.items():
        if rules is not None and rules.preferred:
            yield f"spec.affinity.{kind}.{_PREFERRED}: preferences are left out"
