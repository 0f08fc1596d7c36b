"""Elastic groups: as large as delays no promise, shrinking as tasks end, growing on request."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.build import core, jobspec, node, slot
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Cancel, Ended, Grow, NodesBack, NodesLost, Returned, TaskEnded
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, asking_for, machine, pods, pools
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


# -- how large it starts ---------------------------------------------------------------------------


@pytest.mark.parametrize(("free", "size"), [(8, 6), (6, 6), (4, 4), (2, 2)])
def test_it_starts_as_large_as_there_is_room_up_to_its_most(free: int, size: int) -> None:
    world = World(machine(8))
    if free < 8:
        world.submit(a_job(nodes=8 - free))
    group = world.submit(a_job().between(2, 6))
    assert len(world.nodes(group)) == size
    assert world.job(group).size == size


def test_it_waits_for_its_least() -> None:
    world = World(machine(8))
    world.submit(a_job(nodes=7).lasting(10))
    group = world.submit(a_job().between(2, 6))
    assert world.plan(group) == 10
    world.go_to(10)
    assert len(world.nodes(group)) == 6


@pytest.mark.parametrize(("walltime", "size"), [(10, 5), (11, 2)])
def test_it_starts_only_as_large_as_delays_no_promise(walltime: int, size: int) -> None:
    world = World(machine(8))
    world.submit(a_job(nodes=3).lasting(10))
    head = world.submit(a_job(nodes=6).lasting(10))
    assert world.plan(head) == 10
    group = world.submit(a_job().between(1, 8).lasting(walltime))
    assert len(world.nodes(group)) == size
    world.go_to(10)
    assert world.start(head) == 10


def test_it_waits_if_even_its_least_would_delay_a_promise() -> None:
    world = World(machine(8))
    world.submit(a_job(nodes=3).lasting(10))
    head = world.submit(a_job(nodes=6).lasting(10))
    group = world.submit(a_job().between(3, 8).lasting(11))
    assert world.start(group) is None
    world.go_to(10)
    assert world.start(head) == 10


def test_what_it_is_promised_is_its_least_and_what_it_gets_may_be_more() -> None:
    world = World(machine(8), CONSERVATIVE)
    early, _ = world.submit_together(a_job(nodes=6).lasting(10), a_job(nodes=2).lasting(4))
    group = world.submit(a_job().between(3, 8).lasting(10))
    assert world.plan(group) == 10
    world.go_to(4)
    world.end(early)
    assert world.start(group) == 4
    assert len(world.nodes(group)) == 8


@pytest.mark.parametrize(("walltime", "size"), [(10, 5), (11, 2)])
def test_a_gang_starts_only_as_large_as_delays_no_promise(walltime: int, size: int) -> None:
    world = World(pools(2, cpu=8, gpu=1))
    world.submit(a_gang(pods(1, cpu=6), pods(1, gpu=1)).lasting(10))
    head = world.submit(a_gang(pods(2, cpu=5), pods(1, gpu=1)).lasting(10))
    assert world.plan(head) == 10
    group = world.submit(a_gang(pods(1, cpu=2)).between(1, 20).lasting(walltime))
    assert world.holds(group) == {"cpu": 2 * size}
    world.go_to(10)
    assert world.start(head) == 10


def test_a_jobspec_of_cores_starts_as_large_as_there_is_room() -> None:
    world = World(machine(2, cores_each=4))
    world.submit(asking_for(jobspec(slot(3, core(1)))))
    group = world.submit(asking_for(jobspec(slot(1, core(1)))).between(2, 100))
    assert world.holds(group) == {"core": 5}


# -- shrinking -------------------------------------------------------------------------------------


def test_a_task_that_ends_gives_its_node_back_and_the_last_one_ends_the_job() -> None:
    world = World(machine(3))
    group = world.submit(a_job(nodes=3).lasting(100))
    waiting = world.submit_together(*[a_job().lasting(50)] * 3)
    world.go_to(5)
    world.tell(TaskEnded(group, 1))
    assert world.nodes(group) == ["node0", "node2"]
    assert world.starts(*waiting) == [5, None, None]
    assert world.nodes(waiting[0]) == ["node1"]
    world.go_to(7)
    world.tell(TaskEnded(group, 0))
    world.go_to(9)
    world.tell(TaskEnded(group, 2))
    assert world.starts(*waiting) == [5, 7, 9]
    assert world.state(group) is JobState.COMPLETED


def test_an_elastic_job_that_shrank_holds_what_it_says() -> None:
    world = World(machine(4))
    group = world.submit(a_job().between(1, 4).lasting(100))
    world.tell(TaskEnded(group, 0))
    assert (world.job(group).size, world.holds(group)["node"]) == (3, 3)


def test_a_shrinking_group_moves_promises_earlier() -> None:
    world = World(machine(4))
    group = world.submit(a_job(nodes=3).lasting(100))
    world.submit(a_job(nodes=1).lasting(10))
    head = world.submit(a_job(nodes=3).lasting(10))
    assert world.plan(head) == 100
    world.tell(TaskEnded(group, 0), TaskEnded(group, 1))
    assert world.plan(head) == 10


def test_a_gang_gives_back_what_its_pod_had_pod_by_pod() -> None:
    world = World(pools(2, cpu=8, gpu=1, licence=5))
    group = world.submit(a_gang(pods(3, cpu=4), pods(1, cpu=1, gpu=1), licence=5).lasting(100))
    assert world.holds(group) == {"cpu": 13, "gpu": 1, "licence": 5}
    world.tell(TaskEnded(group, 0))
    assert world.holds(group) == {"cpu": 9, "gpu": 1, "licence": 5}
    world.tell(TaskEnded(group, 3))
    assert world.holds(group) == {"cpu": 8, "licence": 5}
    world.tell(TaskEnded(group, 1), TaskEnded(group, 2))
    assert world.state(group) is JobState.COMPLETED
    assert world.holds(group) == {}


def test_a_group_with_a_failed_task_fails_when_the_last_has_ended() -> None:
    world = World(machine(2))
    group = world.submit(a_job(nodes=2))
    world.tell(TaskEnded(group, 0, ok=False))
    assert world.state(group) is JobState.RUNNING
    world.tell(TaskEnded(group, 1))
    assert world.state(group) is JobState.FAILED
    assert reason_text(world.job(group).reason) == "1 of its tasks failed"


def test_hearing_of_an_end_twice_counts_once() -> None:
    world = World(machine(3))
    group = world.submit(a_job(nodes=3).lasting(100))
    world.tell(TaskEnded(group, 0, ok=False), TaskEnded(group, 0, ok=False))
    assert len(world.nodes(group)) == 2
    world.tell(TaskEnded(group, 1), TaskEnded(group, 2))
    assert reason_text(world.job(group).reason) == "1 of its tasks failed"


def test_a_job_that_starts_over_forgets_which_tasks_failed() -> None:
    world = World(machine(3))
    group = world.submit(a_job(nodes=2).lasting(100).requeued_on_loss())
    world.tell(TaskEnded(group, 0, ok=False))
    world.tell(NodesLost(("node1",)))
    world.end(group)
    assert world.nodes(group) == ["node0", "node2"]
    world.tell(TaskEnded(group, 0), TaskEnded(group, 1))
    assert world.state(group) is JobState.COMPLETED


def test_a_task_that_is_not_there_cannot_end() -> None:
    world = World(machine(2))
    group = world.submit(a_job(nodes=2))
    with pytest.raises(QueueRefused, match=f"job {group} has no task 2; it has 2"):
        world.tell(TaskEnded(group, 2))


def test_a_part_of_a_unit_that_ends_is_planned_rightly() -> None:
    world = World(machine(4))
    pairs = jobspec(slot(2, node(2)))
    group = world.submit(asking_for(pairs).lasting(100))
    head = world.submit(asking_for(pairs).lasting(10))
    world.tell(TaskEnded(group, 0), TaskEnded(group, 3))
    one = world.submit(asking_for(jobspec(slot(1, node(2)))).lasting(100))
    assert world.plan(head) == 100
    assert world.start(one) == 0


def test_a_jobspec_of_cores_on_shared_nodes_shrinks_node_by_node() -> None:
    world = World(machine(2, cores_each=4))
    group = world.submit(asking_for(jobspec(slot(6, core(1)))).lasting(100))
    waiting = world.submit(asking_for(jobspec(slot(3, core(1)))).lasting(100))
    assert (world.holds(group), world.plan(waiting)) == ({"core": 6}, 100)
    world.tell(TaskEnded(group, 1))
    assert (world.holds(group), world.start(waiting)) == ({"core": 3}, 0)


def test_tasks_of_a_job_that_is_ending_leave_one_by_one() -> None:
    world = World(machine(2))
    group = world.submit(a_job(nodes=2).lasting(100))
    next_ = world.submit(a_job().lasting(1))
    world.tell(Cancel(group))
    world.tell(TaskEnded(group, 0))
    assert world.start(next_) == 0
    world.tell(TaskEnded(group, 1))
    assert world.state(group) is JobState.CANCELLED


def test_a_group_that_goes_back_to_the_queue_starts_again_at_any_size() -> None:
    world = World(machine(4))
    world.carries_out = False
    other = world.submit(a_job(nodes=2))
    group = world.submit(a_job().between(1, 4))
    assert world.job(group).size == 2
    world.tell(Ended(other), Returned(group, Reason.from_text("no image")))
    assert world.job(group).size == 4


# -- growing ---------------------------------------------------------------------------------------


def test_it_grows_on_request_up_to_its_most() -> None:
    world = World(machine(8))
    other = world.submit(a_job(nodes=5).lasting(10))
    group = world.submit(a_job().between(2, 6).lasting(100))
    world.go_to(4)
    world.end(other)
    assert len(world.nodes(group)) == 3, "not before a Grow event"
    world.tell(Grow(group))
    assert len(world.nodes(group)) == 6
    world.tell(Grow(group))
    assert len(world.nodes(group)) == 6


def test_it_grows_only_into_capacity_that_no_job_was_promised() -> None:
    world = World(machine(8))
    other = world.submit(a_job(nodes=5).lasting(10))
    world.submit(a_job(nodes=1).lasting(50))
    group = world.submit(a_job().between(2, 8).lasting(100))
    head = world.submit(a_job(nodes=5).lasting(10))
    assert world.plan(head) == 10
    world.tell(TaskEnded(other, 0))
    world.tell(Grow(group))
    assert len(world.nodes(group)) == 2, "of six nodes at 10 five are promised, one is another's"
    world.go_to(10)
    assert world.start(head) == 10


def test_it_grows_again_after_it_shrank() -> None:
    world = World(machine(4))
    group = world.submit(a_job().between(1, 4).lasting(100))
    world.tell(TaskEnded(group, 0), TaskEnded(group, 1))
    world.tell(Grow(group))
    assert world.job(group).size == 4
    assert len(world.nodes(group)) == 4


def test_it_grows_onto_nodes_that_have_just_come_back() -> None:
    world = World(machine(4))
    world.tell(NodesLost(("node2", "node3")))
    group = world.submit(a_job().between(1, 4).lasting(100))
    assert len(world.nodes(group)) == 2
    world.tell(NodesBack(("node2", "node3")), Grow(group))
    assert len(world.nodes(group)) == 4


def test_a_gang_grows_on_nodes_where_it_has_pods_already() -> None:
    world = World(pools(2, cpu=8))
    other = world.submit(a_gang(pods(4, cpu=3)).lasting(10))
    group = world.submit(a_gang(pods(1, cpu=2)).between(1, 8).lasting(100))
    assert world.holds(group) == {"cpu": 4}
    world.end(other)
    world.tell(Grow(group))
    assert world.holds(group) == {"cpu": 16}
    rival = world.submit(a_gang(pods(1, cpu=2)))
    assert world.start(rival) is None
    for pod in range(7):
        world.tell(TaskEnded(group, pod))
    assert world.holds(group) == {"cpu": 2}
    world.tell(TaskEnded(group, 7))
    assert world.state(group) is JobState.COMPLETED


def test_a_growing_gang_takes_its_licences_once() -> None:
    world = World(pools(2, cpu=8, licence=5))
    other = world.submit(a_gang(pods(2, cpu=6)).lasting(10))
    group = world.submit(a_gang(pods(1, cpu=2), licence=5).between(1, 8).lasting(100))
    world.end(other)
    world.tell(Grow(group))
    assert world.holds(group) == {"cpu": 16, "licence": 5}


def test_a_grown_group_gives_everything_back() -> None:
    world = World(machine(4))
    other = world.submit(a_job(nodes=2).lasting(10))
    group = world.submit(a_job().between(1, 4).lasting(100))
    world.end(other)
    world.tell(Grow(group))
    world.end(group)
    assert world.start(world.submit(a_job(nodes=4))) == 0


def test_usage_follows_the_size() -> None:
    world = World(machine(4))
    group = world.submit(a_job().between(1, 4).lasting(100).by("ada"))
    world.go_to(10)
    world.tell(TaskEnded(group, 0), TaskEnded(group, 1))
    world.go_to(20)
    world.end(group)
    (used,) = [u.amount for u in world.keeper.snapshot().usage if u.user == "ada"]
    assert used == pytest.approx(4 * 10 + 2 * 10, rel=1e-3)


# -- what makes no sense ---------------------------------------------------------------------------


def test_sizes_that_make_no_sense_are_rejected() -> None:
    world = World(machine(4))
    for least, most in [(0, 4), (3, 2)]:
        group = world.submit(a_job().between(least, most))
        assert world.state(group) is JobState.REJECTED
    assert world.is_set_aside(world.submit(a_job().between(5, 8)))


def test_a_request_that_is_no_multiple_of_anything_cannot_be_elastic() -> None:
    world = World(pools(4, cpu=8, gpu=1))
    group = world.submit(a_gang(pods(1, cpu=1), pods(1, gpu=1)).between(1, 4))
    assert world.state(group) is JobState.REJECTED
    assert "a multiple of one unit" in reason_text(world.job(group).reason)
