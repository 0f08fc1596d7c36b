"""Several queues on one graph: priority, heads of their own, nodes of their own, stop and drain."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.errors import UnknownQueue
from fluxnetes.queue.events import SetQueue
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import (
    a_gang,
    a_job,
    hosts,
    machine,
    pods,
    pools,
    with_property,
)
from tests.unit.queue.world import World

BATCH = QueueConfig("batch")
EXPRESS = QueueConfig("express", priority=10)


# -- priority --------------------------------------------------------------------------------------


def test_queues_of_higher_priority_are_served_first() -> None:
    world = World(machine(1), BATCH, EXPRESS)
    first, second = world.submit_together(a_job().to("batch"), a_job().to("express"))
    world.go_to(10)
    assert world.starts(second, first) == [0, 10]


def test_each_queue_has_its_own_head_with_its_own_promise() -> None:
    world = World(machine(4), BATCH, EXPRESS)
    world.submit(a_job(nodes=3).lasting(10).to("batch"))
    a, b = a_job(nodes=4).lasting(5).to("express"), a_job(nodes=4).lasting(5).to("batch")
    express, batch = world.submit_together(a, b)
    assert world.plans(express, batch) == [10, 15]


def test_no_queue_backfills_in_the_way_of_another_queues_promise() -> None:
    world = World(machine(4), BATCH, EXPRESS)
    world.submit(a_job(nodes=3).lasting(10).to("batch"))
    head = world.submit(a_job(nodes=4).to("express"))
    long, short = world.submit_together(
        a_job().lasting(11).to("batch"), a_job().lasting(10).to("batch")
    )
    assert world.starts(long, short) == [None, 0]
    world.go_to(10)
    assert world.start(head) == 10


def test_queues_of_equal_priority_take_nothing_from_each_others_promises() -> None:
    world = World(machine(2), QueueConfig("a"), QueueConfig("b"))
    world.submit(a_job(nodes=2).lasting(10).to("a"))
    b = world.submit(a_job(nodes=2).lasting(10).to("b"))
    a = world.submit(a_job(nodes=2).lasting(10).to("a"))
    assert world.plans(b, a) == [10, 20]


def test_a_job_of_a_higher_queue_may_take_a_promise_of_a_lower_one_with_a_reason() -> None:
    world = World(machine(2), BATCH, EXPRESS)
    world.submit(a_job(nodes=2).lasting(10).to("batch"))
    batch = world.submit(a_job(nodes=2).lasting(10).to("batch"))
    assert world.plan(batch) == 10
    express = world.submit(a_job(nodes=2).lasting(10).to("express"))
    assert world.plans(express, batch) == [10, 20]
    assert f"job {express} is ordered before it" in world.why(batch)


def test_a_job_of_a_lower_queue_never_moves_a_promise_of_a_higher_one() -> None:
    world = World(machine(2), BATCH, EXPRESS)
    world.submit(a_job(nodes=2).lasting(10).to("batch"))
    express = world.submit(a_job(nodes=2).lasting(10).to("express"))
    batch = world.submit(a_job(nodes=1).lasting(50).of_class(9).to("batch"))
    assert world.plans(express, batch) == [10, 20]


def test_each_queue_has_its_own_policy() -> None:
    fcfs = QueueConfig("fcfs", policy=BackfillPolicy.FCFS)
    easy = QueueConfig("easy", policy=BackfillPolicy.EASY)
    world = World(machine(4), fcfs, easy)
    world.submit(a_job(nodes=2).lasting(10).to("easy"))
    world.submit_together(a_job(nodes=4).to("fcfs"), a_job(nodes=4).to("easy"))
    behind_fcfs, behind_easy = world.submit_together(a_job().to("fcfs"), a_job().to("easy"))
    assert world.starts(behind_fcfs, behind_easy) == [None, 0]


@pytest.mark.parametrize(("k", "promised"), [(1, 1), (2, 2), (5, 3)])
def test_hybrid_promises_the_first_k_that_wait(k: int, promised: int) -> None:
    world = World(machine(2), QueueConfig(policy=BackfillPolicy.HYBRID, reservations=k))
    world.submit(a_job(nodes=2).lasting(10))
    jobs = world.submit_together(*[a_job(nodes=2)] * 3)
    assert world.plans(*jobs) == [10, 20, 30][:promised] + [None] * (3 - promised)


def test_only_as_many_jobs_are_looked_at_as_the_depth_says() -> None:
    world = World(machine(3), QueueConfig(depth=2))
    world.submit(a_job(nodes=2).lasting(10))
    world.submit_together(a_job(nodes=3), a_job(nodes=2))
    fits = world.submit(a_job())
    assert world.start(fits) is None
    deep = World(machine(3), QueueConfig(depth=3))
    deep.submit(a_job(nodes=2).lasting(10))
    deep.submit_together(a_job(nodes=3), a_job(nodes=2))
    assert deep.start(deep.submit(a_job())) == 0


def test_a_job_for_a_queue_that_does_not_exist_is_rejected_with_the_names_that_exist() -> None:
    world = World(machine(1), BATCH, EXPRESS)
    job = world.submit(a_job().to("gpu"))
    assert world.state(job) is JobState.REJECTED
    assert reason_text(world.job(job).reason) == "there is no queue gpu; there is batch, express"


# -- nodes of their own ----------------------------------------------------------------------------


def partitions(*, shared: bool = False) -> World:
    """Two queues on five nodes: one on the first two, one on the others (or on all)."""
    big = None if shared else hosts(2, 3, 4)
    return World(
        machine(5, named={"debug": 2}),
        QueueConfig("debug", constraint=with_property("debug")),
        QueueConfig("big", constraint=big),
    )


def test_jobs_of_a_queue_run_on_its_nodes_alone() -> None:
    world = partitions()
    debug, big = world.submit_together(a_job(nodes=2).to("debug"), a_job(nodes=3).to("big"))
    assert world.nodes(debug) == ["node0", "node1"]
    assert world.nodes(big) == ["node2", "node3", "node4"]


def test_a_queue_whose_nodes_are_busy_does_not_block_another() -> None:
    world = partitions()
    world.submit(a_job(nodes=2).lasting(100).to("debug"))
    waiting, big = world.submit_together(a_job(nodes=2).to("debug"), a_job(nodes=3).to("big"))
    assert world.plan(waiting) == 100
    assert world.start(big) == 0


def test_a_job_larger_than_the_nodes_of_its_queue_is_set_aside() -> None:
    world = partitions()
    assert world.is_set_aside(world.submit(a_job(nodes=3).to("debug")))


def test_queues_that_share_nodes_keep_each_others_promises() -> None:
    world = partitions(shared=True)
    world.submit(a_job(nodes=2).lasting(10).to("debug"))
    head = world.submit(a_job(nodes=2).to("debug"))
    long, too_large = world.submit_together(
        a_job(nodes=3).lasting(100).to("big"), a_job(nodes=1).lasting(11).to("big")
    )
    assert world.start(long) == 0
    world.go_to(10)
    assert world.starts(head, too_large) == [10, None]


def test_a_job_may_narrow_down_the_nodes_of_its_queue() -> None:
    world = partitions()
    job = world.submit(a_job(on=hosts(4)).to("big"))
    assert world.nodes(job) == ["node4"]


def test_gangs_run_on_the_nodes_of_their_queue() -> None:
    low = QueueConfig("low", constraint=hosts(0, 1))
    high = QueueConfig("high", constraint=hosts(1, 2))
    world = World(pools(3, cpu=8, gpu=1), low, high)
    first = world.submit(a_gang(pods(2, cpu=5), pods(1, gpu=1)).to("low").lasting(20))
    second = world.submit(a_gang(pods(2, cpu=5)).to("high"))
    third = world.submit(a_gang(pods(1, cpu=5)).to("high"))
    assert world.nodes(first) == ["node0", "node1"]
    assert world.plan(second) == 20
    assert world.nodes(third) == ["node2"]


# -- stop and drain --------------------------------------------------------------------------------


def test_nothing_of_a_stopped_queue_starts_and_what_runs_goes_on() -> None:
    world = World(machine(2), BATCH, EXPRESS)
    runs = world.submit(a_job().lasting(50).to("batch"))
    world.tell(SetQueue("batch", stopped=True))
    stopped, other = world.submit_together(a_job().to("batch"), a_job().to("express"))
    world.go_to(40)
    assert world.states(runs, stopped) == [JobState.RUNNING, JobState.PENDING]
    assert world.start(other) == 0
    assert world.why(stopped) == "queue batch is stopped"


def test_a_stopped_queue_loses_its_promises_with_a_reason() -> None:
    world = World(machine(2), BATCH, EXPRESS)
    world.submit(a_job(nodes=1).lasting(10).to("batch"))
    head = world.submit(a_job(nodes=2).to("batch"))
    assert world.plan(head) == 10
    world.tell(SetQueue("batch", stopped=True))
    assert world.plan(head) is None
    assert "queue batch is stopped" in [reason_text(event.reason) for event in world.story(head)]
    long = world.submit(a_job().lasting(100).to("express"))
    assert world.start(long) == 0


def test_a_queue_that_is_opened_again_goes_on_at_once() -> None:
    world = World(machine(2), BATCH)
    world.tell(SetQueue("batch", stopped=True))
    job = world.submit(a_job().to("batch"))
    world.go_to(30)
    world.tell(SetQueue("batch"))
    assert world.start(job) == 30


def test_a_drained_queue_takes_in_nothing_more_but_finishes_what_it_has() -> None:
    world = World(machine(1), BATCH)
    world.submit(a_job().lasting(10).to("batch"))
    waiting = world.submit(a_job().to("batch"))
    world.tell(SetQueue("batch", drained=True))
    late = world.submit(a_job().to("batch"))
    assert world.state(late) is JobState.REJECTED
    assert reason_text(world.job(late).reason) == "queue batch is drained: it takes in no more jobs"
    world.go_to(10)
    assert world.start(waiting) == 10


def test_a_queue_that_does_not_exist_cannot_be_stopped() -> None:
    world = World(machine(1))
    with pytest.raises(UnknownQueue, match="there is no queue nowhere"):
        world.tell(SetQueue("nowhere", stopped=True))
