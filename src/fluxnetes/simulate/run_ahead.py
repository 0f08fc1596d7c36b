"""A queue that goes on from a snapshot, on virtual time, until nothing more happens.

Nobody knows when jobs will really end, so each is taken at its word: it ends when its walltime is
over, or its grace time if it was told to go. Nothing more is submitted than what is given besides.

Where only the matcher can tell what fits, every job that waits is asked for at every instant, and
to run a long queue ahead takes as long as the queue itself spends on it in all that time. Whoever
wants an answer soon sets a bound to the *effort*. From there on the queue is run ahead *roughly*:
first come, first served, so that only the first in line is asked for, and nobody passes. Where a
queue is full of promises, which are as dear to restore, it is run under easy to begin with.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fluxnetes.common.reasons import Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import BackfillPolicy, SchedulerConfig
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState


@dataclass
class RunAhead:
    """See the module's docstring. After `run`, it says what happened."""

    snapshot: Snapshot
    graph: ResourceGraph
    """Nobody else's."""
    config: SchedulerConfig
    more: tuple[Submission, ...]
    """Jobs that come at the beginning."""
    now: int
    brief: bool = False
    """Whether to stop as soon as it is known when the jobs start that are given besides."""
    effort: int | None = None
    """How many jobs that wait may be asked for, all instants together, where only the matcher can
    tell; None: any number."""
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    never: dict[int, Reason | None] = field(default_factory=dict)
    """Who does not start, and why; in brief, of those given besides."""
    where: dict[int, Allocation] = field(default_factory=dict)
    """What those were given that were given besides; for an array, its first task."""
    policy: BackfillPolicy | None = None
    """The policy under which all queues are run roughly; None: each under its own."""
    ends: list[tuple[int, int]] = field(default_factory=list)
    due: dict[int, int] = field(default_factory=dict)
    """When jobs will be gone; what `ends` says besides is out of date."""
    busy_until: int = 0
    """Until when something is known to happen."""

    def __post_init__(self) -> None:
        self.own = frozenset(submission.id for submission in self.more)
        self.busy_until = max([self.now, *self._known_times()])
        for job in self.snapshot.jobs:
            until = job.expected if job.state in HOLDING else None
            # Who was told to go and is late did not keep its word; the queue gives it more time.
            is_late = job.state is JobState.ENDING and until is not None and until <= self.now
            if until is not None and not is_late:
                self._expect(job.id, max(self.now, until))

    def run(self) -> None:
        queue = self._begin()
        instant: int | None = self.now
        while instant is not None and not self._is_over(instant):
            self._end_jobs(queue, instant)
            if instant == self.now:
                self._submit(queue)
            queue.cycle(instant)
            self._carry_out(queue, instant)
            if self.brief and all(self._is_told(queue, id) for id in self.own):
                break
            if self._takes_too_long(queue):
                queue = self._resume(queue.snapshot(), instant, BackfillPolicy.FCFS)
            instant = self._next_instant(queue, instant)
        for id in self._left_out(queue):
            self.never[id] = queue.explain(id, self.now).reason

    # -- going on ------------------------------------------------------------------------------

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
        if policy is not None:
            queues = tuple(replace(queue, policy=policy) for queue in config.queues)
            config = replace(config, queues=queues)
        # Records change as the queue goes on; the next forecast needs them as they were.
        jobs = tuple(replace(job, commitments=dict(job.commitments)) for job in snapshot.jobs)
        matcher = Matcher(self.graph, policy=config.match_policy)
        return Scheduler.resume(matcher, config, replace(snapshot, jobs=jobs), now=now)

    def _has_many_promises(self) -> bool:
        """Whether restoring them takes too long: each has to be brought in line with all others."""
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
        """A job will be gone then, and not when it was said before."""
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
        """A job that starts once more, after it had to go, has started when it first did."""
        self.start.setdefault(job.id, now)
        asked = job.id if job.parent is None else job.parent
        if asked in self.own:
            self.where.setdefault(asked, allocation)
        self.busy_until = max(self.busy_until, now)
        if allocation.end is not None:
            self.end[job.id] = allocation.end
            self._expect(job.id, allocation.end)

    # -- how long ------------------------------------------------------------------------------

    def _next_instant(self, queue: Scheduler, now: int) -> int | None:
        times = [self.ends[0][0]] if self.ends else []
        if queue.waiting and (wake := queue.next_wake(now)) is not None:
            times.append(wake)
        return min(times, default=None)

    def _is_over(self, instant: int) -> bool:
        """Whether who waits now waits forever. Budgets are renewed again and again, so that the
        queue always has a time to wake at; but once was enough."""
        budgets = self.config.budgets
        if self.due or not budgets:
            return False
        patience = max(budget.period for budget in budgets)
        patience += max((job.submission.min_runtime for job in self.snapshot.jobs), default=0)
        return instant > self.busy_until + patience

    def _known_times(self) -> Iterator[int]:
        """When something happens that does not depend on what happens before."""
        jobs = self.snapshot.jobs
        yield from (window.end for window in self.snapshot.windows)
        yield from (job.plan.start for job in jobs if job.plan is not None)
        submissions = (*(job.submission for job in jobs), *self.more)
        yield from (each.begin for each in submissions if each.begin is not None)

    def _is_told(self, queue: Scheduler, id: int) -> bool:
        """Whether it is known when one of our own jobs starts, or that it does not."""
        if id in self.where or id in self.never:
            return True
        # Nobody is there to say that its group is complete, or to let it go.
        return queue.job(id).state in (JobState.GATHERING, JobState.HELD)

    def _left_out(self, queue: Scheduler) -> list[int]:
        """Who waits to the end; in brief, of our own."""
        jobs = queue.jobs
        asked = self.own.intersection(jobs) if self.brief else jobs
        return [id for id in asked if jobs[id].state in WAITING]


def _without_promises(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, jobs=tuple(replace(job, plan=None) for job in snapshot.jobs))
