"""How a group ended, as Kubernetes says it.

A workload ends when its controller says so (for a Job, by the condition Complete or Failed), and
its pods alone say nothing: a Job may replace a pod that failed, or fail although its last pod
succeeded. Pods that no workload created end by their phases. A group that was deleted before it
ended was cancelled by its user.

    what Kubernetes says                         the job of the queue
    all workloads Complete                       completed
    a workload Failed, reason DeadlineExceeded   timed out
    a workload Failed otherwise                  failed
    a workload deleted, or all pods deleted      cancelled
    all of it in another group by now            cancelled, as withdrawn
    all pods Succeeded                           completed
    a pod Failed, reason DeadlineExceeded        timed out
    a pod Failed otherwise, or deleted           failed

A label group may have both workloads and pods without one, such as a Job that launches what the
others run. It has ended when both have, and has completed if both did.

While none of these holds, the group has not ended, whatever a clock says. A workload that its user
suspended has not ended either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fluxnetes.cluster.adapters import ADAPTERS, WorkloadOutcome
from fluxnetes.cluster.demand import succeeded_pods
from fluxnetes.cluster.groups import GroupKey, WorkloadGroup
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.states import EndCause, JobState

_DEADLINE = "DeadlineExceeded"
_LOST = frozenset({"DeletionByPodGC", "DeletionByTaintManager", "PreemptionByScheduler"})
"""Reasons of the condition DisruptionTarget on pods that Kubernetes itself deletes."""
_DELETED = Reason.of(Message.DELETED_BY_USER)


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """How a group ended."""

    state: JobState
    reason: Reason | None = None


COMPLETED = GroupOutcome(JobState.COMPLETED)
DELETED = GroupOutcome(JobState.CANCELLED, _DELETED)


@dataclass(frozen=True, slots=True)
class EndRequest:
    """Why and when the queue asked a job to end: that decides for pods that were deleted in
    consequence."""

    cause: EndCause
    deletes_from: float = 0.0
    """Seconds since the epoch before which no controller deletes a pod for it."""
    known_from: float = math.inf
    """Since when it is known which pods the controller deleted: when its term began."""
    killed: frozenset[str] = frozenset()
    """The uids of those pods."""

    def deleted(self, pod: Pod, at: float) -> bool:
        """Whether a controller may have deleted a pod for it."""
        if at < self.deletes_from:
            return False
        return at < self.known_from or pod.metadata.uid in self.killed


def outcome_of(
    group: WorkloadGroup, part: GroupPart, request: EndRequest | None = None
) -> GroupOutcome | None:
    """How a part of a group ended; None: Kubernetes does not say so (yet).

    `request` is that of the queue to end the job, if there is one.
    """
    if group.moved_to is not None and not group.workloads and not group.pods:
        return _withdrawn(group.moved_to)
    ended = _ended_workloads(group)
    if group.open_workloads or ended:
        return _with_loose_pods(group, part, _of_workloads(group, ended))
    if group.key.kind in ADAPTERS:  # its workload was deleted before it ended
        return DELETED
    if group.deleted_workloads and not any(_is_alive(group, uid) for uid in _members(group, part)):
        return DELETED
    return _of_pods(group, part, request)


def will_complete(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether all workloads of a group are sure to complete, though they do not say so yet."""
    workloads = group.open_workloads
    if not workloads or group.deleted_workloads:
        return False
    if _with_loose_pods(group, part, COMPLETED) is not COMPLETED:
        return False
    return all(
        ADAPTERS[group.kinds[uid]].end(workload) is not None
        or ADAPTERS[group.kinds[uid]].is_done(workload, *_counted(group, uid))
        for uid, workload in workloads.items()
    )


def _counted(group: WorkloadGroup, uid: str) -> tuple[int, int]:
    """How many pods of a workload have succeeded, and how many have not."""
    owned = sum(member.owner == uid for member in group.pods.values())
    succeeded = succeeded_pods(group, uid)
    return succeeded, owned - succeeded


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
    found = part.members.difference(part.pods.values())
    if group.workloads:
        found = found.intersection(_loose_pods(group, part))
    return any(_is_alive(group, uid) for uid in found)


def _withdrawn(key: GroupKey) -> GroupOutcome:
    """What the job stood for belongs to another group, which asks for it."""
    why = Reason.of(Message.IN_ANOTHER_GROUP, group=str(key))
    return GroupOutcome(JobState.CANCELLED, Reason.of(Message.WITHDRAWN, reason=why))


def _ended_workloads(group: WorkloadGroup) -> dict[str, WorkloadOutcome]:
    """Without those of an earlier group of the same label."""
    ended = group.ended_workloads
    return {uid: end for uid, end in ended.items() if not group.is_of_earlier(uid)}


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


