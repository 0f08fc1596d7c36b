"""A job's life: every way of the chart can be gone, and no other."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.queue.config import QueueConfig, UnsatisfiablePolicy
from fluxnetes.queue.errors import QueueError, QueueRefused, UnknownQueueJob
from fluxnetes.queue.events import (
    Alter,
    Cancel,
    Ended,
    Event,
    Gathered,
    Grow,
    Hold,
    NodesLost,
    Release,
    RemoveWindow,
    Reserve,
    Returned,
    Started,
    Submit,
    TaskEnded,
)
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.states import (
    ALLOWED_TRANSITIONS,
    ENDED,
    ImpossibleTransition,
    JobState,
    check_transition,
)
from tests.unit.queue.build import JobToBe, a_job, machine
from tests.unit.queue.world import World

S = JobState
REJECTING = QueueConfig(unsatisfiable=UnsatisfiablePolicy.REJECT)


def transitions(world: World, job: int) -> list[JobState]:
    """Every state that a job was in, in order."""
    events = [event for event in world.story(job) if event.kind == "transition"]
    assert [e.before for e in events] == [None, *(e.after for e in events[:-1])]
    return [event.after for event in events if event.after is not None]


def world_in_which_nothing_runs_by_itself() -> World:
    world = World(machine(2))
    world.carries_out = False
    return world


# -- every way -------------------------------------------------------------------------------------


def test_a_job_is_allocated_then_runs_then_completes() -> None:
    world = world_in_which_nothing_runs_by_itself()
    job = world.submit(a_job(nodes=2))
    world.tell(Started(job))
    world.end(job)
    assert transitions(world, job) == [S.PENDING, S.ALLOCATED, S.RUNNING, S.COMPLETED]


def test_a_job_that_ends_badly_has_failed() -> None:
    world = World(machine(2))
    job = world.submit(a_job())
    world.end(job, ok=False)
    assert transitions(world, job) == [S.PENDING, S.ALLOCATED, S.RUNNING, S.FAILED]


@pytest.mark.parametrize(("ok", "outcome"), [(True, S.COMPLETED), (False, S.FAILED)])
def test_a_job_may_be_over_before_it_was_seen_to_run(ok: bool, outcome: JobState) -> None:
    world = world_in_which_nothing_runs_by_itself()
    job = world.submit(a_job())
    world.end(job, ok=ok)
    assert transitions(world, job) == [S.PENDING, S.ALLOCATED, outcome]


def test_what_could_not_be_carried_out_goes_back_to_the_queue() -> None:
    world = world_in_which_nothing_runs_by_itself()
    job = world.submit(a_job())
    world.tell(Returned(job, Reason.from_text("the node refused its pod")))
    assert transitions(world, job) == [S.PENDING, S.ALLOCATED, S.PENDING, S.ALLOCATED]
    assert "the node refused its pod" in [reason_text(event.reason) for event in world.story(job)]


def test_what_could_not_be_carried_out_is_not_tried_again_before_it_should_be() -> None:
    world = world_in_which_nothing_runs_by_itself()
    job = world.submit(a_job())
    world.tell(Returned(job, Reason.from_text("no pod came"), begin=30))
    assert world.state(job) is S.PENDING
    assert world.why(job) == "waits: it is tried again at 30 at the earliest; no pod came"
    other = world.submit(a_job(nodes=2))
    assert world.start(other) == 0
    world.end(other)
    world.go_to(29)
    assert world.state(job) is S.PENDING
    world.go_to(30)
    assert world.state(job) is S.ALLOCATED


def test_a_job_whose_time_went_by_before_it_ran_can_go_back_to_the_queue() -> None:
    world = world_in_which_nothing_runs_by_itself()
    job = world.submit(a_job().lasting(10))
    world.stays(job)
    world.go_to(10)
    assert world.state(job) is S.ENDING
    world.tell(Returned(job, Reason.from_text("no pod was there to start it")))
    assert transitions(world, job)[-2:] == [S.PENDING, S.ALLOCATED]


@pytest.mark.parametrize("runs", [False, True])
def test_a_job_that_is_cancelled_while_it_has_nodes_is_ending_until_it_is_gone(runs: bool) -> None:
    world = World(machine(2))
    world.carries_out = runs
    job = world.submit(a_job(nodes=2))
    waiting = world.submit(a_job(nodes=2))
    world.tell(Cancel(job))
    assert world.states(job, waiting) == [S.ENDING, S.PENDING]
    world.end(job)
    assert world.states(job, waiting)[0] is S.CANCELLED
    assert world.start(waiting) == 0


def test_a_job_whose_walltime_is_over_is_ending_then_timed_out() -> None:
    world = World(machine(2))
    job = world.submit(a_job().lasting(10))
    world.stays(job)
    world.go_to(10)
    assert world.state(job) is S.ENDING
    world.end(job)
    assert transitions(world, job)[-2:] == [S.ENDING, S.TIMED_OUT]


def test_a_job_that_lost_its_nodes_is_ending_then_failed() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2))
    world.tell(NodesLost(("node0",)))
    world.end(job)
    assert transitions(world, job)[-2:] == [S.ENDING, S.FAILED]


def test_a_job_that_goes_back_to_the_queue_comes_from_ending() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).requeued_on_loss())
    world.tell(NodesLost(("node0",)))
    world.end(job)
    assert transitions(world, job)[-2:] == [S.ENDING, S.PENDING]
    assert world.job(job).restarts == 1


def test_a_group_gathers_then_waits_then_starts() -> None:
    world = World(machine(2))
    job = world.submit(a_job().gathering())
    assert world.state(job) is S.GATHERING
    world.tell(Gathered(job))
    assert transitions(world, job) == [S.GATHERING, S.PENDING, S.ALLOCATED, S.RUNNING]


def test_a_complete_group_may_ask_for_something_else_than_was_thought() -> None:
    world = World(machine(4))
    job = world.submit(a_job(nodes=1).gathering())
    world.tell(Gathered(job, jobspec(slot(3, node(1)))))
    assert len(world.nodes(job)) == 3


def test_a_group_that_turns_out_impossible_is_rejected_by_a_queue_that_rejects() -> None:
    world = World(machine(2), REJECTING)
    job = world.submit(a_job().gathering())
    world.tell(Gathered(job, jobspec(slot(3, node(1)))))
    assert transitions(world, job) == [S.GATHERING, S.REJECTED]
    assert world.job(job).reason


def test_a_gathering_group_can_be_held_and_is_held_when_it_is_complete() -> None:
    world = World(machine(2))
    job = world.submit(a_job().gathering())
    world.tell(Hold(job))
    world.tell(Gathered(job))
    assert transitions(world, job) == [S.GATHERING, S.HELD]


def test_a_hold_on_a_gathering_group_can_be_taken_back() -> None:
    world = World(machine(2))
    job = world.submit(a_job().gathering())
    world.tell(Hold(job))
    world.tell(Release(job))
    world.tell(Gathered(job))
    assert world.state(job) is S.RUNNING


def test_a_held_job_waits_until_it_is_released() -> None:
    world = World(machine(2))
    job = world.submit(a_job().held())
    world.go_to(100)
    assert world.state(job) is S.HELD
    world.tell(Release(job))
    assert transitions(world, job) == [S.HELD, S.PENDING, S.ALLOCATED, S.RUNNING]


def test_a_pending_job_can_be_held() -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2).lasting(10))
    job = world.submit(a_job())
    world.tell(Hold(job))
    world.go_to(50)
    assert transitions(world, job) == [S.PENDING, S.HELD]


@pytest.mark.parametrize("job", [a_job().gathering(), a_job().held(), a_job(nodes=2)])
def test_a_job_that_waits_is_cancelled_at_once(job: JobToBe) -> None:
    world = World(machine(2))
    world.submit(a_job(nodes=2))
    waiting = world.submit(job)
    world.tell(Cancel(waiting, Reason.from_text("not needed any more")))
    assert world.state(waiting) is S.CANCELLED
    assert reason_text(world.job(waiting).reason) == "not needed any more"


def test_a_job_that_nothing_can_serve_is_rejected_by_a_queue_that_rejects() -> None:
    world = World(machine(2), REJECTING)
    job = world.submit(a_job(nodes=3))
    assert transitions(world, job) == [S.REJECTED]
    assert "needs 3 slot" in reason_text(world.job(job).reason)


def test_a_job_that_is_ending_for_one_reason_can_be_cancelled_for_another() -> None:
    world = World(machine(2))
    job = world.submit(a_job(nodes=2).requeued_on_loss())
    world.tell(NodesLost(("node0",)))
    world.tell(Cancel(job, Reason.from_text("do not bother")))
    world.end(job)
    assert world.state(job) is S.CANCELLED
    assert reason_text(world.job(job).reason) == "do not bother"


def test_an_array_completes_or_fails_without_ever_holding_anything_itself() -> None:
    world = World(machine(1))
    good, bad = world.submit_together(a_job().times(1), a_job().times(1))
    world.end(good + 1)
    world.end(bad + 1, ok=False)
    assert transitions(world, good) == [S.PENDING, S.COMPLETED]
    assert transitions(world, bad) == [S.PENDING, S.FAILED]


def test_a_job_whose_dependency_fails_is_rejected_while_it_waits() -> None:
    world = World(machine(1))
    first = world.submit(a_job())
    job = world.submit(a_job().afterok(first))
    world.end(first, ok=False)
    assert transitions(world, job) == [S.PENDING, S.REJECTED]


@pytest.mark.parametrize("job", [a_job(), a_job().held(), a_job().gathering()])
def test_a_job_is_rejected_whose_reservation_is_called_off_while_it_waits(job: JobToBe) -> None:
    world = World(machine(1))
    world.tell(Reserve("demo", 50, 100, 1, users=frozenset({"ada"})))
    waiting = world.submit(job.by("ada").inside("demo"))
    world.tell(RemoveWindow("demo"))
    assert world.state(waiting) is S.REJECTED


# -- no other --------------------------------------------------------------------------------------


def test_a_way_that_is_not_on_the_chart_is_refused() -> None:
    for before, after in itertools.product((None, *JobState), JobState):
        if after not in ALLOWED_TRANSITIONS[before]:
            with pytest.raises(ImpossibleTransition, match="job 7 cannot go from"):
                check_transition(7, before, after)


def test_what_has_ended_never_changes_again() -> None:
    assert all(not ALLOWED_TRANSITIONS[state] for state in ENDED)


def job_in(state: JobState) -> tuple[World, int]:
    """A job in one of its states."""
    world = World(machine(2), QueueConfig(grace=5))
    world.carries_out = state is not JobState.ALLOCATED
    if state is JobState.PENDING:
        world.submit(a_job(nodes=2).lasting(100))
    never = a_job().between(3, 2)
    builders = {S.GATHERING: a_job().gathering(), S.HELD: a_job().held(), S.REJECTED: never}
    job = world.submit(builders.get(state, a_job(nodes=2)))
    if state in (S.ENDING, S.CANCELLED):
        world.tell(Cancel(job))
    if state is S.TIMED_OUT:
        world.stays(job)
        world.go_to(10)
    if state in (S.COMPLETED, S.FAILED, S.CANCELLED, S.TIMED_OUT):
        world.end(job, ok=state is not S.FAILED)
    assert world.state(job) is state
    return world, job


WAITS = {S.GATHERING, S.PENDING, S.HELD}
HAS_NODES = {S.ALLOCATED, S.RUNNING, S.ENDING}
MAKES_SENSE: dict[Event, set[JobState]] = {
    Gathered(0): {S.GATHERING},
    Hold(0): WAITS,
    Release(0): {S.HELD, S.GATHERING},
    Cancel(0): WAITS | HAS_NODES,
    Alter(0, walltime=20): WAITS | {S.ALLOCATED, S.RUNNING},
    Alter(0, priority=3): WAITS,
    Started(0): HAS_NODES,
    Returned(0, Reason.from_text("no")): {S.ALLOCATED},
    Ended(0): HAS_NODES,
    TaskEnded(0, 0): HAS_NODES,
}
NONSENSE = [
    (event, state)
    for event, states in MAKES_SENSE.items()
    for state in sorted(set(JobState) - states, key=str)
]


@pytest.mark.parametrize(
    ("event", "state"),
    NONSENSE,
    ids=lambda x: x.name if isinstance(x, JobState) else type(x).__name__,
)
def test_what_makes_no_sense_in_a_state_is_refused_and_changes_nothing(
    event: Event, state: JobState
) -> None:
    world, job = job_in(state)
    before = world.job(job)
    with pytest.raises(QueueRefused, match=f"job {job} "):
        world.queue.apply(_for(event, job), world.now)
    changes = world.queue.take_changes()
    assert not changes, f"{changes}"
    assert world.queue.job(job) == before


def _for(event: Event, job: int) -> Event:
    return replace(event, job=job)  # type: ignore[arg-type]


def test_only_an_elastic_job_can_grow() -> None:
    world = World(machine(2))
    job = world.submit(a_job())
    with pytest.raises(QueueRefused, match=f"job {job} has a fixed size"):
        world.tell(Grow(job))


def test_telling_a_second_time_that_a_job_runs_changes_nothing() -> None:
    world = World(machine(2))
    job = world.submit(a_job())
    world.tell(Started(job))
    assert transitions(world, job) == [S.PENDING, S.ALLOCATED, S.RUNNING]


def test_a_job_that_was_not_submitted_is_unknown() -> None:
    world = World(machine(2))
    with pytest.raises(UnknownQueueJob, match="there is no job 99"):
        world.tell(Cancel(99))


def test_an_id_is_given_once() -> None:
    world = World(machine(2))
    job = world.submit(a_job())
    world.end(job)
    with pytest.raises(QueueError, match=f"job id {job} is already in use"):
        world.tell(Submit(Submission(job, jobspec(slot(1, node(1))))))
