"""An autoscaler may buy nodes for a job only if the job would start on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fluxnetes.common.reasons import ReasonCode
from fluxnetes.common.reasons.growth import MORE_NODES_HELP
from fluxnetes.queue.config import (
    BackfillPolicy,
    BudgetConfig,
    LimitConfig,
    QueueConfig,
    SchedulerConfig,
)
from fluxnetes.queue.events import Cancel, Hold, Release, SetQueue
from tests.unit.queue.build import JobToBe, a_gang, machine, pods, pools
from tests.unit.queue.world import Way, World

FULL = a_gang(pods(2, cpu=8)).lasting(100)
"""Both nodes of the usual world, whole."""
ONE_NODE = a_gang(pods(1, cpu=8)).lasting(50)
TOO_LARGE = a_gang(pods(1, cpu=9))
"""Larger than any node there is."""


def two_nodes(*queues: QueueConfig, config: SchedulerConfig | None = None) -> World:
    return World(pools(2, cpu=8), *queues, config=config)


def wanting(world: World, *jobs: int) -> list[bool]:
    return [world.explain(job).wants_nodes for job in jobs]


# -- what nodes would help against -----------------------------------------------------------------


def test_it_is_decided_for_every_code() -> None:
    assert set(MORE_NODES_HELP) == set(ReasonCode)
    helped = {code for code, is_helped in MORE_NODES_HELP.items() if is_helped}
    assert helped == {ReasonCode.RESOURCES, ReasonCode.UNSATISFIABLE}


@pytest.mark.parametrize("policy", BackfillPolicy)
def test_every_job_that_does_not_fit_wants_nodes_wherever_it_is_in_line(
    policy: BackfillPolicy,
) -> None:
    world = two_nodes(QueueConfig(policy=policy))
    world.submit(FULL)
    jobs = world.submit_together(ONE_NODE, FULL, ONE_NODE)
    assert wanting(world, *jobs) == [True, True, True]


def test_a_job_that_no_node_can_serve_wants_nodes() -> None:
    world = two_nodes()
    job = world.submit(TOO_LARGE)
    assert world.is_set_aside(job)
    assert wanting(world, job) == [True]


def test_jobs_that_run_or_have_ended_want_nothing() -> None:
    world = two_nodes()
    job = world.submit(FULL)
    assert wanting(world, job) == [False]
    world.go_to(100)
    assert wanting(world, job) == [False]


@pytest.mark.parametrize("policy", [p for p in BackfillPolicy if p is not BackfillPolicy.FCFS])
def test_a_job_that_fits_and_is_not_backfilled_wants_none(policy: BackfillPolicy) -> None:
    """It would delay the head, whose nodes it fits on; those are not lacking."""
    world = two_nodes(QueueConfig(policy=policy))
    world.submit(ONE_NODE)
    head, blocked = world.submit_together(FULL, ONE_NODE.lasting(500))
    code = world.explain(blocked).reason
    assert code is not None and code.code in (ReasonCode.PRIORITY, ReasonCode.PROMISED)
    assert wanting(world, head, blocked) == [True, False]


def test_a_job_whose_turn_has_not_come_wants_none() -> None:
    world = two_nodes(QueueConfig(policy=BackfillPolicy.FCFS))
    world.submit(ONE_NODE)
    head, behind = world.submit_together(FULL, ONE_NODE.lasting(10))
    assert wanting(world, head, behind) == [True, False]


def test_a_job_for_which_others_are_being_preempted_wants_none() -> None:
    # For whom jobs were preempted is not stored.
    world = World(pools(2, cpu=8), QueueConfig(preempts=True), way=Way.COUNTING)
    world.stays(world.submit(FULL.preemptible().endless()))
    urgent = world.submit(ONE_NODE.of_class(9))
    assert "preempted jobs" in world.why(urgent)
    assert wanting(world, urgent) == [False]


# -- what else is in the way -----------------------------------------------------------------------

WAITING = pytest.mark.parametrize("asked", [FULL, TOO_LARGE], ids=["busy", "unsatisfiable"])


@WAITING
def test_a_held_job_wants_nodes_once_it_is_released(asked: JobToBe) -> None:
    world = two_nodes()
    world.submit(FULL)
    job = world.submit(asked.held())
    assert wanting(world, job) == [False]
    world.tell(Release(job))
    assert wanting(world, job) == [True]
    world.tell(Hold(job))
    assert wanting(world, job) == [False]


@WAITING
def test_a_job_that_depends_on_another_wants_nodes_once_that_has_ended(asked: JobToBe) -> None:
    world = two_nodes()
    first = world.submit(FULL)
    job = world.submit(asked.afterok(first))
    assert wanting(world, job) == [False]
    world.submit(FULL.with_priority(9))
    world.end(first)
    assert wanting(world, job) == [True]


@WAITING
def test_a_job_with_a_begin_time_wants_nodes_once_that_has_come(asked: JobToBe) -> None:
    world = two_nodes()
    world.stays(world.submit(FULL.lasting(1000)))
    job = world.submit(asked.beginning(60))
    assert wanting(world, job) == [False]
    world.go_to(60)
    assert wanting(world, job) == [True]


@WAITING
def test_a_job_of_a_stopped_queue_wants_none(asked: JobToBe) -> None:
    world = two_nodes()
    world.submit(FULL)
    job = world.submit(asked)
    world.tell(SetQueue("default", stopped=True))
    assert wanting(world, job) == [False]


@WAITING
def test_a_job_whose_group_is_not_complete_wants_none(asked: JobToBe) -> None:
    world = two_nodes()
    assert wanting(world, world.submit(asked.gathering())) == [False]


@WAITING
def test_a_queue_that_may_not_grow_wants_none(asked: JobToBe) -> None:
    world = two_nodes(QueueConfig(), QueueConfig("thrifty", growth=False))
    world.submit(FULL)
    grows, not_ = world.submit_together(asked, asked.to("thrifty"))
    assert wanting(world, grows, not_) == [True, False]


# -- limits and budgets ----------------------------------------------------------------------------

TWO_RUNNING = LimitConfig(running=2)
SIXTEEN = LimitConfig(resources={"cpu": 16})


@pytest.mark.parametrize("empty", [False, True], ids=["busy", "scaled to zero"])
@pytest.mark.parametrize("cap", [TWO_RUNNING, SIXTEEN], ids=["jobs", "resources"])
def test_only_as_many_jobs_want_nodes_as_the_limit_lets_run(cap: LimitConfig, empty: bool) -> None:
    """None of them is at the limit while none runs."""
    world = World(pools(1, cpu=1), QueueConfig(per_user=cap))
    if not empty:
        world = two_nodes(QueueConfig(per_user=cap))
        world.submit(FULL.by("eve"))
    mine = world.submit_together(*[ONE_NODE.by("ada")] * 5)
    other = world.submit(ONE_NODE.by("bob"))
    assert wanting(world, *mine, other) == [True, True, False, False, False, True]


def test_jobs_that_run_count() -> None:
    world = two_nodes(QueueConfig(per_user=TWO_RUNNING))
    world.submit(FULL.by("ada"))
    jobs = world.submit_together(*[ONE_NODE.by("ada")] * 3)
    assert wanting(world, *jobs) == [True, False, False]


def test_the_first_in_order_want_nodes_whatever_came_first() -> None:
    world = World(pools(1, cpu=1), QueueConfig(per_user=TWO_RUNNING))
    low, high = ONE_NODE.by("ada"), ONE_NODE.by("ada").with_priority(5)
    jobs = world.submit_together(low, low, high, high)
    assert wanting(world, *jobs) == [False, False, True, True]


def test_a_job_that_cannot_use_the_limit_leaves_it_to_others() -> None:
    world = World(pools(1, cpu=1), QueueConfig(per_user=TWO_RUNNING))
    held, *others = world.submit_together(
        ONE_NODE.by("ada").with_priority(9).held(), *[ONE_NODE.by("ada")] * 2
    )
    assert wanting(world, held, *others) == [False, True, True]


def test_a_job_that_is_cancelled_makes_room_for_the_next_one_soon() -> None:
    world = World(pools(1, cpu=1), QueueConfig(per_user=TWO_RUNNING))
    jobs = world.submit_together(*[ONE_NODE.by("ada")] * 3)
    assert wanting(world, *jobs) == [True, True, False]
    world.tell(Cancel(jobs[0]))
    world.go_to(10)
    assert wanting(world, *jobs) == [False, True, True]


def test_counting_leaves_the_limits_as_they_are() -> None:
    world = two_nodes(QueueConfig(per_user=TWO_RUNNING))
    world.submit(FULL.by("eve"))
    jobs = world.submit_together(*[ONE_NODE.by("ada")] * 5)
    wanting(world, *jobs)
    world.go_to(100)
    assert world.starts(*jobs) == [100, 100, None, None, None]


@pytest.mark.parametrize("queue", [None, "default"], ids=["of all queues", "of one"])
def test_only_as_many_jobs_want_nodes_as_a_budget_pays_for(queue: str | None) -> None:
    hour = 3600
    budget = BudgetConfig("lab", 16.0, "cpu", namespace="lab", queue=queue)
    queues = (QueueConfig(), QueueConfig("late", priority=-1))
    world = World(pools(1, cpu=1), config=SchedulerConfig(queues=queues, budgets=(budget,)))
    mine = ONE_NODE.lasting(hour).by("ada", "lab")
    late, *jobs = world.submit_together(mine.to("late"), *[mine] * 3)
    assert wanting(world, *jobs) == [True, True, False]
    assert wanting(world, late) == [queue is not None]


def test_of_an_elastic_job_the_least_size_counts() -> None:
    world = World(pools(1, cpu=1), QueueConfig(per_user=SIXTEEN))
    elastic = replace(a_gang(pods(4, cpu=8)).between(1, 4).spec, user="ada")
    jobs = world.submit_together(JobToBe(elastic), *[ONE_NODE.by("ada")] * 2)
    assert wanting(world, *jobs) == [True, True, False]


def test_jobs_of_whole_nodes_are_counted_too() -> None:
    world = World(machine(1), QueueConfig(per_user=LimitConfig(running=1)))
    two = replace(a_gang(pods(1, core=2)).spec, user="ada")
    jobs = world.submit_together(JobToBe(two), JobToBe(two))
    assert wanting(world, *jobs) == [True, False]
