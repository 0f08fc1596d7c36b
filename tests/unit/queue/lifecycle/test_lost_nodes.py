"""Nodes that are lost, come back, come new or go for good."""

from __future__ import annotations

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import Cancel, GraphChanged, NodesBack, NodesLost, PartsLost
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools, with_property
from tests.unit.queue.world import World


def test_a_job_that_loses_a_node_fails_when_it_is_gone() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(100))
    world.tell(NodesLost(("node1",)))
    assert world.state(job) is JobState.ENDING
    assert reason_text(world.job(job).reason) == "nodes that it ran on were lost"
    world.end(job)
    assert world.state(job) is JobState.FAILED


def test_a_job_that_says_so_is_requeued_and_starts_elsewhere_with_its_age() -> None:
    world = World(machine(3))
    job = world.submit(a_job(nodes=2).lasting(100).requeued_on_loss())
    world.go_to(10)
    world.tell(NodesLost(("node1",)))
    world.end(job)
    assert world.nodes(job) == ["node0", "node2"]
    assert (world.start(job), world.job(job).eligible, world.job(job).restarts) == (10, 0, 1)


def test_until_it_is_gone_its_other_nodes_are_busy() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(100))
    next_ = world.submit(a_job())
    world.tell(NodesLost(("node1",)))
    assert world.start(next_) is None
    world.go_to(7)
    world.end(job)
    assert world.start(next_) == 7
    assert world.nodes(next_) == ["node0"]


def test_jobs_on_other_nodes_run_on() -> None:
    world = World(machine(2))
    lost, other = world.submit_together(a_job().lasting(50), a_job().lasting(50))
    world.tell(NodesLost((world.nodes(lost)[0],)))
    assert world.states(lost, other) == [JobState.ENDING, JobState.RUNNING]


def test_nothing_starts_on_a_lost_node_until_it_is_back() -> None:
    world = World(machine(2))
    world.tell(NodesLost(("node0",)))
    jobs = world.submit_together(a_job(), a_job(nodes=2))
    assert world.nodes(jobs[0]) == ["node1"]
    world.go_to(30)
    assert world.states(*jobs) == [JobState.COMPLETED, JobState.PENDING]
    world.tell(NodesBack(("node0",)))
    assert world.start(jobs[1]) == 30


def test_a_job_that_fits_only_with_the_lost_nodes_waits_and_is_not_rejected() -> None:
    world = World(machine(2))
    world.tell(NodesLost(("node0",)))
    job = world.submit(a_job(nodes=2))
    assert world.state(job) is JobState.PENDING
    assert world.plan(job) is None
    assert "needs 2 slot" in world.why(job)


def test_a_job_that_is_ending_already_ends_for_its_first_reason() -> None:
    world = World(machine(1))
    job = world.submit(a_job().lasting(100))
    world.tell(Cancel(job))
    world.tell(NodesLost(("node0",)))
    world.end(job)
    assert world.state(job) is JobState.CANCELLED


def test_a_gang_that_loses_one_of_its_nodes_goes_as_a_whole() -> None:
    world = World(pools(3, cpu=8, gpu=1))
    gang = world.submit(a_gang(pods(2, cpu=6), pods(1, gpu=1)).lasting(100).requeued_on_loss())
    other = world.submit(a_gang(pods(1, cpu=2)).lasting(100))
    assert world.nodes(gang) == ["node0", "node1"]
    world.tell(NodesLost(("node1",)))
    assert world.states(gang, other) == [JobState.ENDING, JobState.RUNNING]
    world.end(gang)
    assert world.nodes(gang) == ["node0", "node2"]


def test_promises_that_need_no_lost_node_stay() -> None:
    world = World(machine(4), QueueConfig(policy=BackfillPolicy.CONSERVATIVE))
    world.submit(a_job(nodes=2, on=hosts(0, 1)).lasting(10))
    head = world.submit(a_job(nodes=2, on=hosts(0, 1)))
    world.tell(NodesLost(("node3",)))
    assert world.promised(head) == [10]


