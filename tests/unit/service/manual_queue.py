"""A real queue and the operations of its callers, on a clock that the test sets.

    queue = a_manual_queue(nodes=2, cores=4)
    grant = await queue.ask(queue.operations.match(MatchCall(cores(4))))
    await queue.later(100)

Nothing happens by itself: there is a round when a test asks something, or when time passes. With
every step the scheduler checks all of its invariants.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.build import core, jobspec, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Changes, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Submit
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from fluxnetes.service.leases.caller_leases import CallerLeases
from fluxnetes.service.mailbox import Mailbox, NoListener, QueueHost, QueueRequest
from fluxnetes.service.operations import QueueOperations
from fluxnetes.service.queue_runner import QueueRunner
from fluxnetes.service.views.nodes import totals
from tests.integration.rpc.graphs import a_cluster

T = TypeVar("T")

BEGIN = 1_800_000_000


@dataclass
class Clock:
    """A clock that only the test moves."""

    now: float = float(BEGIN)

    def __call__(self) -> float:
        return self.now


class CallersOnly(NoListener):
    """Passes on to callers' operations alone, without change logs or health."""

    def __init__(self, operations: QueueOperations) -> None:
        self._operations = operations

    def opened(self, queue_host: QueueHost) -> None:
        self._operations.begin(queue_host)

    def tend(self, queue_host: QueueHost) -> None:
        self._operations.leases.tend(queue_host)

    def changed(self, changes: Changes, queue_host: QueueHost) -> None:
        self._operations.follow(changes, queue_host)


@dataclass
class ManualQueue:
    """See the module's docstring."""

    runner: QueueRunner
    operations: QueueOperations
    clock: Clock

    async def ask(self, request: QueueRequest[T]) -> T:
        """The answer, after a round."""
        asked = asyncio.create_task(self.runner.mailbox.ask(request))
        await asyncio.sleep(0)
        await self.runner.round()
        return await asked

    async def ask_all(self, *requests: QueueRequest[Any]) -> list[asyncio.Task[Any]]:
        """Put requests into the mailbox, without a round."""
        asked = [asyncio.create_task(self.runner.mailbox.ask(each)) for each in requests]
        await asyncio.sleep(0)
        return asked

    async def later(self, seconds: float = 0) -> None:
        """Move the clock, then run a round and the one that follows from it."""
        self.clock.now += seconds
        for _ in range(2):
            await self.runner.round()

    # -- views ---------------------------------------------------------------------------------

    def job(self, id: int) -> QueueJob:
        return self.runner.scheduler.job(id)

    def state(self, id: int) -> JobState:
        return self.job(id).state

    def free(self, type: str = "core") -> int:
        """What is free, on all nodes."""
        [found] = [pool.free for pool in totals(self.runner.matcher) if pool.type == type]
        return found

    def starts(self) -> dict[int, int]:
        """The promised starts of waiting jobs."""
        jobs = self.runner.scheduler.jobs.values()
        return {
            j.id: j.plan.start for j in jobs if j.plan is not None and j.state is JobState.PENDING
        }

    # -- changes -------------------------------------------------------------------------------

    def put_other(self, request: Jobspec, workload: str = "Job/default/train") -> int:
        """A job that no caller submitted."""
        id = self.runner.next_id
        self.runner.put(Submit(Submission(id, request, walltime=100, workload=workload)))
        self.runner.next_id += 1
        return id

    def restarted(self) -> ManualQueue:
        """The same queue after a restart, from its snapshot."""
        snapshot, graph = self.runner.scheduler.snapshot(), self.runner.matcher.graph.copy()
        self.runner.mailbox.close()
        leases = self.operations.leases
        return open_manual_queue(
            graph, self.runner.scheduler.config, leases.renew_within, self.clock, snapshot
        )


def a_manual_queue(
    nodes: int = 2,
    cores: int = 4,
    *,
    config: SchedulerConfig | None = None,
    renew_within: float | None = None,
) -> ManualQueue:
    """Nodes of cores, all of them free."""
    graph = read_graph(a_cluster(nodes, cores), "jgf")
    return open_manual_queue(graph, config or SchedulerConfig(), renew_within, Clock())


def a_manual_pool_queue(nodes: int = 2, cpu: int = 4000, pods: int = 10) -> ManualQueue:
    """Nodes as Kubernetes has them."""
    sizes = {"cpu": cpu, "memory": 1024, "pods": pods, "tenancy": 1_000_000}
    graph = pool_graph({f"n{number}": sizes for number in range(nodes)})
    return open_manual_queue(graph, SchedulerConfig(), None, Clock())


def open_manual_queue(
    graph: ResourceGraph,
    config: SchedulerConfig,
    renew_within: float | None,
    clock: Clock,
    snapshot: Snapshot | None = None,
) -> ManualQueue:
    now, snapshot = int(clock()), snapshot or Snapshot()
    matcher = Matcher(graph, policy=config.match_policy)
    scheduler = Scheduler.resume(matcher, config, snapshot, now=now, validate=True)
    operations = QueueOperations(CallerLeases(renew_within, clock))
    mailbox = Mailbox(CallersOnly(operations))
    next_id = 1 + max((job.id for job in snapshot.jobs), default=0)
    runner = QueueRunner(matcher, scheduler, mailbox, now=now, next_id=next_id, clock=clock)
    mailbox.open(runner, lambda: None)
    return ManualQueue(runner, operations, clock)


def cores(count: int, *, seconds: int = 100) -> Jobspec:
    """Single cores, wherever they are."""
    return jobspec(slot(count, core(1)), duration=seconds)


def a_submission(count: int, *, seconds: int | None = 100, **more: Any) -> Submission:
    asked = replace(cores(count), duration=0.0)
    return Submission(0, asked, walltime=seconds, **more)
