"""Forecasts a queue: runs a snapshot ahead, as it is and in scenarios where something is changed.

A forecast continues from a snapshot of a queue, on virtual time; see `run_ahead` for what is
assumed. A job without a walltime never ends, and a job that cannot start beside it has no forecast.

A forecast works on copies: neither the snapshot nor the graph that it is given changes. Several
forecasts of one snapshot are compared with the first of them, job by job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fluxnetes.common.reasons import Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.nodes import NodeIndex
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.simulate.cluster import SimulatedCluster, with_more_nodes
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.run_ahead import RunAhead


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is run ahead: the cluster, the configuration, and additional jobs."""

    name: str
    graph: ResourceGraph
    """Allocations of the snapshot are rows of this graph."""
    config: SchedulerConfig
    """Has every queue that a job of the snapshot is in; see `with_queues_of`."""
    more: tuple[Submission, ...] = ()
    others: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Foreign usage of nodes, by node and type, constant over time. For a node that is not named,
    it is that of the graph."""
    closed: tuple[str, ...] = ()
    """Names of nodes that take no new jobs, because they are closed or down, besides those that are
    so in the graph. Jobs on them run to their end."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """When jobs will start and end, by id: those that wait, and the additional ones."""

    name: str
    now: int
    start: Mapping[int, int]
    end: Mapping[int, int]
    never: Mapping[int, Reason | None]
    """Jobs for which no start is known, and why."""
    where: Mapping[int, Allocation] = field(default_factory=dict, compare=False)
    """The first allocations of the additional jobs, as rows of the scenario's graph; for an array,
    that of its first task."""
    rough: bool = False
    """Whether the limit of effort was reached, so that policies were not kept; see `run_ahead`."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The figures of a forecast, compared with another one of the same queue."""

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
    snapshot: Snapshot,
    scenario: Scenario,
    now: int,
    *,
    brief: bool = False,
    effort: int | None = None,
) -> Forecast:
    """Run a queue ahead until nothing more happens.

    With `brief`, only until the starts of the scenario's additional jobs are known; of other jobs
    the forecast then has only what happens before that. `effort` limits the run: see `run_ahead`.
    """
    _check_graph(snapshot, scenario.graph)
    graph, config, more = _own_graph(scenario), scenario.config, scenario.more
    ahead = RunAhead(snapshot, graph, config, more, now, brief, effort)
    ahead.run()
    rough = ahead.policy is not None
    return Forecast(scenario.name, now, ahead.start, ahead.end, ahead.never, ahead.where, rough)


def _check_graph(snapshot: Snapshot, graph: ResourceGraph) -> None:
    rows = max((int(a.placement.vertex.max(initial=0)) for a in snapshot.allocations), default=0)
    if rows >= graph.vertex_count:
        raise SimulationError(
            "jobs of the queue run on resources that this cluster does not have; "
            "give the graph of the queue's own cluster with --graph"
        )


def _own_graph(scenario: Scenario) -> ResourceGraph:
    """A copy of a scenario's graph, with its foreign usage and closed nodes."""
    graph = scenario.graph.copy()
    if scenario.others or scenario.closed:
        nodes = NodeIndex(Matcher(graph))
        nodes.occupy(scenario.others)
        nodes.close(nodes.named(scenario.closed), closed=True)
    return graph


def with_queues_of(config: SchedulerConfig, snapshot: Snapshot) -> SchedulerConfig:
    """The configuration, with a default queue added for each unknown queue that a job is in.

    Jobs may be in a queue that was removed from the configuration.
    """
    known = {queue.name for queue in config.queues}
    missing = sorted({job.queue for job in snapshot.jobs} - known)
    return replace(config, queues=config.queues + tuple(QueueConfig(name) for name in missing))


def with_policy(config: SchedulerConfig, policy: QueueConfig) -> SchedulerConfig:
    """The same queues under another policy; all else stays."""
    queues = (
        replace(queue, policy=policy.policy, reservations=policy.reservations)
        for queue in config.queues
    )
    return replace(config, queues=tuple(queues))


def scenarios(
    cluster: SimulatedCluster,
    configs: Mapping[str, SchedulerConfig],
    *,
    nodes: int = 0,
    job: Submission | None = None,
) -> list[Scenario]:
    """A scenario for each configuration and, on the first one, with more nodes and one more job."""
    (first, config), *others = configs.items()
    found = [Scenario(first, cluster.graph, config)]
    found += [Scenario(name, cluster.graph, other) for name, other in others]
    if nodes:
        more = with_more_nodes(cluster, nodes).graph
        found.append(Scenario(f"+{nodes} nodes", more, config))
    if job is not None:
        found.append(Scenario("+1 job", cluster.graph, config, (job,)))
    return found
