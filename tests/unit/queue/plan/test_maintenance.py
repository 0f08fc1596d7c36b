"""Maintenance windows: their nodes are empty; jobs that would run into one wait or go elsewhere."""

from __future__ import annotations

import pytest

from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Maintain, NodesBack, NodesLost, RemoveWindow
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools, with_property
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def test_a_job_that_would_run_into_a_window_waits_until_it_is_over() -> None:
    world = World(machine(1))
    world.tell(Maintain("cooling", 50, 80, hosts(0)))
    job = world.submit(a_job().lasting(51))
    assert world.plan(job) == 80
    world.go_to(80)
    assert world.start(job) == 80


def test_a_job_that_is_over_before_the_window_starts_at_once() -> None:
    world = World(machine(1))
    world.tell(Maintain("cooling", 50, 80, hosts(0)))
    assert world.start(world.submit(a_job().lasting(50))) == 0


def test_a_job_that_would_run_into_a_window_goes_elsewhere_if_it_can() -> None:
    world = World(machine(3))
    world.tell(Maintain("cooling", 50, 80, hosts(0)))
    job = world.submit(a_job(nodes=2).lasting(100))
    assert world.nodes(job) == ["node1", "node2"]


def test_short_jobs_fill_the_time_before_a_window() -> None:
    world = World(machine(1))
    world.tell(Maintain("cooling", 50, 80, hosts(0)))
    long, short, later = world.submit_together(
        a_job().lasting(100), a_job().lasting(30), a_job().lasting(20)
    )
    world.go_to(200)
    assert world.starts(long, short, later) == [80, 0, 30]


def test_nothing_is_on_the_nodes_while_the_window_is_open() -> None:
    world = World(machine(2))
    world.tell(Maintain("cooling", 10, 20, hosts(0)))
    world.go_to(12)
    jobs = world.submit_together(a_job().lasting(5), a_job().lasting(5))
    assert world.starts(*jobs) == [12, None]
    world.go_to(20)
    assert world.starts(*jobs) == [12, 17]
    assert world.nodes(jobs[1]) == ["node1"]


def test_a_window_opens_at_once_if_its_time_has_come() -> None:
    world = World(machine(1))
    world.go_to(15)
    world.tell(Maintain("cooling", 10, 20, hosts(0)))
    job = world.submit(a_job())
    world.go_to(20)
    assert world.start(job) == 20


def test_an_endless_job_does_not_start_on_nodes_with_a_window_to_come() -> None:
    world = World(machine(2))
    world.tell(Maintain("cooling", 10**6, 10**6 + 1, hosts(0)))
    first, second = world.submit_together(a_job().endless(), a_job().endless())
    assert world.nodes(first) == ["node1"]
    assert world.state(second) is JobState.PENDING


def test_who_runs_already_is_left_alone() -> None:
    world = World(machine(1))
    job = world.submit(a_job().lasting(100))
    world.tell(Maintain("cooling", 50, 80, hosts(0)))
    world.go_to(99)
    assert world.state(job) is JobState.RUNNING


def test_nodes_can_be_meant_by_property() -> None:
    world = World(machine(4, named={"old": 3}))
    world.tell(Maintain("retire", 10, 10**6, with_property("old")))
    job = world.submit(a_job().lasting(20))
    assert world.nodes(job) == ["node3"]


def test_a_head_is_planned_around_windows_and_backfilled_around() -> None:
    world = World(machine(2), CONSERVATIVE)
    world.tell(Maintain("a", 20, 30, hosts(0)), Maintain("b", 40, 50, hosts(1)))
    head = world.submit(a_job(nodes=2).lasting(21))
    assert world.plan(head) == 50
    jobs = world.submit_together(a_job().lasting(20), a_job().lasting(40), a_job().lasting(20))
    assert world.starts(*jobs[:2]) == [0, 0]
    assert world.plan(jobs[2]) == 30
    world.go_to(50)
    assert world.starts(head, jobs[2]) == [50, 30]


def test_promises_made_before_are_kept_where_they_can_be() -> None:
    world = World(machine(3), CONSERVATIVE)
    world.submit(a_job(nodes=3).lasting(10))
    first, second = world.submit_together(a_job(nodes=2).lasting(20), a_job(nodes=1).lasting(20))
    assert world.plans(first, second) == [10, 10]
    world.tell(Maintain("cooling", 15, 25, hosts(2)))
    assert world.plans(first, second) == [10, 25]
    world.go_to(30)
    assert world.starts(first, second) == [10, 25]


def test_gangs_wait_for_windows_or_go_elsewhere() -> None:
    world = World(pools(3, cpu=8, gpu=1))
    world.tell(Maintain("cooling", 50, 80, hosts(0)))
    beside, short, long = world.submit_together(
        a_gang(pods(2, cpu=5), pods(1, gpu=1)).lasting(100),
        a_gang(pods(1, cpu=6)).lasting(50),
        a_gang(pods(1, cpu=6)).lasting(60),
    )
    assert world.nodes(beside) == ["node1", "node2"]
    assert world.nodes(short) == ["node0"]
    assert world.plan(long) == 80


def test_a_node_that_comes_back_into_a_window_stays_closed() -> None:
    world = World(machine(2))
    world.tell(NodesLost(("node0",)))
    world.tell(Maintain("repair", 0, 100, hosts(0)))
    world.submit(a_job().lasting(1000))
    job = world.submit(a_job())
    world.go_to(50)
    world.tell(NodesBack(("node0",)))
    assert world.start(job) is None
    world.go_to(100)
    assert world.start(job) == 100


def test_after_the_last_window_everything_is_as_it_was() -> None:
    world = World(machine(2))
    world.tell(Maintain("cooling", 10, 20, hosts(0)))
    world.go_to(20)
    jobs = world.submit_together(a_job(nodes=2).lasting(10), a_job(nodes=2))
    assert world.start(jobs[0]) == 20
    assert world.plan(jobs[1]) == 30


# -- what makes no sense ---------------------------------------------------------------------------


def test_a_window_that_makes_no_sense_is_refused() -> None:
    world = World(machine(1))
    world.go_to(100)
    for start, end in [(200, 200), (300, 200), (10, 100)]:
        with pytest.raises(QueueRefused, match=f"{start} to {end} is empty or in the past"):
            world.tell(Maintain("cooling", start, end, hosts(0)))
    with pytest.raises(QueueRefused, match="its constraint matches no node"):
        world.tell(Maintain("cooling", 200, 300, hosts(7)))


def test_a_name_is_given_once_and_can_be_given_again_when_the_window_is_gone() -> None:
    world = World(machine(1))
    world.tell(Maintain("cooling", 200, 300, hosts(0)))
    with pytest.raises(QueueRefused, match="window cooling already exists"):
        world.tell(Maintain("cooling", 400, 500, hosts(0)))
    world.tell(RemoveWindow("cooling"))
    world.tell(Maintain("cooling", 400, 500, hosts(0)))
    with pytest.raises(QueueRefused, match="there is no window heating"):
        world.tell(RemoveWindow("heating"))
