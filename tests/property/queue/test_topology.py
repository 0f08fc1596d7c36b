"""Gangs with a topology request in a queue: promises are kept, and every placement is allowed.

What was asked for holds as long as the gang runs: when tasks end or are moved, and when it grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.planning import times
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import NodesClosed, Reseat, Submit, TasksEnded
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from tests.oracle.topology import is_allowed
from tests.property.profile import examples
from tests.property.queue.books import Books, check_that_nothing_is_leaked
from tests.property.queue.notary import Notary
from tests.property.queue.scripts import (
    CPU,
    LICENCES,
    MEMORY,
    Weather,
    gangs,
    queues,
    scripts,
    whole,
)
from tests.property.queue.story import Script
from tests.property.queue.world import MATCH_POLICY, World

RACKS = {"n0": "r0", "n1": "r0", "n2": "r1"}
"""n3 is in no rack."""
DOMAINS = {
    name: {"node": name} | ({"rack": RACKS[name]} if name in RACKS else {})
    for name in ("n0", "n1", "n2", "n3")
}


def racks() -> ResourceGraph:
    """The nodes of `scripts.pools`, in racks."""
    node = {"cpu": CPU, "memory": MEMORY}
    levels = {"rack": RACKS}
    return pool_graph(dict.fromkeys(DOMAINS, node), levels=levels, shared={"licence": LICENCES})


@st.composite
def near_gangs(draw: st.DrawFn) -> Gang:
    level = st.sampled_from(["rack", "rack", "node"])
    kind = draw(st.sampled_from(["required", "preferred", "slices", "spread", "both"]))
    request = TopologyRequest(
        required=draw(level) if kind == "required" else "rack" if kind == "both" else None,
        preferred=draw(level) if kind == "preferred" else None,
        slice_level=draw(level) if kind == "slices" else None,
        slice_size=draw(st.integers(1, 3)) if kind == "slices" else 0,
        spread_level=draw(level) if kind == "spread" else "node" if kind == "both" else None,
        spread_most=draw(st.integers(1, 3)) if kind in ("spread", "both") else 0,
    )
    return replace(draw(gangs()), topology=request)


def fits(gang: Gang) -> bool:
    """Whether an idle cluster can serve a gang, as it is and as an elastic one."""
    matcher = Matcher(racks())
    return all(matcher.satisfiable(each) for each in (gang, times(gang, 2)))


requests = near_gangs().filter(fits) | near_gangs().filter(fits) | gangs() | whole


def live_through(config: SchedulerConfig, script: Script) -> None:
    world = World(racks, config, script)
    books, notary = Books(world), Notary(world)
    for step in world.steps():
        books.check(step)
        notary.check(step)
        check_topology(world)
    notary.check_that_all_ended_once()
    check_that_nothing_is_leaked(world)


def check_topology(world: World) -> None:
    """Every gang that holds something is placed as it asked for."""
    for allocation in world.scheduler.snapshot().allocations:
        gang = world.job(allocation.job).submission.request
        if isinstance(gang, Gang) and gang.topology is not None:
            check_placed(world, allocation, gang, gang.topology)


def check_placed(
    world: World, allocation: Allocation, gang: Gang, request: TopologyRequest
) -> None:
    nodes = [world.graph.name(row) for row in allocation.task_nodes(world.graph)]
    live = [task for task in range(len(nodes)) if task not in allocation.ended_tasks]
    together = replace(request, slice_level=None, slice_size=0)
    assert is_allowed(together, [Counter(nodes[task] for task in live)], DOMAINS), nodes
    # What is added to an elastic group is in slices of its own.
    if request.slice_level is not None and world.job(allocation.job).submission.size is None:
        for slice in slices(gang, request.slice_size):
            there = {
                DOMAINS[nodes[task]].get(request.slice_level) for task in slice if task in live
            }
            assert len(there) <= 1 and None not in there, nodes


def slices(gang: Gang, size: int) -> list[Sequence[int]]:
    """The tasks of each slice."""
    found: list[Sequence[int]] = []
    first = 0
    for shape in gang.shapes:
        tasks = range(first, first + shape.count)
        found += [tasks[at : at + size] for at in range(0, shape.count, size)]
        first += shape.count
    return found


@given(config=queues(), script=scripts(requests))
@examples(100)
def test_promises_are_kept_and_gangs_are_placed_as_they_asked_for(
    config: SchedulerConfig, script: Script
) -> None:
    live_through(config, script)


@given(config=queues(preempts=True), script=scripts(requests, Weather.WILD))
@examples(100)
def test_so_it_is_when_tasks_end_or_move_and_groups_grow(
    config: SchedulerConfig, script: Script
) -> None:
    live_through(config, script)


@given(config=queues(), script=scripts(requests, Weather.CALM))
@examples(100)
def test_where_jobs_only_come_end_early_or_go_no_promise_moves_later_at_all(
    config: SchedulerConfig, script: Script
) -> None:
    world = World(racks, config, script)
    notary = Notary(world)
    for step in world.steps():
        notary.check(step)
    assert notary.moved_later == 0


# -- tasks that move -------------------------------------------------------------------------------

ROOM = {"n0": "r0", "n1": "r0", "n2": "r0", "n3": "r1", "n4": "r1", "n5": "r1"}


@given(
    request=near_gangs(),
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=2),
    moves=st.lists(
        st.tuples(st.sampled_from(["end", "move"]), st.sets(st.integers(0, 7), min_size=1)),
        min_size=1,
        max_size=6,
    ),
    closed=st.lists(st.sampled_from(sorted(ROOM)), max_size=2, unique=True),
)
@examples(300)
def test_tasks_that_move_end_up_where_the_whole_gang_may_be(
    request: Gang, counts: list[int], moves: list[tuple[str, set[int]]], closed: list[str]
) -> None:
    graph = pool_graph({name: {"cpu": 2} for name in ROOM}, levels={"rack": ROOM})
    shapes = tuple(Shape.of(count, {"cpu": 1}) for count in counts)
    gang = Gang(shapes, topology=request.topology)
    queue = Scheduler(Matcher(graph, policy=MATCH_POLICY), SchedulerConfig(), validate=True)
    queue.apply(Submit(Submission(1, gang, walltime=100)), 0)
    queue.cycle(0)
    domains = {name: {"node": name, "rack": rack} for name, rack in ROOM.items()}
    _check_tasks(queue, graph, gang, domains)
    queue.apply(NodesClosed(tuple(closed)), 0)
    for verb, tasks in moves:
        mine = tuple(sorted(task for task in tasks if task < sum(counts)))
        with suppress(QueueError):
            queue.apply(Reseat(1, mine) if verb == "move" else TasksEnded(1, mine[:1]), 0)
        _check_tasks(queue, graph, gang, domains)


def _check_tasks(
    queue: Scheduler, graph: ResourceGraph, gang: Gang, domains: dict[str, dict[str, str]]
) -> None:
    request = gang.topology
    assert request is not None
    for allocation in queue.snapshot().allocations:
        nodes = [graph.name(row) for row in allocation.task_nodes(graph)]
        live = [task for task in range(len(nodes)) if task not in allocation.ended_tasks]
        together = replace(request, slice_level=None, slice_size=0)
        assert is_allowed(together, [Counter(nodes[task] for task in live)], domains), nodes
        if request.slice_level is not None:
            for slice in slices(gang, request.slice_size):
                there = {
                    domains[nodes[task]][request.slice_level] for task in slice if task in live
                }
                assert len(there) <= 1, nodes
