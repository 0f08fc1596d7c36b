"""When nothing more happens, everything that can run has run."""

from __future__ import annotations

from collections import Counter
from typing import cast

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.demand import least_size
from fluxnetes.cluster.groups import WorkloadGroup, is_live
from fluxnetes.common.reasons import Message
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.queue.states import JobState
from tests.property.controller.scene import Scene

TIMEOUT = 120
_LASTING = (Message.GROUP_TOO_LARGE, Message.POD_GROUP_MISSING, Message.POD_GROUP_DELETED)
"""Why a group waits until its user changes something."""


def check_that_all_came_to_an_end(scene: Scene) -> None:
    """Wait until all groups have run; one that has not needs a reason."""
    for _ in range(TIMEOUT // 5):
        scene.wait(5)
        if not _waiting(scene):
            return
    raise AssertionError("\n".join(map(scene.tell_of, _waiting(scene))))


def _waiting(scene: Scene) -> list[WorkloadGroup]:
    """Groups that should have come to an end, and have not."""
    shared = scene.play.shared
    groups = [group for group in shared.model.groups.values() if _is_alive(group)]
    return [group for group in groups if not (_may_wait(group) or _is_hopeless(shared, group))]


def _is_alive(group: WorkloadGroup) -> bool:
    jobs = [job for job in group.workloads.values() if cast(Job, job).end is None]
    return bool(group.parts or jobs or any(is_live(m.pod) for m in group.pods.values()))


def _is_hopeless(shared: ControllerState, group: WorkloadGroup) -> bool:
    """Whether it could run when it came, and there are no such nodes any more."""
    jobs = [shared.job(part) for part in group.parts]
    asked = [job.submission.request for job in jobs if job.state is JobState.PENDING]
    return any(not shared.matcher.satisfiable(request) for request in asked)


def _may_wait(group: WorkloadGroup) -> bool:
    """Its job has ended without it, or it is not complete, or it can never be."""
    blocked = group.not_queued
    if blocked is not None and blocked.reason.message in _LASTING:
        return True
    if not all(part.gathers for part in group.parts):
        return False
    live = Counter(member.owner for member in group.pods.values() if is_live(member.pod))
    wanted = {uid: ADAPTERS[group.kinds[uid]].size(job) for uid, job in group.workloads.items()}
    most = sum((live | Counter(wanted)).values())
    is_closed = group.closed is not None and not group.parts
    return is_closed or most < least_size(group)
