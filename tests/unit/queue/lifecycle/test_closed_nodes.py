"""Nodes that are closed take nothing new; jobs that are there go on."""

from __future__ import annotations

from fluxnetes.common.reasons import Reason
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import GraphChanged, NodesBack, NodesClosed, NodesLost, NodesOpened
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools
from tests.unit.queue.world import World


def test_a_job_on_a_closed_node_runs_to_its_end() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(50))
    world.tell(NodesClosed(("node0", "node1")))
    assert world.state(job) is JobState.RUNNING
    world.go_to(50)
    assert world.state(job) is JobState.COMPLETED


def test_nothing_starts_on_a_closed_node_until_it_is_opened() -> None:
    world = World(pools(2, cpu=8))
    there = world.submit(a_gang(pods(1, cpu=2)).lasting(100))
    world.tell(NodesClosed(("node0",)))
    jobs = world.submit_together(a_gang(pods(2, cpu=4)), a_gang(pods(1, cpu=6)).lasting(20))
    assert world.nodes(jobs[0]) == ["node1"]
    assert world.plan(jobs[1]) == 10
    world.tell(NodesOpened(("node0",)))
    assert world.start(jobs[1]) == 0
    assert world.nodes(jobs[1]) == world.nodes(there) == ["node0"]


def test_what_a_job_leaves_on_a_closed_node_is_there_for_no_job() -> None:
    world = World(machine(2), QueueConfig(policy=BackfillPolicy.CONSERVATIVE))
    job = world.submit(a_job(nodes=2).lasting(10))
    waits = world.submit(a_job(nodes=2).lasting(10))
    single = world.submit(a_job().lasting(10))
    world.tell(NodesClosed(("node1",)))
    assert world.plans(waits, single) == [None, 10]
    world.end(job)
    assert world.starts(waits, single) == [None, 0]
    world.tell(NodesOpened(("node1",)))
    assert world.plan(waits) == 10


def test_a_job_that_fits_only_with_closed_nodes_is_in_line() -> None:
    world = World(machine(2))
    world.tell(NodesClosed(("node0",)))
    assert world.explain(world.submit(a_job(nodes=2))).place == 0
    assert world.is_set_aside(world.submit(a_job(nodes=3)))


def test_a_promise_that_closed_nodes_move_has_the_reason() -> None:
    world = World(machine(2))
    world.submit_together(a_job(on=hosts(0)).lasting(10), a_job(on=hosts(1)).lasting(50))
    head = world.submit(a_job(on=hosts(0, 1)))
    world.tell(NodesClosed(("node0",)))
    assert world.plan(head) == 50
    assert "nodes were closed: node0" in world.why(head)


def test_a_promise_elsewhere_stays() -> None:
    world = World(machine(3), QueueConfig(policy=BackfillPolicy.CONSERVATIVE))
    world.submit(a_job(on=hosts(0)).lasting(10))
    head = world.submit(a_job(on=hosts(0)))
    world.tell(NodesClosed(("node2",)))
    assert world.promised(head) == [10]


def test_a_node_that_is_lost_while_closed_ends_its_jobs_and_stays_closed_when_it_is_back() -> None:
    world = World(machine(1))
    job = world.submit(a_job().lasting(50))
    world.tell(NodesClosed(("node0",)), NodesLost(("node0",)))
    assert world.state(job) is JobState.ENDING
    world.end(job)
    world.tell(NodesBack(("node0",)))
    next_ = world.submit(a_job())
    assert world.start(next_) is None
    world.tell(NodesOpened(("node0",)))
    assert world.start(next_) == 0


def test_a_closed_node_is_closed_on_another_graph_too() -> None:
    world = World(machine(3))
    world.tell(NodesClosed(("node0",)))
    world.matcher.remove("/cluster0/node1")
    world.tell(GraphChanged(Reason.from_text("node1 was removed")))
    assert world.nodes(world.submit(a_job())) == ["node2"]


def test_units_are_counted_again_once_no_job_is_on_a_closed_node() -> None:
    world = World(machine(3))
    job = world.submit(a_job(on=hosts(0)).lasting(50))
    world.submit(a_job(on=hosts(1)).lasting(50))
    world.tell(NodesClosed(("node0",)))
    assert not world.queue.plans_by_counting
    world.end(job)
    assert world.queue.plans_by_counting == world.way.counts


def test_unknown_names_are_no_trouble() -> None:
    world = World(machine(1))
    world.tell(NodesClosed(("elsewhere",)), NodesOpened(("elsewhere",)))
    assert world.start(world.submit(a_job())) == 0
