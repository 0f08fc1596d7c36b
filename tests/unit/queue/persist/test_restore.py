"""A queue that was killed goes on from what was written down as though nothing had happened.

All tests of the queue run with a queue that is killed after every step; see `world`. Here whole
lives are compared, event by event, and queues that were dead for a while.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import JobEvent, Snapshot
from fluxnetes.queue.config import (
    BackfillPolicy,
    BudgetConfig,
    FairShare,
    LimitConfig,
    PriorityWeights,
    QueueConfig,
    SchedulerConfig,
)
from fluxnetes.queue.events import (
    Alter,
    Cancel,
    Ended,
    Hold,
    Maintain,
    NodesBack,
    NodesLost,
    Release,
    Reserve,
    SetQueue,
    Submit,
    TaskEnded,
)
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools
from tests.unit.queue.world import Way, World

CONFIG = SchedulerConfig(
    queues=(
        QueueConfig("batch", policy=BackfillPolicy.CONSERVATIVE, per_user=LimitConfig(running=6)),
        QueueConfig("express", priority=1, preempts=True, max_walltime=50, grace=5),
    ),
    weights=PriorityWeights(priority=1, fair_share=5, age=2),
    age_cap=100,
    fair_share=FairShare(half_life=500),
    budgets=(BudgetConfig("grant", 40, "node", 1000, namespace="lab"),),
)


def a_busy_life(world: World) -> None:
    """A bit of everything, on six nodes."""
    one = world.submit(a_job(nodes=4).lasting(30).to("batch").by("ada", "lab"))
    world.submit_together(
        a_job(nodes=6).lasting(20).to("batch").by("bob", "lab"),
        a_job(nodes=1).lasting(40).to("batch").by("ada", "lab").preemptible(),
        a_job(nodes=2).lasting(10).to("batch").by("eve", "office").times(4, at_once=2),
        a_job(nodes=1).to("batch").afterok(one).by("bob", "lab"),
    )
    held = world.submit(a_job(nodes=3).lasting(25).to("batch").held().with_priority(3))
    world.go_to(7)
    world.tell(TaskEnded(one, 2))
    world.submit(a_job(nodes=2).lasting(15).to("express").of_class(1))
    world.tell(Release(held))
    world.go_to(16)
    world.submit(a_job(nodes=2).lasting(60).to("batch").requeued_on_loss())
    world.tell(NodesLost(("node5",)))
    world.tell(Maintain("cooling", 90, 110, hosts(0, 1)))
    world.go_to(31)
    world.tell(NodesBack(("node5",)))
    for job in [j.id for j in world.keeper.jobs.values() if j.state is JobState.ENDING]:
        world.end(job)
    late = world.submit(a_job(nodes=5).lasting(30).to("batch").beginning(60))
    world.go_to(50)
    world.tell(Alter(late, priority=9), Hold(late))
    world.tell(SetQueue("express", drained=True))
    world.go_to(70)
    world.tell(Release(late))
    world.go_to(400)


def a_busy_life_of_gangs(world: World) -> None:
    """Mixed gangs with licences, on three nodes."""
    first = world.submit(a_gang(pods(2, cpu=5), pods(1, gpu=1), licence=30).lasting(30).to("batch"))
    world.submit_together(
        a_gang(pods(3, cpu=4), pods(2, gpu=1)).lasting(20).to("batch"),
        a_gang(pods(1, cpu=2), licence=20).lasting(50).to("batch"),
        a_gang(pods(1, cpu=3)).between(1, 4).lasting(40).to("batch"),
        a_gang(pods(1, cpu=1), pods(1, cpu=2), licence=5).lasting(10).to("batch").times(6),
    )
    world.go_to(9)
    world.tell(TaskEnded(first, 0))
    urgent = world.submit(a_gang(pods(1, cpu=8), licence=40).lasting(10).of_class(1).to("express"))
    world.go_to(20)
    world.tell(Reserve("demo", 100, 150, 1, users=frozenset({"ada"})))
    world.submit(a_gang(pods(2, cpu=4)).lasting(20).by("ada").inside("demo").to("batch"))
    world.tell(NodesLost(("node2",)))
    world.go_to(33)
    world.tell(NodesBack(("node2",)), Cancel(urgent))
    for job in [j.id for j in world.keeper.jobs.values() if j.state is JobState.ENDING]:
        world.end(job)
    world.go_to(400)


LIVES: list[tuple[Callable[[World], None], Callable[[], ResourceGraph]]] = [
    (a_busy_life, lambda: machine(6)),
    (a_busy_life_of_gangs, lambda: pools(3, cpu=8, gpu=1, licence=40)),
]


def lived(world: World, live: Callable[[World], None]) -> tuple[list[JobEvent], Snapshot]:
    live(world)
    return world.keeper.events, world.keeper.snapshot()


def without_steps(job: QueueJob) -> QueueJob:
    """A job without what depends on how often the queue was asked to decide."""
    return replace(job, ranked=0, plan=None if job.plan is None else replace(job.plan, since=0))


class Mortal(World):
    """A world whose queue dies now and then."""

    chance = random.Random(4)

    def decide(self) -> None:
        super().decide()
        if self.chance.random() < 0.3:
            self.restart()


@pytest.mark.parametrize(("live", "graph"), LIVES, ids=["whole nodes", "gangs"])
def test_every_life_is_the_same_with_a_queue_that_dies_now_and_then_or_after_every_step(
    live: Callable[[World], None], graph: Callable[[], ResourceGraph], way: Way
) -> None:
    plain = Way.COUNTING if way.counts else Way.ROWS
    events, snapshot = lived(World(graph(), config=CONFIG, way=plain), live)
    world = World if way.restarts else Mortal
    others, other = lived(world(graph(), config=CONFIG, way=way), live)
    assert others == events
    assert list(map(without_steps, other.jobs)) == list(map(without_steps, snapshot.jobs))
    assert (other.usage, other.spent) == (snapshot.usage, snapshot.spent)


# -- dead for a while ------------------------------------------------------------------------------


def test_a_walltime_that_passed_while_the_queue_was_dead_is_noticed() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=2))
    world.stays(job)
    world.now = 500
    world.restart()
    world.decide()
    assert world.state(job) is JobState.ENDING
    assert world.plan(head) == 530
    assert f"job {job} overran its walltime" in reason_text(world.story(head)[-1].reason)


def test_jobs_that_ended_while_the_queue_was_down_free_capacity_once_that_is_known() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).lasting(10))
    head = world.submit(a_job(nodes=2))
    world.now = 500
    world.restart()
    world.queue.apply(Ended(job), 500)
    world.queue.cycle(500)
    assert world.queue.job(head).start == 500


def test_begin_times_and_windows_that_passed_while_the_queue_was_dead_are_over() -> None:
    world = World(machine(2))
    world.tell(Maintain("cooling", 10, 20, hosts(0)))
    job = world.submit(a_job(nodes=2).beginning(15).lasting(100))
    world.now = 500
    world.restart()
    world.decide()
    assert world.start(job) == 500


def test_an_event_may_come_before_the_first_decision() -> None:
    world = World(machine(4))
    group = world.submit(a_job(nodes=3).lasting(100))
    head = world.submit(a_job(nodes=2))
    world.restart()
    world.queue.apply(TaskEnded(group, 0), 0)
    world.queue.apply(Alter(group, walltime=50), 0)
    world.decide()
    assert world.start(head) == 0


# -- what is kept ----------------------------------------------------------------------------------


def test_a_queue_that_starts_from_nothing_is_empty() -> None:
    queue = Scheduler.resume(Matcher(machine(1)), None, Snapshot(), now=0, validate=True)
    queue.cycle(0)
    assert not queue.jobs
    assert not queue.take_changes()


def test_arrival_goes_on_counting() -> None:
    world = World(machine(1))
    world.submit(a_job())
    first = world.submit(a_job())
    world.restart()
    second = world.submit(a_job())
    assert world.job(second).arrival == world.job(first).arrival + 1


def test_what_an_operator_said_of_a_queue_is_kept() -> None:
    world = World(machine(1))
    world.tell(SetQueue("default", stopped=True, drained=True))
    world.restart()
    job = world.submit(a_job())
    assert world.state(job) is JobState.REJECTED


def test_jobs_of_a_queue_that_is_no_longer_configured_are_not_lost() -> None:
    world = World(machine(2), QueueConfig("old"), QueueConfig("new"))
    runs, waits = world.submit_together(a_job(2).lasting(10).to("old"), a_job(2).to("old"))
    config = SchedulerConfig(queues=(QueueConfig("new"),))
    snapshot = world.keeper.snapshot()
    queue = Scheduler.resume(Matcher(world.graph), config, snapshot, now=5, validate=True)
    queue.apply(Ended(runs), 5)
    queue.cycle(5)
    assert queue.job(runs).state is JobState.COMPLETED
    assert queue.job(waits).state is JobState.PENDING
    assert reason_text(queue.explain(waits, 5).reason) == "queue old is stopped"
    queue.apply(Submit(replace(a_job().to("old").spec, id=77)), 5)
    assert queue.job(77).state is JobState.REJECTED
    queue.apply(Alter(waits, queue="new"), 5)
    queue.cycle(5)
    assert queue.job(waits).start == 5


def test_a_job_that_was_parked_keeps_its_age_over_a_restart() -> None:
    """Its record changes when it is let into line, though there is nothing to tell of it."""
    world = World(machine(1))
    running = world.submit(a_job().lasting(100))
    world.submit(a_job())
    late = world.submit(a_job().beginning(5))
    dependent = world.submit(a_job().after(running))
    world.go_to(7)
    assert world.job(late).eligible == 5
    assert world.job(dependent).eligible == 0
