"""What the tables hold of the jobs that live, as far as it need not be sent again.

The queue hands over whole records, of which little changed. The submission, the placement and the
tasks of a job are values that never change once made, so it is enough to see that they are the very
same objects; a plan and what was committed of budgets are small, and compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fluxnetes.queue.changes import Allocation, Changes, Snapshot
from fluxnetes.queue.jobs import PlannedStart, QueueJob, Submission
from fluxnetes.queue.states import ENDED
from fluxnetes.store.system import WrittenSystem

_ENDED_KNOWN = 1_000_000
"""So many are kept in mind; beyond that, everything may be in the tables."""


@dataclass(frozen=True, slots=True)
class KnownJob:
    """What was last sent of one job."""

    submission: Submission
    plan: PlannedStart | None
    commitments: dict[str, float]

    @classmethod
    def of(cls, job: QueueJob) -> KnownJob:
        return cls(job.submission, job.plan, dict(job.commitments))


@dataclass(slots=True)
class WriteCache:
    """What was last sent of the system and of all jobs that live. What is not here is not known.

    Unless it is `complete`: then what is not here is not in the tables either, as far as it lives
    or ended lately.
    """

    jobs: dict[int, KnownJob] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    system: WrittenSystem | None = None
    complete: bool = False
    ended: set[int] = field(default_factory=set)
    """Jobs that ended; the tables know them, and they are not expected to come again."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> WriteCache:
        jobs = {job.id: KnownJob.of(job) for job in snapshot.jobs}
        held = {each.job: each for each in snapshot.allocations}
        ended = {job for job, _ in snapshot.outcomes}
        return cls(jobs, held, complete=True, ended=ended)

    def note(self, changes: Changes) -> None:
        """The changes are in the tables, or will be before anything else is."""
        for job in changes.jobs.values():
            if job.state in ENDED:
                self.jobs.pop(job.id, None)
                self.ended.add(job.id)
            else:
                self.jobs[job.id] = KnownJob.of(job)
        if len(self.ended) > _ENDED_KNOWN:
            self.ended.clear()
            self.complete = False
        for number, allocation in changes.allocations.items():
            if allocation is None:
                self.allocations.pop(number, None)
            else:
                self.allocations[number] = allocation

    # -- what is new ---------------------------------------------------------------------------

    def new_submissions(self, jobs: Iterable[QueueJob]) -> list[Submission]:
        known = self.jobs.get
        return [
            job.submission
            for job in jobs
            if (k := known(job.id)) is None or k.submission is not job.submission
        ]

    def with_old_dependencies(self, submissions: Iterable[Submission]) -> list[int]:
        """The jobs of which dependencies may be in the tables that are not the right ones."""
        return [each.id for each in submissions if self._may_be_there(each.id)]

    def with_new_plan(self, jobs: Iterable[QueueJob]) -> list[QueueJob]:
        known = self.jobs.get
        new = (job for job in jobs if (k := known(job.id)) is None or k.plan != job.plan)
        return [job for job in new if job.plan is not None or self._may_be_there(job.id)]

    def with_new_commitments(self, jobs: Iterable[QueueJob]) -> list[QueueJob]:
        known = self.jobs.get
        new = (
            job for job in jobs if (k := known(job.id)) is None or k.commitments != job.commitments
        )
        return [job for job in new if job.commitments or self._may_be_there(job.id)]

    def _may_be_there(self, job: int) -> bool:
        """Whether the tables may know a job."""
        return not self.complete or job in self.jobs or job in self.ended

    def has_moved(self, held: Allocation) -> bool:
        """Whether a job holds something else than before, not just for another time."""
        before = self.allocations.get(held.job)
        return (
            before is None
            or before.placement is not held.placement
            or before.seats is not held.seats
            or before.tasks is not held.tasks
        )

    def newly_ended_tasks(self, held: Allocation) -> frozenset[int] | None:
        """The tasks that ended; None if the job's tasks are not the same any more."""
        before = self.allocations.get(held.job)
        if before is None and held.tasks is None and self.complete:
            return held.ended_tasks
        if before is None or before.tasks is not held.tasks:
            return None
        if before.ended_tasks - held.ended_tasks:
            return None
        return held.ended_tasks - before.ended_tasks
