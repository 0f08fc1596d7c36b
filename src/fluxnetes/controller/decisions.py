"""What the queue decided, into the groups: who was given nodes, who went back, who is over."""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.groups import LABELLED, POD, ClosedGroup, GroupPart, WorkloadGroup
from fluxnetes.controller.seats import SeatAssigner
from fluxnetes.controller.state import ControllerState
from fluxnetes.controller.submission import GroupSubmitter
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, WAITING, JobState

_FOR_GOOD = (JobState.REJECTED, JobState.CANCELLED, JobState.TIMED_OUT)


@dataclass(slots=True, eq=False)
class DecisionApplier:
    """Brings decisions that are written down to the groups."""

    shared: ControllerState
    seats: SeatAssigner
    submitter: GroupSubmitter

    def take(self, changes: Changes) -> None:
        for id, allocation in changes.allocations.items():
            known = self.shared.parts.get(id)
            if known is not None and allocation is not None:
                group, part = known
                nodes = self.shared.nodes_of(allocation)
                part.progress = part.progress if part.holds else self.shared.clock
                self.shared.place(part, nodes, allocation.ended_tasks)
                self.seats.seat(group)
                self.shared.carry(group)
        for id, job in changes.jobs.items():
            known = self.shared.parts.get(id)
            if known is not None:
                self._follow(*known, job)

    def _follow(self, group: WorkloadGroup, part: GroupPart, job: QueueJob) -> None:
        if job.state in ENDED:
            self._finish(group, part, job)
        elif job.state in WAITING and part.holds:
            self.shared.wait_again(group, part)
        else:
            self.shared.carry(group)

    def _finish(self, group: WorkloadGroup, part: GroupPart, job: QueueJob) -> None:
        self.shared.remove(group, part)
        self.submitter.forget(part.job)
        if not part.withdrawn and not group.parts:
            group.closed = close(group, job)
        elif not part.withdrawn and not part.holds:
            group.refused = part.footprints
        self.shared.model.dirty[group.key] = None


def close(group: WorkloadGroup, job: QueueJob) -> ClosedGroup:
    """A group whose job has ended."""
    alone = group.key.kind in (POD, LABELLED)
    # Pods of a group label that come later are another group of the same name. A workload is
    # known by its uid: what was refused once is refused until it is made anew.
    for_good = job.state in _FOR_GOOD and not alone
    return ClosedGroup(
        frozenset(group.pods), for_good, f"{job.state.value}: {job.reason}".strip(": ")
    )
