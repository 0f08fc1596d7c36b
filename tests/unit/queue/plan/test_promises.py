"""Promises: kept, moved later only for a reason, moved earlier at once."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.build import core, jobspec, node, slot
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import (
    Alter,
    Cancel,
    Ended,
    Maintain,
    NodesBack,
    NodesLost,
    RemoveWindow,
)
from tests.unit.queue.build import a_gang, a_job, asking_for, hosts, machine, pods, pools
from tests.unit.queue.world import World

EASY = QueueConfig()
CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def gangs(*queues: QueueConfig) -> World:
    """Two nodes of 8 cpu and one gpu each; gangs on them are planned by rows."""
    return World(pools(2, cpu=8, gpu=1), *queues)


# -- kept ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("queue", [EASY, CONSERVATIVE], ids=["easy", "conservative"])
def test_jobs_that_come_behind_never_move_a_promise(queue: QueueConfig) -> None:
    world = World(machine(4), queue)
    world.submit(a_job(nodes=3).lasting(10))
    head = world.submit(a_job(nodes=4).lasting(10))
    for size, walltime in [(1, 100), (1, 10), (2, 5), (4, 1), (1, 11)]:
        world.submit(a_job(nodes=size).lasting(walltime))
        assert world.promised(head) == [10]
    world.go_to(10)
    assert world.start(head) == 10


def test_backfill_fills_what_a_promise_leaves() -> None:
    world = World(machine(4))
    world.submit(a_job(nodes=3).lasting(10))
    head = world.submit(a_job(nodes=3).lasting(10))
    beside = world.submit(a_job().lasting(1000))
    assert world.plan(head) == 10
    assert world.start(beside) == 0, "the head leaves one node free for any length of time"
    assert world.job(beside).backfilled
    world.go_to(10)
    assert world.start(head) == 10


def test_easy_promises_the_head_alone_and_conservative_all_jobs() -> None:
    for queue, plans in [(EASY, [10, None, None]), (CONSERVATIVE, [10, 20, 30])]:
        world = World(machine(2), queue)
        world.submit(a_job(nodes=2).lasting(10))
        jobs = world.submit_together(*[a_job(nodes=2).lasting(10)] * 3)
        assert world.plans(*jobs) == plans


def test_under_fcfs_no_job_passes_the_head() -> None:
    world = World(machine(2), QueueConfig(policy=BackfillPolicy.FCFS))
    world.submit(a_job().lasting(10))
    head, behind = world.submit_together(a_job(nodes=2), a_job().lasting(1))
    assert world.starts(head, behind) == [None, None]
    world.go_to(20)
    assert world.starts(head, behind) == [10, 20]


def test_a_promised_gang_is_in_no_gangs_way_that_fits_beside_it() -> None:
    world = gangs()
    world.submit(a_gang(pods(2, cpu=6), pods(1, gpu=1)).lasting(10))
    head = world.submit(a_gang(pods(2, cpu=6), pods(2, gpu=1)).lasting(10))
    beside, blocking = world.submit_together(
        a_gang(pods(2, cpu=2)).lasting(1000), a_gang(pods(1, gpu=1)).lasting(11)
    )
    assert world.plan(head) == 10
    assert world.starts(beside, blocking) == [0, None]
    world.go_to(10)
    assert world.start(head) == 10


def test_a_promise_is_of_a_time_not_of_nodes() -> None:
    world = gangs(CONSERVATIVE)
    first, _ = world.submit_together(
        a_gang(pods(1, cpu=8)).lasting(10), a_gang(pods(1, cpu=8)).lasting(20)
    )
    head = world.submit(a_gang(pods(1, cpu=5), pods(1, cpu=3)).lasting(50))
    assert world.plan(head) == 10
    world.go_to(5)
    world.end(first)
    assert world.start(head) == 5


def test_a_whole_node_is_not_taken_from_under_a_promised_job_of_cores() -> None:
    world = World(machine(2, cores_each=2))
    two_cores, three_cores = jobspec(slot(2, core(1))), jobspec(slot(3, core(1)))
    world.submit(asking_for(two_cores).lasting(100))
    head = world.submit(asking_for(three_cores).lasting(10))
    assert world.plan(head) == 100
    whole = world.submit(asking_for(jobspec(slot(1, node(1)))).lasting(200))
    assert world.start(whole) is None
    world.go_to(100)
    assert world.start(head) == 100


def test_cores_are_not_taken_from_under_a_promised_job_of_whole_nodes() -> None:
    world = World(machine(2, cores_each=2))
    world.submit(a_job(nodes=1).lasting(100))
    head = world.submit(a_job(nodes=2).lasting(10))
    long, short = world.submit_together(
        asking_for(jobspec(slot(1, core(1)))).lasting(101),
        asking_for(jobspec(slot(1, core(1)))).lasting(100),
    )
    assert world.starts(long, short) == [None, 0]
    world.go_to(100)
    assert world.start(head) == 100


# -- later, for a reason ---------------------------------------------------------------------------


def reasons(world: World, job: int) -> list[str]:
    """The reasons for which a job's start moved later."""
    return [
        reason_text(event.reason)
        for event in world.story(job)
        if event.kind == "planned" and reason_text(event.reason)
    ]


