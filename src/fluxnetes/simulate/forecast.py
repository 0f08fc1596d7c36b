"""What if: today's queue run ahead, as it is and with something changed.

A forecast goes on from a snapshot of a queue, on virtual time. Nobody knows when jobs will really
end, so each is taken at its word: it ends when its walltime is over. A job that has none never
ends, and whoever cannot start beside it has no forecast. Nothing more is submitted, but for what
the scenario adds.

Several forecasts of one snapshot are compared with the first of them, job by job.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import Config, QueueConfig
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import Job, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import HOLDING, WAITING, State
from fluxnetes.simulate.cluster import Cluster, with_more_nodes
from fluxnetes.simulate.engine import MATCH_POLICY
from fluxnetes.simulate.errors import SimulationError


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is run ahead: on which cluster, under which policy, with which jobs besides."""

    name: str
    cluster: Cluster
    policy: QueueConfig
    """For every queue of the snapshot."""
    more: tuple[Submission, ...] = ()


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the jobs that waited will start and end, by job."""

    name: str
    now: int
    start: Mapping[int, int]
    end: Mapping[int, int]
    never: Mapping[int, str]
    """Jobs for which no start is known, and why."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The figures of a forecast, beside another one of the same queue."""

    start: int
    """Jobs that will start."""
    never: int
    mean_wait: float
    """Seconds from now to the start, on average."""
    longest_wait: int
    last_end: int
    """Seconds from now until all of them have ended."""
    earlier: int
    """Jobs that start earlier than in the forecast that this one is compared with."""
    later: int


def compare(forecast: Forecast, base: Forecast) -> Outlook:
    """The figures of a forecast; `earlier` and `later` are about jobs that start in both."""
    waits = np.array([at - forecast.now for at in forecast.start.values()] or [0])
    both = [(forecast.start[job], base.start[job]) for job in forecast.start if job in base.start]
    return Outlook(
        start=len(forecast.start),
        never=len(forecast.never),
        mean_wait=float(waits.mean()),
        longest_wait=int(waits.max()),
        last_end=max(forecast.end.values(), default=forecast.now) - forecast.now,
        earlier=sum(here < there for here, there in both),
        later=sum(here > there for here, there in both),
    )


def look_ahead(snapshot: Snapshot, scenario: Scenario, now: int) -> Forecast:
    """Run a queue ahead until nothing more happens."""
    _check_cluster(snapshot, scenario.cluster)
    return _Ahead(snapshot, scenario, now).run()


def _check_cluster(snapshot: Snapshot, cluster: Cluster) -> None:
    rows = max((int(a.placement.vertex.max(initial=0)) for a in snapshot.allocations), default=0)
    if rows >= cluster.graph.vertex_count:
        raise SimulationError(
            "jobs of the queue run on resources that this cluster does not have; "
            "give the graph of the queue's own cluster with --graph"
        )


@dataclass
class _Ahead:
    """A queue that goes on from a snapshot."""

    snapshot: Snapshot
    scenario: Scenario
    now: int
    ends: list[tuple[int, int]] = field(default_factory=list)
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)

    def run(self) -> Forecast:
        queue = self._resume()
        instant: int | None = self.now
        while instant is not None:
            while self.ends and self.ends[0][0] <= instant:
                queue.apply(Ended(heapq.heappop(self.ends)[1]), instant)
            if instant == self.now:
                self._submit(queue)
            queue.cycle(instant)
            self._carry_out(queue, instant)
            instant = self._next_instant(queue, instant)
        never = {id: queue.explain(id, self.now).reason for id in self._left_out(queue)}
        return Forecast(self.scenario.name, self.now, self.start, self.end, never)

    def _left_out(self, queue: Scheduler) -> Iterator[int]:
        """Who waits to the end, and who of the scenario's own jobs was not let in."""
        more = {submission.id for submission in self.scenario.more}
        for job in queue.jobs.values():
            if job.state in WAITING or (job.state is State.REJECTED and job.id in more):
                yield job.id

    def _resume(self) -> Scheduler:
        names = {"default"} | {job.queue for job in self.snapshot.jobs}
        config = Config(queues=tuple(replace(self.scenario.policy, name=n) for n in sorted(names)))
        # Records change as the queue goes on; the next scenario needs them as they were.
        jobs = tuple(_copy(job) for job in self.snapshot.jobs)
        matcher = Matcher(self.scenario.cluster.graph, policy=MATCH_POLICY)
        snapshot = replace(self.snapshot, jobs=jobs)
        for job in jobs:
            if job.state in HOLDING and job.expected is not None:
                heapq.heappush(self.ends, (max(self.now, job.expected), job.id))
        return Scheduler.resume(matcher, config, snapshot, now=self.now)

    def _submit(self, queue: Scheduler) -> None:
        for submission in self.scenario.more:
            queue.apply(Submit(submission), self.now)

    def _carry_out(self, queue: Scheduler, now: int) -> None:
        for id, allocation in queue.take_changes().allocations.items():
            if allocation is None:
                continue
            queue.apply(Started(id), now)
            self.start[id] = now
            if allocation.end is not None:
                self.end[id] = allocation.end
                heapq.heappush(self.ends, (allocation.end, id))

    def _next_instant(self, queue: Scheduler, now: int) -> int | None:
        times = [self.ends[0][0]] if self.ends else []
        if queue.waiting and (wake := queue.next_wake(now)) is not None:
            times.append(wake)
        return min(times, default=None)


def _copy(job: Job) -> Job:
    return replace(job, commitments=dict(job.commitments))


def scenarios(
    cluster: Cluster,
    policies: Mapping[str, QueueConfig],
    *,
    nodes: int = 0,
    job: Submission | None = None,
) -> list[Scenario]:
    """Today (the first policy), and each thing that may change: policies, more nodes, one job."""
    (first, policy), *others = policies.items()
    found = [Scenario(first, cluster, policy)]
    found += [Scenario(name, cluster, other) for name, other in others]
    if nodes:
        found.append(Scenario(f"+{nodes} nodes", with_more_nodes(cluster, nodes), policy))
    if job is not None:
        found.append(Scenario("+1 job", cluster, policy, (job,)))
    return found
