"""A snapshot of a living queue: all of it, at one moment, and for good."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.config import BudgetConfig, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Cancel, Ended, NodesLost, SetQueue, Submit
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_job, machine
from tests.unit.queue.persist.test_restore import CONFIG, LIVES, lived, without_steps
from tests.unit.queue.snapshots import check_snapshot
from tests.unit.queue.world import Way, World


class Handed(World):
    """A world whose queue is looked at whenever it was written down and, in some ways, handed on:
    to another queue, that goes on from what was seen."""

    def _write_down(self) -> Changes:
        changes = super()._write_down()
        check_snapshot(self.queue.snapshot(), self.keeper.snapshot())
        return changes

    def restart(self) -> None:
        snapshot = self.queue.snapshot()
        counts = self.way.counts
        self.matcher = Matcher(self.graph, policy="low")
        self.queue = Scheduler.resume(
            self.matcher, CONFIG, snapshot, now=self.now, validate=True, count=counts
        )


@pytest.mark.parametrize(("live", "graph"), LIVES, ids=["whole nodes", "gangs"])
def test_every_life_is_written_in_the_snapshots_and_is_the_same_when_it_is_handed_on(
    live: Callable[[World], None], graph: Callable[[], ResourceGraph], way: Way
) -> None:
    plain = Way.COUNTING if way.counts else Way.ROWS
    events, snapshot = lived(World(graph(), config=CONFIG, way=plain), live)
    others, other = lived(Handed(graph(), config=CONFIG, way=way), live)
    assert others == events
    assert list(map(without_steps, other.jobs)) == list(map(without_steps, snapshot.jobs))
    assert (other.usage, other.spent) == (snapshot.usage, snapshot.spent)


def test_what_happens_later_does_not_change_it() -> None:
    budget = BudgetConfig("grant", 10, "node", 1000, namespace="default")
    world = World(machine(2), config=SchedulerConfig(budgets=(budget,)))
    runs = world.submit(a_job(2).lasting(10))
    waits = world.submit(a_job(2))
    found = world.queue.snapshot()
    before = deepcopy(found.jobs)
    assert next(job.commitments for job in found.jobs if job.id == runs)
    world.tell(Ended(runs), Cancel(waits))
    assert found.jobs == before
    assert [job.state for job in found.jobs] == [JobState.RUNNING, JobState.PENDING]


def test_taking_one_changes_nothing() -> None:
    world = World(machine(2))
    world.submit_together(a_job(2).lasting(10), a_job(1).lasting(5))
    assert not world.queue.take_changes()
    first, second = world.queue.snapshot(), world.queue.snapshot()
    assert first == second
    assert not world.queue.take_changes()


def test_who_goes_on_changes_nothing_of_the_queue_that_it_was_taken_from() -> None:
    world = World(machine(2))
    job = world.submit(a_job(2).lasting(10))
    snapshot = world.queue.snapshot()
    twin = Scheduler.resume(Matcher(world.graph.copy()), None, snapshot, now=0)
    twin.apply(Ended(job), 0)
    assert twin.job(job).state is JobState.COMPLETED
    assert world.queue.job(job).state is JobState.RUNNING
    world.end(job)
    assert world.state(job) is JobState.COMPLETED


def test_an_ended_job_is_in_it_while_another_depends_on_it() -> None:
    world = World(machine(1))
    one, other = world.submit_together(a_job().lasting(5), a_job().lasting(5))
    third = world.submit(a_job().afterany(one, other))
    world.go_to(5)
    found = world.queue.snapshot()
    assert [job.id for job in found.jobs] == [other, third, one]
    assert found.outcomes == ((one, JobState.COMPLETED),)


def test_who_ended_long_ago_is_known_by_the_outcome() -> None:
    world = World(machine(1))
    one = world.submit(a_job().lasting(5))
    world.go_to(5)
    found = world.queue.snapshot()
    assert found.jobs == ()
    twin = Scheduler.resume(Matcher(world.graph), None, found, now=5)
    twin.apply(Submit(replace(a_job().afterok(one).spec, id=7)), 5)
    twin.cycle(5)
    assert twin.job(7).state is JobState.ALLOCATED


def test_it_can_be_taken_before_the_queue_has_decided() -> None:
    """Nodes are lost; jobs on them are asked to end before any job is promised anything anew."""
    world = World(machine(3))
    job = world.submit(a_job(2).lasting(10))
    head = world.submit(a_job(3).lasting(10))
    world.queue.apply(NodesLost(("node0",)), 0)
    graph = world.graph.copy()
    twin = Scheduler.resume(Matcher(graph), None, world.queue.snapshot(), now=0, validate=True)
    assert twin.job(job).state is JobState.ENDING
    twin.cycle(0)
    world.decide()
    assert twin.job(head).plan is None
    assert world.plan(head) is None


def test_a_queue_that_is_no_longer_configured_stays_stopped() -> None:
    world = World(machine(1), QueueConfig("old"), QueueConfig("new"))
    world.submit(a_job().to("old").lasting(5))
    waits = world.submit(a_job().to("old"))
    config = SchedulerConfig(queues=(QueueConfig("new"),))
    queue = Scheduler.resume(Matcher(machine(1)), config, world.queue.snapshot(), now=0)
    for its in (config, queue.config):
        twin = Scheduler.resume(Matcher(machine(1)), its, queue.snapshot(), now=0, validate=True)
        twin.apply(Ended(1), 0)
        twin.cycle(0)
        assert reason_text(twin.explain(waits, 0).reason) == "queue old is stopped"


def test_what_an_operator_said_is_in_it() -> None:
    world = World(machine(1))
    world.tell(SetQueue("default", stopped=True))
    [state] = world.queue.snapshot().queues
    assert (state.queue, state.stopped, state.drained) == ("default", True, False)
