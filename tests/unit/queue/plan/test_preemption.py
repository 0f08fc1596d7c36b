"""Preemption: higher classes make preemptible jobs of lower ones go, if a queue says so."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import Cancel, Maintain
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe, a_gang, a_job, hosts, machine, pods, pools
from tests.unit.queue.world import World

PREEMPTS = QueueConfig(preempts=True, grace=20)


def urgent(nodes: int = 1) -> JobToBe:
    return a_job(nodes=nodes).lasting(10).of_class(1)


def cheap(nodes: int = 1) -> JobToBe:
    return a_job(nodes=nodes).lasting(1000).preemptible()


# -- which jobs are preempted ----------------------------------------------------------------------


def test_it_is_off_unless_a_queue_turns_it_on() -> None:
    world = World(machine(2))
    victim = world.submit(cheap(2))
    job = world.submit(urgent())
    assert world.state(victim) is JobState.RUNNING
    assert world.plan(job) == 1000


def test_a_job_of_a_higher_class_makes_a_preemptible_one_go() -> None:
    world = World(machine(2), PREEMPTS)
    victim = world.submit(cheap(2))
    world.go_to(50)
    job = world.submit(urgent())
    assert world.state(victim) is JobState.ENDING
    assert reason_text(world.job(victim).reason) == f"preempted by job {job} of a higher class"
    world.go_to(55)
    world.end(victim)
    assert world.start(job) == 55


@pytest.mark.parametrize(
    "spared", [cheap().of_class(1), cheap().of_class(2), a_job().lasting(1000)]
)
def test_equals_and_betters_and_those_not_preemptible_are_left_alone(spared: JobToBe) -> None:
    world = World(machine(1), PREEMPTS)
    running = world.submit(spared)
    job = world.submit(urgent())
    assert world.state(running) is JobState.RUNNING
    assert world.plan(job) == 1000


def test_no_job_is_preempted_while_the_job_fits_without() -> None:
    world = World(machine(3), PREEMPTS)
    victim = world.submit(cheap(2))
    job = world.submit(urgent())
    assert world.start(job) == 0
    assert world.state(victim) is JobState.RUNNING


def test_those_go_first_who_lose_the_least_work() -> None:
    world = World(machine(3), PREEMPTS)
    old = world.submit(cheap())
    world.go_to(50)
    young = world.submit(cheap())
    middle = world.submit(cheap())
    world.go_to(60)
    world.submit(urgent())
    # Young and middle have run equally long; the one that came later goes.
    assert world.states(old, young, middle) == [JobState.RUNNING, JobState.RUNNING, JobState.ENDING]


def test_work_is_time_times_size() -> None:
    world = World(machine(4), PREEMPTS)
    large = world.submit(cheap(3).lasting(500))
    world.go_to(10)
    small = world.submit(cheap(1))
    world.go_to(14)
    # 3 nodes for 14 s are more work than 1 node for 4 s.
    world.submit(urgent())
    assert world.states(large, small) == [JobState.RUNNING, JobState.ENDING]


def test_no_job_is_preempted_needlessly() -> None:
    world = World(machine(4), PREEMPTS)
    large = world.submit(cheap(3))
    world.go_to(10)
    small = world.submit(cheap(1))
    world.go_to(20)
    world.submit(urgent(3))
    assert world.states(large, small) == [JobState.ENDING, JobState.RUNNING]


def test_whole_groups_go_even_if_a_part_would_do() -> None:
    world = World(machine(4), PREEMPTS)
    group = world.submit(cheap(4))
    world.submit(urgent(1))
    assert world.state(group) is JobState.ENDING


def test_no_job_is_preempted_if_that_would_not_start_the_job() -> None:
    world = World(machine(4), PREEMPTS)
    fixed, victim = world.submit_together(a_job(2).lasting(1000), cheap(2))
    job = world.submit(urgent(3))
    assert world.states(fixed, victim) == [JobState.RUNNING, JobState.RUNNING]
    assert world.plan(job) == 1000


def test_no_job_is_preempted_if_a_window_keeps_the_job_from_starting_once_they_are_gone() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(cheap().lasting(50))
    # Gone at 20 at the latest, the victim leaves 30 s: enough for a job of 30 s, not for 31.
    world.tell(Maintain("cooling", 50, 60, hosts(0)))
    long = world.submit(urgent().lasting(31))
    assert world.state(victim) is JobState.RUNNING
    assert world.plan(long) == 60
    world.submit(urgent().lasting(30))
    assert world.state(victim) is JobState.RUNNING, (
        "only a job that is entitled to a promise may preempt"
    )


def test_no_job_is_preempted_for_one_that_waits_for_others_besides_until_those_are_gone() -> None:
    world = World(machine(2), PREEMPTS)
    victim, fixed = world.submit_together(cheap(), a_job().lasting(40))
    job = world.submit(urgent(2))
    world.go_to(19)
    assert world.states(victim, fixed) == [JobState.RUNNING, JobState.RUNNING]
    world.go_to(20)
    assert world.states(victim, fixed) == [JobState.ENDING, JobState.RUNNING]
    assert world.plan(job) == 40, "when the grace time of the one and the walltime of the other end"


def test_no_job_is_preempted_if_the_job_starts_as_soon_without() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(cheap().lasting(20))
    job = world.submit(urgent())
    assert world.state(victim) is JobState.RUNNING
    assert world.plan(job) == 20


def test_no_job_is_preempted_if_a_promise_keeps_the_job_from_starting_once_they_are_gone() -> None:
    world = World(
        machine(2), QueueConfig(policy=BackfillPolicy.CONSERVATIVE, preempts=True, grace=20)
    )
    _, victim = world.submit_together(a_job().lasting(100), cheap().lasting(100))
    first = world.submit(a_job(2).lasting(10).of_class(2))
    assert world.plan(first) == 100
    # Gone at 20, the victim would leave 80 s until the first starts: enough for 80 s, not for 81.
    long, short = world.submit_together(urgent().lasting(81), urgent().lasting(80))
    assert world.plan(long) == 110
    assert world.plan(short) == 20
    assert world.state(victim) is JobState.ENDING
    assert f"by job {short} " in reason_text(world.job(victim).reason)


def test_no_job_is_preempted_before_the_minimum_run_time() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(a_job().lasting(1000).preemptible(min_runtime=100))
    world.go_to(99)
    job = world.submit(urgent())
    assert world.state(victim) is JobState.RUNNING
    assert world.plan(job) == 1000


def test_once_the_minimum_run_time_is_over_they_go() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(a_job().lasting(1000).preemptible(min_runtime=100))
    world.go_to(50)
    job = world.submit(urgent())
    world.go_to(100)
    assert world.state(victim) is JobState.ENDING
    world.go_to(105)
    world.end(victim)
    assert world.start(job) == 105


def test_jobs_of_other_queues_can_be_made_to_go() -> None:
    batch, express = QueueConfig("batch"), QueueConfig("express", preempts=True)
    world = World(machine(1), batch, express)
    victim = world.submit(cheap().to("batch"))
    world.submit(urgent().to("express"))
    assert world.state(victim) is JobState.ENDING


def test_a_queue_that_does_not_preempt_does_not_even_with_others_that_do() -> None:
    batch, express = QueueConfig("batch"), QueueConfig("express", preempts=True)
    world = World(machine(1), batch, express)
    victim = world.submit(cheap().to("express"))
    world.submit(urgent().to("batch"))
    assert world.state(victim) is JobState.RUNNING


def test_tasks_of_an_array_go_one_by_one() -> None:
    world = World(machine(3), PREEMPTS)
    array = world.submit(cheap().times(3))
    world.submit(urgent(2))
    states = world.states(array + 1, array + 2, array + 3)
    assert sorted(state.value for state in states) == ["ending", "ending", "running"]


def test_gangs_make_gangs_go() -> None:
    world = World(pools(2, cpu=8, gpu=1), PREEMPTS)
    needless = world.submit(a_gang(pods(2, cpu=2)).lasting(1000).preemptible())
    world.go_to(10)
    victim = world.submit(a_gang(pods(2, cpu=3), pods(2, gpu=1)).lasting(1000).preemptible())
    world.go_to(20)
    job = world.submit(a_gang(pods(1, cpu=6), pods(1, gpu=1)).of_class(1))
    assert world.states(needless, victim) == [JobState.RUNNING, JobState.ENDING]
    world.end(victim)
    assert world.start(job) == 20


def test_an_elastic_job_makes_as_few_go_as_its_least_needs() -> None:
    world = World(machine(4), PREEMPTS)
    jobs = world.submit_together(*[cheap()] * 4)
    group = world.submit(a_job().between(2, 4).of_class(1))
    ending = [job for job in jobs if world.state(job) is JobState.ENDING]
    assert len(ending) == 2
    world.end(*ending)
    assert len(world.nodes(group)) == 2


def test_endless_jobs_can_be_made_to_go() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(a_job().endless().preemptible(min_runtime=50))
    job = world.submit(urgent())
    assert "no start is known" in world.why(job)
    world.go_to(50)
    assert world.state(victim) is JobState.ENDING
    assert world.plan(job) == 70


# -- the capacity ----------------------------------------------------------------------------------


def test_the_room_is_held_for_the_job_while_the_others_leave() -> None:
    world = World(machine(2), PREEMPTS)
    first, second = world.submit_together(cheap(), cheap())
    job = world.submit(urgent(2))
    assert world.plan(job) == 20
    world.go_to(5)
    world.end(first)
    long, short = world.submit_together(a_job().lasting(16), a_job().lasting(15))
    assert world.starts(long, short) == [None, 5]
    world.go_to(19)
    world.end(second)
    world.go_to(20)
    assert world.start(job) == 20


def test_a_higher_class_that_comes_later_gets_the_room() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(cheap())
    job = world.submit(urgent())
    more_urgent = world.submit(a_job().lasting(10).of_class(2))
    assert world.plans(more_urgent, job) == [20, 30]
    world.end(victim)
    assert world.starts(more_urgent, job) == [0, None]


def test_one_that_does_not_go_moves_the_job_and_says_so() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(cheap())
    job = world.submit(urgent())
    world.go_to(20)
    assert world.plan(job) == 40
    assert f"job {victim} overran" in reason_text(world.story(job)[-1].reason)


def test_if_the_job_is_cancelled_any_job_may_have_the_capacity() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(cheap())
    job = world.submit(urgent())
    world.tell(Cancel(job))
    world.end(victim)
    assert world.state(victim) is JobState.RUNNING, "requeued, and started again"
    assert world.start(victim) == 0


# -- what becomes of preempted jobs ----------------------------------------------------------------


def test_a_requeued_job_keeps_its_age_and_its_place() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(cheap().lasting(100))
    world.go_to(10)
    later = world.submit(a_job())
    job = world.submit(urgent())
    world.end(victim)
    assert world.state(victim) is JobState.PENDING
    assert world.job(victim).eligible == 0
    assert world.job(victim).restarts == 1
    world.go_to(130)
    assert world.starts(job, victim, later) == [10, 20, 120]


def test_a_job_that_is_not_to_be_requeued_is_cancelled() -> None:
    world = World(machine(1), PREEMPTS)
    victim = world.submit(a_job().lasting(1000).preemptible(requeue=False))
    job = world.submit(urgent())
    world.end(victim)
    assert world.state(victim) is JobState.CANCELLED
    assert reason_text(world.job(victim).reason) == f"preempted by job {job} of a higher class"


def test_there_is_no_circle() -> None:
    world = World(machine(1), PREEMPTS)
    low = world.submit(cheap())
    middle = world.submit(cheap().of_class(1).lasting(100))
    world.end(low)
    high = world.submit(cheap().of_class(2).lasting(100))
    world.end(middle)
    assert world.state(high) is JobState.RUNNING
    for time in range(1, 100, 10):
        world.go_to(time)
        assert world.states(low, middle, high) == [
            JobState.PENDING,
            JobState.PENDING,
            JobState.RUNNING,
        ]
    world.go_to(350)
    assert world.starts(high, middle, low) == [0, 100, 200]
