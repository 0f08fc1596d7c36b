"""A job that waits asks for something else, and keeps its place."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import (
    BackfillPolicy,
    PriorityWeights,
    QueueConfig,
    SchedulerConfig,
    UnsatisfiablePolicy,
)
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Gathered, Hold, Release, Reshape
from fluxnetes.queue.jobs import ElasticSize
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe, a_gang, pods, pools
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def asking(job: int, gang: JobToBe) -> Reshape:
    return Reshape(job, gang.spec.request, gang.spec.size)


def full(*queues: QueueConfig, config: SchedulerConfig | None = None) -> World:
    """Two nodes, one busy for 10 s, the other for 20 s."""
    world = World(pools(2, cpu=8), *queues, config=config)
    world.submit_together(*(a_gang(pods(1, cpu=8)).lasting(time) for time in (10, 20)))
    return world


def test_a_job_that_asks_for_less_is_promised_an_earlier_start() -> None:
    world = full()
    job = world.submit(a_gang(pods(2, cpu=8)))
    assert world.plan(job) == 20
    world.tell(asking(job, a_gang(pods(1, cpu=8))))
    assert world.promised(job) == [20, None, 10]
    world.go_to(10)
    assert world.holds(job) == {"cpu": 8}


def test_a_job_that_asks_for_more_is_promised_a_later_start_and_its_story_says_why() -> None:
    world = full()
    job = world.submit(a_gang(pods(1, cpu=8)))
    world.tell(asking(job, a_gang(pods(2, cpu=8))))
    assert world.plan(job) == 20
    kinds = ("altered", "unplanned")
    reasons = [reason_text(event.reason) for event in world.story(job) if event.kind in kinds]
    assert reasons == ["it asks for something else"] * 2


def test_it_keeps_its_place_and_its_age() -> None:
    world = full(CONSERVATIVE)
    first = world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    world.go_to(5)
    second = world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    world.tell(asking(first, a_gang(pods(2, cpu=4)).lasting(10)))
    assert world.explain(first).place == 0
    assert world.job(first).eligible == 0
    assert world.plans(first, second) == [10, 20]


def test_jobs_behind_it_are_moved_as_by_any_job_that_was_changed() -> None:
    world = full(CONSERVATIVE)
    first = world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    behind = world.submit(a_gang(pods(1, cpu=8)).lasting(15))
    assert world.plans(first, behind) == [10, 20]
    world.tell(asking(first, a_gang(pods(2, cpu=8)).lasting(10)))
    assert world.plans(first, behind) == [20, 30]
    assert f"job {first} is ordered before it" in world.why(behind)


def test_no_job_before_it_is_moved() -> None:
    world = full(CONSERVATIVE)
    first = world.submit(a_gang(pods(1, cpu=8)).lasting(15))
    behind = world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    world.tell(asking(behind, a_gang(pods(2, cpu=8)).lasting(10)))
    assert world.plans(first, behind) == [10, 25]


def test_an_ask_that_did_not_change_changes_nothing() -> None:
    world = full()
    job = world.submit(a_gang(pods(1, cpu=8)))
    before = len(world.keeper.events)
    world.tell(asking(job, a_gang(pods(1, cpu=8))))
    assert len(world.keeper.events) == before


def test_what_nothing_can_serve_is_set_aside_until_it_asks_for_less() -> None:
    world = full()
    job = world.submit(a_gang(pods(1, cpu=8)))
    world.tell(asking(job, a_gang(pods(1, cpu=9))))
    assert world.is_set_aside(job)
    world.tell(asking(job, a_gang(pods(1, cpu=7))))
    assert world.explain(job).place == 0
    assert reason_text(world.job(job).reason) == "there are nodes that can serve it"


def test_what_nothing_can_serve_is_rejected_by_a_queue_that_rejects() -> None:
    world = full(QueueConfig(unsatisfiable=UnsatisfiablePolicy.REJECT))
    job = world.submit(a_gang(pods(1, cpu=8)))
    world.tell(asking(job, a_gang(pods(1, cpu=9))))
    assert world.state(job) is JobState.REJECTED
    assert (
        reason_text(world.job(job).reason) == "needs 9 cpu on one node; the most that one has is 8"
    )


def test_sizes_that_make_no_sense_are_rejected() -> None:
    world = full()
    job = world.submit(a_gang(pods(1, cpu=8)))
    world.tell(Reshape(job, a_gang(pods(1, cpu=8)).spec.request, ElasticSize(3, 2)))
    assert (
        reason_text(world.job(job).reason) == "an elastic group of 3 to 2: expected 1 <= min <= max"
    )


def test_a_job_may_become_elastic_and_starts_with_what_there_is() -> None:
    world = full()
    job = world.submit(a_gang(pods(2, cpu=8)))
    world.tell(asking(job, a_gang(pods(2, cpu=8)).between(1, 2)))
    world.go_to(10)
    assert (world.start(job), world.job(job).size) == (10, 1)


def test_a_held_job_asks_for_the_new_thing_when_it_is_released() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).held())
    world.tell(asking(job, a_gang(pods(2, cpu=4))))
    assert world.state(job) is JobState.HELD
    world.tell(Release(job))
    assert world.holds(job) == {"cpu": 8}
    assert world.nodes(job) == ["node0"]


def test_a_held_job_that_nothing_can_serve_stays_held() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)))
    waits = world.submit(a_gang(pods(2, cpu=8)))
    world.tell(Hold(waits))
    world.tell(asking(waits, a_gang(pods(3, cpu=8))))
    assert world.states(job, waits) == [JobState.RUNNING, JobState.HELD]
    world.tell(Release(waits))
    assert world.is_set_aside(waits)


def test_a_group_that_gathers_is_judged_when_it_is_complete() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).gathering())
    world.tell(asking(job, a_gang(pods(1, cpu=3))))
    assert world.state(job) is JobState.GATHERING
    world.tell(Gathered(job))
    assert world.holds(job) == {"cpu": 3}


def test_a_job_that_waits_for_its_begin_time_goes_on_waiting_for_it() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).beginning(30))
    world.tell(asking(job, a_gang(pods(2, cpu=8))))
    assert world.why(job) == "waits: begins at 30 at the earliest"
    world.go_to(30)
    assert world.holds(job) == {"cpu": 16}


def test_where_size_counts_it_is_ordered_by_its_new_one() -> None:
    config = SchedulerConfig(queues=(CONSERVATIVE,), weights=PriorityWeights(size=1.0))
    world = full(config=config)
    small, other = world.submit_together(a_gang(pods(1, cpu=2)), a_gang(pods(1, cpu=4)))
    assert world.explain(small).place == 1
    world.tell(asking(small, a_gang(pods(1, cpu=8))))
    assert [world.explain(job).place for job in (small, other)] == [0, 1]


@pytest.mark.parametrize("end", [False, True])
def test_who_does_not_wait_cannot_ask_for_something_else(end: bool) -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)))
    if end:
        world.end(job)
    with pytest.raises(QueueRefused, match="only the request of a waiting job can change"):
        world.tell(asking(job, a_gang(pods(2, cpu=8))))


def test_an_array_cannot_either() -> None:
    world = full()
    array = world.submit(a_gang(pods(1, cpu=8)).times(3))
    with pytest.raises(QueueRefused, match="is an array"):
        world.tell(asking(array, a_gang(pods(2, cpu=8))))
