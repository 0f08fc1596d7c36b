"""From groups to the queue: who is queued, as what, and what changes about those who wait."""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.cluster.demand import (
    Demand,
    Prerequisite,
    ReadFootprint,
    UnsupportedPod,
    ask,
    missing,
)
from fluxnetes.cluster.groups import GroupKey, GroupPart, WorkloadGroup
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.events import Alter, Cancel, Grow, Hold, Release, Reshape, Submit
from fluxnetes.queue.jobs import Dependency, DependencyKind, OnLoss, Submission
from fluxnetes.queue.states import JobState

WITHDRAWN = "withdrawn: "
"""How the reason of a job begins that its group no longer asks for. It does not close the group."""


@dataclass(slots=True, eq=False)
class GroupSubmitter:
    """Keeps the queue in step with what groups ask for."""

    shared: ControllerState
    read: ReadFootprint
    demands: dict[int, Demand] = field(default_factory=dict)
    """What each job that waits was last asked for as."""
    _dependants: set[GroupKey] = field(default_factory=set)
    """Groups that depend on something that was not queued yet."""

    def settle(self, group: WorkloadGroup) -> None:
        """Queue what is to be queued; `group.told` says why something is not."""
        waiting = group.waiting
        if self._is_leaving(group):
            self._withdraw(group, waiting, "the rest of its group is leaving")
            return
        try:
            if group.refusals:
                raise UnsupportedPod("; ".join(dict.fromkeys(group.refusals.values())))
            demand = ask(group, self.read)
        except UnsupportedPod as unfit:
            group.told = f"refused: {unfit}"
            self._withdraw(group, waiting, str(unfit))
            return
        except Prerequisite as wait:
            group.told = str(wait)
            self._withdraw(group, waiting, str(wait))
            return
        if demand is None:
            self._nothing_asked(group, waiting)
        elif waiting is None:
            self._more_asked(group, demand)
        elif self.shared.state(waiting) in (JobState.PENDING, JobState.HELD):
            self._alter(waiting, demand)

    def _is_leaving(self, group: WorkloadGroup) -> bool:
        """Whether something of it is being ended or taken back. Pods that its workload would make
        in place of those that go then are not asked for; once they are gone we look again."""
        return any(
            part.returning or self.shared.state(part) is JobState.ENDING
            for part in self.shared.holding(group)
        )

    def _nothing_asked(self, group: WorkloadGroup, waiting: GroupPart | None) -> None:
        gone = not group.workloads and not group.pods
        started = any(part.holds for part in group.parts)
        group.told = "" if gone or started or group.closed is not None else missing(group)
        self._withdraw(group, waiting, "deleted by its user" if gone else group.told)

    def _withdraw(self, group: WorkloadGroup, waiting: GroupPart | None, reason: str) -> None:
        """What waits is not asked for any more."""
        if waiting is not None:
            waiting.withdrawn = True
            why = reason or "nothing of it is left to be placed"
            self.shared.tell(Cancel(waiting.job, f"{WITHDRAWN}{why}"))

    # -- coming --------------------------------------------------------------------------------

    def _more_asked(self, group: WorkloadGroup, demand: Demand) -> None:
        grown = next((p for p in self.shared.holding(group) if self._can_grow(p)), None)
        if grown is not None:
            self.shared.tell(Grow(grown.job))
            return
        if group.parts and demand.footprints == group.refused:
            return
        try:
            dependencies = self._dependencies(group.key, demand)
        except Prerequisite as wait:
            group.told = str(wait)
            self._dependants.add(group.key)
            return
        except UnsupportedPod as unfit:
            group.told = f"refused: {unfit}"
            return
        group.told = ""
        self._submit(group, demand, dependencies)

    def _can_grow(self, part: GroupPart) -> bool:
        job = self.shared.job(part)
        size = job.submission.size
        return size is not None and len(part.nodes) < size.max

    def _submit(
        self, group: WorkloadGroup, demand: Demand, dependencies: tuple[Dependency, ...]
    ) -> None:
        shared = self.shared
        submission = Submission(
            id=shared.next_id,
            request=demand.gang,
            walltime=demand.walltime,
            queue=demand.queue,
            user=group.key.namespace,
            namespace=group.key.namespace,
            name=group.key.name,
            job_class=demand.job_class,
            priority=demand.priority,
            held=demand.hold,
            begin=demand.begin,
            dependencies=dependencies,
            size=demand.size,
            requeue=demand.requeue,
            on_loss=OnLoss.REQUEUE if demand.requeue else OnLoss.FAIL,
            workload=group.reference,
        )
        if shared.tell(Submit(submission)):
            shared.next_id += 1
            shared.add(group, GroupPart(submission.id, demand.footprints))
            self.demands[submission.id] = demand
            self._call_dependants()

    def _call_dependants(self) -> None:
        """Something was queued: have those looked at again that wait for such."""
        for key in self._dependants:
            self.shared.model.dirty[key] = None
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
        """What ended before there was this database need not be waited for, if it ended well."""
        outcomes = [
            self.shared.ended_before[key] for key in keys if key in self.shared.ended_before
        ]
        if not outcomes:
            raise Prerequisite(f"{kind.value} {name}: nothing of that name was queued so far")
        if kind is DependencyKind.SUCCEEDED and not outcomes[0]:
            raise UnsupportedPod(f"{kind.value} {name}: that has failed, and will never succeed")

    # -- changing ------------------------------------------------------------------------------

    def _alter(self, part: GroupPart, demand: Demand) -> None:
        before = self.demands.get(part.job)
        if before == demand:
            return
        shared, job = self.shared, self.shared.job(part)
        if before is None or (before.footprints, before.size) != (demand.footprints, demand.size):
            shared.tell(Reshape(part.job, demand.gang, demand.size))
            part.footprints = demand.footprints
        if before is not None and before.walltime != demand.walltime and demand.walltime:
            shared.tell(Alter(part.job, walltime=demand.walltime))
        if job.queue != demand.queue and (before is None or before.queue != demand.queue):
            shared.tell(Alter(part.job, queue=demand.queue))
        if before is not None and before.priority != demand.priority:
            shared.tell(Alter(part.job, priority=demand.priority))
        if demand.hold and shared.state(part) is JobState.PENDING:
            shared.tell(Hold(part.job))
        elif not demand.hold and shared.state(part) is JobState.HELD:
            shared.tell(Release(part.job))
        self.demands[part.job] = demand

    def forget(self, job: int) -> None:
        self.demands.pop(job, None)


def _keys(namespace: str, reference: str) -> list[tuple[str, str, str]]:
    """The groups that `kind/name`, or a name alone, may mean."""
    kind, _, name = reference.rpartition("/")
    kinds = [kind.capitalize()] if kind else ["Job", "Group", "Pod"]
    return [(each, namespace, name) for each in kinds]
