"""Jobs without a walltime never end for the planner: what that means for those behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fluxnetes.queue.config import BackfillPolicy, LimitConfig, QueueConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Alter, Cancel, SetQueue, Submit
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def crowded(*queues: QueueConfig) -> tuple[World, int, int, int]:
    """Four nodes: an endless job on one, a job until 100 on another, and a head that needs all."""
    world = World(machine(4), *queues)
    endless, busy = world.submit_together(a_job().endless(), a_job().lasting(100))
    head = world.submit(a_job(nodes=4))
    return world, endless, busy, head


def test_a_job_behind_an_endless_one_is_promised_nothing_and_the_reason_says_so() -> None:
    world, _, _, head = crowded()
    assert world.plan(head) is None
    assert "no start is known" in world.why(head)
    assert "without a walltime" in world.why(head)
    assert world.explain(head).until is None


def test_every_job_behind_an_endless_one_has_the_reason_not_only_the_head() -> None:
    world, _, _, head = crowded(CONSERVATIVE)
    second = world.submit(a_job(nodes=4))
    assert world.plans(head, second) == [None, None]
    assert "no start is known" in world.why(second)


def test_short_jobs_backfill_before_the_head_could_start() -> None:
    world, _, _, _ = crowded()
    short = world.submit(a_job(nodes=2).lasting(100))
    assert world.start(short) == 0


def test_nothing_long_backfills_where_it_would_block_the_head() -> None:
    world, endless, _, head = crowded()
    long = world.submit(a_job(nodes=2).lasting(101))
    also_endless = world.submit(a_job(nodes=1).endless())
    world.go_to(100)
    assert world.starts(long, also_endless) == [None, None]
    world.end(endless)
    assert world.start(head) == 100


def test_what_the_head_does_not_need_can_be_had_for_long() -> None:
    world = World(machine(4))
    endless = world.submit(a_job(nodes=2).endless())
    head = world.submit(a_job(nodes=3))
    long, too_long = world.submit_together(a_job().lasting(1000), a_job().lasting(1000))
    assert world.starts(head, long, too_long) == [None, 0, None]
    world.end(endless)
    assert world.start(head) == 0


def test_the_head_starts_as_soon_as_the_endless_job_has_ended() -> None:
    world, endless, busy, head = crowded()
    world.go_to(30)
    world.end(busy)
    world.go_to(70)
    world.end(endless)
    assert world.start(head) == 70


def test_the_room_kept_for_the_head_moves_earlier_when_others_leave_early() -> None:
    world, _, busy, _ = crowded()
    world.go_to(30)
    world.end(busy)
    short = world.submit(a_job().lasting(5))
    assert world.start(short) is None, "nothing but the endless job is in the head's way now"


def test_a_job_that_needs_nothing_of_an_endless_one_is_promised_a_start() -> None:
    world = World(machine(4))
    world.submit_together(a_job().endless(), a_job(nodes=3).lasting(100))
    head = world.submit(a_job(nodes=3))
    assert world.plan(head) == 100


def test_an_endless_job_can_itself_be_promised_a_start() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(100))
    head = world.submit(a_job(nodes=2).endless())
    assert world.plan(head) == 100
    world.go_to(100)
    assert world.start(head) == 100


def test_an_endless_job_is_in_no_jobs_way_when_it_backfills() -> None:
    world = World(machine(3))
    world.submit(a_job(nodes=2).lasting(10))
    head, endless = world.submit_together(a_job(nodes=3), a_job().endless())
    world.go_to(10)
    assert world.starts(head, endless) == [10, None]
    world.go_to(20)
    assert world.start(endless) == 20


def test_the_room_is_kept_for_a_new_head_that_is_ordered_before_the_old_one() -> None:
    world, endless, _, old = crowded()
    new = world.submit(a_job(nodes=4).of_class(1))
    assert "capacity is kept for it" in world.why(new)
    assert "capacity is kept for it" not in world.why(old)
    world.go_to(100)
    world.end(endless)
    assert world.starts(new, old) == [100, None]


def test_the_head_of_every_queue_is_kept_room() -> None:
    world = World(machine(4), QueueConfig("batch"), QueueConfig("express", priority=1))
    endless = world.submit(a_job(nodes=3).endless().to("batch"))
    batch, express = world.submit_together(a_job(nodes=2).to("batch"), a_job(nodes=2).to("express"))
    assert "capacity is kept for it" in world.why(express)
    assert "capacity is kept for it" in world.why(batch)
    long = world.submit(a_job().lasting(1000).to("batch"))
    world.end(endless)
    assert world.starts(express, batch, long) == [0, 0, None]


def test_a_head_behind_another_queues_claim_has_no_known_start() -> None:
    world = World(machine(4), QueueConfig("batch"), QueueConfig("express", priority=1))
    endless = world.submit(a_job(nodes=3).endless().to("batch"))
    batch, express = world.submit_together(
        a_job(nodes=2).to("batch"), a_job(nodes=4).lasting(20).to("express")
    )
    assert "no start is known" in world.why(batch)
    world.end(endless)
    assert world.start(express) == 0
    assert world.plan(batch) == 20


def test_a_job_that_a_limit_stops_is_kept_no_room() -> None:
    world = World(machine(4), QueueConfig(per_user=LimitConfig(running=1)))
    world.submit(a_job(nodes=2).endless().by("bob"))
    head = world.submit(a_job(nodes=3).by("ada"))
    small = world.submit(a_job().lasting(1000).by("ada"))
    assert world.starts(head, small) == [None, 0]
    assert "limit" in world.why(head)
    other = world.submit(a_job().lasting(1000).by("eve"))
    assert world.start(other) == 0


def test_a_running_job_is_not_given_more_time_in_the_room_that_is_kept() -> None:
    world, endless, busy, head = crowded()
    world.queue.cycle(0)  # claims are not written down, but made again by the first decision
    with pytest.raises(QueueRefused, match="cannot have more time: it would delay promised jobs"):
        world.queue.apply(Alter(busy, walltime=101), 0)
    world.go_to(100)
    world.end(endless)
    assert world.start(head) == 100


def test_an_endless_job_that_is_stopped_in_a_queue_keeps_no_room() -> None:
    world, _, _, head = crowded()
    world.tell(SetQueue("default", stopped=True))
    assert world.why(head) == "queue default is stopped"
    world.tell(SetQueue("default"))
    assert "capacity is kept for it" in world.why(head)


def test_when_the_head_is_cancelled_nothing_is_kept_for_it_any_more() -> None:
    world, _, _, head = crowded()
    long = world.submit(a_job(nodes=2).lasting(1000))
    world.tell(Cancel(head))
    assert world.start(long) == 0


def test_gangs_behind_an_endless_gang_are_kept_room_too() -> None:
    world = World(pools(2, cpu=8, gpu=1))
    endless = world.submit(a_gang(pods(1, cpu=8, gpu=1)).endless())
    head = world.submit(a_gang(pods(2, cpu=5), pods(1, gpu=1)))
    assert "no start is known" in world.why(head)
    long = world.submit(a_gang(pods(1, cpu=4)).lasting(1000))
    beside = world.submit(a_gang(pods(1, cpu=3)).lasting(1000))
    assert world.starts(long, beside) == [None, 0]
    world.end(endless)
    assert world.start(head) == 0


def test_short_gangs_backfill_before_the_head_could_start() -> None:
    world = World(pools(2, cpu=8))
    world.submit(a_gang(pods(1, cpu=8)).endless())
    world.submit(a_gang(pods(2, cpu=2), pods(1, cpu=1)).lasting(100))
    world.submit(a_gang(pods(2, cpu=8)))
    short, long = world.submit_together(
        a_gang(pods(1, cpu=3)).lasting(100), a_gang(pods(1, cpu=3)).lasting(101)
    )
    assert world.starts(short, long) == [0, None]


def test_a_queue_with_a_default_walltime_has_no_endless_jobs() -> None:
    world = World(machine(2), QueueConfig(default_walltime=60))
    world.submit(a_job(nodes=2).endless())
    head = world.submit(a_job())
    assert world.plan(head) == 60


def test_an_endless_job_says_that_its_walltime_has_no_end() -> None:
    world = World(machine(2))
    job = world.submit(a_job().endless())
    assert world.why(job) == "its walltime has no end"
    world.go_to(10**9)
    assert world.state(job) is JobState.RUNNING


def test_a_claim_does_not_become_a_promise_before_jobs_that_are_ordered_before_it() -> None:
    """Only the first of them once started before it."""
    world = World(machine(4))
    endless = world.submit(a_job(4).endless())
    low = world.submit(a_job().with_priority(-1))
    for id in range(3, 7):
        world.queue.apply(Submit(replace(a_job().spec, id=id)), world.now)
    world.end(endless)
    assert world.starts(*range(3, 7)) == [0] * 4
    assert world.start(low) is None
