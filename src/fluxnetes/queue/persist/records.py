"""Keeps the records of jobs, their histories, and the changes not yet taken by the caller.

Ended jobs are kept for a while, so that they can be explained and depended on. Their number is
bounded; the store has all of them.
"""

from __future__ import annotations

from collections import defaultdict, deque

from fluxnetes.queue.changes import Changes, JobEvent
from fluxnetes.queue.errors import UnknownQueueJob
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import ENDED, JobState

_ENDED_KEPT = 1_000
"""Maximum ended jobs whose records and histories are kept in memory."""
OUTCOMES_KEPT = 100_000
"""Maximum ended jobs whose final state is kept, for jobs that depend on them."""


class JobRecords:
    """All jobs that have not ended, and the last ones that have."""

    def __init__(self) -> None:
        self.jobs: dict[int, QueueJob] = {}
        self.requests: dict[int, PlanRequest] = {}
        self.amounts: dict[int, dict[str, int]] = {}
        """What jobs hold, by type."""
        self.holding: dict[int, QueueJob] = {}
        self.children: dict[int, set[int]] = defaultdict(set)
        """For each array its tasks that have not ended."""
        self.arrays: dict[int, QueueJob] = {}
        """Arrays that have not ended; the ids after an array's own belong to its tasks."""
        self.dependants: dict[int, set[int]] = defaultdict(set)
        self.outcomes: dict[int, JobState] = {}
        """Final states of ended jobs, for later jobs that depend on them."""
        self.histories: dict[int, list[JobEvent]] = {}
        self.step = 0
        self.arrivals = 0
        self._changes = Changes()
        self._ended: deque[int] = deque()

    def find(self, id: int) -> QueueJob:
        job = self.jobs.get(id)
        if job is None:
            raise UnknownQueueJob(f"there is no job {id}")
        return job

    def add(self, job: QueueJob) -> None:
        """A job is submitted, adopted or restored."""
        self.jobs[job.id] = job

    def next_arrival(self) -> int:
        """The number of the job that arrives now."""
        self.arrivals += 1
        return self.arrivals

    def resume(self, step: int, arrivals: int) -> None:
        """Count on from a snapshot."""
        self.step, self.arrivals = step, arrivals

    def next_step(self) -> int:
        self.step += 1
        self._changes.step = self.step
        return self.step

    # -- what changed --------------------------------------------------------------------------

    @property
    def changes(self) -> Changes:
        return self._changes

    def take_changes(self, *, but_newcomers: bool = False) -> Changes:
        """What changed since the last call; `but_newcomers`: without new jobs that only wait."""
        taken, self._changes = self._changes, Changes()
        if but_newcomers:
            self._changes = taken.set_aside_newcomers()
        return taken

    def add_event(self, event: JobEvent) -> None:
        """Add an event to a job's history; its record changed, too."""
        self._changes.events.append(event)
        self.histories.setdefault(event.job, []).append(event)
        self._changes.jobs[event.job] = self.jobs[event.job]

    def touch(self, job: QueueJob) -> None:
        """A record changed in a way that needs no event."""
        self._changes.jobs[job.id] = job

    # -- ends ----------------------------------------------------------------------------------

    def retire(self, job: QueueJob) -> None:
        """A job ended; forget the oldest ended ones beyond the limits."""
        assert job.state in ENDED  # noqa: S101 - called by transitions alone
        self.children.pop(job.id, None)
        self.arrays.pop(job.id, None)
        self.outcomes[job.id] = job.state
        if len(self.outcomes) > OUTCOMES_KEPT:
            del self.outcomes[next(iter(self.outcomes))]
        self._ended.append(job.id)
        if len(self._ended) > _ENDED_KEPT:
            gone = self._ended.popleft()
            self.jobs.pop(gone, None)
            self.histories.pop(gone, None)
