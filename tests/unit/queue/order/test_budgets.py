"""Budgets: so many resource-hours for a queue or a namespace, in each period."""

from __future__ import annotations

import pytest

from fluxnetes.queue.config import BackfillPolicy, BudgetConfig, QueueConfig, SchedulerConfig
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Alter, Cancel, Grow, TaskEnded
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World

HOUR = 3600
DAY = 24 * HOUR


def with_budget(
    hours: float,
    *queues: QueueConfig,
    type: str = "node",
    period: int = DAY,
    queue: str | None = None,
    namespace: str | None = None,
) -> World:
    budget = BudgetConfig("grant", hours, type, period, queue=queue, namespace=namespace)
    config = SchedulerConfig(queues=queues or (QueueConfig(),), budgets=(budget,))
    return World(machine(8), config=config)


def test_a_job_that_would_overrun_the_budget_waits_and_says_so() -> None:
    world = with_budget(10)
    first, second = world.submit_together(a_job(6).lasting(HOUR), a_job(2).lasting(3 * HOUR))
    assert world.starts(first, second) == [0, None]
    assert world.why(second) == "budget grant: needs 6.0 node-hours and 4.0 of 10.0 are left"


def test_a_job_above_the_whole_budget_is_refused() -> None:
    world = with_budget(10)
    job = world.submit(a_job(6).lasting(2 * HOUR))
    assert world.state(job) is JobState.REJECTED
    assert world.why(job) == "budget grant: needs 12.0 node-hours, more than all of it, 10.0"


def test_a_job_above_the_whole_budget_is_refused_though_nothing_can_serve_it_now() -> None:
    world = with_budget(10)
    assert world.state(world.submit(a_job(9).lasting(2 * HOUR))) is JobState.REJECTED


def test_a_job_is_not_altered_beyond_the_whole_budget() -> None:
    world = with_budget(10)
    job = world.submit(a_job(6).lasting(HOUR).held())
    with pytest.raises(QueueRefused, match=r"needs 12\.0 node-hours, more than all of it"):
        world.tell(Alter(job, walltime=2 * HOUR))
    assert world.job(job).walltime == HOUR


def test_what_fits_exactly_is_allowed() -> None:
    world = with_budget(10)
    jobs = world.submit_together(a_job(6).lasting(HOUR), a_job(1).lasting(4 * HOUR))
    assert world.starts(*jobs) == [0, 0]


def test_an_early_end_refunds_what_was_not_used() -> None:
    world = with_budget(10)
    first = world.submit(a_job(5).lasting(2 * HOUR))
    second = world.submit(a_job(5).lasting(HOUR))
    assert world.start(second) is None
    world.go_to(HOUR)
    world.end(first)
    assert world.start(second) == HOUR


def test_a_cancelled_job_is_refunded_when_it_is_gone() -> None:
    world = with_budget(10)
    first = world.submit(a_job(5).lasting(2 * HOUR))
    second = world.submit(a_job(5).lasting(2 * HOUR))
    world.tell(Cancel(first))
    assert world.start(second) is None
    world.end(first)
    assert world.start(second) == 0


def test_what_was_used_up_stays_used_up_until_the_next_period() -> None:
    world = with_budget(10)
    world.submit(a_job(5).lasting(2 * HOUR))
    next_ = world.submit(a_job(1).lasting(HOUR))
    world.go_to(DAY - 1)
    assert world.start(next_) is None
    world.go_to(DAY)
    assert world.start(next_) == DAY


def test_an_end_in_the_next_period_refunds_nothing_of_it() -> None:
    world = with_budget(10)
    world.go_to(DAY - HOUR)
    first = world.submit(a_job(5).lasting(2 * HOUR))
    world.go_to(DAY)
    second = world.submit(a_job(1).lasting(10 * HOUR))
    world.end(first)
    assert world.start(second) == DAY
    assert world.start(world.submit(a_job(1).lasting(HOUR))) is None


@pytest.mark.parametrize("policy", BackfillPolicy)
def test_a_job_that_a_budget_stops_blocks_no_other(policy: BackfillPolicy) -> None:
    world = with_budget(4, QueueConfig(policy=policy), namespace="poor")
    stopped = world.submit(a_job(8).lasting(HOUR).by("ada", "poor"))
    behind = world.submit(a_job(8).lasting(HOUR).by("bob", "rich"))
    assert world.plan(stopped) is None
    assert world.start(behind) == 0


def test_a_budget_is_for_its_namespace_alone() -> None:
    world = with_budget(1, namespace="poor")
    jobs = world.submit_together(
        a_job(2).lasting(HOUR).by("ada", "poor"), a_job(2).lasting(HOUR).by("ada", "rich")
    )
    assert world.starts(*jobs) == [None, 0]


