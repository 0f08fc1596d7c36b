"""The journal of a matcher's allocations: committed before an answer, restored after a crash.

A matched job is stored in the tables of the queue as a job that never waited: running or, if it is
reserved, allocated with a start in the future. So every reader of the store can show it.

Numbers of jobs are never reused, not even on another graph: the tables keep ended jobs.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation, Changes, JobEvent
from fluxnetes.queue.input_limits import check_bounds, check_names
from fluxnetes.queue.jobs import Origin, QueueJob, Submission
from fluxnetes.queue.states import JobState
from fluxnetes.service.matcher_ops import JobNotes, MatcherOperations
from fluxnetes.service.persistence.ownership import check_owner
from fluxnetes.store.store import Store
from fluxnetes.store.translate import translate

_MATCHED = Reason.of(Message.MATCHED)
_NO_USER = "nobody"
_NO_REQUEST = Jobspec(())
"""The request of a job that was placed elsewhere."""


@dataclass(slots=True)
class AllocationJournal:
    """The jobs of a matcher as they are stored, and the changes since the last commit."""

    jobs: dict[int, QueueJob] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)

    def take_changes(self) -> Changes:
        changes, self.changes = self.changes, Changes()
        return changes

    def enter(self, matched: MatchedJob, operations: MatcherOperations) -> None:
        """A job was allocated or reserved. Raises QueueError if it cannot be stored."""
        note = operations.notes[matched.jobid]
        state = JobState.ALLOCATED if matched.reserved else JobState.RUNNING
        request = _NO_REQUEST if note.asked is None else operations.request(note.asked)
        user = note.user or _NO_USER
        submission = Submission(
            matched.jobid,
            request,
            user=user,
            name=note.name,
            workload=note.key,
            origin=Origin.MATCHER,
        )
        job = QueueJob(
            submission,
            state,
            submitted=note.since,
            arrival=matched.jobid,
            queue=submission.queue,
            priority=0,
            walltime=None,
            ranked=0,
            start=matched.at,
            size=note.size,
        )
        placed = matched.placement
        check_bounds(replace(submission, id=0), "job")  # a caller may choose larger numbers
        check_bounds({"queue": placed.queue, "labels": placed.labels}, "placement")
        check_names(submission, "job")
        self.jobs[job.id] = self.changes.jobs[job.id] = job
        self.changes.events.append(
            JobEvent(job.id, note.since, "transition", None, state, matched.at, _MATCHED)
        )
        self.change(matched)
        self.changes.step = matched.jobid

    def drop(self, id: int) -> None:
        """The store refused a job, so it never was."""
        self.jobs.pop(id, None)
        self.allocations.pop(id, None)

    def change(self, matched: MatchedJob) -> None:
        """A job has another placement than before."""
        allocation = Allocation(matched.jobid, matched.at, matched.end, matched.placement)
        self.allocations[matched.jobid] = allocation
        self.changes.allocations[matched.jobid] = allocation

    def end(self, id: int, now: int, reason: Reason) -> None:
        """A job ended."""
        # A copy: its start may not be committed yet, and must not be committed as ended.
        job = copy(self.jobs.pop(id))
        del self.allocations[id]
        before, job.state, job.end, job.reason = job.state, JobState.CANCELLED, now, reason
        self.changes.jobs[id] = job
        self.changes.allocations[id] = None
        self.changes.events.append(
            JobEvent(id, now, "transition", before, JobState.CANCELLED, reason=reason)
        )

    def follow(self, operations: MatcherOperations, now: int, reason: Reason) -> None:
        """The graph changed, and jobs may have lost resources."""
        live = operations.matcher.jobs if operations.has_graph else {}
        for id in list(self.jobs):
            matched = live.get(id)
            if matched is None:
                self.end(id, now, reason)
            elif matched.placement is not self.allocations[id].placement:
                self.change(matched)


async def reopen(store: Store, fence: int, operations: MatcherOperations) -> AllocationJournal:
    """Restore the graph and all allocations from the store."""
    snapshot, system = await store.load(), await store.system()
    if system is None:
        return AllocationJournal()
    check_owner(system, snapshot.jobs, frozenset({Origin.MATCHER}))
    snapshot = translate(snapshot, system, system.graph).snapshot
    if not np.array_equal(system.rows, np.arange(len(system.rows))):
        # Rows have other numbers now, and all later commits use these.
        await store.keep_system(system.graph, system.config, fence, snapshot.allocations)
    operations.begin(
        Matcher(system.graph, policy=system.config.match_policy), system.config.match_policy
    )
    journal = AllocationJournal({job.id: job for job in snapshot.jobs})
    for allocation in snapshot.allocations:
        _readmit(operations, allocation, journal.jobs[allocation.job])
        journal.allocations[allocation.job] = allocation
    operations.count_from(1 + max(snapshot.step, snapshot.arrivals))
    return journal


def _readmit(operations: MatcherOperations, allocation: Allocation, job: QueueJob) -> None:
    matched = MatchedJob(
        job.id,
        allocation.start,
        allocation.placement.end,
        job.state is JobState.ALLOCATED,
        allocation.placement,
    )
    operations.readmit(matched, _note_of(job))


def _note_of(job: QueueJob) -> JobNotes:
    asked = job.submission
    user = "" if asked.user == _NO_USER else asked.user
    return JobNotes(asked.request, asked.name, job.size, asked.workload, job.submitted, user)
