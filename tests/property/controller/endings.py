"""When nothing more happens, everything that can run has run."""

from __future__ import annotations

from collections import Counter

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.demand import least_size
from fluxnetes.cluster.groups import LABELLED, WorkloadGroup, is_live
from fluxnetes.common.reasons import Message
from fluxnetes.controller.state import ControllerState
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


def check_that_services_run(scene: Scene) -> None:
    """Wait until services have all pods that fit; then their users delete them."""
    for _ in range(TIMEOUT // 5):
        scene.wait(5)
        if not _short(scene):
            break
    else:
        raise AssertionError("\n".join(map(scene.tell_of, _short(scene))))
    for service in list(scene.cluster.services.values()):
        if service.metadata.controller is None:
            scene.cluster.drop(service)


def _short(scene: Scene) -> list[WorkloadGroup]:
    """Services that are not what they should be, and could be."""
    shared = scene.play.shared
    groups = [group for group in shared.model.groups.values() if group.is_service]
    return [group for group in groups if not _is_whole(scene, group) and _could_be(scene, group)]


def _is_whole(scene: Scene, group: WorkloadGroup) -> bool:
    wanted = sum(ADAPTERS[group.kinds[uid]].size(each) for uid, each in group.workloads.items())
    running = [m for m in group.pods.values() if is_live(m.pod) and m.pod.status.phase == "Running"]
    held = sum(part.seats for part in group.holding)
    # A pod runs on without a seat if its node goes and comes back.
    return len(running) == wanted >= held


def _could_be(scene: Scene, group: WorkloadGroup) -> bool:
    """Whether a pod of a service, or as many as it needs at first, has a place on some nodes."""
    if _may_wait(group) or group.key.kind == LABELLED:
        return False  # its pods may be of several sizes
    least = 1 if any(part.bound for part in group.holding) else least_size(group)
    waiting = [m.pod for m in group.pods.values() if is_live(m.pod) and not m.pod.spec.node_name]
    if not waiting:
        return True
    ahead = [j for j in scene.play.shared.scheduler.jobs.values() if j.state is JobState.PENDING]
    if any(job.submission.workload != group.reference for job in ahead):
        return False  # it may be promised to another job
    cpu = int(waiting[0].spec.containers[0].resources.requests["cpu"])
    free = (scene.cluster.free(node)["cpu"] // (1000 * cpu) for node in scene.cluster.nodes)
    return sum(free) >= least


def _waiting(scene: Scene) -> list[WorkloadGroup]:
    """Groups that should have come to an end, and have not."""
    shared = scene.play.shared
    groups = [group for group in shared.model.groups.values() if _is_alive(group)]
    return [group for group in groups if not (_may_wait(group) or _is_hopeless(shared, group))]


def _is_alive(group: WorkloadGroup) -> bool:
    ends = (ADAPTERS[group.kinds[uid]].end(job) for uid, job in group.workloads.items())
    jobs = [end for end in ends if end is None]
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
