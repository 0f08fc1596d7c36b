"""Advance reservations: whole nodes for some users and namespaces, for a time."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Alter, Maintain, NodesBack, NodesLost, RemoveWindow, Reserve
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)
ADA = frozenset({"ada"})


def demo(start: int, end: int, count: int = 2) -> Reserve:
    """Nodes for Ada's demonstration."""
    return Reserve("demo", start, end, count, users=ADA)


# -- whose it is -----------------------------------------------------------------------------------


def test_its_user_runs_in_it_from_its_first_second_on() -> None:
    world = World(machine(2))
    world.tell(demo(50, 100))
    job = world.submit(a_job(nodes=2).lasting(50).by("ada").inside("demo"))
    assert world.plan(job) == 50
    world.go_to(60)
    assert world.start(job) == 50


def test_others_go_elsewhere_or_wait_until_it_is_over() -> None:
    world = World(machine(3))
    world.tell(demo(50, 100))
    beside, waits, before = world.submit_together(
        a_job().lasting(1000).by("bob"), a_job().lasting(60).by("bob"), a_job().lasting(50)
    )
    assert world.starts(beside, waits, before) == [0, None, 0]
    assert world.plan(waits) == 100
    world.go_to(100)
    assert world.start(waits) == 100


def test_its_user_must_name_it() -> None:
    world = World(machine(2))
    world.tell(demo(0, 100))
    job = world.submit(a_job().by("ada"))
    assert world.start(job) is None
    assert world.start(world.submit(a_job().by("ada").inside("demo"))) == 0


def test_a_job_of_another_user_that_names_it_is_rejected() -> None:
    world = World(machine(2))
    world.tell(demo(50, 100))
    job = world.submit(a_job().by("bob", "lab").inside("demo"))
    assert world.state(job) is JobState.REJECTED
    assert reason_text(world.job(job).reason) == "advance reservation demo is not for lab/bob"


def test_it_can_be_for_a_namespace() -> None:
    world = World(machine(2))
    world.tell(Reserve("course", 0, 100, 2, namespaces=frozenset({"students"})))
    student, other = world.submit_together(
        a_job().by("eve", "students").inside("course"), a_job().by("eve", "staff").inside("course")
    )
    assert world.states(student, other) == [JobState.RUNNING, JobState.REJECTED]


def test_a_reservation_that_does_not_exist_is_not_there_to_run_in() -> None:
    world = World(machine(2))
    world.tell(Maintain("cooling", 50, 60, hosts(0)))
    for name in ("demo", "cooling"):
        job = world.submit(a_job().inside(name))
        assert reason_text(world.job(job).reason) == f"there is no advance reservation {name}"


def test_a_job_longer_than_the_reservation_is_rejected() -> None:
    world = World(machine(2))
    world.tell(demo(50, 100))
    for job in (a_job().lasting(51), a_job().endless()):
        id = world.submit(job.by("ada").inside("demo"))
        assert world.state(id) is JobState.REJECTED
        assert "advance reservation demo is there for 50 s" in reason_text(world.job(id).reason)


def test_a_job_larger_than_the_reservation_is_rejected() -> None:
    world = World(machine(4))
    world.tell(demo(50, 100))
    assert world.state(world.submit(a_job(3).by("ada").inside("demo"))) is JobState.REJECTED


def test_jobs_inside_are_planned_one_after_the_other() -> None:
    world = World(machine(2), CONSERVATIVE)
    world.tell(demo(50, 100))
    job = a_job(nodes=2).lasting(20).by("ada").inside("demo")
    first, second, third = world.submit_together(job, job, job)
    assert world.plans(first, second, third) == [50, 70, None]
    world.go_to(70)
    assert world.starts(first, second) == [50, 70]


def test_gangs_run_in_it_side_by_side() -> None:
    world = World(pools(2, cpu=8, gpu=1))
    world.tell(demo(50, 100, count=1))
    gang = a_gang(pods(1, cpu=3), pods(1, cpu=1)).lasting(20).by("ada").inside("demo")
    first, second, third = world.submit_together(gang, gang, gang)
    other = world.submit(a_gang(pods(2, cpu=5)).lasting(100))
    world.go_to(150)
    assert world.starts(first, second, third) == [50, 50, 70]
    assert world.start(other) == 100


# -- when it is over -------------------------------------------------------------------------------


def test_a_job_still_waiting_when_it_is_over_is_rejected_with_a_reason() -> None:
    world = World(machine(2))
    world.tell(demo(50, 100))
    job = a_job(nodes=2).lasting(30).by("ada").inside("demo")
    first, second = world.submit_together(job, job)
    world.go_to(100)
    assert world.start(first) == 50
    assert world.state(second) is JobState.REJECTED
    assert "advance reservation demo" in reason_text(world.job(second).reason)


def test_a_job_that_waits_for_a_reservation_that_is_called_off_is_rejected_with_a_reason() -> None:
    world = World(machine(2))
    world.tell(demo(50, 100))
    job = world.submit(a_job().by("ada").inside("demo"))
    world.tell(RemoveWindow("demo"))
    assert world.state(job) is JobState.REJECTED
    assert "advance reservation demo" in reason_text(world.job(job).reason)


