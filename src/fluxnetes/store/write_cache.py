"""The write cache: what was last written of each job, so that unchanged parts are not sent again.

The queue passes whole records, of which little changed. The submission, the placement and the tasks
of a job are immutable values, so it is enough to compare their identity; a plan and the budget
commitments are small, and compared by value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fluxnetes.queue.changes import Allocation, Changes, Snapshot
from fluxnetes.queue.jobs import PlannedStart, QueueJob, Submission
from fluxnetes.queue.states import ENDED
from fluxnetes.store.system import WrittenSystem

_MAX_ENDED = 1_000_000
"""Maximum ended jobs to remember, to bound memory; beyond it the cache is not complete."""


@dataclass(frozen=True, slots=True)
class KnownJob:
    """What was last written of one job."""

    submission: Submission
    plan: PlannedStart | None
    commitments: dict[str, float]

    @classmethod
    def of(cls, job: QueueJob) -> KnownJob:
        return cls(job.submission, job.plan, dict(job.commitments))


@dataclass(slots=True)
class WriteCache:
    """What was last written of the system and of all jobs that have not ended.

    What is not here is unknown; but if the cache is `complete`, an active or recently ended job
    that is not here is not in the tables either.
    """

    jobs: dict[int, KnownJob] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    system: WrittenSystem | None = None
    complete: bool = False
    ended: set[int] = field(default_factory=set)
    """Jobs that ended; they are in the tables, and no further changes of them are expected."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> WriteCache:
        jobs = {job.id: KnownJob.of(job) for job in snapshot.jobs}
        held = {each.job: each for each in snapshot.allocations}
        ended = {job for job, _ in snapshot.outcomes}
        return cls(jobs, held, complete=True, ended=ended)

    def note(self, changes: Changes) -> None:
        """Record changes that are in the tables, or will be before any other write."""
        for job in changes.jobs.values():
            if job.state in ENDED:
                self.jobs.pop(job.id, None)
                self.ended.add(job.id)
            else:
                self.jobs[job.id] = KnownJob.of(job)
        if len(self.ended) > _MAX_ENDED:
            self.ended.clear()
            self.complete = False
        for number, allocation in changes.allocations.items():
            if allocation is None:
                self.allocations.pop(number, None)
            else:
                self.allocations[number] = allocation

    # -- what must be written ------------------------------------------------------------------

    def new_submissions(self, jobs: Iterable[QueueJob]) -> list[Submission]:
        known = self.jobs.get
        return [
            job.submission
            for job in jobs
            if (k := known(job.id)) is None or k.submission is not job.submission
        ]

    def with_old_dependencies(self, submissions: Iterable[Submission]) -> list[int]:
        """The jobs that may have outdated dependencies in the tables."""
        return [each.id for each in submissions if self._may_be_stored(each.id)]

    def with_new_plan(self, jobs: Iterable[QueueJob]) -> list[QueueJob]:
        known = self.jobs.get
        new = (job for job in jobs if (k := known(job.id)) is None or k.plan != job.plan)
        return [job for job in new if job.plan is not None or self._may_be_stored(job.id)]

    def with_new_commitments(self, jobs: Iterable[QueueJob]) -> list[QueueJob]:
        known = self.jobs.get
        new = (
            job for job in jobs if (k := known(job.id)) is None or k.commitments != job.commitments
        )
        return [job for job in new if job.commitments or self._may_be_stored(job.id)]

    def _may_be_stored(self, job: int) -> bool:
        """Whether the tables may contain a job."""
        return not self.complete or job in self.jobs or job in self.ended

    def has_moved(self, held: Allocation) -> bool:
        """Whether a job's allocation differs from the last one in more than its times."""
        before = self.allocations.get(held.job)
        return (
            before is None
            or before.placement is not held.placement
            or before.seats is not held.seats
            or before.tasks is not held.tasks
        )

    def newly_ended_tasks(self, held: Allocation) -> frozenset[int] | None:
        """The tasks that ended since; None if all tasks of the job must be written again."""
        before = self.allocations.get(held.job)
        if before is None and held.tasks is None and self.complete:
            return held.ended_tasks
        if before is None or before.tasks is not held.tasks:
            return None
        if before.ended_tasks - held.ended_tasks:
            return None
        return held.ended_tasks - before.ended_tasks
