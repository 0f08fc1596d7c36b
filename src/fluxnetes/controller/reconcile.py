"""Reconciles the cluster with the queue: derives the actions that make it what the queue decided.

Level-triggered: actions follow from where a group is, not from what happened. So an action may be
requested twice, and after a crash it is requested again.

    state of the part   actions                                       event, once done
    allocated           release workloads, bind every pod to its seat   filled ──▶ Started
    running             bind replacements to held seats
    returning           suspend workloads, end bound pods               empty  ──▶ Returned
    ending              by cause: deadline, suspension, deletion        empty  ──▶ Ended

A Job is returned by suspending it, never by deleting its pods, which would count against its
backoffLimit. A service is returned by deleting its pods, since it creates others, which wait. A
group of pods without a workload cannot be returned once one of them is bound, since no controller
creates them again: then the group fails.

A service runs as soon as enough of it is bound; its other seats are filled as its pods come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fluxnetes.cluster.adapters import ADAPTERS, SUSPENDABLE
from fluxnetes.cluster.demand import least_size, pods_to_come
from fluxnetes.cluster.groups import LABELLED, Member, WorkloadGroup, is_live
from fluxnetes.cluster.labels.names import GATES
from fluxnetes.cluster.outcome import (
    DELETED,
    is_suspended_by_user,
    outcome_of,
    runs_elsewhere,
)
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.controller.actions.queue import ActionQueue
from fluxnetes.controller.actions.types import Action, BindPod, EndPod
from fluxnetes.controller.deadlines import change, release
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.events import Ended, PartsLost, Returned, Started
from fluxnetes.queue.jobs import OnLoss, QueueJob
from fluxnetes.queue.states import WAITING, EndCause, JobState


@dataclass(slots=True, eq=False)
class Reconciler:
    """Requests actions, and sends the queue an event when they have had their effect."""

    shared: ControllerState
    actions: ActionQueue

    def reconcile(self, group: WorkloadGroup) -> None:
        """Request what has to be done for a group now."""
        for action in self.actions_for(group):
            self.actions.request(action)

    def actions_for(self, group: WorkloadGroup) -> list[Action]:
        """What has to be done for a group now."""
        found: list[Action] = []
        for part in group.holding:
            state = self.shared.state(part)
            if state is JobState.ENDING and not self._returns_late(part):
                found += self._end(group, part)
            elif part.returning:
                found += self._return(group, part)
            else:
                found += self._place(group, part, state)
        return found

    def _returns_late(self, part: GroupPart) -> bool:
        """Whether the walltime of a part was over while it was being returned to the queue."""
        return part.returning is not None and self.shared.job(part).cause is EndCause.TIMED_OUT

    # -- start ---------------------------------------------------------------------------------

    def _place(self, group: WorkloadGroup, part: GroupPart, state: JobState) -> Iterator[Action]:
        if not group.pods and not group.workloads:
            self.shared.job_over(part, outcome_of(group, part) or DELETED)
            return
        if state is JobState.ALLOCATED and (part.is_filled or has_enough(group, part)):
            self.shared.send(Started(part.job))
            if group.is_service:  # which may run without some of its pods
                self.shared.model.mark_dirty(group)
        if part.is_filled:
            return
        if part.bound and not part.to_bind and not group.workloads:
            return  # everything that can be requested was requested
        if any(uid not in group.pods for uid in part.pods.values()):
            return  # a pod went during the commit; the next round looks at that first
        if state is JobState.ALLOCATED and not part.bound and _lacks_pods(group, part):
            part.start_return(Reason.of(Message.POD_DELETED))
            yield from self._return(group, part)
            return
        if state is JobState.ALLOCATED or group.waiting is None:
            # All workloads of a part that runs were released; others wait with another part.
            for uid in group.workloads:
                yield from release(self.shared, group, uid)
        if any(self.shared.is_suspending(uid) for uid in group.workloads):
            return  # its pods are about to be deleted, and created again once it is released
        for task in part.take_binds():
            yield from self._bind(part, task, group.pods[part.pods[task]])

    def _bind(self, part: GroupPart, task: int, member: Member) -> Iterator[Action]:
        pod = member.pod
        gates = tuple(gate.name for gate in pod.spec.scheduling_gates)
        if all(gate in GATES for gate in gates):
            yield BindPod(
                namespace=pod.metadata.namespace,
                name=pod.metadata.name,
                uid=pod.metadata.uid,
                node=part.nodes[task],
                job=part.job,
                task=task,
                gates=gates,
                scheduler=pod.spec.scheduler_name,
            )

    # -- return to the queue -------------------------------------------------------------------

    def give_up(
        self, group: WorkloadGroup, part: GroupPart, reason: Reason, retry_delay: int = 0
    ) -> None:
        """A decision cannot be carried out: the part is returned to the queue, or fails."""
        there = [group.pods[uid] for uid in part.pods.values() if uid in group.pods]
        owned = bool(group.workloads) and all(member.owner for member in there)
        state = self.shared.state(part)
        if state is JobState.ALLOCATED and (owned or not (part.bound or part.ended)):
            part.start_return(reason, retry_delay)
        elif state in (JobState.ALLOCATED, JobState.RUNNING):
            self.shared.send(PartsLost((part.job,), reason))
        self.shared.request_reconcile(group)

    def _return(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        reason = part.returning
        assert reason is not None  # noqa: S101 - the caller looked
        if self._cannot_return(group, part):
            self.shared.send(PartsLost((part.job,), reason))
            yield from self._end(group, part)
            return
        if part.bound or self._must_suspend(group):
            yield from self._suspend(group, reason_text(reason))
        yield from self._evict(group, part, part.bound, reason_text(reason))
        self._revoke_binds(part)
        if not part.bound and not self.actions.is_binding_job(part.job):
            begin = self.shared.now + part.retry_delay if part.retry_delay else None
            self.shared.job_requeued(group, part)
            self.shared.send(Returned(part.job, reason, begin))

    def _cannot_return(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Whether pods of a part have run that no workload creates again."""
        if not group.workloads:
            return bool(part.bound or part.ended)
        there = (group.pods.get(part.pods.get(task, "")) for task in part.bound)
        return any(member is not None and not member.owner for member in there)

    def _revoke_binds(self, part: GroupPart) -> None:
        """Pods that are not bound yet stay so."""
        for task, uid in part.pods.items():
            if task not in part.bound:
                self.actions.revoke_bind(uid)

    def _must_suspend(self, group: WorkloadGroup) -> bool:
        """Whether a workload is still suspended: then those that were released are suspended again.

        Otherwise unbound pods just wait, and there is no need to end them.
        """
        return any(
            ADAPTERS[group.kinds[uid]].is_suspended(workload)
            for uid, workload in group.workloads.items()
        )

    def _suspend(self, group: WorkloadGroup, reason: str) -> Iterator[Action]:
        for uid, workload in group.workloads.items():
            adapter = SUSPENDABLE.get(group.kinds[uid])
            if adapter is None:
                continue  # see `_evict`
            if not adapter.is_suspended(workload) and adapter.end(workload) is None:
                yield change(group, uid, adapter.suspend(workload), reason)

    def evict(
        self, group: WorkloadGroup, part: GroupPart, tasks: Iterable[int], why: Reason
    ) -> None:
        """Have pods of a service replaced by others, which are placed elsewhere."""
        for action in self._evict(group, part, tasks, reason_text(why)):
            self.actions.request(action)

    def _evict(
        self, group: WorkloadGroup, part: GroupPart, tasks: Iterable[int], why: str
    ) -> Iterator[Action]:
        """End the pods of some seats whose workload cannot be suspended, and creates others."""
        for task in tasks:
            member = group.pods.get(part.pods.get(task, ""))
            if member is not None and member.owner and not _is_suspendable(group, member):
                yield _end_pod(member, why, delete=True)

    def _fail(self, group: WorkloadGroup, reason: str) -> Iterator[Action]:
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            if adapter.end(workload) is None:
                yield change(group, uid, adapter.fail(workload), reason)

    def _end_unbound(self, group: WorkloadGroup, why: str) -> Iterator[Action]:
        """No pod of a Job that is to fail runs any more, so one that waits has to fail."""
        for member in group.pods.values():
            waits = is_live(member.pod) and not member.pod.spec.node_name
            if waits and member.owner in group.workloads and _is_suspendable(group, member):
                yield _end_pod(member, why, delete=True)

    # -- end -----------------------------------------------------------------------------------

    def _end(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        job = self.shared.job(part)
        self._revoke_binds(part)
        is_empty = not part.bound and not self.actions.is_binding_job(part.job)
        if is_empty and self._is_over(group, part):
            return
        grace = self.shared.settings.forced_delete
        late = job.expected is not None and self.shared.now > job.expected + grace
        times_out = job.cause is EndCause.TIMED_OUT
        if times_out:
            yield from self._end_by_deadline(group, part)
        elif job.cause is EndCause.LOST_NODES and job.submission.on_loss is OnLoss.FAIL:
            yield from self._fail(group, reason_text(job.reason))
            if is_empty:
                yield from self._end_unbound(group, reason_text(job.reason))
        else:
            yield from self._suspend(group, reason_text(job.reason))
            if job.cause is EndCause.CANCELLED:
                yield from self._scale_to_zero(group, reason_text(job.reason))
            yield from self._evict(group, part, part.bound, reason_text(job.reason))
        for task in part.bound:
            member = group.pods.get(part.pods[task])
            if member is not None and (late or not (member.owner or times_out)):
                yield _end_pod(member, reason_text(job.reason), delete=True)

    def _is_over(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Nothing of a part runs any more: inform the queue how it ended, or that it waits again.

        False if Kubernetes has yet to say so. What Kubernetes says comes first: a Job that
        completed has completed, whatever we asked of it since.
        """
        job = self.shared.job(part)
        outcome = outcome_of(group, part, job.cause)
        if outcome is not None:
            self.shared.job_over(part, outcome)
        elif is_suspended_by_user(group):
            self.shared.suspend_job(group, part)
        elif self._lost_its_time(group, part):
            self.shared.job_requeued(group, part)
            self.shared.send(Returned(part.job, Reason.of(Message.TIME_LOST)))
        elif self._creates_more(group, part) or runs_elsewhere(group, part):
            return False
        else:
            self.shared.send(Ended(part.job, ok=False, reason=job.reason))
            if self.shared.state(part) in WAITING:  # it may be placed again before the next look
                self.shared.job_requeued(group, part)
        return True

    def _lost_its_time(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Whether its walltime passed before all of it was bound, while no controller ran.

        Then it has not had its time, and waits again. So does a workload that we suspended: for
        Kubernetes it has not ended, and its time does not count. Not so if Kubernetes ends it, as
        we may have requested, or if some pods have run that no workload creates again.
        """
        job = self.shared.job(part)
        if job.cause is not EndCause.TIMED_OUT:
            return False
        if not group.workloads:
            return job.running is None and not part.ended and not part.held
        return all(
            ADAPTERS[group.kinds[uid]].is_waiting_for_us(workload)
            or (job.running is None and self._outlasts(group, uid, part))
            for uid, workload in group.workloads.items()
        )

    def _outlasts(self, group: WorkloadGroup, uid: str, part: GroupPart) -> bool:
        """Whether Kubernetes lets a workload run longer than its job's walltime."""
        adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
        own = adapter.walltime(workload)
        is_longer = own is None or own > (self.shared.job(part).walltime or 0)
        return adapter.end(workload) is None and is_longer

    def _creates_more(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Whether a workload would create pods again if its job ended for the queue now.

        What a service creates waits, and does no harm if its job waits again, too.
        """
        waits_again = ends_in_queue(self.shared.job(part))
        for uid, workload in group.workloads.items():
            kind = group.kinds[uid]
            if kind in SUSPENDABLE:
                if ADAPTERS[kind].goes_on(workload):
                    return True
            elif not waits_again and (
                ADAPTERS[kind].goes_on(workload)
                or any(m.owner == uid and is_live(m.pod) for m in group.pods.values())
            ):
                return True
        return False

    def _scale_to_zero(self, group: WorkloadGroup, why: str) -> Iterator[Action]:
        """Leave services without pods; a Job that is cancelled is suspended."""
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            if group.kinds[uid] not in SUSPENDABLE and adapter.goes_on(workload):
                yield change(group, uid, adapter.fail(workload), why)

    def _end_by_deadline(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        """Have Kubernetes end what has used up its walltime, and keep it to be inspected."""
        walltime = self.shared.job(part).walltime or 0
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            has_pods = not adapter.is_service or adapter.goes_on(workload)
            if has_pods and self._outlasts(group, uid, part):
                yield change(group, uid, adapter.end_by_deadline(workload), "walltime")
        for task in part.bound:
            member = group.pods.get(part.pods[task])
            if member is None or member.owner:
                continue
            own = member.pod.spec.active_deadline_seconds
            if own is None or own > walltime:
                yield _end_pod(member, "its walltime is over", delete=False)


def has_enough(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether enough pods of a service are bound for it to run."""
    return group.is_service and len(part.bound) >= min(least_size(group), part.seats)


def ends_in_queue(job: QueueJob) -> bool:
    """Whether a job that is ending waits again afterwards."""
    spec = job.submission
    return (job.cause is EndCause.PREEMPTED and spec.requeue) or (
        job.cause is EndCause.LOST_NODES and spec.on_loss is OnLoss.REQUEUE
    )


def _is_suspendable(group: WorkloadGroup, member: Member) -> bool:
    return group.kinds[member.owner] in SUSPENDABLE


def _lacks_pods(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether seats stay empty because no workload creates pods for them."""
    if not group.workloads:
        return len(part.pods) < part.seats
    if group.key.kind != LABELLED or group.is_service:
        return False  # what its workload no longer wants is given back
    due = sum(pods_to_come(group, uid) for uid in group.workloads)
    there = len(part.pods) + len(part.held)
    return there + due < min(least_size(group), part.seats)


def _end_pod(member: Member, why: str, *, delete: bool) -> EndPod:
    metadata = member.pod.metadata
    return EndPod(
        metadata.namespace,
        metadata.name,
        metadata.uid,
        metadata.resource_version,
        delete,
        why,
    )
