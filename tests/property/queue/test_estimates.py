"""An estimate is what happens: if nothing else comes and every job runs for as long as it said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import Request, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import ENDED, HOLDING, JobState
from fluxnetes.simulate.estimate import Estimate, estimate
from tests.property.profile import examples
from tests.property.queue.scripts import (
    NODES,
    Weather,
    gangs,
    pools,
    queues,
    scripts,
    whole,
    wild_jobs,
)
from tests.property.queue.story import Script
from tests.property.queue.workloads import bare_nodes
from tests.property.queue.world import World

ONE_MORE = 5_000

instants = st.integers(0, 20)
"""When the estimate is made."""


def one_more(drawn: tuple[Submission, object]) -> Submission:
    return replace(drawn[0], id=ONE_MORE)


def asked_of_a_queue(
    requests: st.SearchStrategy[Request],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Any queue, what happens to it, when the estimate is made, and the job that it is made for."""
    return given(
        config=queues(preempts=True),
        script=scripts(requests, Weather.WILD),
        number=instants,
        job=wild_jobs(requests).map(one_more),
    )


def at_instant(world: World, number: int) -> None:
    """Let time pass until the estimate is made, or all jobs are gone."""
    for at, _ in enumerate(world.steps()):
        if at == number:
            break


def on_pools(config: SchedulerConfig, script: Script, number: int) -> World:
    """A queue on pools, at the instant at which the estimate is made."""
    world = World(pools, config, script)
    at_instant(world, number)
    return world


@dataclass
class Life:
    """What became of one more job."""

    start: int | None = None
    allocation: Allocation | None = None
    counted: bool = True
    """Whether jobs were planned by counting at all times."""


def live_on(queue: Scheduler, job: Submission, now: int) -> Life:
    """Submit a job, and let all jobs run for as long as was said until it starts, or never will.

    Which jobs are there, and until when, is asked of the queue at every instant.
    """
    transitions = Life()
    queue.apply(Submit(job), now)
    instant: int | None = now
    while instant is not None:
        queue.cycle(instant)
        transitions.counted &= queue.plans_by_counting
        given = queue.take_changes().allocations
        for id in [
            j.id for j in queue.jobs.values() if j.state is JobState.ALLOCATED and j.id in given
        ]:
            queue.apply(Started(id), instant)
            if job.id in (id, queue.job(id).parent):
                return replace(transitions, start=instant, allocation=given[id])
        if queue.job(job.id).state in ENDED:
            return transitions
        instant = leave(queue, instant)
    return transitions


def leave(queue: Scheduler, now: int) -> int | None:
    """Go to the next instant, and let those leave whose time is over then."""
    there = {j.id: j.expected for j in queue.jobs.values() if j.state in HOLDING and j.expected}
    wake = queue.next_wake(now)
    times = [*there.values(), *([] if wake is None else [wake])]
    instant = min(times, default=None)
    for id in sorted(id for id, until in there.items() if until == instant):
        queue.apply(Ended(id), instant or 0)
    return instant


def check(found: Estimate, transitions: Life) -> None:
    assert found.start == transitions.start
    assert bool(found.reason) == (transitions.start is None)
    assert not found.rough
    if transitions.allocation is not None:
        assert found.allocation is not None
        assert rows(found.allocation) == rows(transitions.allocation)


def rows(allocation: Allocation) -> tuple[object, ...]:
    placement = allocation.placement
    seats = [(each.node.tolist(), each.pods.tolist()) for each in allocation.seats]
    held = placement.vertex.tolist(), placement.needs.tolist(), placement.exclusive.tolist()
    return allocation.start, allocation.end, held, seats


@asked_of_a_queue(whole)
@examples(80)
def test_by_counting_the_living_queue_does_what_was_estimated(
    config: SchedulerConfig, script: Script, number: int, job: Submission
) -> None:
    world = World(partial(bare_nodes, NODES), config, script)
    at_instant(world, number)
    queue, now = world.scheduler, world.now
    found = estimate(queue.snapshot(), world.graph, queue.config, job, now)
    transitions = live_on(queue, job, now)
    # By rows it matters which places were kept for whom, and that is in no snapshot.
    if transitions.counted:
        check(found, transitions)


@asked_of_a_queue(gangs() | whole)
@examples(80)
def test_on_pools_a_queue_that_goes_on_from_the_same_does_what_was_estimated(
    config: SchedulerConfig, script: Script, number: int, job: Submission
) -> None:
    world = on_pools(config, script, number)
    snapshot, now = world.scheduler.snapshot(), world.now
    found = estimate(snapshot, world.graph, config, job, now)
    matcher = Matcher(world.graph.copy(), policy=config.match_policy)
    twin = Scheduler.resume(matcher, config, world.scheduler.snapshot(), now=now, validate=True)
    check(found, live_on(twin, job, now))


@asked_of_a_queue(gangs() | whole)
@examples(60)
def test_it_is_the_same_on_a_new_graph_with_foreign_usage_and_closed_nodes(
    config: SchedulerConfig, script: Script, number: int, job: Submission
) -> None:
    world = on_pools(config, script, number)
    snapshot, now = world.scheduler.snapshot(), world.now
    found = estimate(snapshot, world.graph, config, job, now)
    closed = tuple(world.closed | world.down)
    estimated = estimate(snapshot, pools(), config, job, now, world.others, closed)
    assert estimated.start == found.start
    assert estimated.allocation is None or rows(estimated.allocation) == allocation_rows(found)


def allocation_rows(found: Estimate) -> tuple[object, ...] | None:
    return None if found.allocation is None else rows(found.allocation)


@asked_of_a_queue(gangs() | whole)
@examples(40)
def test_the_queue_is_not_informed_of_it(
    config: SchedulerConfig, script: Script, number: int, job: Submission
) -> None:
    """A queue of which estimates are asked at every instant has the same story."""

    def stories(asked: bool) -> list[object]:
        world = World(pools, config, script)
        events: list[object] = []
        for step in world.steps():
            events += [event for changes in step.changes for event in changes.events]
            if asked:
                estimate(world.scheduler.snapshot(), world.graph, config, job, world.now)
        return events

    assert stories(asked=True) == stories(asked=False)
