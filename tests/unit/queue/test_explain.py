"""Why a job is where it is, and until when, in words; and its whole story."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import (
    BackfillPolicy,
    BudgetConfig,
    LimitConfig,
    QueueConfig,
    SchedulerConfig,
)
from fluxnetes.queue.errors import UnknownQueueJob
from fluxnetes.queue.events import Cancel, Hold, Maintain, NodesLost, Reserve, SetQueue
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, a_job, hosts, machine, pods, pools
from tests.unit.queue.world import Way, World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


# -- what a waiting job waits for ------------------------------------------------------------------


def test_room_and_when_it_is_promised() -> None:
    world = World(machine(2))
    world.submit(a_job().lasting(10))
    explained = world.explain(world.submit(a_job(nodes=2)))
    assert (explained.state, explained.until, explained.place) == (JobState.PENDING, 10, 0)
    assert reason_text(explained.reason) == "needs 2 slot; only 1 can be had now"


def test_room_of_a_gang() -> None:
    world = World(pools(2, cpu=8, gpu=1))
    world.submit(a_gang(pods(1, cpu=6), pods(2, gpu=1)).lasting(10))
    explained = world.explain(world.submit(a_gang(pods(2, cpu=5), pods(1, cpu=1))))
    assert explained.until == 10
    assert "2 pods of 5 cpu" in reason_text(explained.reason)


def test_room_that_is_promised_to_jobs_before_it() -> None:
    world = World(machine(3), CONSERVATIVE)
    world.submit(a_job(nodes=2).lasting(10))
    _, job = world.submit_together(a_job(nodes=3).lasting(10), a_job().lasting(11))
    explained = world.explain(job)
    assert (explained.until, explained.place) == (20, 1)
    assert reason_text(explained.reason) == "its capacity is promised to jobs before it"


def test_its_turn_where_nothing_is_promised_to_it() -> None:
    world = World(machine(3))
    world.submit(a_job(nodes=2).lasting(10))
    _, job = world.submit_together(a_job(nodes=3), a_job().lasting(11))
    explained = world.explain(job)
    assert (explained.until, explained.place) == (None, 1)
    assert "it would delay jobs that were promised a start" in reason_text(explained.reason)


def test_a_group_that_is_not_complete() -> None:
    world = World(machine(1))
    explained = world.explain(world.submit(a_job().gathering()))
    assert (explained.state, reason_text(explained.reason)) == (
        JobState.GATHERING,
        "its group is not complete",
    )
    assert explained.factors is None


def test_a_hold() -> None:
    world = World(machine(1))
    world.submit(a_job())
    submitted, held = world.submit(a_job().held()), world.submit(a_job())
    world.tell(Hold(held))
    assert world.why(submitted) == "submitted on hold"
    assert world.why(held) == "held by its user"
    assert world.explain(held).place is None


def test_a_begin_time() -> None:
    world = World(machine(1))
    explained = world.explain(world.submit(a_job().beginning(50)))
    assert (reason_text(explained.reason), explained.until) == (
        "waits: begins at 50 at the earliest",
        None,
    )


@pytest.mark.parametrize("kind", ["after", "afterok", "afterany"])
def test_a_dependency(kind: str) -> None:
    world = World(machine(1))
    world.submit(a_job().lasting(10))
    first = world.submit(a_job())
    job = world.submit(getattr(a_job(), kind)(first))
    assert world.why(job) == f"waits: {kind} job {first}"


def test_a_stopped_queue() -> None:
    world = World(machine(1))
    world.tell(SetQueue("default", stopped=True))
    assert world.why(world.submit(a_job())) == "queue default is stopped"


def test_a_limit() -> None:
    world = World(machine(2), QueueConfig(per_namespace=LimitConfig(running=1)))
    _, job = world.submit_together(a_job().by("ada", "lab"), a_job().by("bob", "lab"))
    assert world.why(job) == "limit: namespace lab may run 1 jobs at a time"


def test_a_budget() -> None:
    config = SchedulerConfig(budgets=(BudgetConfig("grant", 2.0, "node", 10**6),))
    world = World(machine(3), config=config)
    world.submit(a_job().lasting(3600))
    job = world.submit(a_job(nodes=2).lasting(3600))
    assert world.why(job) == "budget grant: needs 2.0 node-hours and 1.0 of 2.0 are left"


def test_endless_jobs_in_the_way() -> None:
    world = World(machine(1))
    world.submit(a_job().endless())
    explained = world.explain(world.submit(a_job()))
    assert explained.until is None
    assert reason_text(explained.reason).startswith(
        "no start is known: jobs without a walltime are in the way"
    )


def test_an_array_at_its_limit_and_one_whose_tasks_were_all_started() -> None:
    world = World(machine(3))
    limited, all_started = world.submit_together(a_job().times(5, at_once=1), a_job().times(2))
    assert world.why(limited) == "1 tasks are there, and it may have 1 at a time"
    assert world.why(all_started) == "all 2 tasks were started; 2 have not ended"


def test_preempted_jobs_that_have_not_left(way: Way) -> None:
    world = World(machine(1), QueueConfig(preempts=True))
    victim = world.submit(a_job().lasting(1000).preemptible())
    job = world.submit(a_job().of_class(1))
    assert world.explain(job).until == 30
    assert world.why(victim) == f"preempted by job {job} of a higher class"
    if not way.restarts:  # who made whom go is not written down
        assert world.why(job) == f"waits for preempted jobs to leave: job {victim}"


def test_a_maintenance_window_ahead() -> None:
    world = World(machine(2))
    world.tell(Maintain("cooling", 50, 80, hosts(0, 1)))
    explained = world.explain(world.submit(a_job().lasting(60)))
    assert explained.until == 80
    assert "maintenance window cooling" in reason_text(explained.reason)


def test_a_maintenance_window_that_is_open() -> None:
    world = World(machine(1))
    world.tell(Maintain("cooling", 0, 80, hosts(0)))
    explained = world.explain(world.submit(a_job()))
    assert explained.until == 80
    assert "maintenance window cooling" in reason_text(explained.reason)


def test_an_advance_reservation_that_is_not_open_yet() -> None:
    world = World(machine(1))
    world.tell(Reserve("demo", 50, 80, 1, users=frozenset({"ada"})))
    inside, outside = world.submit_together(
        a_job().by("ada").inside("demo"), a_job().lasting(60).by("bob")
    )
    assert world.explain(inside).until == 50
    assert "advance reservation demo" in world.why(inside)
    assert "advance reservation demo" in world.why(outside)


def test_nodes_that_are_down() -> None:
    world = World(machine(2))
    world.tell(NodesLost(("node1",)))
    explained = world.explain(world.submit(a_job(nodes=2)))
    assert explained.until is None
    assert reason_text(explained.reason) == "needs 2 slot; only 1 can be had now"


def test_a_promise_that_moved_says_why() -> None:
    world = World(machine(1))
    late = world.submit(a_job().lasting(10))
    job = world.submit(a_job())
    world.stays(late)
    world.go_to(10)
    assert f"moved later because job {late} overran its walltime" in world.why(job)


# -- jobs that do not wait -------------------------------------------------------------------------


def test_a_running_job_says_until_when() -> None:
    world = World(machine(1))
    explained = world.explain(world.submit(a_job().lasting(10)))
    assert (explained.state, explained.until, reason_text(explained.reason)) == (
        JobState.RUNNING,
        10,
        "",
    )


def test_a_job_that_is_ending_says_why() -> None:
    world = World(machine(1))
    job = world.submit(a_job())
    world.tell(Cancel(job, Reason.from_text("no longer needed")))
    assert (world.explain(job).state, world.why(job)) == (JobState.ENDING, "no longer needed")


def test_a_job_that_has_ended_can_be_explained_for_a_while() -> None:
    world = World(machine(1))
    done, rejected = world.submit(a_job()), world.submit(a_job().between(3, 2))
    world.end(done, ok=False)
    assert (world.explain(done).state, world.why(done)) == (JobState.FAILED, "it failed")
    assert world.why(rejected) == "an elastic group of 3 to 2: expected 1 <= min <= max"


def test_an_unknown_job_is_not_explained() -> None:
    with pytest.raises(UnknownQueueJob, match="there is no job 5"):
        World(machine(1)).explain(5)


# -- the story -------------------------------------------------------------------------------------


def test_the_story_tells_everything_that_happened_in_order() -> None:
    world = World(machine(2))
    first = world.submit(a_job(nodes=2).lasting(10))
    job = world.submit(a_job(nodes=2).lasting(5))
    world.go_to(4)
    world.end(first)
    world.go_to(9)
    story = [(e.at, e.kind, e.after.value if e.after else e.start) for e in world.story(job)]
    assert story == [
        (0, "transition", "pending"),
        (0, "planned", 10),
        (4, "planned", 4),
        (4, "transition", "allocated"),
        (4, "transition", "running"),
        (9, "transition", "completed"),
    ]


def test_the_queue_tells_the_same_story_as_what_was_written_down(way: Way) -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(10))
    job = world.submit(a_job(nodes=2).lasting(5))
    world.go_to(15)
    if not way.restarts:  # a queue that was restarted leaves old stories to the store
        assert list(world.explain(job).story) == world.story(job)