def test_a_node_that_is_lost_and_back_before_a_cycle_still_ends_its_jobs() -> None:
    world = World(machine(1))
    job = world.submit(a_job().lasting(100))
    world.tell(NodesLost(("node0",)), NodesBack(("node0",)))
    assert world.state(job) is JobState.ENDING
    world.end(job)
    assert world.start(world.submit(a_job())) == 0


def test_unknown_names_are_no_trouble() -> None:
    world = World(machine(1))
    world.tell(NodesLost(("elsewhere",)), NodesBack(("elsewhere",)))
    assert world.start(world.submit(a_job())) == 0


# -- graphs that change ----------------------------------------------------------------------------


def test_a_job_on_a_node_that_was_removed_for_good_goes() -> None:
    world = World(machine(3))
    job, other = world.submit_together(a_job(nodes=2).lasting(50), a_job().lasting(50))
    world.matcher.remove("/cluster0/node1")
    world.tell(GraphChanged(Reason.from_text("node1 was removed")))
    assert world.states(job, other) == [JobState.ENDING, JobState.RUNNING]
    assert reason_text(world.job(job).reason) == "node1 was removed"
    world.end(job)
    assert world.nodes(world.submit(a_job())) == ["node0"]


def test_a_job_all_of_whose_nodes_were_removed_is_there_until_it_is_gone() -> None:
    world = World(machine(2))
    job, other = world.submit_together(a_job().lasting(50), a_job().lasting(50))
    waiting = world.submit(a_job())
    world.matcher.remove("/cluster0/node0")
    world.tell(GraphChanged(Reason.from_text("node0 was removed")))
    assert world.states(job, other) == [JobState.ENDING, JobState.RUNNING]
    assert world.holds(job) == {}
    world.go_to(3)
    world.end(job)
    assert world.state(job) is JobState.FAILED
    world.go_to(50)
    assert world.start(waiting) == 50


def test_a_gang_on_a_node_that_was_removed_for_good_goes() -> None:
    world = World(pools(2, cpu=8, gpu=1))
    gang = world.submit(a_gang(pods(2, cpu=5), pods(1, gpu=1)).lasting(50).requeued_on_loss())
    world.matcher.remove("/cluster0/node1")
    world.tell(GraphChanged(Reason.from_text("node1 was removed")))
    assert world.state(gang) is JobState.ENDING
    world.end(gang)
    assert world.state(gang) is JobState.PENDING
    assert world.nodes(world.submit(a_gang(pods(1, cpu=8)))) == ["node0"]


def test_a_job_that_no_node_could_serve_starts_when_one_is_labelled() -> None:
    world = World(machine(2))
    job = world.submit(a_job(on=with_property("fast")))
    assert world.is_set_aside(job)
    world.matcher.set_property("/cluster0/node1", "fast", "")
    world.tell(GraphChanged())
    assert world.nodes(job) == ["node1"]


def test_a_promise_that_a_removed_node_moves_has_the_reason() -> None:
    world = World(machine(2))
    world.submit_together(a_job(on=hosts(0)).lasting(10), a_job(on=hosts(1)).lasting(50))
    head = world.submit(a_job(on=hosts(0, 1)))
    assert world.plan(head) == 10
    world.matcher.remove("/cluster0/node0")
    world.tell(GraphChanged(Reason.from_text("node0 was removed")))
    assert world.plan(head) == 50
    assert "node0 was removed" in world.why(head)


def test_jobs_that_lost_a_part_of_what_they_held_are_ended() -> None:
    world = World(machine(2))
    failing = world.submit(a_job().lasting(100))
    patient = world.submit(a_job().lasting(100).requeued_on_loss())
    world.tell(PartsLost((failing, patient)))
    assert world.states(failing, patient) == [JobState.ENDING, JobState.ENDING]
    world.end(failing)
    world.end(patient)
    assert world.state(failing) is JobState.FAILED
    assert reason_text(world.job(failing).reason) == "a part of what it held is gone"
    assert world.job(patient).restarts == 1
