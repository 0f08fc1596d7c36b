"""What if: today's queue run ahead, as it is and with something changed.

A forecast goes on from a snapshot of a queue, on virtual time. Nobody knows when jobs will really
end, so each is taken at its word: it ends when its walltime is over, or its grace time if it was
told to go. A job without a walltime never ends, and whoever cannot start beside it has no forecast.
Nothing more is submitted, but for what the scenario adds.

A forecast works on copies: neither the snapshot nor the graph that it is given changes. Several
forecasts of one snapshot are compared with the first of them, job by job.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.nodes import Nodes
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import Config, QueueConfig
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import Job, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, State
from fluxnetes.simulate.cluster import Cluster, with_more_nodes
from fluxnetes.simulate.errors import SimulationError


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is run ahead: on which cluster, with which queues, with which jobs besides."""

    name: str
    graph: ResourceGraph
    """The rows that jobs of the snapshot hold are rows of this one."""
    config: Config
    """Has every queue that a job of the snapshot is in; see `with_queues_of`."""
    more: tuple[Submission, ...] = ()
    others: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What others hold of nodes' pools, by node and type, all the time. Of a node that is not
    named, it is what the graph says."""
    closed: tuple[str, ...] = ()
    """Names of nodes that take nothing new, because they are closed or down; besides those of which
    the graph says so. Who is there stays to the end."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """When jobs will start and end, by job: those that waited, and the scenario's own."""

    name: str
    now: int
    start: Mapping[int, int]
    end: Mapping[int, int]
    never: Mapping[int, str]
    """Jobs for which no start is known, and why."""
    where: Mapping[int, Allocation] = field(default_factory=dict)
    """What the scenario's own jobs are given when they first start; for an array, its first task.
    Rows are those of the scenario's graph."""


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


def look_ahead(
    snapshot: Snapshot, scenario: Scenario, now: int, *, brief: bool = False
) -> Forecast:
    """Run a queue ahead until nothing more happens.

    Or, in brief, until it is known when the scenario's own jobs start; of all others the forecast
    then says only what happens before that.
    """
    _check_graph(snapshot, scenario.graph)
    return _Ahead(snapshot, scenario, now, brief).run()


def _check_graph(snapshot: Snapshot, graph: ResourceGraph) -> None:
    rows = max((int(a.placement.vertex.max(initial=0)) for a in snapshot.allocations), default=0)
    if rows >= graph.vertex_count:
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
    brief: bool
    ends: list[tuple[int, int]] = field(default_factory=list)
    due: dict[int, int] = field(default_factory=dict)
    """When jobs will be gone; what `ends` says besides is out of date."""
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    never: dict[int, str] = field(default_factory=dict)
    where: dict[int, Allocation] = field(default_factory=dict)
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
            if self.brief and all(self._is_told(queue, id) for id in self.own):
                break
            instant = self._next_instant(queue, instant)
        for id in self._left_out(queue):
            self.never[id] = queue.explain(id, self.now).reason
        return Forecast(self.scenario.name, self.now, self.start, self.end, self.never, self.where)

    @property
    def own(self) -> list[int]:
        return [submission.id for submission in self.scenario.more]

    def _is_told(self, queue: Scheduler, id: int) -> bool:
        """Whether it is known when one of the scenario's own jobs starts, or that it does not."""
        if id in self.where or id in self.never:
            return True
        # Nobody is there to say that its group is complete, or to let it go.
        return queue.job(id).state in (State.GATHERING, State.HELD)

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
        """Who waits to the end."""
        asked = self.own if self.brief else list(queue.jobs)
        for id in asked:
            if id in queue.jobs and queue.jobs[id].state in WAITING:
                yield id

    def _resume(self) -> Scheduler:
        # Records change as the queue goes on; the next scenario needs them as they were.
        jobs = tuple(_copy(job) for job in self.snapshot.jobs)
        matcher = self._matcher()
        snapshot = replace(self.snapshot, jobs=jobs)
        self.busy_until = max([self.now, *_known_times(snapshot, self.scenario.more)])
        for job in jobs:
            if job.state in HOLDING and job.expected is not None:
                self._expect(job.id, max(self.now, job.expected))
        return Scheduler.resume(matcher, self.scenario.config, snapshot, now=self.now)

    def _matcher(self) -> Matcher:
        """A matcher on a graph of our own, on which others and closed nodes are as we were told."""
        scenario = self.scenario
        matcher = Matcher(scenario.graph.copy(), policy=scenario.config.match_policy)
        nodes = Nodes(matcher)
        nodes.occupy(scenario.others)
        nodes.close(nodes.named(scenario.closed), closed=True)
        return matcher

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
            elif job.state in ENDED and job.id in self.own and job.id not in self.where:
                self.never[job.id] = job.reason
        for id, allocation in changes.allocations.items():
            if allocation is not None and queue.job(id).state is State.ALLOCATED:
                queue.apply(Started(id), now)
                self._note_start(queue.job(id), allocation, now)

    def _note_start(self, job: Job, allocation: Allocation, now: int) -> None:
        """A job that starts once more, after it had to go, has started when it first did."""
        self.start.setdefault(job.id, now)
        asked = job.id if job.parent is None else job.parent
        if asked in self.own:
            self.where.setdefault(asked, allocation)
        self.busy_until = max(self.busy_until, now)
        if allocation.end is not None:
            self.end[job.id] = allocation.end
            self._expect(job.id, allocation.end)

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
    found = [Scenario(first, cluster.graph, config)]
    found += [Scenario(name, cluster.graph, other) for name, other in others]
    if nodes:
        more = with_more_nodes(cluster, nodes).graph
        found.append(Scenario(f"+{nodes} nodes", more, config))
    if job is not None:
        found.append(Scenario("+1 job", cluster.graph, config, (job,)))
    return found
