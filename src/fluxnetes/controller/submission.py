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
    missing,
)
from fluxnetes.cluster.groups import LABELLED, POD, GroupKey, WorkloadGroup
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.events import Alter, Cancel, Grow, Hold, Release, Reshape, Submit
from fluxnetes.queue.jobs import Dependency, DependencyKind, OnLoss, Origin, Submission
from fluxnetes.queue.states import JobState

_DELETED = Reason.of(Message.DELETED_BY_USER)
_NOTHING_TO_PLACE = Reason.of(Message.NOTHING_TO_PLACE)


@dataclass(slots=True, eq=False)
class GroupSubmitter:
    """Submits, changes and cancels the jobs of groups."""

    shared: ControllerState
    read: ReadFootprint
    demands: dict[int, Demand] = field(default_factory=dict)
    """What was last asked for each job."""
    _dependants: set[GroupKey] = field(default_factory=set)
    """Groups that depend on a group that was not queued yet."""

    def settle(self, group: WorkloadGroup) -> None:
        """Submit what the group asks for; `group.not_queued` says why something is not
        submitted."""
        waiting = group.waiting
        if self._is_ending(group):
            self._withdraw(waiting, Reason.of(Message.PART_ENDING))
            return
        try:
            if group.label_errors:
                raise UnsupportedPod("; ".join(dict.fromkeys(group.label_errors.values())))
            demand = ask(group, self.read)
        except UnsupportedPod as unsupported:
            reason = Reason.from_text(str(unsupported), ReasonCode.UNSUPPORTED)
            group.refuse(reason)
            self._withdraw(waiting, reason)
            return
        except Prerequisite as missing_first:
            reason = Reason.from_text(str(missing_first), ReasonCode.PREREQUISITE)
            group.wait_for(reason)
            self._withdraw(waiting, reason)
            return
        if demand is None:
            self._nothing_asked(group, waiting)
        elif waiting is None:
            self._more_asked(group, demand)
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
        is_gone = not group.workloads and not group.pods
        if is_gone or group.holding or group.closed is not None:
            group.queued()
            self._withdraw(waiting, _DELETED if is_gone else _NOTHING_TO_PLACE)
        else:
            incomplete = missing(group)
            group.wait_for(incomplete)
            self._withdraw(waiting, incomplete)

    def _withdraw(self, waiting: GroupPart | None, reason: Reason) -> None:
        """The group does not ask for its waiting job any more."""
        if waiting is not None:
            waiting.withdraw()
            self.shared.send(Cancel(waiting.job, Reason.of(Message.WITHDRAWN, reason=reason)))

    # -- new jobs ------------------------------------------------------------------------------

    def _more_asked(self, group: WorkloadGroup, demand: Demand) -> None:
        grown = next((part for part in group.holding if self._can_grow(part)), None)
        if grown is not None:
            self.shared.send(Grow(grown.job))
            return
        if group.parts and demand.footprints == group.rejected_late:
            return
        try:
            dependencies = self._dependencies(group.key, demand)
        except Prerequisite as missing_first:
            group.wait_for(Reason.from_text(str(missing_first), ReasonCode.PREREQUISITE))
            self._dependants.add(group.key)
            return
        except UnsupportedPod as unsupported:
            group.refuse(Reason.from_text(str(unsupported), ReasonCode.UNSUPPORTED))
            return
        group.queued()
        self._submit(group, demand, dependencies)

    def _can_grow(self, part: GroupPart) -> bool:
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
        if shared.send(Submit(submission)):
            shared.next_id_used()
            shared.job_submitted(group, GroupPart(submission.id, demand.footprints))
            self.demands[submission.id] = demand
            self._recheck_dependants()

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
            raise Prerequisite(f"{kind.value} {name}: nothing of that name was queued so far")
        if kind is DependencyKind.SUCCEEDED and not outcomes[0]:
            raise UnsupportedPod(f"{kind.value} {name}: that has failed, and will never succeed")

    # -- changes of waiting jobs ---------------------------------------------------------------

    def _alter(self, part: GroupPart, demand: Demand) -> None:
        before = self.demands.get(part.job)
        if before == demand:
            return
        shared, job = self.shared, self.shared.job(part)
        if before is None or (before.footprints, before.size) != (demand.footprints, demand.size):
            shared.send(Reshape(part.job, demand.gang, demand.size))
            part.reshape(demand.footprints)
        if before is not None and before.walltime != demand.walltime and demand.walltime:
            shared.send(Alter(part.job, walltime=demand.walltime))
        if job.queue != demand.queue and (before is None or before.queue != demand.queue):
            shared.send(Alter(part.job, queue=demand.queue))
        if before is not None and before.priority != demand.priority:
            shared.send(Alter(part.job, priority=demand.priority))
        if demand.hold and shared.state(part) is JobState.PENDING:
            shared.send(Hold(part.job))
        elif not demand.hold and shared.state(part) is JobState.HELD:
            shared.send(Release(part.job))
        self.demands[part.job] = demand

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
    kinds = [kind.capitalize()] if kind else [*ADAPTERS, LABELLED, POD]
    return [(each, namespace, name) for each in kinds]
