"""A counter where callers ask: a real queue and its clerk, on a clock that the test sets.

    counter = a_counter(nodes=2, cores=4)
    grant = await counter.ask(counter.clerk.match(Wish(cores(4))))
    await counter.later(100)

Nothing happens by itself: there is a round when somebody asks, or when time passes. The queue looks
after itself: with every step all of its invariants are checked.
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
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Submit
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from fluxnetes.service.caller_leases import CallerLeases
from fluxnetes.service.mailbox import Mailbox, QueueRequest
from fluxnetes.service.operations import QueueOperations
from fluxnetes.service.queue_runner import QueueRunner
from fluxnetes.service.views.nodes import totals
from tests.integration.rpc.graphs import a_cluster

T = TypeVar("T")

BEGIN = 1_800_000_000


@dataclass
class Clock:
    """Stands still unless told otherwise."""

    now: float = float(BEGIN)

    def __call__(self) -> float:
        return self.now


@dataclass
class Counter:
    """See the module's docstring."""

    queue: QueueRunner
    clerk: QueueOperations
    clock: Clock

    async def ask(self, request: QueueRequest[T]) -> T:
        """The answer, after a round."""
        asked = asyncio.create_task(self.queue.mailbox.ask(request))
        await asyncio.sleep(0)
        await self.queue.round()
        return await asked

    async def queued(self, *mailbox: QueueRequest[Any]) -> list[asyncio.Task[Any]]:
        """Asked, all at once, of a queue that has not heard of it yet."""
        asked = [asyncio.create_task(self.queue.mailbox.ask(each)) for each in mailbox]
        await asyncio.sleep(0)
        return asked

    async def later(self, seconds: float = 0) -> None:
        """A round, after so long; and what follows from it at once."""
        self.clock.now += seconds
        for _ in range(2):
            await self.queue.round()

    # -- looking -------------------------------------------------------------------------------

    def job(self, id: int) -> QueueJob:
        return self.queue.scheduler.job(id)

    def state(self, id: int) -> JobState:
        return self.job(id).state

    def free(self, type: str = "core") -> int:
        """What nobody has, everywhere."""
        [found] = [pool.free for pool in totals(self.queue.matcher) if pool.type == type]
        return found

    def starts(self) -> dict[int, int]:
        """What waiting jobs were promised."""
        jobs = self.queue.scheduler.jobs.values()
        return {
            j.id: j.plan.start for j in jobs if j.plan is not None and j.state is JobState.PENDING
        }

    # -- others --------------------------------------------------------------------------------

    def put_other(self, request: Jobspec, workload: str = "Job/default/train") -> int:
        """A job that no caller submitted."""
        id = self.queue.next_id
        self.queue.put(Submit(Submission(id, request, walltime=100, workload=workload)))
        self.queue.next_id += 1
        return id

    def restarted(self) -> Counter:
        """Another life, on all that was written down."""
        snapshot, graph = self.queue.scheduler.snapshot(), self.queue.matcher.graph.copy()
        self.queue.mailbox.close()
        leases = self.clerk.leases
        return open_counter(
            graph, self.queue.scheduler.config, leases.patience, self.clock, snapshot
        )


def a_counter(
    nodes: int = 2,
    cores: int = 4,
    *,
    config: SchedulerConfig | None = None,
    patience: float | None = None,
) -> Counter:
    """Nodes of cores, all of them free."""
    graph = read_graph(a_cluster(nodes, cores), "jgf")
    return open_counter(graph, config or SchedulerConfig(), patience, Clock())


def a_pool_counter(nodes: int = 2, cpu: int = 4000, pods: int = 10) -> Counter:
    """Nodes as Kubernetes has them."""
    sizes = {"cpu": cpu, "memory": 1024, "pods": pods, "tenancy": 1_000_000}
    graph = pool_graph({f"n{number}": sizes for number in range(nodes)})
    return open_counter(graph, SchedulerConfig(), None, Clock())


def open_counter(
    graph: ResourceGraph,
    config: SchedulerConfig,
    patience: float | None,
    clock: Clock,
    snapshot: Snapshot | None = None,
) -> Counter:
    now, snapshot = int(clock()), snapshot or Snapshot()
    matcher = Matcher(graph, policy=config.match_policy)
    scheduler = Scheduler.resume(matcher, config, snapshot, now=now, validate=True)
    clerk = QueueOperations(CallerLeases(patience, clock))
    mailbox = Mailbox(tend=clerk.leases.tend, changed=clerk.take, opened=clerk.begin)
    next_id = 1 + max((job.id for job in snapshot.jobs), default=0)
    queue = QueueRunner(matcher, scheduler, mailbox, now=now, next_id=next_id, clock=clock)
    mailbox.open(queue, lambda: None)
    return Counter(queue, clerk, clock)


def cores(count: int, *, seconds: int = 100) -> Jobspec:
    """Single cores, wherever they are."""
    return jobspec(slot(count, core(1)), duration=seconds)


def a_submission(count: int, *, seconds: int | None = 100, **more: Any) -> Submission:
    asked = replace(cores(count), duration=0.0)
    return Submission(0, asked, walltime=seconds, **more)
