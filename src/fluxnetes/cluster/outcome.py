"""How a group ended, as Kubernetes says it.

A workload ends when its controller says so (for a Job, by the condition Complete or Failed), and
its pods alone say nothing: a Job may replace a pod that failed, or fail although its last pod
succeeded. Pods that no workload created end by their phases. A group that was deleted before it
ended was cancelled by its user.

    what Kubernetes says                         the job of the queue
    all workloads Complete                       completed
    a workload Failed, reason DeadlineExceeded   timed out
    a workload Failed otherwise                  failed
    the workload deleted, or all pods deleted    cancelled
    all of it in another group by now            cancelled, as withdrawn
    all pods Succeeded                           completed
    a pod Failed, reason DeadlineExceeded        timed out
    a pod Failed otherwise, or deleted           failed

While none of these holds, the group has not ended, whatever a clock says. A workload that its user
suspended has not ended either.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.adapters import ADAPTERS, WorkloadOutcome
from fluxnetes.cluster.demand import succeeded_pods
from fluxnetes.cluster.groups import GroupKey, WorkloadGroup, is_live
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.states import EndCause, JobState

_DEADLINE = "DeadlineExceeded"
_DELETED = Reason.of(Message.DELETED_BY_USER)


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """How a group ended."""

    state: JobState
    reason: Reason | None = None


COMPLETED = GroupOutcome(JobState.COMPLETED)
DELETED = GroupOutcome(JobState.CANCELLED, _DELETED)
REPLACED = GroupOutcome(JobState.COMPLETED, Reason.of(Message.PODS_REPLACED))
"""Other pods of the same service run in place of those that the job stood for."""


def outcome_of(
    group: WorkloadGroup, part: GroupPart, cause: EndCause | None = None
) -> GroupOutcome | None:
    """How a part of a group ended; None: Kubernetes does not say so (yet).

    `cause` is why the queue asked the job to end, if it did: that decides for pods that were
    deleted in consequence.
    """
    if group.moved_to is not None and not group.workloads and not group.pods:
        return _withdrawn(group.moved_to)
    ended = _ended_workloads(group)
    if group.open_workloads or ended:
        return _of_workloads(group, ended)
    if group.key.kind in ADAPTERS:  # its workload was deleted before it ended
        return DELETED
    if group.deleted_workloads and not any(_is_alive(group, uid) for uid in group.pods):
        return DELETED
    return _of_pods(group, part, cause)


def will_complete(group: WorkloadGroup) -> bool:
    """Whether all workloads of a group are sure to complete, though they do not say so yet."""
    workloads = group.open_workloads
    return bool(workloads) and all(
        ADAPTERS[group.kinds[uid]].end(workload) is not None
        or ADAPTERS[group.kinds[uid]].is_done(workload, succeeded_pods(group, uid))
        for uid, workload in workloads.items()
    )


def is_suspended_by_user(group: WorkloadGroup) -> bool:
    """Whether users suspended workloads of a group, and nothing of it goes on."""
    live = [
        (ADAPTERS[group.kinds[uid]], workload)
        for uid, workload in group.open_workloads.items()
        if uid not in group.ended_workloads
    ]
    return bool(live) and all(
        adapter.is_suspended(workload) and not adapter.is_waiting_for_us(workload)
        for adapter, workload in live
    )


def runs_elsewhere(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether pods of a part that no workload replaces still run on nodes that are gone."""
    if group.workloads:
        return False
    return any(_is_alive(group, uid) for uid in part.members.difference(part.pods.values()))


def _withdrawn(key: GroupKey) -> GroupOutcome:
    """What the job stood for belongs to another group, which asks for it."""
    why = Reason.of(Message.IN_ANOTHER_GROUP, group=str(key))
    return GroupOutcome(JobState.CANCELLED, Reason.of(Message.WITHDRAWN, reason=why))


def _ended_workloads(group: WorkloadGroup) -> dict[str, WorkloadOutcome]:
    """Without those of an earlier group of the same label."""
    earlier = group.closed.workloads if group.closed is not None else frozenset()
    return {uid: end for uid, end in group.ended_workloads.items() if uid not in earlier}


def _of_workloads(group: WorkloadGroup, ended: dict[str, WorkloadOutcome]) -> GroupOutcome | None:
    if not ended or any(uid not in group.ended_workloads for uid in group.open_workloads):
        return None
    for uid, end in sorted(ended.items(), key=lambda item: item[1].timed_out):
        if not end.ok:
            state = JobState.TIMED_OUT if end.timed_out else JobState.FAILED
            message = Message.WORKLOAD_TIMED_OUT if end.timed_out else Message.WORKLOAD_FAILED
            name = group.workload_name(uid)
            return GroupOutcome(state, Reason.of(message, workload=name, why=end.reason))
    return DELETED if group.deleted_workloads else COMPLETED


def _of_pods(group: WorkloadGroup, part: GroupPart, cause: EndCause | None) -> GroupOutcome | None:
    members = part.members or _open_pods(group)
    if any(_is_alive(group, uid) for uid in members):
        return None
    ended = [pod for uid in members if (pod := _ended_pod(group, uid)) is not None]
    failed = sorted(
        (pod for pod in ended if pod.status.phase != "Succeeded"),
        key=lambda pod: pod.status.reason == _DEADLINE,
    )
    if failed:
        return _of_failed(failed[0])
    if part.failed_before:
        return GroupOutcome(JobState.FAILED, Reason.of(Message.FAILED))
    if len(ended) < len(members):
        return _of_deleted(some_ended=bool(ended or part.ended), cause=cause)
    return COMPLETED if members else None


def _open_pods(group: WorkloadGroup) -> set[str]:
    """The pods of a group without those of an earlier group of the same label. A job that waits
    while other jobs of its group run has no pods of its own, and ends as they do."""
    return {uid for uid in group.pods.keys() | group.ended_pods if not group.is_closed_to(uid)}


def _ended_pod(group: WorkloadGroup, uid: str) -> Pod | None:
    """A pod that ended by itself. A kubelet that ends a pod which is being deleted says that it
    failed; that pod was deleted."""
    member = group.pods.get(uid)
    pod = group.ended_pods.get(uid) or (member.pod if member is not None else None)
    if pod is None or not pod.is_over:
        return None
    is_killed = pod.metadata.deletion_timestamp is not None and pod.status.phase == "Failed"
    return None if is_killed and pod.status.reason != _DEADLINE else pod


def _is_alive(group: WorkloadGroup, uid: str) -> bool:
    """Whether a pod may still end well: on a node that is gone, for example."""
    return uid in group.pods and is_live(group.pods[uid].pod)


def _of_failed(pod: Pod) -> GroupOutcome:
    name, status = pod.metadata.name, pod.status
    if status.reason == _DEADLINE:
        return GroupOutcome(JobState.TIMED_OUT, Reason.of(Message.POD_TIMED_OUT, pod=name))
    why = status.reason or status.phase
    return GroupOutcome(JobState.FAILED, Reason.of(Message.POD_FAILED, pod=name, why=why))


def _of_deleted(*, some_ended: bool, cause: EndCause | None) -> GroupOutcome | None:
    """Pods were deleted before they ended, and none of the others failed."""
    if cause is not None and cause is not EndCause.CANCELLED:
        return None  # the queue asked for it, and knows what becomes of the job
    if some_ended and cause is None:
        return GroupOutcome(JobState.FAILED, _DELETED)
    return DELETED