def test_a_job_ordered_before_moves_a_promise_later_and_is_named() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=2).lasting(10))
    urgent = world.submit(a_job(nodes=2).lasting(30).of_class(1))
    assert world.plans(urgent, head) == [10, 40]
    assert reasons(world, head) == [f"job {urgent} is ordered before it"]
    assert f"moved later because job {urgent} is ordered before it" in world.why(head)


def test_a_job_ordered_before_moves_only_those_whose_room_it_needs() -> None:
    world = World(machine(3), CONSERVATIVE)
    world.submit_together(a_job(nodes=2).lasting(10), a_job(nodes=1).lasting(20))
    first, second = world.submit_together(a_job(nodes=2).lasting(10), a_job(nodes=1).lasting(10))
    assert world.plans(first, second) == [10, 20]
    urgent = world.submit(a_job(nodes=1).lasting(5).of_class(1))
    assert world.plan(urgent) == 10
    assert world.plans(first, second)[1] == 20


def test_a_gang_ordered_before_moves_promised_gangs_with_the_reason() -> None:
    world = gangs()
    world.submit(a_gang(pods(2, cpu=8)).lasting(10))
    head = world.submit(a_gang(pods(2, cpu=5), pods(1, gpu=1)).lasting(10))
    urgent = world.submit(a_gang(pods(2, cpu=4)).lasting(30).of_class(1))
    assert world.plans(urgent, head) == [10, 40]
    assert reasons(world, head) == [f"job {urgent} is ordered before it"]


def test_lost_nodes_move_a_promise_later_and_are_named() -> None:
    world = World(machine(3))
    world.submit_together(
        a_job(on=hosts(0)).lasting(10), a_job(nodes=2, on=hosts(1, 2)).lasting(50)
    )
    head = world.submit(a_job(nodes=1, on=hosts(0, 1)))
    assert world.plan(head) == 10
    world.tell(NodesLost(("node0",)))
    assert world.plan(head) == 50
    assert reasons(world, head) == ["nodes were lost: node0"]


def test_a_promise_that_lost_nodes_make_impossible_is_taken_back_with_the_reason() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=1).lasting(10))
    head = world.submit(a_job(nodes=2))
    world.tell(NodesLost(("node1",)))
    assert world.plan(head) is None
    assert reason_text(world.story(head)[-1].reason) == "nodes were lost: node1"
    world.tell(NodesBack(("node1",)))
    assert world.plan(head) == 10


def test_a_maintenance_window_moves_a_promise_later_and_is_named() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=2).lasting(20))
    world.tell(Maintain("cooling", 25, 40, hosts(1)))
    assert world.plan(head) == 40
    assert reasons(world, head) == ["maintenance window cooling"]
    world.go_to(40)
    assert world.start(head) == 40


def test_an_overrun_moves_a_promise_later_and_is_named() -> None:
    world = World(machine(2), QueueConfig(grace=7))
    late = world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=2))
    world.stays(late)
    world.go_to(10)
    assert world.plan(head) == 17
    assert reasons(world, head) == [f"job {late} overran its walltime"]


def test_a_queue_that_is_late_itself_keeps_promises_as_soon_as_it_can() -> None:
    world = World(machine(2))
    first = world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=2))
    world.queue.apply(Ended(first), 25)
    world.queue.cycle(25)
    assert world.queue.job(head).start == 25


# -- earlier, at once ------------------------------------------------------------------------------


@pytest.mark.parametrize("queue", [EASY, CONSERVATIVE], ids=["easy", "conservative"])
def test_an_early_end_moves_promises_earlier_at_once(queue: QueueConfig) -> None:
    world = World(machine(3), queue)
    short, _ = world.submit_together(a_job(nodes=2).lasting(100), a_job(nodes=1).lasting(30))
    head = world.submit(a_job(nodes=3))
    assert world.plan(head) == 100
    world.go_to(5)
    world.end(short)
    assert world.plan(head) == 30


