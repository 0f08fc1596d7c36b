"""Phase and counts of scheduler-plugins' PodGroups. Pure.

    Pending        pods are missing, or the group is refused
    PreScheduling  all pods are there, and wait in the queue
    Scheduling     nodes are found, and fewer pods than the minimum are on them yet
    Scheduled      the minimum of pods is on nodes, and fewer of them run or have succeeded
    Running        the minimum runs or has succeeded
    Unknown        the group ran, and some pods that it needs are lost and have no node
    Finished       the group has ended well
    Failed         the group has ended otherwise

Finished and Failed stay, also after the pods are deleted, until other pods name the PodGroup.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fluxnetes.controller.reporting.pod_groups.view import PodGroupView
from fluxnetes.kube.objects.podgroups import PodGroup
from fluxnetes.kube.patches import ObjectPatch, merge
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState

PENDING, PRE_SCHEDULING, SCHEDULING = "Pending", "PreScheduling", "Scheduling"
SCHEDULED, RUNNING, UNKNOWN = "Scheduled", "Running", "Unknown"
FINISHED, FAILED = "Finished", "Failed"

_BY_STATE = {
    JobState.COMPLETED: FINISHED,
    JobState.FAILED: FAILED,
    JobState.TIMED_OUT: FAILED,
}
"""Phases that follow from how the job ended; after another end the pods decide."""


def plugins_status(group: PodGroup, view: PodGroupView) -> ObjectPatch | None:
    """The patch of its status; None: it says what is so already."""
    before = group.status
    if not view.pods and before.phase in (FINISHED, FAILED):
        return None  # the pods were deleted after their end
    wanted: dict[str, Any] = {
        "phase": phase(view, max(1, group.spec.min_member)),
        "scheduled": view.bound - view.failed,
        "running": view.running,
        "succeeded": view.succeeded,
        "failed": view.failed,
    }
    if view.owners:
        wanted["occupiedBy"] = ",".join(view.owners)
    if view.since is not None:
        wanted["scheduleStartTime"] = datetime.fromtimestamp(view.since, UTC)
    known = {
        "phase": before.phase,
        "scheduled": before.scheduled,
        "running": before.running,
        "succeeded": before.succeeded,
        "failed": before.failed,
        "occupiedBy": before.occupied_by,
        "scheduleStartTime": before.schedule_start_time,
    }
    changed = {key: value for key, value in wanted.items() if known[key] != value}
    if changed.keys() <= {"scheduled"}:
        return None  # newer definitions drop it: what differs may have been written before
    return merge({"metadata": {"uid": group.metadata.uid}, "status": changed})


def phase(view: PodGroupView, least: int) -> str:
    """The phase of a group of which at least so many pods must start together."""
    if view.state in _BY_STATE:
        return _BY_STATE[view.state]
    if view.state in ENDED or (view.state is None and view.pods and not view.live):
        return _phase_at_end(view, least)
    if view.state in HOLDING:
        return _phase_with_nodes(view, least)
    if view.state in WAITING and view.pods >= least:
        return PRE_SCHEDULING
    return PENDING


def _phase_with_nodes(view: PodGroupView, least: int) -> str:
    good = view.running + view.succeeded
    if good >= least:
        return RUNNING
    if view.bound - view.failed >= least:
        return SCHEDULED
    return UNKNOWN if view.state is JobState.RUNNING else SCHEDULING


def _phase_at_end(view: PodGroupView, least: int) -> str:
    if view.succeeded >= least:
        return FINISHED
    return FAILED if view.failed else PENDING
