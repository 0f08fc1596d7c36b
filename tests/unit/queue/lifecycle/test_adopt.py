"""Adopted jobs: found running, and unknown to the queue."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BudgetConfig, LimitConfig, QueueConfig, SchedulerConfig
from fluxnetes.queue.errors import QueueError, QueueRefused, UnknownQueue
from fluxnetes.queue.events import Adopt, Occupied, Reseat, TasksEnded
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe, a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World

HOUR = 3600


def found(id: int, job: JobToBe, *nodes: str, start: int = 0) -> Adopt:
    return Adopt(replace(job.spec, id=id), start, nodes)


def places(world: World, job: int) -> list[str]:
    """The node of each task."""
    allocation = world.keeper.allocation(job)
    assert allocation is not None
    return [world.graph.name(row) for row in allocation.task_nodes(world.graph)]


def test_it_runs_since_its_start_and_ends_when_its_walltime_is_over() -> None:
    world = World(pools(2, cpu=8))
    world.go_to(30)
    world.tell(found(7, a_gang(pods(2, cpu=4)).lasting(50), "node1", "node0", start=10))
    job = world.job(7)
    assert (job.state, job.start, job.running, job.deadline) == (JobState.RUNNING, 10, 10, 60)
    assert world.plan(world.submit(a_gang(pods(2, cpu=8)))) == 60


def test_it_holds_what_its_gang_asks_for_task_by_task_in_the_order_of_its_shapes() -> None:
    world = World(pools(3, cpu=8, gpu=2))
    gang = a_gang(pods(2, cpu=3), pods(1, cpu=1, gpu=2)).lasting(50)
    world.tell(found(7, gang, "node2", "node0", "node2"))
    assert places(world, 7) == ["node2", "node0", "node2"]
    assert world.holds(7) == {"cpu": 7, "gpu": 2}
    assert world.nodes(world.submit(a_gang(pods(1, cpu=8)))) == ["node1"]
    world.tell(TasksEnded(7, (2,)))
    assert world.holds(7) == {"cpu": 6}


def test_it_may_hold_more_than_there_is() -> None:
    world = World(pools(2, cpu=8))
    world.tell(
        found(7, a_gang(pods(2, cpu=6)).lasting(50), "node0", "node0"),
        found(8, a_gang(pods(1, cpu=6)).lasting(20), "node0"),
    )
    assert world.states(7, 8) == [JobState.RUNNING, JobState.RUNNING]
    first, second = world.submit_together(*2 * [a_gang(pods(1, cpu=8)).lasting(60)])
    assert world.nodes(first) == ["node1"]
    assert world.plan(second) == 50


def test_it_may_be_where_others_are() -> None:
    world = World(pools(1, cpu=8))
    world.tell(Occupied({"node0": {"cpu": 8}}))
    world.tell(found(7, a_gang(pods(1, cpu=8)).lasting(50), "node0"))
    world.go_to(50)
    assert world.state(7) is JobState.COMPLETED


def test_it_may_be_of_a_kind_that_no_job_asked_for_so_far() -> None:
    world = World(pools(2, cpu=8, gpu=1))
    world.submit(a_gang(pods(1, cpu=2)).lasting(50))
    world.tell(found(7, a_gang(pods(1, gpu=1)).lasting(50), "node0"))
    assert world.start(world.submit(a_gang(pods(1, cpu=6, gpu=1)))) == 0


def test_one_whose_walltime_is_over_is_ended() -> None:
    world = World(pools(1, cpu=8))
    world.go_to(100)
    world.tell(found(7, a_gang(pods(1, cpu=8)).lasting(50), "node0", start=10))
    assert world.state(7) is JobState.ENDING
    world.end(7)
    assert world.state(7) is JobState.TIMED_OUT


def test_one_without_a_walltime_has_the_one_of_its_queue_or_none() -> None:
    world = World(pools(2, cpu=8), QueueConfig(), QueueConfig("short", default_walltime=20))
    world.tell(
        found(7, a_gang(pods(1, cpu=8)).endless(), "node0"),
        found(8, a_gang(pods(1, cpu=8)).endless().to("short"), "node1"),
    )
    assert [world.job(job).deadline for job in (7, 8)] == [None, 20]


def test_a_promise_that_it_moves_has_the_reason() -> None:
    world = World(pools(2, cpu=8))
    world.submit(a_gang(pods(2, cpu=8)).lasting(10))
    head = world.submit(a_gang(pods(2, cpu=8)))
    assert world.plan(head) == 10
    world.tell(found(7, a_gang(pods(1, cpu=8)).lasting(50), "node1"))
    assert world.plan(head) == 50
    assert "job 7 was found running" in world.why(head)


def test_it_can_be_moved_like_any_other() -> None:
    world = World(pools(2, cpu=8))
    world.tell(found(7, a_gang(pods(2, cpu=6)).lasting(50), "node0", "node0"))
    world.tell(Reseat(7, (1,)))
    assert places(world, 7) == ["node0", "node1"]


def test_an_elastic_one_has_the_size_that_it_has() -> None:
    world = World(pools(4, cpu=8))
    gang = a_gang(pods(1, cpu=8)).between(1, 4).lasting(50)
    world.tell(found(7, gang, "node0", "node1", "node2"))
    assert world.job(7).size == 3
    assert world.holds(7) == {"cpu": 24}


def test_limits_and_budgets_count_it() -> None:
    config = SchedulerConfig(
        queues=(QueueConfig(per_user=LimitConfig(running=1)),),
        budgets=(BudgetConfig("all", 10.0, "cpu"),),
    )
    world = World(pools(2, cpu=4), config=config)
    world.go_to(HOUR)
    world.tell(found(7, a_gang(pods(1, cpu=4)).lasting(3 * HOUR).by("ada"), "node0"))
    waits = world.submit(a_gang(pods(1, cpu=1)).lasting(HOUR).by("ada"))
    stopped = world.submit(a_gang(pods(1, cpu=3)).lasting(HOUR).by("bob"))
    assert "may run 1 jobs at a time" in world.why(waits)
    assert "needs 3.0 cpu-hours and 2.0 of 10.0 are left" in world.why(stopped), (
        "what it used before it was found is not known, and only the rest is committed"
    )
    world.end(7)
    assert world.starts(waits, stopped) == [HOUR, HOUR]


def test_later_jobs_can_depend_on_it() -> None:
    world = World(pools(2, cpu=8))
    world.tell(found(7, a_gang(pods(1, cpu=8)).lasting(50), "node0"))
    world._next_id = 8
    after = world.submit(a_gang(pods(1, cpu=8)).afterok(7))
    world.end(7)
    assert world.start(after) == 0


def test_its_story_begins_with_it() -> None:
    world = World(pools(1, cpu=8))
    world.go_to(5)
    world.tell(found(7, a_gang(pods(1, cpu=8)).lasting(50), "node0", start=2))
    [line] = world.story(7)
    assert (line.at, line.before, line.after, reason_text(line.reason)) == (
        5,
        None,
        JobState.RUNNING,
        "found running",
    )


# -- what cannot be taken over ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "nodes", "error", "reason"),
    [
        (a_gang(pods(1, cpu=8)), ("nowhere",), QueueRefused, "there is no node nowhere"),
        (a_gang(pods(1, cpu=8)), (), QueueRefused, "it has 1 pods, and 0 nodes are given"),
        (a_gang(pods(1, cpu=8)).to("none"), ("node0",), UnknownQueue, "there is no queue none"),
        (a_gang(pods(1, cpu=8)).times(2), ("node0",), QueueRefused, "it is an array"),
        (a_gang(pods(1, cpu=1), licence=1), ("node0",), QueueRefused, "that no node owns"),
    ],
    ids=["node", "count", "queue", "array", "licence"],
)
def test_what_makes_no_sense_is_refused(
    job: JobToBe, nodes: tuple[str, ...], error: type[QueueError], reason: str
) -> None:
    world = World(pools(1, cpu=8, licence=4))
    with pytest.raises(error, match=reason):
        world.tell(found(7, job.lasting(50), *nodes))
    world.decide()
    assert world.keeper.jobs == {}
    assert world.start(world.submit(a_gang(pods(1, cpu=8)))) == 0


def test_no_job_is_adopted_twice() -> None:
    world = World(pools(2, cpu=8))
    world.tell(found(7, a_gang(pods(1, cpu=8)).lasting(50), "node0"))
    with pytest.raises(QueueError, match="job id 7 is already in use"):
        world.tell(found(7, a_gang(pods(1, cpu=8)).lasting(50), "node1"))


def test_a_jobspec_does_not_say_what_it_takes_of_which_node() -> None:
    world = World(machine(1))
    with pytest.raises(QueueRefused, match="only gangs"):
        world.tell(found(7, a_job(), "node0"))
