"""How much the pods of a template will count.

The server looks up a pod's PriorityClass when the pod is made. A Job that is queued suspended has
no pods yet, and has to get in line all the same; so we look it up as the server will.
"""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.kube.objects.priorities import PriorityClass

PriorityClasses = Mapping[Key, PriorityClass]


def priority_of(spec: PodSpec, classes: PriorityClasses) -> int | None:
    """The priority that a pod will have; None: there is no class of the name that it says."""
    if spec.priority_class_name:
        named = classes.get(("", spec.priority_class_name))
        return named.value if named is not None else None
    # There should be one default at most; of several the server takes the least.
    return min((each.value for each in classes.values() if each.global_default), default=0)
