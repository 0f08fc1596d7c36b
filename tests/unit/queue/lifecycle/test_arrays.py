"""Arrays: one record, many tasks, each of which starts as a job of its own."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.queue.config import BackfillPolicy, LimitConfig, QueueConfig
from fluxnetes.queue.errors import QueueError, QueueRefused
from fluxnetes.queue.events import Alter, Cancel, Ended, Hold, NodesLost, Release, Returned, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe, a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World


def tasks(world: World, array: int) -> list[int]:
    """The tasks that an array has started, in order."""
    return [job.id for job in world.keeper.jobs.values() if job.parent == array]


def task_starts(world: World, array: int) -> list[int | None]:
    return world.starts(*tasks(world, array))


def test_an_array_waits_as_one_record_however_many_tasks_it_has() -> None:
    world = World(machine(1))
    world.submit(a_job().lasting(10))
    array = world.submit(a_job().times(100_000))
    assert world.queue.waiting == 1
    assert tasks(world, array) == []


def test_tasks_start_as_room_allows_and_the_array_completes_with_the_last() -> None:
    world = World(machine(2))
    array = world.submit(a_job().lasting(10).times(5))
    world.go_to(20)
    assert world.state(array) is JobState.PENDING
    world.go_to(30)
    assert task_starts(world, array) == [0, 0, 10, 10, 20]
    assert world.state(array) is JobState.COMPLETED
    assert reason_text(world.job(array).reason) == "all 5 tasks succeeded"


def test_each_task_knows_its_array_and_its_number() -> None:
    world = World(machine(3))
    array = world.submit(a_job().times(3))
    found = tasks(world, array)
    assert found == [array + 1, array + 2, array + 3]
    assert [world.job(task).index for task in found] == [0, 1, 2]


def test_no_more_tasks_run_at_once_than_the_array_allows() -> None:
    world = World(machine(5))
    array = world.submit(a_job().lasting(10).times(5, at_once=2))
    assert len(tasks(world, array)) == 2
    assert "2 tasks are there, and it may have 2 at a time" in world.why(array)
    world.go_to(30)
    assert task_starts(world, array) == [0, 0, 10, 10, 20]


def test_an_array_at_its_limit_blocks_no_other() -> None:
    world = World(machine(3), QueueConfig(policy=BackfillPolicy.FCFS))
    array = world.submit(a_job().lasting(10).times(9, at_once=1))
    behind = world.submit(a_job())
    assert world.plan(array) is None
    assert world.start(behind) == 0


def test_an_array_with_a_failed_task_fails_once_all_have_ended() -> None:
    world = World(machine(3))
    array = world.submit(a_job().lasting(10).times(3))
    world.end(array + 1, ok=False)
    assert world.state(array) is JobState.PENDING
    world.go_to(10)
    assert world.state(array) is JobState.FAILED
    assert reason_text(world.job(array).reason) == "1 of 3 tasks did not succeed"


def test_cancelling_an_array_cancels_all_of_its_tasks() -> None:
    world = World(machine(2))
    array = world.submit(a_job().lasting(10).times(5))
    world.tell(Cancel(array))
    assert world.state(array) is JobState.CANCELLED
    assert world.states(*tasks(world, array)) == [JobState.ENDING, JobState.ENDING]
    world.tell(Ended(array + 1), Ended(array + 2))
    world.go_to(50)
    assert world.states(*tasks(world, array)) == [JobState.CANCELLED, JobState.CANCELLED]


def test_cancelling_one_task_leaves_the_others() -> None:
    world = World(machine(2))
    array = world.submit(a_job().lasting(10).times(3))
    world.tell(Cancel(array + 1))
    world.end(array + 1)
    world.go_to(10)
    assert world.states(array + 1, array + 2, array + 3) == [
        JobState.CANCELLED,
        JobState.COMPLETED,
        JobState.COMPLETED,
    ]
    assert world.state(array) is JobState.FAILED


def test_an_array_can_be_cancelled_whose_last_task_waits_again() -> None:
    world = World(machine(1))
    array = world.submit(a_job().times(1).requeued_on_loss())
    world.tell(NodesLost(("node0",)))
    world.end(array + 1)
    assert world.states(array, array + 1) == [JobState.PENDING, JobState.PENDING]
    world.tell(Cancel(array))
    assert world.states(array, array + 1) == [JobState.CANCELLED, JobState.CANCELLED]


def test_a_held_array_starts_no_further_tasks_and_those_that_run_go_on() -> None:
    world = World(machine(1))
    array = world.submit(a_job().lasting(10).times(3))
    world.tell(Hold(array))
    world.go_to(50)
    assert task_starts(world, array) == [0]
    assert world.states(array, array + 1) == [JobState.HELD, JobState.COMPLETED]
    world.tell(Release(array))
    world.go_to(100)
    assert task_starts(world, array) == [0, 50, 60]
    assert world.state(array) is JobState.COMPLETED


def test_an_array_all_of_whose_tasks_were_started_cannot_be_held() -> None:
    world = World(machine(2))
    array = world.submit(a_job().lasting(10).times(2))
    with pytest.raises(QueueRefused, match="all of its tasks have started"):
        world.tell(Hold(array))
    world.go_to(10)
    assert world.state(array) is JobState.COMPLETED


def test_what_is_changed_holds_for_tasks_to_come() -> None:
    world = World(machine(1))
    array = world.submit(a_job().lasting(10).times(2))
    world.tell(Alter(array, walltime=30))
    world.go_to(100)
    assert [world.job(t).walltime for t in tasks(world, array)] == [10, 30]


# -- promises --------------------------------------------------------------------------------------


def test_the_next_task_of_an_array_is_promised_a_start() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(10))
    array = world.submit(a_job(nodes=2).lasting(20).times(2))
    assert world.plan(array) == 10
    world.go_to(10)
    assert task_starts(world, array) == [10]
    assert world.plan(array) == 30
    world.go_to(30)
    assert task_starts(world, array) == [10, 30]


def test_backfill_delays_no_promised_task() -> None:
    world = World(machine(3))
    world.submit(a_job(nodes=2).lasting(10))
    array = world.submit(a_job(nodes=3).lasting(5).times(2))
    long = world.submit(a_job().lasting(11))
    assert world.plan(array) == 10
    assert world.start(long) is None
    world.go_to(20)
    assert task_starts(world, array) == [10, 15]


def test_tasks_of_gangs_share_nodes() -> None:
    world = World(pools(2, cpu=8, gpu=2))
    array = world.submit(a_gang(pods(1, cpu=3), pods(1, gpu=1)).lasting(10).times(5))
    world.go_to(20)
    assert task_starts(world, array) == [0, 0, 0, 0, 10]


def test_a_promised_array_that_is_held_gives_its_room_to_others() -> None:
    world = World(machine(2))
    world.submit(a_job().lasting(10))
    array = world.submit(a_job(nodes=2).times(2))
    long = world.submit(a_job().lasting(100))
    assert (world.plan(array), world.start(long)) == (10, None)
    world.tell(Hold(array))
    assert (world.plan(array), world.start(long)) == (None, 0)


def test_a_task_that_could_not_be_carried_out_is_tried_again() -> None:
    world = World(machine(1))
    world.carries_out = False
    array = world.submit(a_job().times(2))
    world.tell(Returned(array + 1, Reason.from_text("no image")))
    assert world.job(array + 1).restarts == 1
    for _ in range(2):
        world.end(*[t for t in tasks(world, array) if world.state(t) is JobState.ALLOCATED])
    assert world.states(array, array + 1, array + 2) == [JobState.COMPLETED] * 3


# -- with other features ---------------------------------------------------------------------------


def test_a_job_can_wait_for_an_array_to_succeed() -> None:
    world = World(machine(2))
    array = world.submit(a_job().lasting(10).times(4))
    job = world.submit(a_job().afterok(array))
    world.go_to(10)
    assert world.start(job) is None
    world.go_to(20)
    assert world.start(job) == 20


def test_a_job_that_waits_for_an_array_to_succeed_is_rejected_when_a_task_fails() -> None:
    world = World(machine(2))
    array = world.submit(a_job().lasting(10).times(2))
    job = world.submit(a_job().afterok(array))
    world.end(array + 1, ok=False)
    world.go_to(10)
    assert world.state(job) is JobState.REJECTED


def test_a_job_can_wait_for_an_array_to_have_started() -> None:
    world = World(machine(3))
    world.submit(a_job(nodes=3).lasting(10))
    array = world.submit(a_job().lasting(10).times(9, at_once=2))
    job = world.submit(a_job().after(array))
    world.go_to(10)
    assert world.start(job) == 10


def test_an_array_can_wait_for_a_job_and_for_its_begin_time() -> None:
    world = World(machine(2))
    first = world.submit(a_job().lasting(10))
    array = world.submit(a_job().lasting(10).times(2).afterok(first))
    later = world.submit(a_job().lasting(10).times(2).beginning(40))
    world.go_to(50)
    assert task_starts(world, array) == [10, 10]
    assert task_starts(world, later) == [40, 40]


def test_a_task_that_lost_its_nodes_is_requeued_and_is_still_the_same_task() -> None:
    world = World(machine(2))
    array = world.submit(a_job().lasting(10).times(3).requeued_on_loss())
    world.tell(NodesLost(("node0",)))
    lost = next(task for task in tasks(world, array) if world.state(task) is JobState.ENDING)
    world.end(lost)
    assert world.state(lost) is JobState.PENDING
    world.go_to(40)
    assert world.state(lost) is JobState.COMPLETED
    assert world.state(array) is JobState.COMPLETED
    assert len(tasks(world, array)) == 3


def test_a_limit_on_running_jobs_counts_tasks() -> None:
    world = World(machine(4), QueueConfig(per_user=LimitConfig(running=2)))
    array = world.submit(a_job().lasting(10).times(3))
    assert len(tasks(world, array)) == 2
    world.go_to(20)
    assert task_starts(world, array) == [0, 0, 10]


def test_a_limit_on_pending_jobs_counts_an_array_once() -> None:
    world = World(machine(1), QueueConfig(per_user=LimitConfig(pending=2)))
    world.submit(a_job())
    array, other = world.submit_together(a_job().times(50), a_job().times(50))
    assert world.states(array, other) == [JobState.PENDING, JobState.PENDING]


# -- what makes no sense ---------------------------------------------------------------------------


def test_the_numbers_after_an_array_belong_to_its_tasks() -> None:
    world = World(machine(1))
    world.submit(a_job())
    array = world.submit(a_job().times(5))
    with pytest.raises(QueueError, match=f"belong to array {array}"):
        world.tell(Submit(Submission(array + 3, jobspec(slot(1, node(1))))))


@pytest.mark.parametrize("bad", [a_job().times(0), a_job().times(2, at_once=0)])
def test_an_array_of_nothing_is_rejected(bad: JobToBe) -> None:
    world = World(machine(1))
    job = world.submit(bad)
    assert world.state(job) is JobState.REJECTED
    assert "expected 1 or more" in reason_text(world.job(job).reason)


def test_an_array_too_large_to_number_is_refused() -> None:
    world = World(machine(1))
    with pytest.raises(QueueError, match="1 to 1000000 tasks"):
        world.submit(a_job().times(1_000_001))
