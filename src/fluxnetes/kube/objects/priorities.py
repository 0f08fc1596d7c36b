"""PriorityClasses: named priorities of pods."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object, Resource


class PriorityClass(Object, frozen=True):
    """A PriorityClass. Pods get its value at admission, templates only name it."""

    value: int = 0
    global_default: bool = False
    """Whether it applies to pods that name no class."""


PRIORITY_CLASSES = Resource(
    "scheduling.k8s.io",
    "v1",
    "priorityclasses",
    "PriorityClass",
    PriorityClass,
    namespaced=False,
)
