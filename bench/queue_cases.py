"""What `bench/queue` measures: worlds of 10,000 nodes with queues of up to 10,000 jobs.

Each case builds a world, then gives the steps to be timed, one after the other in the same world.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, repeat

from bench.queue_store import store_steps
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import core, jobspec, node, slot
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Ended, GraphChanged, Submit
from fluxnetes.queue.jobs import Request, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState

NODES = 10_000
JOBS = 10_000
SAME = 1.5
"""How many times as long something may take that should take as long as something else: times
within one process differ by so much."""

Steps = Iterator[tuple[str, Callable[[], object], float | None]]
"""What is timed: its name, the doing, and the limit in milliseconds."""


@dataclass(frozen=True)
class Case:
    name: str
    steps: Callable[[], Steps]


def node_graph(count: int, cores: int = 1) -> ResourceGraph:
    """A cluster of nodes; with one core each, whole nodes are all that matters."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", basename="cluster", id=0)
    for rank in range(count):
        host = patch.vertex("node", basename="node", id=rank, rank=rank)
        patch.edge(root, host)
        for id in range(cores):
            patch.edge(host, patch.vertex("core", basename="core", id=id, rank=rank))
    graph.apply(patch)
    return graph


def pools(count: int) -> ResourceGraph:
    """A cluster of nodes that are pools, every fourth with GPUs, and licences."""
    amounts = {"cpu": 16_000, "memory": 64_000}
    nodes = {f"n{i}": {**amounts, "gpu": 4 if i % 4 == 0 else 0} for i in range(count)}
    return pool_graph(nodes, shared={"licence": 400})


def whole_nodes(rng: random.Random) -> Request:
    return jobspec(slot(rng.choice([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 777, 1024]), node(1)))


def mixed_gangs(rng: random.Random) -> list[Request]:
    """200 gangs of one or two shapes, some with licences."""
    gangs: list[Request] = []
    for _ in range(200):
        cpu, memory = rng.choice([500, 1000, 4000, 16_000]), rng.choice([1000, 8000, 32_000])
        plain = Shape.of(rng.choice([1, 4, 16, 64, 256]), {"cpu": cpu, "memory": memory})
        gpu = Shape.of(rng.choice([1, 2, 8, 32, 100]), {"cpu": 2000, "gpu": rng.choice([1, 2, 4])})
        licences = (("licence", rng.choice([1, 10, 50])),) if rng.random() < 0.2 else ()
        gangs.append(Gang(rng.choice([(plain,), (gpu,), (plain, gpu)]), shared=licences))
    return gangs


def scheduler(graph: ResourceGraph, policy: BackfillPolicy, reservations: int = 1) -> Scheduler:
    queue = QueueConfig(policy=policy, reservations=reservations)
    return Scheduler(Matcher(graph, policy="lonode"), SchedulerConfig(queues=(queue,)))


def submit(
    queue: Scheduler, requests: Iterator[Request], count: int, rng: random.Random, first: int = 1
) -> None:
    for id in range(first, first + count):
        spec = Submission(id, next(requests), walltime=rng.randint(60, 86_400))
        queue.apply(Submit(spec), 0)


def end_one(queue: Scheduler, now: int) -> None:
    """The smallest of the jobs that hold something ends early."""
    holding = [job for job in queue.jobs.values() if job.state is JobState.ALLOCATED]
    queue.apply(Ended(min(job.id for job in holding)), now)


def cycles(queue: Scheduler, first: float | None, freed: float | None) -> Steps:
    """The first cycle of a queue, one in which nothing was freed, one after an early end."""
    yield "first cycle, empty machine", lambda: queue.cycle(0), first
    yield "nothing freed since", lambda: queue.cycle(1), 50
    end_one(queue, 2)
    yield "after an early end", lambda: queue.cycle(2), freed


def easy_whole_nodes() -> Steps:
    rng = random.Random(1)
    queue = scheduler(node_graph(NODES), BackfillPolicy.EASY)
    submit(queue, iter(lambda: whole_nodes(rng), None), JOBS, rng)
    yield from cycles(queue, 1000, 1000)


def promises(policy: BackfillPolicy) -> Callable[[], Steps]:
    def steps() -> Steps:
        rng = random.Random(2)
        queue = scheduler(node_graph(NODES), policy, reservations=1000)
        jobs = JOBS if policy is BackfillPolicy.HYBRID else 1060
        submit(queue, iter(lambda: whole_nodes(rng), None), jobs, rng)
        yield from cycles(queue, 5000, 5000)

    return steps


