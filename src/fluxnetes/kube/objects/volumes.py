"""Claims, volumes and storage classes, as far as they restrict a pod to nodes.

A claim that is bound names its volume, and the volume says from which nodes it can be reached. A
claim that is not bound yet may wait for its first pod to be placed; its storage class says so.
"""

from __future__ import annotations

from msgspec import field

from fluxnetes.kube.objects.affinity import NodeSelector
from fluxnetes.kube.objects.base import Object, Part, Resource


class ClaimSpec(Part, frozen=True):
    """The storage class of a claim, and the volume bound to it."""

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
    """The nodes from which a volume can be reached."""

    required: NodeSelector | None = None


class VolumeSpec(Part, frozen=True):
    """The node affinity of a volume."""

    node_affinity: VolumeAffinity | None = None


class PersistentVolume(Object, frozen=True):
    """A PersistentVolume."""

    spec: VolumeSpec = VolumeSpec()


class StorageClass(Object, frozen=True):
    """When claims of a class are bound to volumes."""

    binding: str = field(default="Immediate", name="volumeBindingMode")
    """Immediate, or WaitForFirstConsumer."""


CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", Claim)
VOLUMES = Resource(
    "", "v1", "persistentvolumes", "PersistentVolume", PersistentVolume, namespaced=False
)
STORAGE_CLASSES = Resource(
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", StorageClass, namespaced=False
)
