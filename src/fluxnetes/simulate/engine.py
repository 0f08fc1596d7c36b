"""The event loop: a workload through the queue, on virtual time.

The queue is the one that runs a cluster, told what happens and asked to decide; only the clock is
another. At one instant jobs end first, then jobs are submitted, then the queue decides once. What
starts is told when to end: after its run time, or when its walltime is over. A job of no run time
ends at the instant of its start, which is then gone through a second time.

Nothing happens between two instants, so the clock jumps from one to the next: an end, a submit, or
a time at which the queue asked to be woken.
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

Tell = Callable[[int], None]

MATCH_POLICY = "lonode"
_TELL_EVERY = 100


def run_policy(
    name: str,
    queue: QueueConfig,
    workload: Workload,
    cluster: SimulatedCluster,
    tell: Tell = lambda ended: None,
    *,
    validate: bool = False,
) -> Schedule:
    """Run a workload to its end; `tell` hears now and then how many jobs have ended."""
    began = time.perf_counter()
    simulation = Simulation(workload, cluster, SchedulerConfig(queues=(queue,)), validate=validate)
    simulation.run(tell)
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
    """A queue, the jobs that will come to it, and those that run.

    Start and units are by row in the workload; the queue knows a job by its row plus 1.
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
        """Who comes next, and when."""
        self._durations: list[int] = workload.duration.tolist()
        self._ends: list[tuple[int, int]] = []
        """When running jobs end, the soonest first, and which."""
        self._ended = 0
        matcher = Matcher(cluster.graph, policy=config.match_policy)
        self._queue = Scheduler(matcher, config, validate=validate)

    def run(self, tell: Tell) -> None:
        now = -1
        while (instant := self._next_instant(now)) is not None:
            now = instant
            self._end_jobs(now, tell)
            self._submit_jobs(now)
            self._queue.cycle(now)
            self._carry_out(now)
        tell(self._ended)
        self._check_that_all_ran(now)

    def _next_instant(self, now: int) -> int | None:
        times = [self._ends[0][0]] if self._ends else []
        if self._next is not None:
            times.append(self._next[0])
        if self._queue.waiting and (wake := self._queue.next_wake(now)) is not None:
            times.append(wake)
        return min(times, default=None)

    def _end_jobs(self, now: int, tell: Tell) -> None:
        while self._ends and self._ends[0][0] == now:
            self._queue.apply(Ended(heapq.heappop(self._ends)[1]), now)
            self._ended += 1
            if self._ended % _TELL_EVERY == 0:
                tell(self._ended)

    def _submit_jobs(self, now: int) -> None:
        while self._next is not None and self._next[0] == now:
            self._queue.apply(Submit(self._next[1]), now)
            self._next = next(self._submissions, None)

    def _carry_out(self, now: int) -> None:
        """What is allocated runs at once; a simulated cluster needs no time for it."""
        for job, allocation in self._queue.take_changes().allocations.items():
            if allocation is None:
                continue
            placement = allocation.placement
            row = job - 1
            self.start[row] = now
            self.units[row] = self._cluster.units(placement.vertex[placement.exclusive])
            self._queue.apply(Started(job), now)
            heapq.heappush(self._ends, (now + self._durations[row], job))

    def _check_that_all_ran(self, now: int) -> None:
        left = np.flatnonzero(self.start < 0)
        if len(left):
            first = int(left[0])
            why = self._queue.explain(first + 1, now).reason
            raise SimulationError(
                f"{len(left)} jobs never started; of the first, number {first + 1} in order of "
                f"submission, the queue says: {why}"
            )


def _submissions(workload: Workload, cluster: SimulatedCluster) -> Iterator[tuple[int, Submission]]:
    """The jobs as the queue sees them, with the times at which they come."""
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