def test_an_early_end_moves_all_jobs_earlier_under_conservative() -> None:
    world = World(machine(2), CONSERVATIVE)
    first = world.submit(a_job(nodes=2).lasting(100))
    jobs = world.submit_together(*[a_job(nodes=2).lasting(10)] * 3)
    world.go_to(40)
    world.end(first)
    assert world.starts(*jobs) == [40, None, None]
    assert world.plans(*jobs[1:]) == [50, 60]


def test_a_cancelled_promise_lets_others_move_earlier() -> None:
    world = World(machine(2), CONSERVATIVE)
    world.submit(a_job(nodes=2).lasting(10))
    first, second = world.submit_together(a_job(nodes=2).lasting(50), a_job(nodes=2))
    assert world.plans(first, second) == [10, 60]
    world.tell(Cancel(first))
    assert world.plan(second) == 10


def test_a_cancelled_job_is_expected_to_leave_within_its_grace_time() -> None:
    world = World(machine(2), QueueConfig(grace=15))
    running = world.submit(a_job(nodes=2).lasting(1000))
    head = world.submit(a_job(nodes=2))
    world.tell(Cancel(running))
    assert world.plan(head) == 15


def test_nodes_that_come_back_move_promises_earlier() -> None:
    world = World(machine(2))
    world.tell(NodesLost(("node1",)))
    world.submit(a_job().lasting(100))
    head = world.submit(a_job())
    assert world.plan(head) == 100
    world.go_to(20)
    world.tell(NodesBack(("node1",)))
    assert world.start(head) == 20


def test_a_window_that_is_called_off_moves_promises_earlier() -> None:
    world = World(machine(1))
    world.tell(Maintain("cooling", 5, 500, hosts(0)))
    head = world.submit(a_job().lasting(10))
    assert world.plan(head) == 500
    world.tell(RemoveWindow("cooling"))
    assert world.start(head) == 0


def test_a_shorter_walltime_of_a_running_job_moves_promises_earlier() -> None:
    world = World(machine(1), CONSERVATIVE)
    running = world.submit(a_job().lasting(100))
    jobs = world.submit_together(a_job().lasting(10), a_job().lasting(10))
    world.tell(Alter(running, walltime=30))
    assert world.plans(*jobs) == [30, 40]


def test_promised_gangs_move_earlier_too() -> None:
    world = gangs(CONSERVATIVE)
    first = world.submit(a_gang(pods(2, cpu=8), pods(1, gpu=1)).lasting(100))
    jobs = world.submit_together(
        a_gang(pods(2, cpu=6)).lasting(10), a_gang(pods(1, cpu=6), pods(1, gpu=1)).lasting(10)
    )
    assert world.plans(*jobs) == [100, 110]
    world.go_to(40)
    world.end(first)
    assert (world.start(jobs[0]), world.plan(jobs[1])) == (40, 50)


def test_moving_one_promise_earlier_takes_nothing_from_another() -> None:
    # Planning from scratch in queue order would start the third at 2, where the fourth is promised.
    world = World(machine(4), CONSERVATIVE)
    one, _, third = world.submit_together(
        a_job(nodes=1).lasting(3), a_job(nodes=2).lasting(2), a_job(nodes=4).lasting(1)
    )
    world.go_to(1)
    fourth = world.submit(a_job(nodes=2).lasting(1))
    assert world.plans(third, fourth) == [3, 2]
    world.stays(one)
    world.go_to(2)
    world.end(one)
    assert world.start(fourth) == 2
    world.go_to(3)
    assert world.start(third) == 3


# -- what is written -------------------------------------------------------------------------------


def test_a_plan_that_did_not_change_writes_nothing() -> None:
    world = World(machine(2), CONSERVATIVE)
    world.submit(a_job(nodes=2).lasting(100))
    head, second = world.submit_together(a_job(nodes=2), a_job(nodes=2))
    before = len(world.keeper.events)
    for time in (1, 20, 50, 99):
        world.go_to(time)
    assert len(world.keeper.events) == before
    assert (world.promised(head), world.promised(second)) == ([100], [110])


def test_a_job_that_comes_writes_no_plan_but_its_own() -> None:
    world = World(machine(2), CONSERVATIVE)
    world.submit(a_job(nodes=2).lasting(100))
    world.submit_together(a_job(nodes=2), a_job(nodes=1))
    before = len(world.keeper.events)
    new = world.submit(a_job(nodes=2))
    assert {event.job for event in world.keeper.events[before:]} == {new}
