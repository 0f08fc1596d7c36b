"""Computes what a pod's volume claims add to its node rule.

A claim that is bound has a volume, and the volume may be reachable from some nodes only. A claim
that is not bound *waits*: the pod is not queued until it is bound, since its nodes are unknown. A
claim whose class binds it only once a node is chosen is *refused*: the queue chooses nodes for a
whole group at once, and cannot try whether a volume can be created there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fluxnetes.kube.objects.affinity import NodeSelector
from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.kube.objects.volumes import Claim, PersistentVolume, StorageClass


@dataclass(frozen=True, slots=True)
class VolumeRules:
    """What the volumes of one pod add to its rule, or why that is unknown."""

    selectors: tuple[NodeSelector, ...] = ()
    refusals: tuple[str, ...] = ()
    """Claims that are not supported, in words that name the field."""
    waits: tuple[str, ...] = ()
    """What has to happen first, in words."""


NO_VOLUMES = VolumeRules()


@dataclass(frozen=True, slots=True)
class StorageObjects:
    """The claims, volumes and storage classes of the cluster, by key."""

    claims: Mapping[Key, Claim]
    volumes: Mapping[Key, PersistentVolume]
    classes: Mapping[Key, StorageClass]


def volume_rules(spec: PodSpec, namespace: str, storage: StorageObjects) -> VolumeRules:
    """What the claims of a pod in a namespace add to its rule."""
    found = NO_VOLUMES
    for number, volume in enumerate(spec.volumes):
        source = volume.persistent_volume_claim
        if source is not None:
            path = f"spec.volumes[{number}].persistentVolumeClaim"
            found = _add(found, _of_claim((namespace, source.claim_name), path, storage))
    return found


def _add(one: VolumeRules, other: VolumeRules) -> VolumeRules:
    return VolumeRules(
        one.selectors + other.selectors, one.refusals + other.refusals, one.waits + other.waits
    )


def _of_claim(key: Key, path: str, storage: StorageObjects) -> VolumeRules:
    claim = storage.claims.get(key)
    if claim is None:
        return _wait(f"there is no claim {key[1]} yet")
    if claim.metadata.deletion_timestamp is not None:
        return _wait(f"claim {key[1]} is being deleted")
    if claim.status.phase == "Lost":
        return _wait(f"claim {key[1]} has lost its volume")
    if claim.status.phase == "Bound" and claim.spec.volume_name:
        return _of_volume(claim, storage)
    return _of_unbound(claim, path, storage)


def _of_volume(claim: Claim, storage: StorageObjects) -> VolumeRules:
    name = claim.spec.volume_name
    volume = storage.volumes.get(("", name))
    if volume is None:
        return _wait(f"there is no volume {name}, which claim {claim.metadata.name} is bound to")
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return NO_VOLUMES
    return VolumeRules(selectors=(affinity.required,))


def _of_unbound(claim: Claim, path: str, storage: StorageObjects) -> VolumeRules:
    name = claim.metadata.name
    if claim.spec.volume_name:
        return _wait(f"claim {name} is not bound to volume {claim.spec.volume_name} yet")
    named = claim.spec.storage_class_name
    known = storage.classes.get(("", named)) if named else None
    if named and known is None:
        return _wait(f"claim {name} is not bound, and there is no storage class {named}")
    if known is not None and known.binding == "WaitForFirstConsumer":
        why = f"claim {name} is not bound, and its class {named} waits for the first consumer"
        return VolumeRules(refusals=(f"{path}: {why}, which is not honoured; bind it beforehand",))
    return _wait(f"claim {name} is not bound yet")


def _wait(reason: str) -> VolumeRules:
    return VolumeRules(waits=(reason,))
