"""From decisions to deeds: what must be done on the cluster so that it becomes what the queue says.

Level-triggered: what is to be done follows from where a group is, not from what happened. So it may
be asked for twice, and after a crash it is asked for again.

    allocated   let workloads go, bind every pod to its seat      filled ──▶ Started
    running     bind whoever comes late to a kept seat
    returning   take workloads back, end pods that are bound      empty  ──▶ Returned
    ending      by cause: deadline, suspension, deletion          empty  ──▶ Ended

A Job goes back by being suspended, never by deleting its pods, which would spend its backoffLimit.
Pods that nobody makes again cannot go back once one of them is bound: then the group fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import GroupPart, Member, WorkloadGroup
from fluxnetes.cluster.labels.names import GATES
from fluxnetes.controller.actions.types import Action, BindPod, ChangeWorkload, EndPod
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.events import Ended, PartsLost, Returned, Started
from fluxnetes.queue.states import WAITING, EndCause, JobState

InFlight = Callable[[int], bool]
"""Whether a bind of a job is under way, of which nobody knows how it will end."""


@dataclass(slots=True, eq=False)
class Reconciler:
    """Says what to do, and tells the queue when it is done."""

    shared: ControllerState
    in_flight: InFlight
    revoke: Callable[[str], None] = field(default=lambda uid: None)
    """Asks that a pod, by its uid, be not bound, if that has not begun."""

    def carry(self, group: WorkloadGroup) -> list[Action]:
        """What is to be done for a group now."""
        actions: list[Action] = []
        for part in self.shared.holding(group):
            state = self.shared.state(part)
            if state is JobState.ENDING:
                actions += self._end(group, part)
            elif part.returning:
                actions += self._take_back(group, part)
            else:
                actions += self._place(group, part, state)
        return actions

    # -- forward -------------------------------------------------------------------------------

    def _place(self, group: WorkloadGroup, part: GroupPart, state: JobState) -> Iterator[Action]:
        if not group.pods and not group.workloads:
            self.shared.tell(Ended(part.job, ok=False, reason="deleted by its user"))
            return
        if part.is_filled:
            if state is JobState.ALLOCATED:
                self.shared.tell(Started(part.job))
            return
        if part.bound and not part.to_bind and not group.workloads:
            return  # all that can be asked for was asked for
        if any(uid not in group.pods for uid in part.pods.values()):
            return  # gone while we wrote this down; look at that first
        if state is JobState.ALLOCATED and not part.bound and _lacks_pods(group, part):
            part.returning = "a pod of the group was deleted before it could start"
            yield from self._take_back(group, part)
            return
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            if adapter.is_waiting_for_us(workload):
                yield _change(group, uid, adapter.let_go(workload), "it may start")
        for task in sorted(part.to_bind):
            part.to_bind.discard(task)
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

    # -- back ----------------------------------------------------------------------------------

    def give_up(self, group: WorkloadGroup, part: GroupPart, reason: str) -> None:
        """What was decided cannot be carried out: the part goes back, or fails."""
        owned = bool(group.workloads) and all(group.pods[uid].owner for uid in part.pods.values())
        state = self.shared.state(part)
        if state is JobState.ALLOCATED and (owned or not (part.bound or part.ended)):
            part.returning = reason
        elif state in (JobState.ALLOCATED, JobState.RUNNING):
            self.shared.tell(PartsLost((part.job,), reason))
        self.shared.carry(group)

    def _take_back(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        if (part.bound or part.ended) and not group.workloads:
            self.shared.tell(PartsLost((part.job,), part.returning))
            yield from self._end(group, part)
            return
        if part.bound or self._must_suspend(group):
            yield from self._suspend(group, part.returning)
        self._revoke(part)
        if not part.bound and not self.in_flight(part.job):
            reason = part.returning
            begin = self.shared.now + part.pause if part.pause else None
            self.shared.wait_again(group, part)
            self.shared.tell(Returned(part.job, reason, begin))

    def _revoke(self, part: GroupPart) -> None:
        """What is not bound yet stays so."""
        for task, uid in part.pods.items():
            if task not in part.bound:
                self.revoke(uid)

    def _must_suspend(self, group: WorkloadGroup) -> bool:
        """Pods that exist and are not bound simply wait; there is no need to make them go."""
        return any(
            ADAPTERS[group.kinds[uid]].is_suspended(workload)
            for uid, workload in group.workloads.items()
        )

    def _suspend(self, group: WorkloadGroup, reason: str) -> Iterator[Action]:
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            if not adapter.is_suspended(workload) and adapter.end(workload) is None:
                yield _change(group, uid, adapter.take_back(workload), reason)

    # -- end -----------------------------------------------------------------------------------

    def _end(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        job = self.shared.job(part)
        self._revoke(part)
        is_empty = not part.bound and not self.in_flight(part.job)
        if is_empty and self._never_ran(group, part):
            self.shared.wait_again(group, part)
            self.shared.tell(Returned(part.job, "its time was over before it could start"))
            return
        if is_empty and not self._makes_more(group):
            self.shared.tell(Ended(part.job, ok=False, reason=job.reason))
            if self.shared.state(part) in WAITING:  # it may be placed anew before we look again
                self.shared.wait_again(group, part)
            return
        grace = self.shared.settings.grace
        late = job.expected is not None and self.shared.now > job.expected + grace
        if job.cause is EndCause.TIMED_OUT and not late:
            yield from self._end_by_deadline(group, part)
            return
        yield from self._suspend(group, job.reason)
        for task in part.bound:
            member = group.pods.get(part.pods[task])
            if member is not None and (late or not member.owner):
                yield _end_pod(member, job.reason, delete=True)

    def _never_ran(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Whether its walltime went by before all of it was placed: nobody was there to do it.

        Then it has not had its time, and waits for it again. Not so if Kubernetes ends it, as we
        may have asked for, or if some of it has run that nobody will make again.
        """
        job = self.shared.job(part)
        if job.cause is not EndCause.TIMED_OUT or job.running is not None:
            return False
        if not group.workloads:
            return not part.ended and not part.kept
        return all(self._outlasts(group, uid, part) for uid in group.workloads)

    def _outlasts(self, group: WorkloadGroup, uid: str, part: GroupPart) -> bool:
        """Whether Kubernetes lets a workload live longer than its job's walltime."""
        adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
        own = adapter.walltime(workload)
        is_longer = own is None or own > (self.shared.job(part).walltime or 0)
        return adapter.end(workload) is None and is_longer

    def _makes_more(self, group: WorkloadGroup) -> bool:
        """Whether a workload would make pods again if its job were over for the queue now."""
        return any(
            not ADAPTERS[group.kinds[uid]].is_suspended(workload)
            and ADAPTERS[group.kinds[uid]].end(workload) is None
            for uid, workload in group.workloads.items()
        )

    def _end_by_deadline(self, group: WorkloadGroup, part: GroupPart) -> Iterator[Action]:
        """Kubernetes ends what is out of time, and keeps it to be looked at."""
        walltime = self.shared.job(part).walltime or 0
        for uid, workload in group.workloads.items():
            if self._outlasts(group, uid, part):
                adapter = ADAPTERS[group.kinds[uid]]
                yield _change(group, uid, adapter.end_by_deadline(workload), "walltime")
        for task in part.bound:
            member = group.pods.get(part.pods[task])
            if member is None or member.owner:
                continue
            own = member.pod.spec.active_deadline_seconds
            if own is None or own > walltime:
                yield _end_pod(member, "its walltime is over", delete=False)


def _lacks_pods(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether seats stay empty because nobody makes pods for them."""
    return not group.workloads and len(part.pods) < part.seats


def _change(group: WorkloadGroup, uid: str, content: dict[str, object], why: str) -> ChangeWorkload:
    workload = group.workloads[uid]
    return ChangeWorkload(
        group.kinds[uid], workload.metadata.namespace, workload.metadata.name, uid, content, why
    )


def _end_pod(member: Member, why: str, *, delete: bool) -> EndPod:
    metadata = member.pod.metadata
    return EndPod(metadata.namespace, metadata.name, metadata.uid, delete, why)