def test_an_array_whose_tasks_run_when_it_is_called_off_is_rejected_once_they_have_ended() -> None:
    world = World(machine(2))
    world.tell(demo(0, 100))
    array = world.submit(a_job(nodes=2).lasting(30).by("ada").inside("demo").times(3))
    world.tell(RemoveWindow("demo"))
    assert world.states(array, array + 1) == [JobState.PENDING, JobState.RUNNING]
    world.go_to(30)
    assert world.states(array, array + 1) == [JobState.REJECTED, JobState.COMPLETED]
    assert reason_text(world.job(array).reason) == "advance reservation demo is over"


def test_who_runs_in_a_reservation_that_is_called_off_goes_on() -> None:
    world = World(machine(2))
    world.tell(demo(0, 100))
    job = world.submit(a_job(nodes=2).lasting(50).by("ada").inside("demo"))
    world.tell(RemoveWindow("demo"))
    next_ = world.submit(a_job(nodes=2))
    assert world.state(job) is JobState.RUNNING
    assert world.plan(next_) == 50
    world.go_to(50)
    assert world.start(next_) == 50


def test_when_it_is_called_off_its_nodes_are_free_at_once() -> None:
    world = World(machine(2))
    world.tell(demo(5, 100))
    job = world.submit(a_job(nodes=2).lasting(50))
    assert world.plan(job) == 100
    world.tell(RemoveWindow("demo"))
    assert world.start(job) == 0


# -- what it may not do ----------------------------------------------------------------------------


def test_one_that_would_break_a_promise_is_refused_and_changes_nothing() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=2).lasting(20))
    with pytest.raises(
        QueueRefused, match="2 nodes are not free of jobs and promises from 20 to 40"
    ):
        world.tell(demo(20, 40))
    world.decide()
    assert world.promised(head) == [10]
    world.go_to(10)
    assert world.start(head) == 10


def test_one_that_fits_beside_promises_is_granted_and_they_stay() -> None:
    world = World(machine(3), CONSERVATIVE)
    world.submit(a_job(nodes=3).lasting(10))
    jobs = world.submit_together(a_job(nodes=1).lasting(30), a_job(nodes=3).lasting(10))
    assert world.plans(*jobs) == [10, 40]
    world.tell(demo(15, 40))
    assert [world.promised(job) for job in jobs] == [[10], [40]]
    world.go_to(40)
    assert world.starts(*jobs) == [10, 40]


def test_one_on_nodes_where_jobs_run_that_long_is_refused() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=1).lasting(30))
    with pytest.raises(QueueRefused, match="2 nodes are not free"):
        world.tell(demo(29, 40))
    world.tell(demo(30, 40))


def test_two_never_have_the_same_nodes() -> None:
    world = World(machine(3))
    world.tell(demo(50, 100))
    with pytest.raises(QueueRefused):
        world.tell(Reserve("other", 90, 110, 2, users=ADA))
    world.tell(Reserve("other", 100, 110, 2, users=ADA))
    world.tell(Reserve("third", 50, 110, 1, users=ADA))


def test_it_can_be_limited_to_nodes() -> None:
    world = World(machine(4))
    world.tell(Reserve("demo", 0, 100, 2, nodes=hosts(2, 3), users=ADA))
    job = world.submit(a_job(nodes=2).by("ada").inside("demo"))
    assert world.nodes(job) == ["node2", "node3"]


def test_a_running_job_cannot_be_extended_into_one() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(10))
    world.tell(demo(50, 100))
    world.tell(Alter(job, walltime=50))
    with pytest.raises(QueueRefused):
        world.tell(Alter(job, walltime=51))


def test_a_job_inside_can_be_extended_up_to_its_end() -> None:
    world = World(machine(2))
    world.tell(demo(0, 100))
    job = world.submit(a_job(nodes=2).lasting(10).by("ada").inside("demo"))
    world.tell(Alter(job, walltime=100))
    with pytest.raises(QueueRefused):
        world.tell(Alter(job, walltime=101))
    world.go_to(99)
    assert world.state(job) is JobState.RUNNING


def test_a_waiting_job_cannot_be_made_longer_than_its_reservation() -> None:
    world = World(machine(2))
    world.tell(demo(50, 100))
    job = world.submit(a_job(nodes=2).lasting(10).by("ada").inside("demo"))
    with pytest.raises(QueueRefused, match="advance reservation demo is there for 50 s"):
        world.tell(Alter(job, walltime=51))
    world.tell(Alter(job, walltime=50))
    assert world.plan(job) == 50


def test_nodes_lost_from_it_are_not_made_up_for() -> None:
    world = World(machine(3))
    world.tell(demo(50, 100))
    job = world.submit(a_job(nodes=2).lasting(10).by("ada").inside("demo"))
    world.tell(NodesLost(("node0",)))
    assert world.plan(job) is None
    world.tell(NodesBack(("node0",)))
    assert world.plan(job) == 50
