"""After, afterok, afterany: jobs that wait for other jobs."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import Cancel, Hold, NodesBack, NodesLost, Release
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe, a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World


def test_after_waits_until_the_other_has_started() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(10))
    first = world.submit(a_job().lasting(100))
    job = world.submit(a_job().after(first))
    assert world.why(job) == f"waits: after job {first}"
    world.go_to(10)
    assert world.starts(first, job) == [10, 10]


def test_after_is_met_by_a_job_that_runs_already() -> None:
    world = World(machine(2))
    first = world.submit(a_job().lasting(100))
    assert world.start(world.submit(a_job().after(first))) == 0


def test_afterok_waits_until_the_other_has_succeeded() -> None:
    world = World(machine(2))
    first = world.submit(a_job().lasting(30))
    job = world.submit(a_job().afterok(first))
    assert world.state(job) is JobState.PENDING
    world.go_to(30)
    assert world.start(job) == 30


def test_afterany_waits_until_the_other_has_ended_somehow() -> None:
    world = World(machine(2))
    first = world.submit(a_job().lasting(30))
    job = world.submit(a_job().afterany(first))
    assert world.start(job) is None
    world.go_to(5)
    world.end(first, ok=False)
    assert world.start(job) == 5


def test_afterany_waits_for_a_job_that_is_ending_until_it_is_gone() -> None:
    world = World(machine(2))
    first = world.submit(a_job().lasting(30))
    job = world.submit(a_job().afterany(first))
    world.tell(Cancel(first))
    assert world.start(job) is None
    world.go_to(5)
    world.end(first)
    assert world.start(job) == 5


def test_afterok_of_a_job_that_fails_rejects_and_says_why() -> None:
    world = World(machine(2))
    first = world.submit(a_job())
    job = world.submit(a_job().afterok(first))
    world.end(first, ok=False)
    assert world.state(job) is JobState.REJECTED
    assert f"after job {first} succeeded" in reason_text(world.job(job).reason)
    assert "failed" in reason_text(world.job(job).reason)


def test_afterok_of_a_job_that_is_cancelled_or_times_out_rejects() -> None:
    world = World(machine(2))
    first, second = world.submit_together(a_job().lasting(10), a_job().lasting(10))
    jobs = world.submit_together(a_job().afterok(first), a_job().afterok(second))
    world.stays(second)
    world.tell(Cancel(first))
    world.end(first)
    world.go_to(10)
    world.end(second)
    assert world.states(*jobs) == [JobState.REJECTED, JobState.REJECTED]


def test_a_rejection_goes_down_the_whole_chain() -> None:
    world = World(machine(2))
    first = world.submit(a_job())
    second = world.submit(a_job().afterok(first))
    third = world.submit(a_job().afterok(second))
    last = world.submit(a_job().afterany(third))
    world.end(first, ok=False)
    assert world.states(second, third) == [JobState.REJECTED, JobState.REJECTED]
    assert world.start(last) == 0


def test_a_job_is_rejected_as_soon_as_one_of_several_dependencies_fails() -> None:
    world = World(machine(3))
    first, second = world.submit_together(a_job().lasting(100), a_job().lasting(100))
    job = world.submit(a_job().afterok(first, second))
    world.end(second, ok=False)
    assert world.state(job) is JobState.REJECTED


def test_a_job_with_a_begin_time_is_rejected_as_soon_as_its_dependency_fails() -> None:
    world = World(machine(3))
    first = world.submit(a_job().lasting(100))
    job = world.submit(a_job().afterok(first).beginning(500))
    world.end(first, ok=False)
    assert world.state(job) is JobState.REJECTED


def test_all_of_several_dependencies_must_be_met() -> None:
    world = World(machine(3))
    first, second = world.submit_together(a_job().lasting(20), a_job().lasting(10))
    job = world.submit(a_job().afterok(first).afterany(second))
    world.go_to(10)
    assert world.start(job) is None
    world.go_to(20)
    assert world.start(job) == 20


def test_a_begin_time_and_a_dependency_must_both_be_over() -> None:
    world = World(machine(3))
    first = world.submit(a_job().lasting(20))
    jobs = world.submit_together(
        a_job().afterok(first).beginning(10), a_job().afterok(first).beginning(50)
    )
    world.go_to(60)
    assert world.starts(*jobs) == [20, 50]


@pytest.mark.parametrize("kind", ["after", "afterok", "afterany"])
def test_a_dependency_on_a_job_that_has_ended_is_met(kind: str) -> None:
    world = World(machine(2))
    first = world.submit(a_job())
    world.end(first)
    job = world.submit(getattr(a_job(), kind)(first))
    assert world.start(job) == 0


def test_a_dependency_on_a_job_that_failed_before_is_rejected_at_once() -> None:
    world = World(machine(2))
    first = world.submit(a_job())
    world.end(first, ok=False)
    assert world.state(world.submit(a_job().afterok(first))) is JobState.REJECTED


def test_a_dependency_on_an_unknown_job_is_rejected() -> None:
    world = World(machine(2))
    job = world.submit(a_job().afterok(77))
    assert reason_text(world.job(job).reason) == "it depends on job 77, which is not known"


@pytest.mark.parametrize("policy", BackfillPolicy)
def test_a_job_that_waits_for_another_blocks_no_other(policy: BackfillPolicy) -> None:
    world = World(machine(2), QueueConfig(policy=policy))
    first = world.submit(a_job().lasting(100))
    waiting, behind = world.submit_together(a_job(nodes=2).afterok(first), a_job().lasting(500))
    assert world.plan(waiting) is None
    assert world.start(behind) == 0


def test_a_job_whose_dependency_is_met_has_its_old_place_in_the_queue() -> None:
    world = World(machine(2))
    first, _ = world.submit_together(a_job().lasting(10), a_job().lasting(50))
    waiting, behind = world.submit_together(a_job(nodes=2).afterok(first), a_job(nodes=2))
    world.go_to(60)
    assert world.starts(waiting, behind) == [50, 60]


def test_a_held_job_whose_dependency_fails_is_rejected_when_it_is_released() -> None:
    world = World(machine(2))
    first = world.submit(a_job())
    job = world.submit(a_job().afterok(first))
    world.tell(Hold(job))
    world.end(first, ok=False)
    assert world.state(job) is JobState.HELD
    world.tell(Release(job))
    assert world.state(job) is JobState.REJECTED


def test_a_requeued_job_keeps_those_waiting_who_depend_on_it() -> None:
    world = World(machine(1))
    first = world.submit(a_job().lasting(10).requeued_on_loss())
    job = world.submit(a_job().afterok(first))
    world.tell(NodesLost(("node0",)))
    world.end(first)
    assert world.states(first, job) == [JobState.PENDING, JobState.PENDING]
    world.tell(NodesBack(("node0",)))
    world.go_to(10)
    assert world.start(job) == 10


@pytest.mark.parametrize("second", [a_gang(pods(1, cpu=8)), a_gang(pods(1, cpu=4), pods(1, gpu=1))])
def test_gangs_depend_on_gangs(second: JobToBe) -> None:
    world = World(pools(1, cpu=8, gpu=1))
    first = world.submit(a_gang(pods(1, cpu=2), pods(1, gpu=1)).lasting(10))
    job = world.submit(second.afterok(first))
    world.go_to(10)
    assert world.start(job) == 10
