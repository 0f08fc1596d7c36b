"""Reconciles the cluster with the queue: derives the actions that make it what the queue decided.

Level-triggered: actions follow from where a group is, not from what happened. So an action may be
requested twice, and after a crash it is requested again.

    state of the part   actions                                       event, once done
    allocated           release workloads, bind every pod to its seat   filled ──▶ Started
    running             bind replacements to held seats
    returning           suspend workloads, end bound pods               empty  ──▶ Returned
    ending              by cause: deadline, suspension, deletion        empty  ──▶ Ended

A Job is returned by suspending it, never by deleting its pods, which would count against its
backoffLimit. A group of pods without a workload cannot be returned once one of them is bound, since
no controller creates them again: then the group fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.demand import has_pods_to_place
from fluxnetes.cluster.groups import Member, WorkloadGroup, is_live
from fluxnetes.cluster.labels.names import GATES
from fluxnetes.cluster.outcome import (
    DELETED,
    EndRequest,
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
from fluxnetes.kube.objects.base import Object
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
        if part.is_filled:
            if state is JobState.ALLOCATED:
                self.shared.send(Started(part.job))
            return
        if part.bound and not part.to_bind and not group.workloads:
            return  # everything that can be requested was requested
        if any(uid not in group.pods for uid in part.pods.values()):
            return  # a pod went during the commit; the next round looks at that first
        if state is JobState.ALLOCATED and not part.bound and _lacks_pods(group, part):
            # The previous leader may have bound pods that have ended since.
            outcome = None if has_pods_to_place(group) else outcome_of(group, part)
            if outcome is not None:
                self.shared.job_over(part, outcome)
                return
            part.start_return(Reason.of(Message.POD_DELETED))
            yield from self._return(group, part)
            return
        if state is JobState.ALLOCATED or group.waiting is None:
            # All workloads of a part that runs were released; others wait with another part.
            for uid in _concerned(group):
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
        # Pods that are gone are seen to be when the group is looked at, which may be later.
        there = (group.pods[uid] for uid in part.pods.values() if uid in group.pods)
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
        if (part.bound or part.ended) and not group.workloads:
            self.shared.send(PartsLost((part.job,), reason))
            yield from self._end(group, part)
            return
        if part.bound or self._must_suspend(group):
            yield from self._suspend(group, reason_text(reason))
        self._revoke_binds(part)
        if not part.bound and not self.actions.is_binding_job(part.job):
            begin = self.shared.now + part.retry_delay if part.retry_delay else None
            self.shared.job_requeued(group, part)
            self.shared.send(Returned(part.job, reason, begin))

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
            for uid, workload in _concerned(group).items()
        )

    def _suspend(self, group: WorkloadGroup, reason: str) -> Iterator[Action]:
        for uid, workload in _concerned(group).items():
            adapter = ADAPTERS[group.kinds[uid]]
            if not adapter.is_suspended(workload) and adapter.end(workload) is None:
                yield change(group, uid, adapter.suspend(workload), reason)

    def _fail(self, group: WorkloadGroup, reason: str) -> Iterator[Action]:
        for uid, workload in _concerned(group).items():
            adapter = ADAPTERS[group.kinds[uid]]
            if adapter.end(workload) is None:
                yield change(group, uid, adapter.fail(workload), reason)

    # -- end -----------------------------------------------------------------------------------

    def _end(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        job = self.shared.job(part)
        self._revoke_binds(part)
        is_empty = not part.bound and not self.actions.is_binding_job(part.job)
        if is_empty and self._is_over(group, part):
            return
        # When the queue expects the end says nothing: that moves on while the pods are there.
        late = part.start_ending(self.shared.clock) > self.shared.settings.forced_delete
        times_out = job.cause is EndCause.TIMED_OUT
        fails = job.cause is EndCause.LOST_NODES and job.submission.on_loss is OnLoss.FAIL
        if times_out:
            yield from self._end_by_deadline(group, part)
        elif fails:
            yield from self._fail(group, reason_text(job.reason))
        else:
            yield from self._suspend(group, reason_text(job.reason))
        ending = [part.pods[task] for task in part.bound]
        if late and fails:  # no backoffLimit is exceeded before a pod has failed
            ending += _waiting_pods(group)
        for uid in ending:
            member = group.pods.get(uid)
            if member is None or member.pod.metadata.deletion_timestamp is not None:
                continue
            if late or not (member.owner or times_out):
                part.kill(uid)
                yield _end_pod(member, reason_text(job.reason), delete=True)

    def _is_over(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Nothing of a part runs any more: inform the queue how it ended, or that it waits again.

        False if Kubernetes has yet to say so. What Kubernetes says comes first: a Job that
        completed has completed, whatever we asked of it since.
        """
        job = self.shared.job(part)
        outcome = outcome_of(group, part, self._request(part, job))
        if outcome is not None:
            self.shared.job_over(part, outcome)
        elif is_suspended_by_user(group) and job.cause is not EndCause.CANCELLED:
            self.shared.suspend_job(group, part)
        elif self._lost_its_time(group, part):
            self.shared.job_requeued(group, part)
            self.shared.send(Returned(part.job, Reason.of(Message.TIME_LOST)))
        elif self._creates_more(group) or runs_elsewhere(group, part):
            return False
        else:
            self.shared.send(Ended(part.job, ok=False, reason=job.reason))
            if self.shared.state(part) in WAITING:  # it may be placed again before the next look
                self.shared.job_requeued(group, part)
        return True

    def _request(self, part: GroupPart, job: QueueJob) -> EndRequest | None:
        """The queue's request to end a job."""
        if job.cause is None:
            return None
        deletes_from = 0.0
        if job.cause is EndCause.TIMED_OUT and job.start is not None and job.walltime is not None:
            # Kubernetes ends the pods at their deadline; they are deleted only if it does not.
            deletes_from = job.start + job.walltime + self.shared.settings.forced_delete
        return EndRequest(job.cause, deletes_from, self.shared.began, frozenset(part.killed))

    def _lost_its_time(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Whether its walltime passed before all of it was bound, while no controller ran.

        Then it has not had its time, and waits again. So does a workload that we suspended: for
        Kubernetes it has not ended, and its time does not count. Not so if Kubernetes ends it, as
        we may have requested, or if some pods have run that no workload creates again.
        """
        job = self.shared.job(part)
        if job.cause is not EndCause.TIMED_OUT:
            return False
        workloads = _concerned(group)
        if not workloads:
            return job.running is None and not part.ended and not part.held
        return all(
            ADAPTERS[group.kinds[uid]].is_waiting_for_us(workload)
            or (job.running is None and self._outlasts(group, uid, part))
            for uid, workload in workloads.items()
        )

    def _outlasts(self, group: WorkloadGroup, uid: str, part: GroupPart) -> bool:
        """Whether Kubernetes lets a workload run longer than its job's walltime."""
        adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
        own = adapter.walltime(workload)
        is_longer = own is None or own > (self.shared.job(part).walltime or 0)
        return adapter.end(workload) is None and is_longer

    def _creates_more(self, group: WorkloadGroup) -> bool:
        """Whether a workload would create pods again if its job ended for the queue now."""
        return any(
            not ADAPTERS[group.kinds[uid]].is_suspended(workload)
            and ADAPTERS[group.kinds[uid]].end(workload) is None
            for uid, workload in _concerned(group).items()
        )

    def _end_by_deadline(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        """Have Kubernetes end what has used up its walltime, and keep it to be inspected."""
        walltime = self.shared.job(part).walltime or 0
        for uid, workload in _concerned(group).items():
            if self._outlasts(group, uid, part):
                adapter = ADAPTERS[group.kinds[uid]]
                yield change(group, uid, adapter.end_by_deadline(workload), "walltime")
        for task in part.bound:
            member = group.pods.get(part.pods[task])
            if member is None or member.owner:
                continue
            own = member.pod.spec.active_deadline_seconds
            if own is None or own > walltime:
                yield _end_pod(member, "its walltime is over", delete=False)


def _concerned(group: WorkloadGroup) -> dict[str, Object]:
    """The workloads that a decision about a group concerns: not those that were suspended when an
    earlier group of the same label was rejected or cancelled."""
    return {
        uid: workload
        for uid, workload in group.workloads.items()
        if not (group.is_given_up(uid) and ADAPTERS[group.kinds[uid]].is_suspended(workload))
    }


def _lacks_pods(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether seats stay empty because no workload creates pods for them."""
    return not group.workloads and len(part.pods) < part.seats


def _waiting_pods(group: WorkloadGroup) -> list[str]:
    """The pods of workloads that wait for a node."""
    return [
        uid
        for uid, member in group.pods.items()
        if member.owner and not member.pod.spec.node_name and is_live(member.pod)
    ]


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
