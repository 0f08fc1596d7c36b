"""Tasks that end many at a time."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import NodesLost, TaskEnded, TasksEnded
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World


def test_what_they_had_is_free_at_once() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(6, cpu=4)).lasting(50))
    waits = world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    world.tell(TasksEnded(job, (4, 5, 0)))
    assert world.holds(job) == {"cpu": 12}
    assert world.nodes(job) == ["node0", "node1"]
    assert world.nodes(waits) == ["node2"]


def test_many_at_once_are_as_many_one_by_one() -> None:
    shapes = pods(3, cpu=3), pods(2, cpu=1, gpu=1), pods(1, gpu=1)
    one, many = World(pools(3, cpu=8, gpu=2)), World(pools(3, cpu=8, gpu=2))
    for world in (one, many):
        world.submit(a_gang(*shapes).lasting(50))
    ended = (1, 3, 5, 0)
    one.tell(*(TaskEnded(1, task) for task in ended))
    many.tell(TasksEnded(1, ended))
    found, expected = many.keeper.allocation(1), one.keeper.allocation(1)
    assert found is not None and expected is not None
    assert found.placement.vertex.tolist() == expected.placement.vertex.tolist()
    assert found.placement.needs.tolist() == expected.placement.needs.tolist()
    assert (found.tasks, found.ended_tasks) == (expected.tasks, expected.ended_tasks)


def test_the_last_of_them_end_the_job() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(4, cpu=4)).lasting(50))
    world.tell(TasksEnded(job, (0, 1)), TasksEnded(job, (1, 2, 3)))
    assert world.state(job) is JobState.COMPLETED


def test_those_that_failed_are_counted_once_and_the_job_fails_with_the_last() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(4, cpu=4)).lasting(50))
    world.tell(TasksEnded(job, (0, 1), frozenset({1})))
    world.tell(TasksEnded(job, (1,), frozenset({1})), TasksEnded(job, (2, 3), frozenset({3})))
    assert world.state(job) is JobState.FAILED
    assert reason_text(world.job(job).reason) == "2 of its tasks failed"


def test_a_task_that_does_not_exist_is_refused_and_nothing_ends() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=4)).lasting(50))
    with pytest.raises(QueueRefused, match="has no task 2; it has 2"):
        world.tell(TasksEnded(job, (0, 2)))
    assert world.holds(job) == {"cpu": 8}


def test_a_node_of_which_nothing_is_left_is_not_the_jobs_any_more() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    world.tell(TasksEnded(job, (0,)), NodesLost(("node0",)))
    assert world.state(job) is JobState.RUNNING


def test_so_it_is_for_whole_nodes() -> None:
    world = World(machine(3))
    job = world.submit(a_job(nodes=3).lasting(50))
    world.tell(TasksEnded(job, (0, 2)), NodesLost(("node0",)))
    assert (world.state(job), world.nodes(job)) == (JobState.RUNNING, ["node1"])
    assert world.nodes(world.submit(a_job())) == ["node2"]


def test_units_are_counted_on_after_many_ended() -> None:
    world = World(pools(4, cpu=8), QueueConfig(policy=BackfillPolicy.CONSERVATIVE))
    job = world.submit(a_gang(pods(8, cpu=4)).lasting(50))
    world.tell(TasksEnded(job, (0, 2, 4)))
    assert world.queue.plans_by_counting == world.way.counts
    jobs = world.submit_together(*4 * [a_gang(pods(1, cpu=4)).lasting(10)])
    assert world.starts(*jobs) == [0, 0, 0, None]
    assert world.plan(jobs[3]) == 10
