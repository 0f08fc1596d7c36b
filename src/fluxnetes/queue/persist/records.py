"""What the queue remembers: jobs, their stories, and what changed since somebody last asked.

Jobs that ended are remembered for a while, so that they can be explained and depended on; the
memory is bounded, whoever wants to know more has the store.
"""

from __future__ import annotations

from collections import defaultdict, deque

from fluxnetes.queue.changes import Changes, JobEvent
from fluxnetes.queue.errors import UnknownQueueJob
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import ENDED, JobState

_ENDED_KEPT = 1_000
OUTCOMES_KEPT = 100_000


class JobRecords:
    """All jobs that live, and some that did."""

    def __init__(self) -> None:
        self.jobs: dict[int, QueueJob] = {}
        self.requests: dict[int, PlanRequest] = {}
        self.amounts: dict[int, dict[str, int]] = {}
        """What jobs hold, by type."""
        self.holding: dict[int, QueueJob] = {}
        self.children: dict[int, set[int]] = defaultdict(set)
        """For each array its tasks that live."""
        self.arrays: dict[int, QueueJob] = {}
        """Arrays that live; the ids after theirs belong to their tasks."""
        self.dependants: dict[int, set[int]] = defaultdict(set)
        self.outcomes: dict[int, JobState] = {}
        """How jobs ended, for those that come later and depend on them."""
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

    def next_step(self) -> int:
        self.step += 1
        self._changes.step = self.step
        return self.step

    # -- what changed --------------------------------------------------------------------------

    @property
    def changes(self) -> Changes:
        return self._changes

    def take_changes(self, *, but_newcomers: bool = False) -> Changes:
        """What changed since this was last asked; with or without those who only came and wait."""
        taken, self._changes = self._changes, Changes()
        if but_newcomers:
            self._changes = taken.set_aside_newcomers()
        return taken

    def add_event(self, event: JobEvent) -> None:
        """Add a line to a job's story; its record changed, too."""
        self._changes.events.append(event)
        self.histories.setdefault(event.job, []).append(event)
        self._changes.jobs[event.job] = self.jobs[event.job]

    def touch(self, job: QueueJob) -> None:
        """A record changed in a way that is no story."""
        self._changes.jobs[job.id] = job

    # -- ends ----------------------------------------------------------------------------------

    def retire(self, job: QueueJob) -> None:
        """A job ended; forget the oldest of those that did."""
        assert job.state in ENDED  # noqa: S101 - asked by transitions alone
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