def test_a_budget_is_for_its_queue_alone() -> None:
    world = with_budget(1, QueueConfig("a"), QueueConfig("b"), queue="a")
    jobs = world.submit_together(a_job(2).lasting(HOUR).to("a"), a_job(2).lasting(HOUR).to("b"))
    assert world.starts(*jobs) == [None, 0]


def test_a_budget_of_one_type_is_not_touched_by_jobs_without_it() -> None:
    budget = BudgetConfig("gpus", 1, "gpu", DAY)
    world = World(pools(2, cpu=8, gpu=4), config=SchedulerConfig(budgets=(budget,)))
    jobs = world.submit_together(
        a_gang(pods(2, cpu=4)).lasting(HOUR),
        a_gang(pods(1, cpu=1), pods(1, gpu=2)).lasting(HOUR),
        a_gang(pods(1, cpu=1), pods(1, gpu=1)).lasting(HOUR),
    )
    assert world.starts(*jobs) == [0, None, 0]


def test_a_job_without_a_walltime_cannot_be_committed_and_says_so() -> None:
    world = with_budget(10)
    job = world.submit(a_job().endless())
    assert world.state(job) is JobState.PENDING
    assert "without a walltime" in world.why(job)


def test_backfill_cannot_use_up_the_budget_that_a_promised_job_needs() -> None:
    world = with_budget(10, namespace="lab")
    world.submit(a_job(7).lasting(HOUR).by("bob", "office"))
    head = world.submit(a_job(7).lasting(HOUR).by("ada", "lab"))
    large, small = world.submit_together(
        a_job(1).lasting(4 * HOUR).by("ada", "lab"), a_job(1).lasting(3 * HOUR).by("ada", "lab")
    )
    assert world.plan(head) == HOUR
    assert world.starts(large, small) == [None, 0]
    world.go_to(HOUR)
    assert world.start(head) == HOUR


def test_a_cancelled_promise_gives_its_part_of_the_budget_back() -> None:
    world = with_budget(10, namespace="lab")
    world.submit(a_job(7).lasting(HOUR).by("bob", "office"))
    head = world.submit(a_job(7).lasting(HOUR).by("ada", "lab"))
    small = world.submit(a_job(1).lasting(10 * HOUR).by("ada", "lab"))
    assert world.start(small) is None
    world.tell(Cancel(head))
    assert world.start(small) == 0


def test_more_time_for_a_running_job_is_committed_too() -> None:
    world = with_budget(10)
    job = world.submit(a_job(2).lasting(HOUR))
    world.tell(Alter(job, walltime=4 * HOUR))
    next_ = world.submit(a_job(1).lasting(3 * HOUR))
    assert world.start(next_) is None
    world.go_to(4 * HOUR)
    assert world.start(next_) is None
    assert "2.0 of 10.0 are left" in world.why(next_)


def test_more_time_than_the_budget_has_is_refused() -> None:
    world = with_budget(10)
    job = world.submit(a_job(2).lasting(HOUR))
    with pytest.raises(QueueRefused, match="budget grant"):
        world.tell(Alter(job, walltime=6 * HOUR))
    assert world.job(job).walltime == HOUR


def test_an_elastic_group_starts_no_larger_than_its_budget() -> None:
    world = with_budget(5)
    group = world.submit(a_job().between(2, 8).lasting(HOUR))
    assert len(world.nodes(group)) == 5


def test_an_elastic_group_grows_no_larger_than_its_budget() -> None:
    world = with_budget(10)
    other = world.submit(a_job(6).lasting(HOUR // 2))
    group = world.submit(a_job().between(2, 8).lasting(HOUR))
    assert len(world.nodes(group)) == 2
    world.go_to(HOUR // 2)
    world.tell(Grow(group))
    # Of 10 node-hours 3 are used by the other, 2 committed; the walltime has half an hour left.
    assert world.state(other) is JobState.COMPLETED
    assert len(world.nodes(group)) == 8
    assert world.job(group).commitments == {"grant": 5.0}


def test_tasks_that_end_early_are_refunded() -> None:
    world = with_budget(10)
    group = world.submit(a_job(5).lasting(2 * HOUR))
    next_ = world.submit(a_job(1).lasting(HOUR))
    world.go_to(HOUR // 2)
    assert world.start(next_) is None
    world.tell(TaskEnded(group, 0))
    assert world.start(next_) == HOUR // 2


def test_several_budgets_must_all_have_enough() -> None:
    budgets = (
        BudgetConfig("lab", 10, "node", DAY, namespace="lab"),
        BudgetConfig("all", 5, "node", DAY),
    )
    world = World(machine(8), config=SchedulerConfig(budgets=budgets))
    world.submit(a_job(2).lasting(HOUR))
    job = world.submit(a_job(4).lasting(HOUR).by("ada", "lab"))
    assert world.why(job) == "budget all: needs 4.0 node-hours and 3.0 of 5.0 are left"
