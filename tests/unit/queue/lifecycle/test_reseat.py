"""Tasks of a gang lose their places and get others; the rest stays where it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import (
    Cancel,
    GraphChanged,
    Grow,
    NodesClosed,
    Occupied,
    Reseat,
    TaskEnded,
    TasksEnded,
)
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools
from tests.unit.queue.world import World


def places(world: World, job: int) -> list[str]:
    """The node of each task."""
    allocation = world.keeper.allocation(job)
    assert allocation is not None
    nodes = allocation.task_nodes(world.graph)
    seated = [node for seats in allocation.seats for node in seats.each()]
    assert list(nodes) == seated, "tasks and seats say the same"
    return [world.graph.name(row) for row in nodes]


def close(*nodes: str) -> NodesClosed:
    return NodesClosed(nodes)


def test_tasks_on_a_closed_node_move_and_the_others_stay() -> None:
    world = World(pools(4, cpu=8))
    job = world.submit(a_gang(pods(3, cpu=8)).lasting(50))
    world.tell(close("node1"), Reseat(job, (1,)))
    assert places(world, job) == ["node0", "node3", "node2"]
    assert world.nodes(job) == ["node0", "node2", "node3"]
    assert world.holds(job) == {"cpu": 24}
    assert world.state(job) is JobState.RUNNING
    assert reason_text(world.story(job)[-1].reason) == "tasks were moved: 1 to node3"


def test_what_they_leave_is_free_for_others() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8, on=hosts(0)), pods(1, cpu=2)).lasting(50))
    waits = world.submit(a_gang(pods(1, cpu=8), pods(1, cpu=8)).lasting(50))
    assert places(world, job) == ["node0", "node1"]
    assert world.start(waits) is None
    world.tell(Occupied({"node1": {"cpu": 7}}), Reseat(job, (1,)))
    assert places(world, job) == ["node0", "node2"]
    world.tell(Occupied({"node1": {}}))
    world.end(job)
    assert world.nodes(waits) == ["node0", "node1"]


def test_it_ends_when_it_would_have() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    world.go_to(10)
    world.tell(close("node0"), Reseat(job, (0,)))
    next_ = world.submit(a_gang(pods(2, cpu=8)))
    assert world.plan(next_) == 50
    world.go_to(50)
    assert world.state(job) is JobState.COMPLETED
    assert world.nodes(next_) == ["node1", "node2"]


def test_gangs_of_several_shapes_move_by_the_shape_of_each_task() -> None:
    world = World(pools(4, cpu=8, gpu=2))
    job = world.submit(a_gang(pods(2, cpu=6), pods(2, cpu=1, gpu=1), pods(1, gpu=1)).lasting(50))
    assert places(world, job) == ["node0", "node1", "node0", "node0", "node1"]
    world.tell(close("node0"), Reseat(job, (0, 2, 3)))
    assert places(world, job) == ["node2", "node1", "node1", "node2", "node1"]
    assert world.holds(job) == {"cpu": 14, "gpu": 3}


def test_all_of_them_or_none() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    before = world.keeper.allocation(job)
    with pytest.raises(QueueRefused, match="needs 2 pods of 8 cpu; 1 fit now"):
        world.tell(close("node0", "node1"), Reseat(job, (0, 1)))
    world.decide()
    assert world.keeper.allocation(job) is before
    assert places(world, job) == ["node0", "node1"]
    assert world.nodes(world.submit(a_gang(pods(1, cpu=8)))) == ["node2"]


def test_a_promise_is_not_broken_for_them() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    other = world.submit(a_gang(pods(1, cpu=8)).lasting(20))
    head = world.submit(a_gang(pods(1, cpu=8)).lasting(20))
    assert world.plan(head) == 20
    world.end(other)
    world.go_to(1)
    later = world.submit(a_gang(pods(1, cpu=8)).lasting(20))
    assert world.plan(later) == 20
    world.tell(close("node0"))
    with pytest.raises(QueueRefused, match="its tasks fit nowhere else"):
        world.tell(Reseat(job, (0,)))
    assert world.plan(later) == 20


def test_room_that_is_promised_for_later_is_theirs_if_they_are_gone_by_then() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).lasting(30))
    world.submit(a_gang(pods(1, cpu=8)).lasting(40))
    head = world.submit(a_gang(pods(3, cpu=8)).lasting(10))
    assert world.plan(head) == 40
    world.tell(Occupied({"node0": {"cpu": 1}}))
    world.tell(Reseat(job, (0,)))
    assert places(world, job) == ["node2"]
    world.tell(Occupied({"node0": {}}))
    assert world.plan(head) == 40


def test_room_that_is_promised_before_they_are_gone_is_not_theirs() -> None:
    world = World(pools(2, cpu=8, gpu=1), QueueConfig())
    job = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    world.submit(a_gang(pods(1, gpu=1, cpu=4, on=hosts(1))).lasting(10))
    head = world.submit(a_gang(pods(1, cpu=4, gpu=1, on=hosts(1)), pods(1, cpu=4)).lasting(50))
    assert world.plan(head) == 10
    world.tell(Occupied({"node0": {"cpu": 1}}))
    with pytest.raises(QueueRefused, match="its tasks fit nowhere else"):
        world.tell(Reseat(job, (0,)))
    assert world.plan(head) == 10


def test_who_fits_where_it_was_may_stay_there() -> None:
    """Two tasks were where others now leave capacity for one."""
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=4)).lasting(50))
    world.tell(Occupied({"node0": {"cpu": 3}}), Reseat(job, (0, 1)))
    assert sorted(places(world, job)) == ["node0", "node1"]


def test_tasks_keep_their_numbers_after_others_ended_and_were_added() -> None:
    world = World(pools(5, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).between(1, 3).lasting(50))
    world.tell(TaskEnded(job, 0), Grow(job), close("node1"), Reseat(job, (1,)))
    assert places(world, job)[1] == "node3"
    world.tell(TasksEnded(job, (1,)))
    assert "node3" not in world.nodes(job)
    world.tell(TasksEnded(job, tuple(range(len(places(world, job))))))
    assert world.state(job) is JobState.COMPLETED


def test_tasks_may_be_moved_again_and_again() -> None:
    world = World(pools(4, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    for number in range(3):
        world.tell(close(f"node{number}"), Reseat(job, (0,)))
        assert places(world, job) == [f"node{number + 1}"]
        assert world.holds(job) == {"cpu": 8}


def test_a_job_whose_tasks_were_moved_before_their_node_went_is_left_alone() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    world.tell(close("node0"), Reseat(job, (0,)))
    world.graph.remove(world.graph.find_path("/cluster0/node0"))
    world.tell(GraphChanged(Reason.from_text("node0 was removed")))
    assert world.state(job) is JobState.RUNNING
    assert places(world, job) == ["node2", "node1"]


def test_tasks_of_a_node_that_is_gone_already_are_moved_before_the_queue_knows() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    world.graph.remove(world.graph.find_path("/cluster0/node0"))
    world.tell(Reseat(job, (0,)), GraphChanged(Reason.from_text("node0 was removed")))
    assert world.state(job) is JobState.RUNNING
    assert places(world, job) == ["node2", "node1"]
    assert world.holds(job) == {"cpu": 16}


def test_who_has_tasks_left_on_another_node_that_is_gone_goes() -> None:
    world = World(pools(4, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    for number in range(2):
        world.graph.remove(world.graph.find_path(f"/cluster0/node{number}"))
    world.tell(Reseat(job, (0,)), GraphChanged(Reason.from_text("nodes were removed")))
    assert world.state(job) is JobState.ENDING


def test_a_job_that_has_not_started_yet_can_be_moved() -> None:
    world = World(pools(2, cpu=8))
    world.carries_out = False
    job = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    world.tell(close("node0"), Reseat(job, (0,)))
    assert (world.state(job), places(world, job)) == (JobState.ALLOCATED, ["node1"])


def test_nothing_to_move_is_no_trouble() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    before = len(world.keeper.events)
    world.tell(Reseat(job, ()))
    assert len(world.keeper.events) == before


@pytest.mark.parametrize(
    ("prepare", "tasks", "reason"),
    [
        (lambda world, job: None, (7,), "has no task 7; it has 2 tasks"),
        (lambda world, job: None, (-1,), "has no task -1; it has 2 tasks"),
        (lambda world, job: world.tell(TaskEnded(job, 1)), (0, 1), "task 1 has already ended"),
        (lambda world, job: world.tell(Cancel(job)), (0,), "only placed tasks can move"),
        (lambda world, job: world.end(job), (0,), "only placed tasks can move"),
    ],
    ids=["beyond", "below", "ended", "ending", "gone"],
)
def test_only_tasks_that_are_there_can_be_moved(
    prepare: Callable[[World, int], None], tasks: tuple[int, ...], reason: str
) -> None:
    world = World(pools(4, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    prepare(world, job)
    with pytest.raises(QueueRefused, match=reason):
        world.tell(Reseat(job, tasks))


def test_a_jobspec_has_no_tasks_that_could_be_moved() -> None:
    world = World(machine(2))
    job = world.submit(a_job().lasting(50))
    with pytest.raises(QueueRefused, match="is not a gang"):
        world.tell(Reseat(job, (0,)))
