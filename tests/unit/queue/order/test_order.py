"""Which job goes first: class, then priority, fair share, age and size, then arrival."""

from __future__ import annotations

import pytest

from fluxnetes.queue.config import FairShare, PriorityWeights, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Alter, Cancel
from tests.unit.queue.build import JobToBe, a_gang, a_job, machine, pods, pools
from tests.unit.queue.world import World

HALF_LIFE = 1000


def ordered_by(**settings: object) -> World:
    """One node, busy until 100; jobs that come line up behind it."""
    world = World(machine(1), config=SchedulerConfig(**settings))  # type: ignore[arg-type]
    world.submit(a_job().lasting(100).by("nobody", "nowhere"))
    return world


def in_order(world: World, *jobs: JobToBe) -> list[int]:
    """The order in which jobs start that come at the same time; the first is 0."""
    ids = world.submit_together(*jobs)
    world.go_to(world.now + 100_000)
    return sorted(range(len(ids)), key=lambda n: world.start(ids[n]) or 0)


# -- by default ------------------------------------------------------------------------------------


def test_by_default_first_come_is_first_served() -> None:
    world = ordered_by()
    assert in_order(world, a_job().by("ada"), a_job().by("bob"), a_job()) == [0, 1, 2]


def test_by_default_a_higher_priority_goes_first() -> None:
    world = ordered_by()
    jobs = a_job(), a_job().with_priority(9), a_job().with_priority(1), a_job().with_priority(-1)
    assert in_order(world, *jobs) == [1, 2, 0, 3]


def test_a_priority_counts_beside_other_factors_by_default() -> None:
    world = ordered_by(weights=PriorityWeights(size=1))
    assert in_order(world, a_job(), a_job().with_priority(1)) == [1, 0]


def test_jobs_are_ordered_by_arrival_while_none_has_a_priority() -> None:
    world = ordered_by()
    assert world.queue.orders_by_arrival
    job = world.submit(a_job().with_priority(3))
    assert not world.queue.orders_by_arrival
    world.tell(Alter(job, priority=0))
    assert world.queue.orders_by_arrival
    world.tell(Alter(job, priority=-3))
    assert not world.queue.orders_by_arrival
    world.tell(Cancel(job))
    assert world.queue.orders_by_arrival


def test_a_higher_class_is_strictly_first() -> None:
    world = ordered_by(weights=PriorityWeights(priority=1000))
    jobs = a_job().with_priority(1_000_000), a_job().of_class(2), a_job().of_class(1)
    assert in_order(world, *jobs) == [1, 2, 0]


# -- factors ---------------------------------------------------------------------------------------


def test_a_priority_does_not_count_without_a_weight() -> None:
    world = ordered_by(weights=PriorityWeights(priority=0))
    assert in_order(world, a_job(), a_job().with_priority(2), a_job().with_priority(1)) == [0, 1, 2]
    assert world.queue.orders_by_arrival


def test_a_priority_that_is_changed_changes_the_place() -> None:
    world = ordered_by(weights=PriorityWeights(priority=1))
    first, second = world.submit_together(a_job(), a_job())
    assert (world.explain(first).place, world.explain(second).place) == (0, 1)
    world.tell(Alter(second, priority=5))
    assert (world.explain(first).place, world.explain(second).place) == (1, 0)
    world.go_to(110)
    assert world.starts(second, first) == [100, 110]


def test_larger_jobs_go_first_if_size_counts() -> None:
    world = World(machine(4), config=SchedulerConfig(weights=PriorityWeights(size=1)))
    world.submit(a_job(nodes=4).lasting(10))
    small, large = world.submit_together(a_job(nodes=2).lasting(10), a_job(nodes=4).lasting(10))
    world.go_to(20)
    assert world.starts(large, small) == [10, 20]


def test_age_counts_up_to_its_cap() -> None:
    world = ordered_by(weights=PriorityWeights(age=10), age_cap=50)
    job = world.submit(a_job())
    ages = []
    for time in (0, 25, 50, 90):
        world.go_to(time)
        factors = world.explain(job).factors
        assert factors is not None
        ages.append(factors.age)
    assert ages == [0, 5, 10, 10]


def test_an_old_job_passes_a_younger_one_of_higher_priority() -> None:
    world = ordered_by(weights=PriorityWeights(priority=1, age=10), age_cap=100)
    old = world.submit(a_job())
    world.go_to(60)
    young = world.submit(a_job().with_priority(5))
    world.go_to(110)
    assert world.starts(old, young) == [100, 110]


def test_equal_scores_are_broken_by_arrival() -> None:
    world = ordered_by(weights=PriorityWeights(priority=1, size=1))
    assert in_order(world, a_job(), a_job(), a_job()) == [0, 1, 2]


# -- fair share ------------------------------------------------------------------------------------

FAIR = PriorityWeights(fair_share=1)


def used(user: str, namespace: str, seconds: int) -> JobToBe:
    return a_job().by(user, namespace).lasting(seconds)


def factor(world: World, user: str, namespace: str = "default") -> float:
    """The fair share of a user, as explained for a job of that user."""
    job = world.submit(a_job().by(user, namespace).beginning(10**9))
    factors = world.explain(job).factors
    assert factors is not None
    return factors.fair_share


