"""Computes the priority that pods of a template will have.

The API server looks up a pod's PriorityClass when the pod is created. A Job that is queued
suspended has no pods yet, and needs its priority all the same; so it is looked up as the API server
will do.
"""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.kube.objects.priorities import PriorityClass

PriorityClasses = Mapping[Key, PriorityClass]


def priority_of(spec: PodSpec, classes: PriorityClasses) -> int | None:
    """The priority that a pod will have; None: its PriorityClass does not exist."""
    if spec.priority_class_name:
        named = classes.get(("", spec.priority_class_name))
        return named.value if named is not None else None
    # There should be at most one default; of several the API server takes the lowest.
    return min((each.value for each in classes.values() if each.global_default), default=0)
