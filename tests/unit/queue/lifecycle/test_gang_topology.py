"""Gangs that say which of their pods are to be close together or apart, in a queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fluxnetes.common.reasons import ReasonCode
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.match.gang.model import Gang, TopologyRequest
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import (
    GraphChanged,
    Grow,
    NodesClosed,
    Occupied,
    Reseat,
    TaskEnded,
)
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe, a_gang, asking_for, pods
from tests.unit.queue.lifecycle.test_reseat import places
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def racks(*sizes: int, cpu: int = 4) -> ResourceGraph:
    """Racks of so many nodes, which are named after their rack: a0, a1, b0 ..."""
    names = {
        f"{rack}{n}": rack for rack, size in zip("abcd", sizes, strict=False) for n in range(size)
    }
    return pool_graph({name: {"cpu": cpu} for name in names}, levels={"rack": names})


def near(count: int, cpu: int = 4, **topology: Any) -> JobToBe:
    request = TopologyRequest(**topology)
    return asking_for(Gang((pods(count, cpu=cpu),), topology=request))


# -- planning --------------------------------------------------------------------------------------


def test_a_gang_is_promised_when_one_rack_is_free_not_when_enough_nodes_are() -> None:
    world = World(racks(2, 2), CONSERVATIVE)
    world.submit(near(1, required="rack").lasting(10))
    world.submit(near(1, slice_level="rack", slice_size=1, spread_level="node", spread_most=1))
    other = world.submit(a_gang(pods(1, cpu=4)).lasting(30))
    assert places(world, other)[0][0] != places(world, 1)[0][0]
    head = world.submit(near(2, required="rack").lasting(10))
    assert world.start(head) is None
    assert world.plan(head) == 10
    world.go_to(10)
    assert world.start(head) == 10
    assert {name[0] for name in places(world, head)} == {"a"}


def test_backfill_takes_no_node_of_the_rack_that_a_promise_needs() -> None:
    world = World(racks(2, 2), CONSERVATIVE)
    world.submit(near(1, required="rack").lasting(10))  # on a0
    world.submit(a_gang(pods(1, cpu=4)).lasting(3))  # on a1
    world.submit(near(1, required="node").lasting(60))  # on b0
    head = world.submit(near(2, required="rack").lasting(20))
    assert world.plan(head) == 10
    long = world.submit(a_gang(pods(1, cpu=4)).lasting(50))
    assert places(world, long) == ["b1"], "beside the rack that the promise needs"
    another = world.submit(a_gang(pods(1, cpu=4)).lasting(50))
    assert world.start(another) is None, "only a1 will be free before"
    short = world.submit(a_gang(pods(1, cpu=4)).lasting(5))
    world.go_to(3)
    assert places(world, short) == ["a1"]
    world.go_to(10)
    assert (world.start(head), world.start(another)) == (10, None)


def test_a_preference_is_counted_like_no_request_at_all() -> None:
    world = World(racks(2, 2), CONSERVATIVE)
    world.submit(near(3, preferred="rack").lasting(10))
    assert world.queue.plans_by_counting == world.way.counts
    waiting = world.submit(a_gang(pods(2, cpu=4)).lasting(10))
    assert world.plan(waiting) == 10


def test_a_reason_says_what_one_rack_lacks() -> None:
    world = World(racks(2, 3))
    world.submit(a_gang(pods(1, cpu=4)).lasting(60))
    world.submit(near(1, required="rack").lasting(60))
    head = world.submit(near(3, required="rack").lasting(60))
    assert places(world, 2) == ["a1"]
    assert world.start(head) == 0
    late = world.submit(near(2, 1, required="rack").lasting(60))
    reason = world.explain(late).reason
    assert reason is not None and reason.code is ReasonCode.RESOURCES


def test_what_no_rack_can_ever_hold_waits_aside() -> None:
    world = World(racks(2, 3))
    job = world.submit(near(4, required="rack"))
    explained = world.explain(job)
    assert explained.reason is not None and explained.reason.code is ReasonCode.UNSATISFIABLE
    assert "needs 4 pods inside one rack; the most that one rack can hold is 3" in reason_text(
        explained.reason
    )


# -- tasks that move -------------------------------------------------------------------------------


def test_a_task_that_moves_stays_in_the_rack_of_its_gang() -> None:
    world = World(racks(2, 3, 4))
    job = world.submit(near(3, required="rack").lasting(50))
    assert places(world, job) == ["b0", "b1", "b2"]
    with pytest.raises(QueueRefused, match="fit nowhere else"):
        world.tell(NodesClosed(("b1",)), Reseat(job, (1,)))
    other = world.submit(near(2, cpu=2, required="node", preferred="rack").lasting(50))
    assert world.start(other) == 0
    third = world.submit(near(3, required="rack").lasting(50))
    assert places(world, third) == ["c0", "c1", "c2"]
    world.tell(NodesClosed(("c1",)), Reseat(third, (1,)))
    assert places(world, third) == ["c0", "c3", "c2"]


def test_a_gang_that_moves_as_a_whole_may_go_to_another_rack() -> None:
    world = World(racks(2, 3))
    job = world.submit(near(2, required="rack").lasting(50))
    assert places(world, job) == ["a0", "a1"]
    world.tell(NodesClosed(("a0",)), Reseat(job, (0, 1)))
    assert places(world, job) == ["b0", "b1"]


def test_a_task_that_moves_stays_with_its_slice() -> None:
    world = World(racks(3, 3, 1))
    job = world.submit(near(4, slice_level="rack", slice_size=2).lasting(50))
    assert places(world, job) == ["a0", "a1", "b0", "b1"]
    world.tell(NodesClosed(("b1",)), Reseat(job, (3,)))
    assert places(world, job) == ["a0", "a1", "b0", "b2"]
    with pytest.raises(QueueRefused):
        world.tell(NodesClosed(("b0",)), Reseat(job, (2,)))


def test_a_slice_that_moves_as_a_whole_may_go_elsewhere() -> None:
    world = World(racks(2, 2, 2))
    job = world.submit(near(4, slice_level="rack", slice_size=2).lasting(50))
    assert places(world, job) == ["a0", "a1", "b0", "b1"]
    world.tell(NodesClosed(("b1",)), Reseat(job, (2, 3)))
    assert places(world, job) == ["a0", "a1", "c0", "c1"]


def test_tasks_that_move_count_with_those_that_stay() -> None:
    world = World(racks(2, 2, 1))
    job = world.submit(near(4, spread_level="rack", spread_most=2).lasting(50))
    assert places(world, job) == ["a0", "a1", "b0", "b1"]
    world.tell(NodesClosed(("b0",)), Reseat(job, (2,)))
    assert places(world, job) == ["a0", "a1", "c0", "b1"]
    with pytest.raises(QueueRefused):
        world.tell(Occupied({"a0": {"cpu": 4}}), Reseat(job, (0,)))


def test_a_task_that_has_ended_counts_no_longer() -> None:
    world = World(racks(2, 1))
    job = world.submit(near(2, cpu=2, spread_level="rack", spread_most=1).lasting(50))
    assert places(world, job) == ["a0", "b0"]
    world.tell(TaskEnded(job, 0))
    world.tell(NodesClosed(("b0",)), Reseat(job, (1,)))
    assert places(world, job)[1] == "a0"


# -- groups that grow ------------------------------------------------------------------------------


def test_a_group_grows_inside_its_rack() -> None:
    world = World(racks(2, 3))
    full = world.submit(near(1, required="rack").lasting(5))  # a0
    assert places(world, full) == ["a0"]
    group = world.submit(near(1, required="rack").between(1, 4).lasting(50))
    assert places(world, group) == ["b0", "b1", "b2"], "as large as one rack allows"
    world.tell(TaskEnded(group, 0), TaskEnded(group, 2))
    world.submit(a_gang(pods(1, cpu=3)).lasting(60))
    world.go_to(6)
    world.tell(Grow(group))
    assert {name[0] for name in places(world, group)} == {"b"}


def test_a_group_grows_no_further_than_it_may_in_each_rack() -> None:
    world = World(racks(2, 2))
    first = world.submit(a_gang(pods(1, cpu=4)).lasting(5))
    assert places(world, first) == ["a0"]
    spread = near(1, spread_level="rack", spread_most=1).between(1, 4).lasting(50)
    group = world.submit(spread)
    assert places(world, group) == ["a1", "b0"]
    world.go_to(6)
    world.tell(Grow(group))
    assert places(world, group) == ["a1", "b0"]


# -- restarts --------------------------------------------------------------------------------------


def test_a_gang_asks_for_the_same_after_a_restart() -> None:
    world = World(racks(2, 2))
    wanted = near(2, required="rack").lasting(50)
    first, second, third = world.submit_together(wanted, wanted, wanted)
    world.restart()
    assert world.starts(first, second, third) == [0, 0, None]
    request = world.job(third).submission.request
    assert isinstance(request, Gang) and request.topology == TopologyRequest("rack")
    assert replace(request, topology=None) != request


# -- nodes that move -------------------------------------------------------------------------------


def move(world: World, node: str, rack: str) -> None:
    graph = world.graph
    (row,) = (v for v in range(graph.vertex_count) if graph.name(v) == node)
    graph.move([row], graph.find_path(f"/cluster0/{rack}"))
    world.tell(GraphChanged())


def test_what_runs_on_a_node_that_moves_goes_on() -> None:
    world = World(racks(2, 2))
    job = world.submit(near(2, required="rack").lasting(50))
    move(world, "a0", "b")
    assert world.state(job) is JobState.RUNNING
    assert places(world, job) == ["a0", "a1"]
    assert world.holds(job) == {"cpu": 8}
    allocation = world.keeper.allocation(job)
    assert allocation is not None
    paths = {world.graph.path(row) for row in allocation.placement.vertex.tolist()}
    assert {"/cluster0/b/a0", "/cluster0/a/a1", "/cluster0/b", "/cluster0/a"} <= paths
    world.go_to(50)
    assert world.state(job) is JobState.COMPLETED


def test_a_gang_that_waits_finds_the_rack_that_a_node_moved_to() -> None:
    world = World(racks(2, 1))
    world.submit(near(1, required="rack").lasting(5))  # b0
    job = world.submit(near(3, required="rack").lasting(10))
    assert world.is_set_aside(job), "no rack has three nodes"
    move(world, "b0", "a")
    assert world.plan(job) == 5
    world.go_to(5)
    assert places(world, job) == ["a0", "a1", "b0"]


def test_a_planned_start_holds_if_another_rack_serves_it() -> None:
    world = World(racks(2, 2, 1), CONSERVATIVE)
    world.submit(near(2, required="rack").lasting(10))  # a
    world.submit(near(2, required="rack").lasting(20))  # b
    head = world.submit(near(2, required="rack").lasting(10))
    assert world.plan(head) == 10
    move(world, "a1", "c")
    assert world.plan(head) == 10, "c has a1 then"
    world.go_to(10)
    assert sorted(places(world, head)) == ["a1", "c0"]
