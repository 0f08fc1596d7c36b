"""The condition of Kubernetes' own PodGroups. Pure.

It is written as kube-scheduler writes it for groups of its own: False with the reason while the
group waits, True once as many pods as must start together are on nodes. True is final, also where
the name of the condition (1.36: PodGroupScheduled) does not say so.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fluxnetes.controller.reporting.pod_groups.view import PodGroupView
from fluxnetes.kube.objects.podgroups import NativePodGroup
from fluxnetes.kube.patches import ObjectPatch, strategic

SCHEDULED = "Scheduled"
UNSCHEDULABLE = "Unschedulable"
"""The reason of a group that waits."""
ERROR = "SchedulerError"
"""The reason of a group that cannot be scheduled as it is."""
LONGEST_MESSAGE = 1024
"""Maximum characters of a message; longer ones are cut."""


def native_status(group: NativePodGroup, view: PodGroupView, now: float) -> ObjectPatch | None:
    """The patch of its status; None: it says what is so already, or there is nothing to say."""
    wanted = _condition(group, view)
    before = group.scheduled
    if wanted is None or (before is not None and before.status == "True"):
        return None
    status, reason, message = wanted
    if before is not None and (before.status, before.reason, before.message) == wanted:
        return None
    condition: dict[str, Any] = {
        "type": group.SCHEDULED,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": group.metadata.generation,
    }
    if before is None or before.status != status:
        condition["lastTransitionTime"] = datetime.fromtimestamp(int(now), UTC)
    metadata = {
        "uid": group.metadata.uid,
        # Another scheduler may have found a place meanwhile, if it is a group of several.
        "resourceVersion": group.metadata.resource_version,
    }
    return strategic({"metadata": metadata, "status": {"conditions": [condition]}})


def _condition(group: NativePodGroup, view: PodGroupView) -> tuple[str, str, str] | None:
    """Status, reason and message."""
    gang = group.spec.scheduling_policy.gang
    if view.bound >= (gang.min_count if gang is not None else 1):
        return "True", SCHEDULED, "the pods that must start together are scheduled"
    if view.reason:
        return "False", ERROR if view.is_refused else UNSCHEDULABLE, view.reason[:LONGEST_MESSAGE]
    return None
