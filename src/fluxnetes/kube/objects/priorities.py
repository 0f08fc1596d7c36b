"""Priority classes: names for how much pods count."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object, Resource


class PriorityClass(Object, frozen=True):
    """A PriorityClass. Pods get its value when they are made, templates only name it."""

    value: int = 0
    global_default: bool = False
    """Whether pods are of this class that name none."""


PRIORITY_CLASSES = Resource(
    "scheduling.k8s.io",
    "v1",
    "priorityclasses",
    "PriorityClass",
    PriorityClass,
    namespaced=False,
)
