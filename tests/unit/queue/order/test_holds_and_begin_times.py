"""A job that may not start yet is skipped: it blocks no other job and is promised nothing."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import Alter, Hold, Release
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World

EVERY = [QueueConfig(policy=policy) for policy in BackfillPolicy]


# -- holds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("queue", EVERY, ids=lambda queue: queue.policy.value)
def test_a_held_job_blocks_no_other(queue: QueueConfig) -> None:
    world = World(machine(2), queue)
    held = world.submit(a_job(nodes=2).held())
    behind = world.submit(a_job(nodes=2))
    assert world.start(behind) == 0
    assert world.plan(held) is None


def test_a_promised_job_that_is_held_gives_its_room_to_others() -> None:
    world = World(machine(2))
    world.submit(a_job().lasting(10))
    head, behind = world.submit_together(a_job(nodes=2), a_job().lasting(100))
    assert world.plan(head) == 10
    world.tell(Hold(head))
    assert world.state(head) is JobState.HELD
    assert world.plan(head) is None
    assert world.start(behind) == 0


def test_a_held_gang_gives_its_room_to_others() -> None:
    world = World(pools(2, cpu=8, gpu=1))
    world.submit(a_gang(pods(1, cpu=8), pods(1, gpu=1)).lasting(10))
    head, behind = world.submit_together(
        a_gang(pods(2, cpu=6), pods(1, gpu=1)), a_gang(pods(1, cpu=8)).lasting(100)
    )
    assert (world.plan(head), world.start(behind)) == (10, None)
    world.tell(Hold(head))
    assert world.start(behind) == 0


def test_a_released_job_has_the_place_in_the_queue_that_it_came_with() -> None:
    world = World(machine(1))
    first = world.submit(a_job().held())
    world.submit(a_job().lasting(10))
    later = world.submit(a_job())
    world.tell(Release(first))
    world.go_to(20)
    assert world.starts(first, later) == [10, 20]


def test_a_released_job_may_take_the_capacity_of_promises_behind_it_with_a_reason() -> None:
    world = World(machine(1))
    first = world.submit(a_job().held())
    world.submit(a_job().lasting(10))
    later = world.submit(a_job())
    assert world.plan(later) == 10
    world.tell(Release(first))
    assert world.plan(first) == 10
    assert f"job {first} is ordered before it" in [
        reason_text(event.reason) for event in world.story(later)
    ]


def test_holding_a_held_job_changes_nothing() -> None:
    world = World(machine(1))
    job = world.submit(a_job().held())
    before = len(world.story(job))
    world.tell(Hold(job))
    assert len(world.story(job)) == before


def test_a_held_job_can_be_changed_and_stays_held() -> None:
    world = World(machine(1))
    job = world.submit(a_job().held())
    world.tell(Alter(job, walltime=77))
    assert (world.state(job), world.job(job).walltime) == (JobState.HELD, 77)


def test_age_counts_from_the_release() -> None:
    world = World(machine(1))
    world.submit(a_job().lasting(1000))
    job = world.submit(a_job().held())
    assert world.job(job).eligible is None
    world.go_to(50)
    world.tell(Release(job))
    assert world.job(job).eligible == 50


# -- begin times -----------------------------------------------------------------------------------


def test_a_job_does_not_start_before_its_begin_time_and_starts_at_it() -> None:
    world = World(machine(1))
    job = world.submit(a_job().beginning(50))
    assert world.state(job) is JobState.PENDING
    world.go_to(200)
    assert world.start(job) == 50


@pytest.mark.parametrize("queue", EVERY, ids=lambda queue: queue.policy.value)
def test_a_job_before_its_begin_time_blocks_no_other(queue: QueueConfig) -> None:
    world = World(machine(2), queue)
    early = world.submit(a_job(nodes=2).beginning(50))
    behind = world.submit(a_job(nodes=2).lasting(100))
    assert world.plan(early) is None
    assert world.start(behind) == 0
    world.go_to(100)
    assert world.start(early) == 100


def test_a_begin_time_that_is_over_does_not_matter() -> None:
    world = World(machine(1))
    world.go_to(100)
    job = world.submit(a_job().beginning(50))
    assert world.start(job) == 100


def test_a_job_whose_begin_time_comes_has_its_old_place_in_the_queue() -> None:
    world = World(machine(1))
    world.submit(a_job().lasting(100))
    early, later = world.submit_together(a_job().beginning(50), a_job())
    assert world.plan(later) == 100
    world.go_to(110)
    assert world.starts(early, later) == [100, 110]


def test_a_job_that_was_held_over_its_begin_time_starts_when_it_is_released() -> None:
    world = World(machine(1))
    job = world.submit(a_job().beginning(50))
    world.tell(Hold(job))
    world.go_to(80)
    assert world.state(job) is JobState.HELD
    world.tell(Release(job))
    assert world.start(job) == 80


def test_a_job_that_is_released_before_its_begin_time_waits_for_it() -> None:
    world = World(machine(1))
    job = world.submit(a_job().beginning(50).held())
    world.tell(Release(job))
    world.go_to(60)
    assert world.start(job) == 50


def test_begin_times_count_in_every_queue() -> None:
    world = World(machine(2), QueueConfig(), QueueConfig("other"))
    jobs = world.submit_together(a_job().beginning(30), a_job().beginning(20).to("other"))
    world.go_to(50)
    assert world.starts(*jobs) == [30, 20]
