"""What a matcher granted, kept in the store: written before it is answered, found after a crash.

A job that was matched is a job as the queue's tables know it: running or, if it is reserved,
allocated for a time to come; it never was in line. So all that reads the store can tell of it.

Numbers of jobs are never given twice, not even on another graph: the tables remember what ended.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field

import numpy as np

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation, Changes, JobEvent
from fluxnetes.queue.jobs import Origin, QueueJob, Submission
from fluxnetes.queue.states import JobState
from fluxnetes.service.matcher_ops import JobNotes, MatcherOperations
from fluxnetes.service.persistence.ownership import check_ours
from fluxnetes.store.store import Store
from fluxnetes.store.translate import translate

_NOBODY = "nobody"
_MATCHED = Reason.of(Message.MATCHED)
_NOTHING = Jobspec(())
"""Stands for the request of what was placed elsewhere."""


@dataclass(slots=True)
class AllocationJournal:
    """The jobs of a matcher as the store has them, and what changed since it was last written."""

    jobs: dict[int, QueueJob] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)

    def take_changes(self) -> Changes:
        changes, self.changes = self.changes, Changes()
        return changes

    def enter(self, matched: MatchedJob, matching: MatcherOperations) -> None:
        """A job was granted something."""
        note = matching.notes[matched.jobid]
        state = JobState.ALLOCATED if matched.reserved else JobState.RUNNING
        request = _NOTHING if note.asked is None else matching.request(note.asked)
        user = note.user or _NOBODY
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
        self.jobs[job.id] = self.changes.jobs[job.id] = job
        self.changes.events.append(
            JobEvent(job.id, note.since, "transition", None, state, matched.at, _MATCHED)
        )
        self.change(matched)
        self.changes.step = matched.jobid

    def change(self, matched: MatchedJob) -> None:
        """A job has something else than before."""
        allocation = Allocation(matched.jobid, matched.at, matched.end, matched.placement)
        self.allocations[matched.jobid] = allocation
        self.changes.allocations[matched.jobid] = allocation

    def end(self, id: int, now: int, reason: Reason) -> None:
        """A job holds nothing any more."""
        # A copy: that it began may not be written yet, and must not be written as if it had ended.
        job = copy(self.jobs.pop(id))
        del self.allocations[id]
        before, job.state, job.end, job.reason = job.state, JobState.CANCELLED, now, reason
        self.changes.jobs[id] = job
        self.changes.allocations[id] = None
        self.changes.events.append(
            JobEvent(id, now, "transition", before, JobState.CANCELLED, reason=reason)
        )

    def follow(self, matching: MatcherOperations, now: int, reason: Reason) -> None:
        """The graph was changed, and jobs may have lost what they had."""
        live = matching.matcher.jobs if matching.has_graph else {}
        for id in list(self.jobs):
            matched = live.get(id)
            if matched is None:
                self.end(id, now, reason)
            elif matched.placement is not self.allocations[id].placement:
                self.change(matched)


async def reopen(store: Store, fence: int, matching: MatcherOperations) -> AllocationJournal:
    """Go on from what the store has: the graph, and who has what of it."""
    snapshot, system = await store.load(), await store.system()
    if system is None:
        return AllocationJournal()
    check_ours(system, snapshot.jobs, frozenset({Origin.MATCHER}))
    snapshot = translate(snapshot, system, system.graph).snapshot
    if not np.array_equal(system.rows, np.arange(len(system.rows))):
        # Rows have other numbers now, and all that we will write speaks of these.
        await store.keep_system(system.graph, system.config, fence, snapshot.allocations)
    matching.begin(
        Matcher(system.graph, policy=system.config.match_policy), system.config.match_policy
    )
    book = AllocationJournal({job.id: job for job in snapshot.jobs})
    for allocation in snapshot.allocations:
        _readmit(matching, allocation, book.jobs[allocation.job])
        book.allocations[allocation.job] = allocation
    matching.matcher.next_jobid = 1 + max(snapshot.step, snapshot.arrivals)
    return book


def _readmit(matching: MatcherOperations, allocation: Allocation, job: QueueJob) -> None:
    matched = MatchedJob(
        job.id,
        allocation.start,
        allocation.placement.end,
        job.state is JobState.ALLOCATED,
        allocation.placement,
    )
    matching.readmit(matched, _note_of(job))


def _note_of(job: QueueJob) -> JobNotes:
    asked = job.submission
    user = "" if asked.user == _NOBODY else asked.user
    return JobNotes(asked.request, asked.name, job.size, asked.workload, job.submitted, user)