def gangs(policy: BackfillPolicy, jobs: int, reservations: int) -> Callable[[], Steps]:
    def steps() -> Steps:
        rng = random.Random(3)
        queue = scheduler(pools(NODES), policy, reservations)
        kinds = mixed_gangs(rng)
        submit(queue, iter(lambda: rng.choice(kinds), None), jobs, rng)
        limit = 1000 if policy is BackfillPolicy.EASY else None
        yield from cycles(queue, limit, limit)

    return steps


def nothing_can_start() -> Steps:
    """Every node has capacity for a pod, just not for one as large as any of 200 shapes."""
    rng = random.Random(4)
    queue = scheduler(pools(NODES), BackfillPolicy.EASY)
    large = Gang((Shape.of(NODES, {"cpu": 9000, "memory": 1000}),))
    small = Gang((Shape.of(1, {"cpu": 1000, "memory": 1000}),))
    queue.apply(Submit(Submission(JOBS + 1, large, walltime=100_000)), 0)
    queue.apply(Submit(Submission(JOBS + 2, small, walltime=100_000)), 0)
    queue.cycle(0)
    kinds = [Gang((Shape.of(1 + i % 20, {"cpu": 7100 + 10 * i}),)) for i in range(200)]
    submit(queue, iter(lambda: rng.choice(kinds), None), JOBS, rng)
    queue.cycle(0)
    queue.apply(Ended(JOBS + 2), 1)
    yield "200 shapes, a small pod ended", lambda: queue.cycle(1), 50
    yield "nothing freed since", lambda: queue.cycle(2), 50


def shared_levels() -> Steps:
    """`node > slot > core` beside `slot > core`: a shared level of count 1 is looked through."""
    took: dict[str, float] = {}
    forms: dict[str, Request] = {
        "slot > core": jobspec(slot(1, core(1))),
        "node > slot > core": jobspec(node(1, slot(1, core(1)))),
    }
    for name, request in forms.items():
        rng = random.Random(5)
        queue = scheduler(node_graph(50, cores=8), BackfillPolicy.HYBRID, reservations=1000)

        def timed(queue: Scheduler = queue, name: str = name) -> None:
            began = time.perf_counter()
            queue.cycle(1)
            took[name] = 1e3 * (time.perf_counter() - began)

        submit(queue, repeat(request), 50 * 8, rng)
        queue.cycle(0)
        submit(queue, repeat(request), JOBS, rng, first=50 * 8 + 1)
        limit = SAME * min(took.values()) if took else None
        yield f"{name}, 1,000 promises", timed, limit
        if not queue.plans_by_counting:
            raise RuntimeError(f"{name} is not planned by counting")


def nothing_serves(shapes: int) -> Callable[[], Steps]:
    """Jobs that no node can serve, while nodes are relabelled, and when a node comes for some."""

    def steps() -> Steps:
        rng = random.Random(6)
        graph = pools(NODES)
        queue = scheduler(graph, BackfillPolicy.EASY)
        kinds: list[Request] = [
            Gang((Shape.of(1, {"cpu": 16_001 + number}),)) for number in range(shapes)
        ]
        submit(queue, cycle(kinds), JOBS, rng)
        yield "first cycle", lambda: queue.cycle(0), 50
        graph.set_property(1, "label", "")
        queue.apply(GraphChanged(), 1)
        yield "after labels changed", lambda: queue.cycle(1), 1000
        [pool] = graph.find_path("/cluster0/n0/cpu0")
        graph.set_size(pool, 16_001)
        queue.apply(GraphChanged(), 2)
        yield "after a node grew", lambda: queue.cycle(2), 1000

    return steps


CASES = (
    Case("easy, 10,000 jobs of whole nodes", easy_whole_nodes),
    Case("hybrid, 1,000 promises, 10,000 jobs", promises(BackfillPolicy.HYBRID)),
    Case("conservative, 1,000 promises", promises(BackfillPolicy.CONSERVATIVE)),
    Case("10,000 jobs of one core, two forms", shared_levels),
    Case("10,000 jobs nothing serves, 1 shape", nothing_serves(1)),
    Case("10,000 jobs nothing serves, each other", nothing_serves(JOBS)),
    Case("easy, 10,000 mixed gangs on pools", gangs(BackfillPolicy.EASY, JOBS, 1)),
    Case("hybrid, 50 promises, mixed gangs", gangs(BackfillPolicy.HYBRID, 3000, 50)),
    Case("nothing can start, gangs on pools", nothing_can_start),
    Case("store", store_steps),
)