def test_who_has_used_nothing_goes_first() -> None:
    world = World(machine(1), config=SchedulerConfig(weights=FAIR))
    world.submit(used("greedy", "lab", 50))
    world.go_to(20)
    greedy, modest = world.submit_together(
        a_job().by("greedy", "lab").lasting(10), a_job().by("modest", "lab").lasting(10)
    )
    world.go_to(60)
    assert world.starts(modest, greedy) == [50, 60]


def test_the_factor_is_one_for_nothing_and_a_half_for_just_the_share() -> None:
    config = SchedulerConfig(weights=FAIR, fair_share=FairShare(half_life=10**9))
    world = World(machine(2), config=config)
    world.submit_together(used("ada", "a", 100), used("bob", "b", 100))
    world.go_to(100)
    assert factor(world, "ada", "a") == pytest.approx(0.5, abs=1e-3)
    assert factor(world, "bob", "b") == pytest.approx(0.5, abs=1e-3)


def test_a_larger_share_bears_more_usage() -> None:
    shares = FairShare(half_life=10**9, namespaces={"a": 3.0, "b": 1.0})
    world = World(machine(2), config=SchedulerConfig(weights=FAIR, fair_share=shares))
    world.submit_together(used("ada", "a", 300), used("bob", "b", 100))
    world.go_to(300)
    assert factor(world, "ada", "a") == pytest.approx(0.5, abs=1e-3)
    assert factor(world, "bob", "b") == pytest.approx(0.5, abs=1e-3)


def test_usage_counts_while_a_job_runs() -> None:
    world = World(machine(2), config=SchedulerConfig(weights=FAIR))
    world.submit(used("ada", "a", 1000))
    world.submit(used("bob", "b", 10))
    world.go_to(500)
    assert factor(world, "ada", "a") < factor(world, "bob", "b")


def test_usage_is_forgotten_with_its_half_life() -> None:
    config = SchedulerConfig(weights=FAIR, fair_share=FairShare(half_life=HALF_LIFE))
    world = World(machine(1), config=config)
    world.submit(used("ada", "a", 100))
    world.go_to(100 + 10 * HALF_LIFE)
    world.submit(used("bob", "b", 1))
    world.go_to(world.now + 1)
    assert factor(world, "ada", "a") > factor(world, "bob", "b"), "100 s long ago are 0.1 s now"


def test_a_user_answers_for_a_part_of_what_the_namespace_used() -> None:
    world = World(machine(2), config=SchedulerConfig(weights=FAIR))
    world.submit_together(used("greedy", "lab", 100), used("bob", "office", 10))
    world.go_to(100)
    new_in_lab, new_elsewhere = factor(world, "new", "lab"), factor(world, "new", "elsewhere")
    assert factor(world, "greedy", "lab") < new_in_lab < new_elsewhere


def test_what_counts_as_usage_can_be_configured() -> None:
    config = SchedulerConfig(weights=FAIR, charge={"gpu": 1.0})
    world = World(pools(2, cpu=8, gpu=1), config=config)
    world.submit_together(
        a_gang(pods(1, cpu=8)).by("ada", "a").lasting(100),
        a_gang(pods(1, cpu=1, gpu=1)).by("bob", "b").lasting(100),
    )
    world.go_to(100)
    job_a = world.submit(a_gang(pods(1, cpu=1)).by("ada", "a").beginning(10**9))
    job_b = world.submit(a_gang(pods(1, cpu=1)).by("bob", "b").beginning(10**9))
    factors = [world.explain(job).factors for job in (job_a, job_b)]
    assert [f.fair_share for f in factors if f is not None] == [1.0, pytest.approx(0.25)]


# -- promises --------------------------------------------------------------------------------------


def test_an_order_that_changes_with_time_moves_no_promise() -> None:
    config = SchedulerConfig(
        queues=(QueueConfig(),), weights=PriorityWeights(fair_share=10, age=1), age_cap=1000
    )
    world = World(machine(2), config=config)
    world.submit(a_job(nodes=2).by("ada", "a").lasting(100))
    head = world.submit(a_job(nodes=2).by("ada", "a").lasting(10))
    assert world.plan(head) == 100
    world.submit(a_job(nodes=2).by("bob", "b").lasting(10).held())
    world.go_to(99)
    assert world.promised(head) == [100]
    world.go_to(100)
    assert world.start(head) == 100


def test_a_job_that_comes_later_and_is_ordered_before_takes_the_promise() -> None:
    world = ordered_by(weights=PriorityWeights(priority=1))
    head = world.submit(a_job())
    assert world.plan(head) == 100
    first = world.submit(a_job().with_priority(1))
    assert world.plans(first, head) == [100, 110]
    assert f"job {first} is ordered before it" in world.why(head)


def test_every_factor_is_explained() -> None:
    weights = PriorityWeights(priority=2, fair_share=3, age=4, size=5)
    world = ordered_by(weights=weights, age_cap=100)
    job = world.submit(a_job().by("ada", "a").with_priority(7))
    world.go_to(50)
    factors = world.explain(job).factors
    assert factors is not None
    assert (factors.priority, factors.age, factors.size) == (14, 2, 5)
    assert 0 < factors.fair_share <= 3
    assert factors.score == pytest.approx(21 + factors.fair_share)
