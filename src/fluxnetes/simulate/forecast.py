"""What if: today's queue run ahead, as it is and with something changed.

A forecast goes on from a snapshot of a queue, on virtual time; see `ahead` for what is assumed. A
job without a walltime never ends, and whoever cannot start beside it has no forecast.

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
    """What is run ahead: on which cluster, with which queues, with which jobs besides."""

    name: str
    graph: ResourceGraph
    """The rows that jobs of the snapshot hold are rows of this one."""
    config: SchedulerConfig
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
    never: Mapping[int, Reason | None]
    """Jobs for which no start is known, and why."""
    where: Mapping[int, Allocation] = field(default_factory=dict, compare=False)
    """What the scenario's own jobs are given when they first start; for an array, its first task.
    Rows are those of the scenario's graph."""
    rough: bool = False
    """Whether it took more effort than it was worth to run the queue as it is; see `ahead`."""


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
    snapshot: Snapshot,
    scenario: Scenario,
    now: int,
    *,
    brief: bool = False,
    effort: int | None = None,
) -> Forecast:
    """Run a queue ahead until nothing more happens.

    Or, in brief, until it is known when the scenario's own jobs start; of all others the forecast
    then says only what happens before that. `effort` sets a bound to it: see `ahead`.
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
    """A copy of a scenario's graph, on which others and closed nodes are as the scenario says."""
    graph = scenario.graph.copy()
    if scenario.others or scenario.closed:
        nodes = NodeIndex(Matcher(graph))
        nodes.occupy(scenario.others)
        nodes.close(nodes.named(scenario.closed), closed=True)
    return graph


def with_queues_of(config: SchedulerConfig, snapshot: Snapshot) -> SchedulerConfig:
    """The configuration with a queue for each that a job is in; those it does not have are plain.

    A system whose configuration was changed may have jobs in a queue that is no more.
    """
    known = {queue.name for queue in config.queues}
    missing = sorted({job.queue for job in snapshot.jobs} - known)
    return replace(config, queues=config.queues + tuple(QueueConfig(name) for name in missing))


def with_policy(config: SchedulerConfig, policy: QueueConfig) -> SchedulerConfig:
    """The same queues with all that they have, each under another policy."""
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
