"""Claims and volumes, as far as they tie a pod to nodes.

A claim that is bound names its volume, and the volume says from which nodes it can be reached. A
claim that is not bound yet may wait for its first pod to be placed; its storage class says so.
"""

from __future__ import annotations

from msgspec import field

from fluxnetes.kube.objects.affinity import NodeSelector
from fluxnetes.kube.objects.base import Object, Part, Resource


class ClaimSpec(Part, frozen=True):
    """What is claimed, and what it got."""

    volume_name: str = ""
    """Empty until the claim is bound."""
    storage_class_name: str = ""


class ClaimStatus(Part, frozen=True):
    """Pending, Bound or Lost."""

    phase: str = ""


class Claim(Object, frozen=True):
    """A PersistentVolumeClaim."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class VolumeAffinity(Part, frozen=True):
    """From where a volume can be reached."""

    required: NodeSelector | None = None


class VolumeSpec(Part, frozen=True):
    """Where a volume is."""

    node_affinity: VolumeAffinity | None = None


class PersistentVolume(Object, frozen=True):
    """A PersistentVolume."""

    spec: VolumeSpec = VolumeSpec()


class StorageClass(Object, frozen=True):
    """How claims of a class get their volumes."""

    binding: str = field(default="Immediate", name="volumeBindingMode")
    """Immediate, or WaitForFirstConsumer."""


CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", Claim)
VOLUMES = Resource(
    "", "v1", "persistentvolumes", "PersistentVolume", PersistentVolume, namespaced=False
)
STORAGE_CLASSES = Resource(
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", StorageClass, namespaced=False
)
