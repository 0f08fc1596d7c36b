"""Runs a queue from a snapshot, on virtual time, until nothing more happens.

The real ends of jobs are not known, so each job is assumed to use its whole walltime, or its grace
time if it is already ending. Nothing is submitted besides the jobs that are given.

Where jobs are planned by vertices, every waiting job is matched at every instant, so running a long
queue ahead takes as long as the scheduler itself spends on it in all that time. A caller that needs
an answer soon limits the *effort*. Beyond that limit the queue is run *roughly*: first come, first
served, so that only the first job in line is matched and none overtakes. Where many jobs have a
planned start, which is as costly to restore, the queue is run under easy from the beginning.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fluxnetes.common.reasons import Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import BackfillPolicy, SchedulerConfig, UnsatisfiablePolicy
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState


@dataclass
class RunAhead:
    """One run of a queue; `run` fills in what happened. See the module's docstring."""

    snapshot: Snapshot
    graph: ResourceGraph
    """Changed by the run; the caller gives a copy."""
    config: SchedulerConfig
    more: tuple[Submission, ...]
    """Jobs that are submitted at the start."""
    now: int
    brief: bool = False
    """Whether to stop as soon as the starts of the jobs in `more` are known."""
    effort: int | None = None
    """Maximum matches of waiting jobs, over all instants, where jobs are planned by vertices; None:
    no limit."""
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    never: dict[int, Reason | None] = field(default_factory=dict)
    """Jobs that do not start, and why; with `brief`, only those in `more`."""
    where: dict[int, Allocation] = field(default_factory=dict)
    """The allocations of the jobs in `more`; for an array, that of its first task."""
    policy: BackfillPolicy | None = None
    """The policy of all queues in a rough run; None: each has its own."""
    ends: list[tuple[int, int]] = field(default_factory=list)
    due: dict[int, int] = field(default_factory=dict)
    """The expected end of each job; other entries of `ends` are out of date."""
    busy_until: int = 0
    """The last time at which something is known to happen."""

    def __post_init__(self) -> None:
        self.own = frozenset(submission.id for submission in self.more)
        self.busy_until = max([self.now, *self._known_times()])
        for job in self.snapshot.jobs:
            until = job.expected if job.state in HOLDING else None
            # A job that is ending and late has no expected end; the scheduler gives it more time.
            is_late = job.state is JobState.ENDING and until is not None and until <= self.now
            if until is not None and not is_late:
                self._expect(job.id, max(self.now, until))

    def run(self) -> None:
        """Run until nothing more happens or, with `brief`, until the answer is known."""
        queue = self._begin()
        instant: int | None = self.now
        while instant is not None and not self._is_over(instant):
            self._end_jobs(queue, instant)
            if instant == self.now:
                self._submit(queue)
            queue.cycle(instant)
            self._carry_out(queue, instant)
            if self.brief and all(self._is_known(queue, id) for id in self.own):
                break
            if self._takes_too_long(queue):
                queue = self._resume(queue.snapshot(), instant, BackfillPolicy.FCFS)
            instant = self._next_instant(queue, instant)
        for id in self._still_waiting(queue):
            self.never[id] = queue.explain(id, self.now).reason

    # -- start and restart ---------------------------------------------------------------------

    def _begin(self) -> Scheduler:
        if self._has_many_promises():
            queue = self._resume(_without_promises(self.snapshot), self.now, BackfillPolicy.EASY)
            if not queue.plans_by_counting:
                return queue
        return self._resume(self.snapshot, self.now)

    def _resume(
        self, snapshot: Snapshot, now: int, policy: BackfillPolicy | None = None
    ) -> Scheduler:
        config, self.policy = self.config, policy
        # No other nodes come, so a job that none can serve has its answer at once.
        queues = [replace(q, unsatisfiable=UnsatisfiablePolicy.REJECT) for q in config.queues]
        if policy is not None:
            queues = [replace(queue, policy=policy) for queue in queues]
        config = replace(config, queues=tuple(queues))
        # The run changes records; the next forecast needs them unchanged.
        jobs = tuple(replace(job, commitments=dict(job.commitments)) for job in snapshot.jobs)
        matcher = Matcher(self.graph, policy=config.match_policy)
        return Scheduler.resume(matcher, config, replace(snapshot, jobs=jobs), now=now)

    def _has_many_promises(self) -> bool:
        """Whether restoring planned starts takes too long: each is checked against all others."""
        promised = sum(job.plan is not None for job in self.snapshot.jobs)
        return self.effort is not None and promised**2 > self.effort

    def _takes_too_long(self, queue: Scheduler) -> bool:
        if self.effort is None or queue.plans_by_counting:
            return False
        if all(each.policy is BackfillPolicy.FCFS for each in queue.config.queues):
            return False
        self.effort -= queue.waiting
        return self.effort < 0

    # -- one instant ---------------------------------------------------------------------------

    def _submit(self, queue: Scheduler) -> None:
        for submission in self.more:
            queue.apply(Submit(submission), self.now)

    def _expect(self, job: int, at: int) -> None:
        """Set the expected end of a job."""
        if self.due.get(job) != at:
            self.due[job] = at
            heapq.heappush(self.ends, (at, job))

    def _end_jobs(self, queue: Scheduler, now: int) -> None:
        while self.ends and self.ends[0][0] <= now:
            at, id = heapq.heappop(self.ends)
            if self.due.get(id) == at:
                del self.due[id]
                queue.apply(Ended(id), now)
                self.busy_until = max(self.busy_until, now)

    def _carry_out(self, queue: Scheduler, now: int) -> None:
        changes = queue.take_changes()
        for job in changes.jobs.values():
            if job.state is JobState.ENDING and job.expected is not None:
                self._expect(job.id, max(now, job.expected))
            elif job.state in ENDED and job.id in self.own and job.id not in self.where:
                self.never[job.id] = job.reason
        for id, allocation in changes.allocations.items():
            if allocation is not None and queue.job(id).state is JobState.ALLOCATED:
                queue.apply(Started(id), now)
                self._note_start(queue.job(id), allocation, now)

    def _note_start(self, job: QueueJob, allocation: Allocation, now: int) -> None:
        """Record a start; of a job that starts again, the first one counts."""
        self.start.setdefault(job.id, now)
        asked = job.id if job.parent is None else job.parent
        if asked in self.own:
            self.where.setdefault(asked, allocation)
        self.busy_until = max(self.busy_until, now)
        if allocation.end is not None:
            self.end[job.id] = allocation.end
            self._expect(job.id, allocation.end)

    # -- when to stop --------------------------------------------------------------------------

    def _next_instant(self, queue: Scheduler, now: int) -> int | None:
        times = [self.ends[0][0]] if self.ends else []
        if queue.waiting and (wake := queue.next_wake(now)) is not None:
            times.append(wake)
        return min(times, default=None)

    def _is_over(self, instant: int) -> bool:
        """Whether jobs that wait now wait for ever.

        Budgets are renewed in every period, so the scheduler always has a next wake; if nothing
        started within one whole period, nothing will.
        """
        budgets = self.config.budgets
        if self.due or not budgets:
            return False
        longest = max(budget.period for budget in budgets)
        longest += max((job.submission.min_runtime for job in self.snapshot.jobs), default=0)
        return instant > self.busy_until + longest

    def _known_times(self) -> Iterator[int]:
        """Times of events that do not depend on the run."""
        jobs = self.snapshot.jobs
        yield from (window.end for window in self.snapshot.windows)
        yield from (job.plan.start for job in jobs if job.plan is not None)
        submissions = (*(job.submission for job in jobs), *self.more)
        yield from (each.begin for each in submissions if each.begin is not None)

    def _is_known(self, queue: Scheduler, id: int) -> bool:
        """Whether it is known when a job of `more` starts, or that it does not."""
        if id in self.where or id in self.never:
            return True
        # In a forecast no event completes a group or releases a held job.
        return queue.job(id).state in (JobState.GATHERING, JobState.HELD)

    def _still_waiting(self, queue: Scheduler) -> list[int]:
        """Jobs that wait at the end; with `brief`, only those in `more`."""
        jobs = queue.jobs
        asked = self.own.intersection(jobs) if self.brief else jobs
        return [id for id in asked if jobs[id].state in WAITING]


def _without_promises(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, jobs=tuple(replace(job, plan=None) for job in snapshot.jobs))
