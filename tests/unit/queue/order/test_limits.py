"""Limits: how many jobs and how much one user, namespace or queue may have at a time."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, LimitConfig, QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Alter, Cancel, Grow, TaskEnded
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World

TWO_RUNNING = LimitConfig(running=2)


def test_a_user_runs_no_more_jobs_at_a_time_than_the_limit() -> None:
    world = World(machine(5), QueueConfig(per_user=TWO_RUNNING))
    jobs = world.submit_together(*[a_job().lasting(10).by("ada")] * 3)
    assert world.starts(*jobs) == [0, 0, None]
    assert world.why(jobs[2]) == "limit: user ada may run 2 jobs at a time"
    world.go_to(10)
    assert world.start(jobs[2]) == 10


def test_the_limit_of_one_user_is_not_that_of_another() -> None:
    world = World(machine(5), QueueConfig(per_user=LimitConfig(running=1)))
    jobs = world.submit_together(a_job().by("ada"), a_job().by("ada"), a_job().by("bob"))
    assert world.starts(*jobs) == [0, None, 0]


def test_a_namespace_runs_no_more_jobs_at_a_time_than_the_limit() -> None:
    world = World(machine(5), QueueConfig(per_namespace=LimitConfig(running=1)))
    jobs = world.submit_together(
        a_job().by("ada", "lab"), a_job().by("bob", "lab"), a_job().by("eve", "office")
    )
    assert world.starts(*jobs) == [0, None, 0]
    assert world.why(jobs[1]) == "limit: namespace lab may run 1 jobs at a time"


def test_a_queue_runs_no_more_jobs_at_a_time_than_the_limit() -> None:
    world = World(machine(5), QueueConfig("a", cap=LimitConfig(running=1)), QueueConfig("b"))
    jobs = world.submit_together(a_job().to("a"), a_job().to("a"), a_job().to("b"), a_job().to("b"))
    assert world.starts(*jobs) == [0, None, 0, 0]


@pytest.mark.parametrize("policy", BackfillPolicy)
def test_a_job_that_a_limit_stops_blocks_no_other_and_is_promised_nothing(
    policy: BackfillPolicy,
) -> None:
    world = World(machine(3), QueueConfig(policy=policy, per_user=LimitConfig(running=1)))
    world.submit(a_job().lasting(10).by("ada"))
    stopped, behind = world.submit_together(a_job(nodes=3).by("ada"), a_job(nodes=2).by("bob"))
    assert world.plan(stopped) is None
    assert world.start(behind) == 0


def test_resources_held_are_limited_by_type() -> None:
    world = World(machine(8), QueueConfig(per_user=LimitConfig(resources={"node": 4})))
    jobs = world.submit_together(
        a_job(nodes=3).by("ada"), a_job(nodes=2).by("ada"), a_job(nodes=1).by("ada")
    )
    assert world.starts(*jobs) == [0, None, 0]
    assert world.why(jobs[1]) == ("limit: user ada may hold 4 node at a time, and this job needs 2")
    world.go_to(10)
    assert world.start(jobs[1]) == 10


def test_gangs_count_by_what_they_hold() -> None:
    world = World(
        pools(4, cpu=8, gpu=2), QueueConfig(per_namespace=LimitConfig(resources={"gpu": 3}))
    )
    jobs = world.submit_together(
        a_gang(pods(2, cpu=4, gpu=1), pods(1, cpu=1)),
        a_gang(pods(2, cpu=1, gpu=1)),
        a_gang(pods(1, cpu=1, gpu=1)),
        a_gang(pods(3, cpu=2)),
    )
    assert world.starts(*jobs) == [0, None, 0, 0]


def test_a_job_too_many_to_wait_is_rejected() -> None:
    world = World(machine(1), QueueConfig(per_user=LimitConfig(pending=1)))
    world.submit(a_job().by("ada"))
    waiting, late, other = (
        world.submit(job) for job in (a_job().by("ada"), a_job().by("ada"), a_job().by("bob"))
    )
    assert world.states(waiting, late, other) == [
        JobState.PENDING,
        JobState.REJECTED,
        JobState.PENDING,
    ]
    assert (
        reason_text(world.job(late).reason)
        == "user ada may have 1 waiting jobs in default, and has them"
    )


def test_held_and_gathering_jobs_count_as_waiting() -> None:
    world = World(machine(1), QueueConfig(per_user=LimitConfig(pending=2)))
    world.submit_together(a_job().held(), a_job().gathering())
    assert world.state(world.submit(a_job())) is JobState.REJECTED


def test_a_job_that_no_longer_waits_makes_place_for_another() -> None:
    world = World(machine(1), QueueConfig(per_user=LimitConfig(pending=1)))
    world.submit(a_job())
    waiting = world.submit(a_job())
    world.tell(Cancel(waiting))
    assert world.state(world.submit(a_job())) is JobState.PENDING


def test_a_job_cannot_be_moved_into_a_queue_in_which_it_would_be_one_too_many() -> None:
    world = World(machine(1), QueueConfig(), QueueConfig("small", per_user=LimitConfig(pending=0)))
    world.submit(a_job())
    job = world.submit(a_job())
    with pytest.raises(QueueRefused, match="may have 0 waiting jobs in small"):
        world.tell(Alter(job, queue="small"))


def test_backfill_cannot_use_up_the_limit_that_a_promised_job_needs() -> None:
    world = World(machine(4), QueueConfig(per_user=LimitConfig(running=1)))
    world.submit(a_job(nodes=3).lasting(10).by("bob"))
    head = world.submit(a_job(nodes=3).by("ada"))
    small, other = world.submit_together(a_job().lasting(50).by("ada"), a_job().by("eve"))
    assert world.plan(head) == 10
    assert world.starts(small, other) == [None, 0]
    world.go_to(10)
    assert world.start(head) == 10


def test_backfill_cannot_use_up_the_nodes_that_a_promised_job_may_have() -> None:
    world = World(machine(4), QueueConfig(per_user=LimitConfig(resources={"node": 3})))
    world.submit(a_job(nodes=3).lasting(10).by("bob"))
    head = world.submit(a_job(nodes=3).by("ada"))
    small = world.submit(a_job().lasting(50).by("ada"))
    world.go_to(10)
    assert world.starts(head, small) == [10, None]


def test_a_cancelled_promise_gives_its_part_of_the_limit_back() -> None:
    world = World(machine(4), QueueConfig(per_user=LimitConfig(running=1)))
    world.submit(a_job(nodes=3).lasting(10).by("bob"))
    head = world.submit(a_job(nodes=3).by("ada"))
    small, also = world.submit_together(a_job().by("ada"), a_job().by("ada"))
    world.tell(Cancel(head))
    assert world.starts(small, also) == [0, None]


def test_a_job_counts_until_it_is_gone_from_its_nodes() -> None:
    world = World(machine(2), QueueConfig(per_user=LimitConfig(running=1)))
    first, second = world.submit_together(a_job(), a_job())
    world.tell(Cancel(first))
    assert world.start(second) is None
    world.go_to(3)
    world.end(first)
    assert world.start(second) == 3


def test_a_shrinking_group_gives_its_part_of_the_limit_back() -> None:
    world = World(machine(4), QueueConfig(per_user=LimitConfig(resources={"node": 3})))
    group = world.submit(a_job(nodes=3).lasting(100))
    next_ = world.submit(a_job())
    assert world.start(next_) is None
    world.tell(TaskEnded(group, 0))
    assert world.start(next_) == 0


def test_an_elastic_group_starts_no_larger_than_its_limit() -> None:
    world = World(machine(8), QueueConfig(per_user=LimitConfig(resources={"node": 5})))
    group = world.submit(a_job().between(2, 8))
    assert len(world.nodes(group)) == 5


def test_an_elastic_gang_starts_no_larger_than_its_limit() -> None:
    world = World(pools(4, cpu=8), QueueConfig(per_user=LimitConfig(resources={"cpu": 10})))
    group = world.submit(a_gang(pods(1, cpu=3)).between(1, 8))
    assert world.holds(group) == {"cpu": 9}


def test_an_elastic_group_grows_no_larger_than_its_limit() -> None:
    world = World(machine(8), QueueConfig(per_user=LimitConfig(resources={"node": 5})))
    world.submit(a_job(nodes=5).by("bob").lasting(10))
    group = world.submit(a_job().between(2, 8).lasting(100))
    assert len(world.nodes(group)) == 3
    world.go_to(10)
    world.tell(Grow(group))
    assert len(world.nodes(group)) == 5
