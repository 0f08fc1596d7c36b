"""What if: today's queue run ahead, as it is and with something changed.

A forecast goes on from a snapshot of a queue, on virtual time. Nobody knows when jobs will really
end, so each is taken at its word: it ends when its walltime is over, or its grace time if it was
told to go. A job without a walltime never ends, and whoever cannot start beside it has no forecast.
Nothing more is submitted, but for what the scenario adds.

Several forecasts of one snapshot are compared with the first of them, job by job.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
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
from fluxnetes.simulate.errors import SimulationError


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is run ahead: on which cluster, with which queues, with which jobs besides."""

    name: str
    cluster: Cluster
    config: Config
    """Has every queue that a job of the snapshot is in; see `with_queues_of`."""
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
    due: dict[int, int] = field(default_factory=dict)
    """When jobs will be gone; what `ends` says besides is out of date."""
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    busy_until: int = 0
    """Until when something is known to happen."""

    def run(self) -> Forecast:
        queue = self._resume()
        instant: int | None = self.now
        while instant is not None and not self._is_over(instant):
            self._end_jobs(queue, instant)
            if instant == self.now:
                self._submit(queue)
            queue.cycle(instant)
            self._carry_out(queue, instant)
            instant = self._next_instant(queue, instant)
        never = {id: queue.explain(id, self.now).reason for id in self._left_out(queue)}
        return Forecast(self.scenario.name, self.now, self.start, self.end, never)

    def _is_over(self, instant: int) -> bool:
        """Whether who waits now waits forever. Budgets are renewed again and again, so that the
        queue always has a time to wake at; but once was enough."""
        budgets = self.scenario.config.budgets
        if self.due or not budgets:
            return False
        patience = max(budget.period for budget in budgets)
        patience += max((job.submission.min_runtime for job in self.snapshot.jobs), default=0)
        return instant > self.busy_until + patience

    def _left_out(self, queue: Scheduler) -> Iterator[int]:
        """Who waits to the end, and who of the scenario's own jobs was not let in."""
        more = {submission.id for submission in self.scenario.more}
        for job in queue.jobs.values():
            if job.state in WAITING or (job.state is State.REJECTED and job.id in more):
                yield job.id

    def _resume(self) -> Scheduler:
        # Records change as the queue goes on; the next scenario needs them as they were.
        jobs = tuple(_copy(job) for job in self.snapshot.jobs)
        matcher = Matcher(self.scenario.cluster.graph, policy=self.scenario.config.match_policy)
        snapshot = replace(self.snapshot, jobs=jobs)
        self.busy_until = max([self.now, *_known_times(snapshot, self.scenario.more)])
        for job in jobs:
            if job.state in HOLDING and job.expected is not None:
                self._expect(job.id, max(self.now, job.expected))
        return Scheduler.resume(matcher, self.scenario.config, snapshot, now=self.now)

    def _submit(self, queue: Scheduler) -> None:
        for submission in self.scenario.more:
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
            if job.state is State.ENDING and job.expected is not None:
                self._expect(job.id, max(now, job.expected))
        for id, allocation in changes.allocations.items():
            if allocation is not None and queue.job(id).state is State.ALLOCATED:
                queue.apply(Started(id), now)
                self._note_start(id, allocation.end, now)

    def _note_start(self, job: int, end: int | None, now: int) -> None:
        """A job that starts once more, after it had to go, has started when it first did."""
        self.start.setdefault(job, now)
        self.busy_until = max(self.busy_until, now)
        if end is not None:
            self.end[job] = end
            self._expect(job, end)

    def _next_instant(self, queue: Scheduler, now: int) -> int | None:
        times = [self.ends[0][0]] if self.ends else []
        if queue.waiting and (wake := queue.next_wake(now)) is not None:
            times.append(wake)
        return min(times, default=None)


def _known_times(snapshot: Snapshot, more: Iterable[Submission]) -> Iterator[int]:
    """When something happens that does not depend on what happens before."""
    yield from (window.end for window in snapshot.windows)
    yield from (job.plan.start for job in snapshot.jobs if job.plan is not None)
    submissions = (*(job.submission for job in snapshot.jobs), *more)
    yield from (each.begin for each in submissions if each.begin is not None)


def _copy(job: Job) -> Job:
    return replace(job, commitments=dict(job.commitments))


def with_queues_of(config: Config, snapshot: Snapshot) -> Config:
    """The configuration with a queue for each that a job is in; those it does not have are plain.

    A system whose configuration was changed may have jobs in a queue that is no more.
    """
    known = {queue.name for queue in config.queues}
    missing = sorted({job.queue for job in snapshot.jobs} - known)
    return replace(config, queues=config.queues + tuple(QueueConfig(name) for name in missing))


def with_policy(config: Config, policy: QueueConfig) -> Config:
    """The same queues with all that they have, each under another policy."""
    queues = (
        replace(queue, policy=policy.policy, reservations=policy.reservations)
        for queue in config.queues
    )
    return replace(config, queues=tuple(queues))


def scenarios(
    cluster: Cluster,
    configs: Mapping[str, Config],
    *,
    nodes: int = 0,
    job: Submission | None = None,
) -> list[Scenario]:
    """The first configuration, and each thing that may change: others, more nodes, one job."""
    (first, config), *others = configs.items()
    found = [Scenario(first, cluster, config)]
    found += [Scenario(name, cluster, other) for name, other in others]
    if nodes:
        found.append(Scenario(f"+{nodes} nodes", with_more_nodes(cluster, nodes), config))
    if job is not None:
        found.append(Scenario("+1 job", cluster, config, (job,)))
    return found
