"""Walltimes: when they pass, who sets them, and how they can be changed."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, UnsatisfiablePolicy
from fluxnetes.queue.errors import QueueRefused, UnknownQueue
from fluxnetes.queue.events import Alter, Cancel, Maintain
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools, with_property
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


# -- when one passes -------------------------------------------------------------------------------


def test_a_job_that_leaves_in_its_grace_time_has_timed_out_and_makes_room_at_once() -> None:
    world = World(machine(2), QueueConfig(grace=20))
    job = world.submit(a_job(nodes=2).lasting(10))
    next_ = world.submit(a_job(nodes=2))
    world.stays(job)
    world.go_to(13)
    assert world.state(job) is JobState.ENDING
    assert reason_text(world.job(job).reason) == "its walltime of 10 s is over"
    world.end(job)
    assert world.state(job) is JobState.TIMED_OUT
    assert world.start(next_) == 13


def test_until_a_job_is_gone_its_nodes_are_busy() -> None:
    world = World(machine(2), QueueConfig(grace=20))
    job = world.submit(a_job(nodes=2).lasting(10))
    next_ = world.submit(a_job(nodes=2))
    world.stays(job)
    world.go_to(500)
    assert world.states(job, next_) == [JobState.ENDING, JobState.PENDING]
    world.end(job)
    assert world.start(next_) == 500


def test_an_overrun_moves_promises_and_says_so() -> None:
    world = World(machine(2), QueueConfig(grace=20))
    job = world.submit(a_job(nodes=2).lasting(10))
    next_ = world.submit(a_job(nodes=2))
    assert world.plan(next_) == 10
    world.stays(job)
    world.go_to(10)
    assert world.plan(next_) == 30, "it is expected to be gone when its grace time is over"
    world.go_to(30)
    assert world.plan(next_) == 50, "and it is not"
    reasons = [reason_text(event.reason) for event in world.story(next_) if event.kind == "planned"]
    assert reasons == ["", f"job {job} overran its walltime", f"job {job} overran its walltime"]
    assert f"job {job} overran its walltime" in world.why(next_)


def test_an_overrun_moves_only_jobs_that_need_its_capacity() -> None:
    world = World(machine(3), CONSERVATIVE)
    job, _ = world.submit_together(a_job(nodes=2).lasting(10), a_job(nodes=1).lasting(20))
    first, second = world.submit_together(a_job(nodes=2).lasting(10), a_job(nodes=1).lasting(5))
    assert world.plans(first, second) == [10, 20]
    world.stays(job)
    world.go_to(10)
    assert world.plans(first, second) == [40, 20]


def test_what_fits_before_a_head_that_an_overrun_moved_backfills() -> None:
    world = World(machine(2), QueueConfig(grace=30))
    late = world.submit(a_job().lasting(10))
    head, short = world.submit_together(a_job(nodes=2), a_job().lasting(15))
    assert world.start(short) is None
    world.stays(late)
    world.go_to(10)
    assert world.plan(head) == 40
    assert world.start(short) == 10


def test_an_overrunning_gang_keeps_its_pools_and_moves_promises() -> None:
    world = World(pools(2, cpu=8, gpu=1), QueueConfig(grace=20))
    job = world.submit(a_gang(pods(2, cpu=6), pods(1, gpu=1)).lasting(10))
    next_ = world.submit(a_gang(pods(2, cpu=4), pods(1, gpu=1)))
    world.stays(job)
    world.go_to(12)
    assert world.plan(next_) == 30
    world.end(job)
    assert world.start(next_) == 12


def test_without_a_grace_time_a_job_is_expected_to_be_gone_a_second_later() -> None:
    world = World(machine(1), QueueConfig(grace=0))
    job = world.submit(a_job().lasting(10))
    head = world.submit(a_job())
    world.stays(job)
    world.go_to(10)
    assert (world.state(job), world.plan(head)) == (JobState.ENDING, 11)


# -- who sets it -----------------------------------------------------------------------------------


def test_a_job_without_a_walltime_takes_the_default_of_its_queue() -> None:
    world = World(machine(1), QueueConfig(default_walltime=60, max_walltime=100))
    assert world.job(world.submit(a_job().endless())).walltime == 60


def test_where_there_is_a_maximum_but_no_default_the_maximum_is_the_default() -> None:
    world = World(machine(1), QueueConfig(max_walltime=100))
    assert world.job(world.submit(a_job().endless())).walltime == 100


def test_a_walltime_above_the_maximum_is_rejected_and_the_message_names_both() -> None:
    world = World(machine(1), QueueConfig(max_walltime=100))
    job = world.submit(a_job().lasting(101))
    assert world.state(job) is JobState.REJECTED
    assert reason_text(world.job(job).reason) == "a walltime of 101 s; queue default allows 100"


@pytest.mark.parametrize("walltime", [0, -5])
def test_a_walltime_of_nothing_is_rejected(walltime: int) -> None:
    world = World(machine(1))
    job = world.submit(a_job().lasting(walltime))
    assert world.state(job) is JobState.REJECTED
    assert "expected 1 or more" in reason_text(world.job(job).reason)


# -- extending a job that runs ---------------------------------------------------------------------


def test_a_running_job_can_be_given_more_time_if_no_job_waits_for_its_capacity() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(10))
    world.go_to(5)
    world.tell(Alter(job, walltime=100))
    assert world.job(job).deadline == 100
    world.go_to(99)
    assert world.state(job) is JobState.RUNNING
    world.go_to(100)
    assert world.state(job) is JobState.COMPLETED


def test_more_time_that_would_break_a_promise_is_refused() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=1))
    with pytest.raises(QueueRefused, match="cannot have more time: it would delay promised jobs"):
        world.tell(Alter(job, walltime=11))
    world.go_to(10)
    assert world.start(head) == 10


def test_more_time_up_to_a_promise_is_given() -> None:
    world = World(machine(2))
    long, short = world.submit_together(a_job().lasting(50), a_job().lasting(10))
    head = world.submit(a_job(nodes=2))
    world.tell(Alter(short, walltime=50))
    assert world.job(short).deadline == 50
    with pytest.raises(QueueRefused):
        world.tell(Alter(long, walltime=51))
    assert world.plan(head) == 50


def test_more_time_for_a_gang_is_given_while_promised_gangs_find_another_place() -> None:
    world = World(pools(2, cpu=4, gpu=1))
    first = world.submit(a_gang(pods(1, cpu=3), pods(1, gpu=1)).lasting(10))
    other = world.submit(a_gang(pods(1, cpu=4)).lasting(10))
    head = world.submit(a_gang(pods(1, cpu=4)).lasting(10))
    assert world.starts(first, other) == [0, 0]
    assert world.plan(head) == 10
    world.tell(Alter(first, walltime=100))
    with pytest.raises(QueueRefused):
        world.tell(Alter(other, walltime=11))
    world.go_to(10)
    assert world.start(head) == 10


def test_a_job_cannot_be_given_more_time_than_its_queue_allows() -> None:
    world = World(machine(2), QueueConfig(max_walltime=100))
    job = world.submit(a_job())
    with pytest.raises(QueueRefused, match="queue default allows 100"):
        world.tell(Alter(job, walltime=101))


def test_a_running_job_cannot_be_extended_into_a_maintenance_window() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(10))
    world.tell(Maintain("cooling", 50, 60, hosts(1)))
    world.tell(Alter(job, walltime=50))
    with pytest.raises(QueueRefused, match="cannot have more time"):
        world.tell(Alter(job, walltime=51))


def test_a_running_job_can_be_given_less_time_and_plans_move_earlier() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(100))
    head = world.submit(a_job())
    world.tell(Alter(job, walltime=20))
    assert world.plan(head) == 20


def test_an_endless_job_that_is_given_an_end_lets_others_plan() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).endless())
    head = world.submit(a_job())
    assert world.plan(head) is None
    world.tell(Alter(job, walltime=20))
    assert world.plan(head) == 20
    world.go_to(20)
    assert world.start(head) == 20


def test_time_that_is_over_already_is_refused() -> None:
    world = World(machine(2))
    job = world.submit(a_job().lasting(100))
    world.go_to(30)
    with pytest.raises(QueueRefused, match="has already run for 30 s"):
        world.tell(Alter(job, walltime=30))


def test_what_a_running_job_has_cannot_be_moved_to_another_queue_or_priority() -> None:
    world = World(machine(2), QueueConfig(), QueueConfig("other"))
    job = world.submit(a_job())
    with pytest.raises(QueueRefused, match="only its walltime can be changed"):
        world.tell(Alter(job, queue="other"))
    with pytest.raises(QueueRefused, match="only its walltime can be changed"):
        world.tell(Alter(job, priority=1))


# -- changing a job that waits ---------------------------------------------------------------------


def test_a_waiting_job_made_shorter_backfills() -> None:
    world = World(machine(3))
    world.submit(a_job(nodes=2).lasting(10))
    head, job = world.submit_together(a_job(nodes=3), a_job().lasting(20))
    assert world.start(job) is None
    world.tell(Alter(job, walltime=10))
    assert world.start(job) == 0
    assert world.plan(head) == 10


def test_a_promised_job_made_longer_is_planned_anew() -> None:
    world = World(machine(3), CONSERVATIVE)
    world.submit(a_job(nodes=3).lasting(10))
    first, second, third = world.submit_together(
        a_job(nodes=2).lasting(10), a_job(nodes=3).lasting(10), a_job(nodes=1).lasting(10)
    )
    assert world.plans(first, second, third) == [10, 20, 10]
    world.tell(Alter(first, walltime=30))
    assert world.plans(first, second, third) == [10, 40, 10]
    assert f"job {first} is ordered before it" in world.why(second)


def test_a_changed_job_keeps_its_place_in_the_queue() -> None:
    world = World(machine(1))
    world.submit(a_job().lasting(10))
    first, second = world.submit_together(a_job().lasting(10), a_job().lasting(10))
    world.tell(Alter(first, walltime=20))
    world.go_to(30)
    assert world.starts(first, second) == [10, 30]


def test_a_waiting_job_cannot_be_made_longer_than_its_queue_allows() -> None:
    world = World(machine(1), QueueConfig(max_walltime=100))
    world.submit(a_job())
    job = world.submit(a_job())
    with pytest.raises(QueueRefused, match="queue default allows 100"):
        world.tell(Alter(job, walltime=101))
    assert world.job(job).walltime == 10


def test_a_waiting_job_can_be_moved_to_another_queue() -> None:
    queues = QueueConfig(), QueueConfig("express", priority=1)
    world = World(machine(1), *queues)
    world.submit(a_job().lasting(10))
    first, second = world.submit_together(a_job(), a_job())
    world.tell(Alter(second, queue="express"))
    world.go_to(20)
    assert world.starts(second, first) == [10, 20]


def test_a_job_cannot_be_moved_to_a_queue_that_does_not_exist() -> None:
    world = World(machine(1))
    world.submit(a_job())
    job = world.submit(a_job())
    with pytest.raises(UnknownQueue, match="there is no queue nowhere"):
        world.tell(Alter(job, queue="nowhere"))


def test_a_job_cannot_be_moved_to_a_queue_that_allows_less_time() -> None:
    world = World(machine(1), QueueConfig(), QueueConfig("short", max_walltime=5))
    world.submit(a_job())
    job = world.submit(a_job().lasting(10))
    with pytest.raises(QueueRefused, match="queue short allows 5"):
        world.tell(Alter(job, queue="short"))
    world.tell(Alter(job, queue="short", walltime=5))
    assert world.job(job).queue == "short"


def test_an_endless_job_that_is_moved_takes_the_default_of_its_new_queue() -> None:
    world = World(machine(1), QueueConfig(), QueueConfig("short", max_walltime=5))
    world.submit(a_job())
    job = world.submit(a_job().endless())
    world.tell(Alter(job, queue="short"))
    assert world.job(job).walltime == 5


def test_a_job_cannot_be_moved_to_a_queue_that_would_reject_it() -> None:
    reject = UnsatisfiablePolicy.REJECT
    small = QueueConfig("small", constraint=with_property("small"), unsatisfiable=reject)
    world = World(machine(4, named={"small": 1}), QueueConfig(), small)
    world.submit(a_job(nodes=4))
    job = world.submit(a_job(nodes=2))
    with pytest.raises(QueueRefused, match="small"):
        world.tell(Alter(job, queue="small"))
    assert world.job(job).queue == "default"


def test_what_was_changed_is_in_the_story() -> None:
    world = World(machine(1))
    world.submit(a_job())
    job = world.submit(a_job())
    world.tell(Alter(job, walltime=20, priority=3))
    altered = [reason_text(event.reason) for event in world.story(job) if event.kind == "altered"]
    assert altered == ["walltime 20, priority 3"]


def test_a_job_that_is_ending_is_not_given_more_time() -> None:
    world = World(machine(1))
    job = world.submit(a_job())
    world.tell(Cancel(job))
    with pytest.raises(QueueRefused, match="and cannot be changed"):
        world.tell(Alter(job, walltime=100))
