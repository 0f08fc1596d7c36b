"""Keeps the queue in step with what the groups ask for: submits, changes and cancels jobs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.demand import (
    Demand,
    Prerequisite,
    ReadFootprint,
    UnsupportedPod,
    ask,
    has_pods_to_place,
    missing,
    missing_pods,
)
from fluxnetes.cluster.groups import LABELLED, POD, GroupKey, WorkloadGroup
from fluxnetes.cluster.outcome import DELETED, is_suspended_by_user, outcome_of
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import Alter, Gathered, Grow, Hold, Release, Reshape, Submit
from fluxnetes.queue.jobs import Dependency, DependencyKind, OnLoss, Origin, Submission
from fluxnetes.queue.states import JobState

_FIRST = 2**31 - 1
"""The class of pods that a running group lost: they go before all other jobs of their queue. Higher
than any priority that Kubernetes allows."""
_NOTHING_TO_PLACE = Reason.of(Message.NOTHING_TO_PLACE)


@dataclass(slots=True, eq=False)
class GroupSubmitter:
    """Submits, changes and cancels the jobs of groups."""

    shared: ControllerState
    read: ReadFootprint
    refused: dict[str, str] = field(default_factory=dict)
    """Workloads with a value that the store refused in an earlier term, and what it said."""
    demands: dict[int, Demand] = field(default_factory=dict)
    """What was last asked for each job."""
    _dependants: set[GroupKey] = field(default_factory=set)
    """Groups that depend on a group that was not queued yet."""

    def settle(self, group: WorkloadGroup) -> None:
        """Submit what the group asks for; `group.not_queued` says why something is not
        submitted."""
        self._end_waiting(group)
        waiting = group.waiting
        if self._is_ending(group):
            self._gather(group, waiting, Reason.of(Message.PART_ENDING))
            return
        try:
            if group.label_errors:
                raise UnsupportedPod("; ".join(dict.fromkeys(group.label_errors.values())))
            demand = ask(group, self.read)
        except UnsupportedPod as unsupported:
            group.refuse(unsupported.reason)
            self._gather(group, waiting, unsupported.reason)
            return
        except Prerequisite as missing_first:
            group.wait_for(missing_first.reason)
            self._gather(group, waiting, missing_first.reason)
            return
        if demand is None:
            self._nothing_asked(group, waiting)
        elif waiting is None or waiting.gathers:
            self._more_asked(group, demand, waiting)
        elif self.shared.state(waiting) in (JobState.PENDING, JobState.HELD):
            self._alter(waiting, demand)

    def _is_ending(self, group: WorkloadGroup) -> bool:
        """Whether some of its parts are being ended or returned to the queue.

        Meanwhile nothing is asked for pods that its workload creates in place of those that end;
        the group is looked at again once they are gone.
        """
        return any(
            part.returning or self.shared.state(part) is JobState.ENDING for part in group.holding
        )

    def _nothing_asked(self, group: WorkloadGroup, waiting: GroupPart | None) -> None:
        if waiting is not None and is_suspended_by_user(group):
            group.queued()
            if self.shared.state(waiting) is JobState.PENDING:
                self.shared.suspend_job(group, waiting)
        elif group.holding or group.is_deleted or not has_pods_to_place(group):
            group.queued()
            self._gather(group, waiting, _NOTHING_TO_PLACE)
        else:
            incomplete = missing(group)
            group.wait_for(incomplete)
            self._gather(group, waiting, incomplete)

    def _end_waiting(self, group: WorkloadGroup) -> None:
        """End waiting jobs of a group that has ended without them, or that is gone."""
        for part in [part for part in group.parts if not part.holds]:
            outcome = outcome_of(group, part)
            if outcome is None and not group.workloads and not group.pods:
                outcome = DELETED
            if outcome is not None:
                self.shared.job_over(part, outcome)

    def _gather(self, group: WorkloadGroup, waiting: GroupPart | None, reason: Reason) -> None:
        """The group cannot start as it is; its job keeps its place, and waits for the rest of the
        group."""
        if waiting is not None:
            self.shared.gather_again(group, waiting, reason)

    # -- new jobs ------------------------------------------------------------------------------

    def _more_asked(self, group: WorkloadGroup, demand: Demand, waiting: GroupPart | None) -> None:
        grown = next((part for part in group.holding if self._can_grow(group, part)), None)
        if grown is not None:
            self.shared.send(Grow(grown.job))
            return
        if group.parts and demand.footprints == group.rejected_late:
            return
        if waiting is not None:
            self._gathered(group, waiting, demand)
            return
        try:
            dependencies = self._dependencies(group.key, demand)
        except Prerequisite as missing_first:
            group.wait_for(missing_first.reason)
            self._dependants.add(group.key)
            return
        except UnsupportedPod as unsupported:
            group.refuse(unsupported.reason)
            return
        group.queued()
        self._submit(group, demand, dependencies)

    def _gathered(self, group: WorkloadGroup, part: GroupPart, demand: Demand) -> None:
        """The pods of a job that waits for them are there, or come once its workload is released.

        Pods that a workload creates by itself, in place of pods that failed, may take minutes.
        """
        if not has_pods_to_place(group):
            return
        group.queued()
        if self.shared.send(Gathered(part.job, demand.gang, demand.size)):
            part.gather(again=False)
            part.reshape(demand.footprints)
            self.demands[part.job] = demand
            self._hold_or_release(part, demand)

    def _can_grow(self, group: WorkloadGroup, part: GroupPart) -> bool:
        """Whether a job can take in more members; those of a service wait in line by themselves."""
        if group.is_service:
            return False
        job = self.shared.job(part)
        size = job.submission.size
        return size is not None and len(part.nodes) < size.max

    def _submit(
        self, group: WorkloadGroup, demand: Demand, dependencies: tuple[Dependency, ...]
    ) -> None:
        shared = self.shared
        submission = replace(
            submission_of(group, demand, shared.next_id),
            held=demand.hold,
            begin=demand.begin,
            dependencies=dependencies,
            size=demand.size,
        )
        if missing_pods(group) is not None:
            submission = replace(submission, job_class=_FIRST)
        try:
            self._check_refused(group)
            shared.put(Submit(submission, endless=demand.endless))
        except QueueError as error:  # a value that cannot be stored, for example
            group.refuse(Reason.from_text(str(error), ReasonCode.UNSUPPORTED))
            return
        shared.next_id_used()
        shared.job_submitted(group, GroupPart(submission.id, demand.footprints))
        self.demands[submission.id] = demand
        self._recheck_dependants()

    def _check_refused(self, group: WorkloadGroup) -> None:
        """Raise QueueError if the store refused the job of this group before."""
        if group.reference in self.refused:
            raise QueueError(self.refused[group.reference])

    def _recheck_dependants(self) -> None:
        """A group was queued on which others may depend."""
        self.shared.model.mark_all_dirty(self._dependants)
        self._dependants.clear()

    def _dependencies(self, key: GroupKey, demand: Demand) -> tuple[Dependency, ...]:
        found = []
        for kind, name in demand.after:
            keys = _keys(key.namespace, name)
            other = next((k for k in keys if k in self.shared.last_job), None)
            if other is not None:
                found.append(Dependency(DependencyKind(kind), self.shared.last_job[other]))
            else:
                self._check_ended(keys, DependencyKind(kind), name)
        return tuple(found)

    def _check_ended(
        self, keys: list[tuple[str, str, str]], kind: DependencyKind, name: str
    ) -> None:
        """A group that succeeded before this database was created need not be waited for."""
        outcomes = [
            self.shared.ended_before[key] for key in keys if key in self.shared.ended_before
        ]
        if not outcomes:
            raise Prerequisite(Reason.of(Message.AFTER_UNKNOWN, kind=kind.value, name=name))
        if kind is DependencyKind.SUCCEEDED and not outcomes[0]:
            raise UnsupportedPod(Reason.of(Message.AFTER_FAILED, kind=kind.value, name=name))

    # -- changes of waiting jobs ---------------------------------------------------------------

    def _alter(self, part: GroupPart, demand: Demand) -> None:
        before = self.demands.get(part.job)
        shared, job = self.shared, self.shared.job(part)
        # A job is also held while its user suspends its workload.
        if before == demand and demand.hold == (job.state is JobState.HELD):
            return
        if before is None or (before.footprints, before.size) != (demand.footprints, demand.size):
            shared.send(Reshape(part.job, demand.gang, demand.size))
            part.reshape(demand.footprints)
        if before is not None and before.walltime != demand.walltime and demand.walltime:
            shared.send(Alter(part.job, walltime=demand.walltime))
        if job.queue != demand.queue and (before is None or before.queue != demand.queue):
            shared.send(Alter(part.job, queue=demand.queue, endless=demand.endless))
        if before is not None and before.priority != demand.priority:
            shared.send(Alter(part.job, priority=demand.priority))
        self._hold_or_release(part, demand)
        self.demands[part.job] = demand

    def _hold_or_release(self, part: GroupPart, demand: Demand) -> None:
        state = self.shared.state(part)
        if demand.hold and state is JobState.PENDING:
            self.shared.send(Hold(part.job))
        elif not demand.hold and state is JobState.HELD:
            self.shared.send(Release(part.job))

    def forget(self, job: int) -> None:
        """A job has ended."""
        self.demands.pop(job, None)


def submission_of(group: WorkloadGroup, demand: Demand, job: int) -> Submission:
    """The job that a group asks for, as it may start or be adopted at once."""
    return Submission(
        id=job,
        request=demand.gang,
        walltime=demand.walltime,
        queue=demand.queue,
        user=group.key.namespace,
        namespace=group.key.namespace,
        name=group.key.name,
        job_class=demand.job_class,
        priority=demand.priority,
        requeue=demand.requeue,
        on_loss=OnLoss.REQUEUE if demand.requeue else OnLoss.FAIL,
        workload=group.reference,
        origin=Origin.CLUSTER,
    )


def _keys(namespace: str, reference: str) -> list[tuple[str, str, str]]:
    """The groups that `kind/name`, or a name alone, may refer to."""
    kind, _, name = reference.rpartition("/")
    kinds = [each for each in (*ADAPTERS, LABELLED, POD) if kind in ("", each.lower())]
    return [(each, namespace, name) for each in kinds or [kind.capitalize()]]