def _with_loose_pods(
    group: WorkloadGroup, part: GroupPart, outcome: GroupOutcome | None
) -> GroupOutcome | None:
    """How a part ended whose workloads ended so."""
    loose = _loose_pods(group, part)
    if any(_is_alive(group, uid) for uid in loose):
        return None
    failed = _failed(_ended_pods(group, loose))
    return _of_failed(failed[0]) if outcome is COMPLETED and failed else outcome


def _loose_pods(group: WorkloadGroup, part: GroupPart) -> list[str]:
    """The pods of a part that no workload of its group created, as far as they are known."""
    if group.key.kind in ADAPTERS:
        return []
    members = _members(group, part)
    return [uid for uid in sorted(members) if _is_loose(group, uid)]


def _is_loose(group: WorkloadGroup, uid: str) -> bool:
    member = group.pods.get(uid)
    pod = member.pod if member is not None else group.ended_pods.get(uid)
    owner = pod.metadata.controller if pod is not None else None
    return pod is not None and (owner is None or owner.uid not in group.kinds)


def _of_pods(
    group: WorkloadGroup, part: GroupPart, request: EndRequest | None
) -> GroupOutcome | None:
    members = _members(group, part)
    if any(_is_alive(group, uid) for uid in members):
        return None
    ended = _ended_pods(group, members)
    failed = _failed(ended)
    if failed:
        return _of_failed(failed[0])
    if part.failed_before:
        return GroupOutcome(JobState.FAILED, Reason.of(Message.FAILED))
    if len(ended) == len(members) and not part.unseen:
        return COMPLETED if members else None
    if request is None and ended and len(ended) < len(members):
        return GroupOutcome(JobState.FAILED, _DELETED)  # some succeeded, some were deleted
    if request is None or request.cause is EndCause.CANCELLED:
        return DELETED
    deleted = [_last_seen(group, uid) for uid in members]
    is_by_user = not part.unseen and all(_is_by_user(each, request) for each in deleted)
    return DELETED if is_by_user else None  # else the queue knows what becomes of the job


def _members(group: WorkloadGroup, part: GroupPart) -> set[str]:
    """The pods of a part. A job that waits while other jobs of its group run has none of its own,
    and ends as they do: as the pods of the group, without those of an earlier one of its label."""
    if part.members or part.unseen:
        return part.members
    return {uid for uid in group.pods.keys() | group.ended_pods if not group.is_closed_to(uid)}


def _ended_pods(group: WorkloadGroup, uids: Iterable[str]) -> list[Pod]:
    return [pod for uid in uids if (pod := _ended_pod(group, uid)) is not None]


def _failed(ended: list[Pod]) -> list[Pod]:
    """Those that failed; first those that did not only reach a deadline."""
    failed = (pod for pod in ended if pod.status.phase != "Succeeded")
    return sorted(failed, key=lambda pod: pod.status.reason == _DEADLINE)


def _ended_pod(group: WorkloadGroup, uid: str) -> Pod | None:
    """A pod that ended by itself. A kubelet that ends a pod which is being deleted says that it
    failed; that pod was deleted."""
    pod = _last_seen(group, uid)
    if pod is None or not pod.is_over:
        return None
    is_killed = pod.metadata.deletion_timestamp is not None and pod.status.phase == "Failed"
    return None if is_killed and not _own_failure(pod) else pod


def _last_seen(group: WorkloadGroup, uid: str) -> Pod | None:
    member = group.pods.get(uid)
    return group.ended_pods.get(uid) or (member.pod if member is not None else None)


def _own_failure(pod: Pod) -> str:
    """Why a pod failed that is being deleted, if that is not the reason; empty: it is.

    Kubernetes deletes pods whose node is gone, and says so in a condition.
    """
    if pod.status.reason == _DEADLINE:
        return _DEADLINE
    disruptions = (each for each in pod.status.conditions if each.type == "DisruptionTarget")
    return next((each.reason for each in disruptions if each.reason in _LOST), "")


def _is_by_user(pod: Pod | None, request: EndRequest) -> bool:
    """Whether a pod was deleted, and not by a controller."""
    if pod is None or pod.metadata.deletion_timestamp is None:
        return False
    grace = pod.metadata.deletion_grace_period_seconds or 0
    return not request.deleted(pod, pod.metadata.deletion_timestamp.timestamp() - grace)


def _is_alive(group: WorkloadGroup, uid: str) -> bool:
    """Whether a pod may still end well: on a node that is gone, for example, or within the time
    that it has to end once it is deleted."""
    return uid in group.pods and not group.pods[uid].pod.is_over


def _of_failed(pod: Pod) -> GroupOutcome:
    name, status = pod.metadata.name, pod.status
    if status.reason == _DEADLINE:
        return GroupOutcome(JobState.TIMED_OUT, Reason.of(Message.POD_TIMED_OUT, pod=name))
    why = status.reason or _own_failure(pod) or status.phase
    return GroupOutcome(JobState.FAILED, Reason.of(Message.POD_FAILED, pod=name, why=why))
