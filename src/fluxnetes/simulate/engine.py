"""The event loop of a simulation: runs a workload through the scheduler, on virtual time.

The scheduler is the one that runs a cluster; only the clock differs. At each instant jobs end
first, then jobs are submitted, then the scheduler runs one cycle. The end of a job that starts is
known: after its run time, or when its walltime is over. A job without run time ends at the instant
of its start, which is then processed a second time.

Nothing happens between two instants, so the clock jumps from one to the next: an end, a submission,
or the scheduler's next wake.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.simulate.cluster import SimulatedCluster
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.schedule import Schedule
from fluxnetes.simulate.workload import UNKNOWN, Workload

Progress = Callable[[int], None]
"""Called with the number of jobs that have ended."""

MATCH_POLICY = "lonode"
_REPORT_EVERY = 100
"""Jobs that end between two reports of progress."""


def run_policy(
    name: str,
    queue: QueueConfig,
    workload: Workload,
    cluster: SimulatedCluster,
    progress: Progress = lambda ended: None,
    *,
    validate: bool = False,
) -> Schedule:
    """Run a workload to its end; `progress` is called now and then."""
    began = time.perf_counter()
    simulation = Simulation(workload, cluster, SchedulerConfig(queues=(queue,)), validate=validate)
    simulation.run(progress)
    return Schedule(
        policy=name,
        workload=workload,
        machine=cluster.machine,
        start=simulation.start,
        end=simulation.start + workload.duration,
        units=tuple(simulation.units),
        seconds=time.perf_counter() - began,
    )


class Simulation:
    """A scheduler, the jobs that are still to be submitted, and those that run.

    `start` and `units` are by row in the workload; the id of a job is its row plus 1.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: SimulatedCluster,
        config: SchedulerConfig,
        *,
        validate: bool = False,
    ) -> None:
        self.start: Ints = np.full(len(workload), -1, np.int64)
        self.units: list[Ints] = [np.empty(0, np.int64)] * len(workload)
        self._cluster = cluster
        self._submissions = _submissions(workload, cluster)
        self._next = next(self._submissions, None)
        """The next submission, and its time."""
        self._durations: list[int] = workload.duration.tolist()
        self._ends: list[tuple[int, int]] = []
        """The ends of running jobs, as a heap of (time, job)."""
        self._ended = 0
        matcher = Matcher(cluster.graph, policy=config.match_policy)
        self._queue = Scheduler(matcher, config, validate=validate)

    def run(self, progress: Progress) -> None:
        now = -1
        while (instant := self._next_instant(now)) is not None:
            now = instant
            self._end_jobs(now, progress)
            self._submit_jobs(now)
            self._queue.cycle(now)
            self._carry_out(now)
        progress(self._ended)
        self._check_all_ran(now)

    def _next_instant(self, now: int) -> int | None:
        times = [self._ends[0][0]] if self._ends else []
        if self._next is not None:
            times.append(self._next[0])
        if self._queue.waiting and (wake := self._queue.next_wake(now)) is not None:
            times.append(wake)
        return min(times, default=None)

    def _end_jobs(self, now: int, progress: Progress) -> None:
        while self._ends and self._ends[0][0] == now:
            self._queue.apply(Ended(heapq.heappop(self._ends)[1]), now)
            self._ended += 1
            if self._ended % _REPORT_EVERY == 0:
                progress(self._ended)

    def _submit_jobs(self, now: int) -> None:
        while self._next is not None and self._next[0] == now:
            self._queue.apply(Submit(self._next[1]), now)
            self._next = next(self._submissions, None)

    def _carry_out(self, now: int) -> None:
        """Start what was allocated at once; a simulated cluster needs no time for it."""
        for job, allocation in self._queue.take_changes().allocations.items():
            if allocation is None:
                continue
            placement = allocation.placement
            row = job - 1
            self.start[row] = now
            self.units[row] = self._cluster.units(placement.vertex[placement.exclusive])
            self._queue.apply(Started(job), now)
            heapq.heappush(self._ends, (now + self._durations[row], job))

    def _check_all_ran(self, now: int) -> None:
        left = np.flatnonzero(self.start < 0)
        if len(left):
            first = int(left[0])
            why = self._queue.explain(first + 1, now).reason
            raise SimulationError(
                f"{len(left)} jobs never started; the reason of the first, number {first + 1} by "
                f"submission: {why}"
            )


def _submissions(workload: Workload, cluster: SimulatedCluster) -> Iterator[tuple[int, Submission]]:
    """The submissions to the scheduler, with their times."""
    columns = (workload.submit, workload.walltime, workload.size, workload.user, workload.group)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    request = cache(cluster.request)
    for job, (submit, walltime, size, user, group) in enumerate(rows, 1):
        yield (
            submit,
            Submission(
                id=job,
                request=request(size),
                walltime=walltime,
                user="nobody" if user == UNKNOWN else f"user{user}",
                namespace="default" if group == UNKNOWN else f"group{group}",
            ),
        )
