"""Applies the decisions of the queue to the groups: jobs that were placed, requeued or ended.

Decisions are applied only after they were written to the store, so that a crash never leaves the
cluster ahead of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import LABELLED, POD, ClosedGroup, WorkloadGroup, is_live
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import ReasonCode
from fluxnetes.controller.seats import SeatAssigner
from fluxnetes.controller.state import ControllerState
from fluxnetes.controller.submission import GroupSubmitter
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, WAITING, JobState

_FOR_GOOD = (JobState.REJECTED, JobState.CANCELLED)
"""Ends after which new pods of the same workload are not queued again."""


@dataclass(slots=True, eq=False)
class DecisionApplier:
    """Applies committed decisions to the groups."""

    shared: ControllerState
    seats: SeatAssigner
    submitter: GroupSubmitter

    def apply(self, changes: Changes) -> None:
        """The queue decided this, and it is written to the store."""
        for id, allocation in changes.allocations.items():
            known = self.shared.parts.get(id)
            if known is not None and allocation is not None:
                group, part = known
                nodes = self.shared.nodes_of(allocation)
                if not part.holds:
                    part.made_progress(self.shared.clock)
                self.shared.job_placed(part, nodes, allocation.ended_tasks)
                self.seats.assign(group)
                self.shared.request_reconcile(group)
        for id, job in changes.jobs.items():
            known = self.shared.parts.get(id)
            if known is not None:
                self._apply_state(*known, job)

    def _apply_state(self, group: WorkloadGroup, part: GroupPart, job: QueueJob) -> None:
        if job.state in ENDED:
            self._end(group, part, job)
        elif job.state in WAITING and part.holds:
            self.shared.job_requeued(group, part)
        else:
            self.shared.request_reconcile(group)

    def _end(self, group: WorkloadGroup, part: GroupPart, job: QueueJob) -> None:
        self.shared.job_ended(group, part)
        self.submitter.forget(part.job)
        if is_withdrawn(job):
            pass  # its objects ask again, as a part of another group
        elif not group.parts:
            group.close(closed_by(group, job))
        elif job.state is JobState.REJECTED:
            group.reject_late(part.footprints)
        self.shared.model.mark_dirty(group)


def is_withdrawn(job: QueueJob) -> bool:
    """Whether a job ended because its objects asked for it no longer, and may ask again."""
    return job.reason is not None and job.reason.code is ReasonCode.WITHDRAWN


def closed_by(group: WorkloadGroup, job: QueueJob) -> ClosedGroup:
    """How a group is closed whose last job has ended.

    Pods of a group label that come later are another group of the same name. A workload is
    identified by its uid: once rejected, it stays so until it is created again.
    """
    without_workload = group.key.kind in (POD, LABELLED)
    is_given_up = job.state in _FOR_GOOD
    for_good = is_given_up and not without_workload
    # What was refused before it ran is refused with all of its pods.
    is_refused = is_given_up and job.start is None
    uids = {uid for uid, m in group.pods.items() if is_refused or not _waits(m.pod)}
    # A job that is cancelled has its workloads suspended: these do not wait for another one.
    uids |= {uid for uid in group.workloads if is_given_up or not _waits_for_us(group, uid)}
    given_up = {uid for uid in group.pods.keys() | group.workloads if group.is_given_up(uid)}
    given_up |= uids if is_given_up else set()
    uids |= given_up | group.ended_workloads.keys()
    is_refused = is_refused or for_good or (is_given_up and bool(group.workloads))
    return ClosedGroup(
        frozenset(uids), for_good, frozenset(given_up), is_refused, job.state, job.reason
    )


def _waits_for_us(group: WorkloadGroup, uid: str) -> bool:
    adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
    waits: bool = adapter.is_waiting_for_us(workload)
    return waits


def _waits(pod: Pod) -> bool:
    """Whether a pod waits for a node. The job that ended did not stand for it: a job ends after
    its pods."""
    return not pod.spec.node_name and is_live(pod)
