"""A queue that stops and goes on from what was written down decides what it would have decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.config import SchedulerConfig
from tests.property.profile import examples
from tests.property.queue.books import Books, check_that_nothing_is_leaked
from tests.property.queue.notary import Notary
from tests.property.queue.scripts import NODES, Weather, gangs, pools, queues, scripts, whole
from tests.property.queue.story import Script
from tests.property.queue.workloads import bare_nodes
from tests.property.queue.world import World
from tests.unit.queue.keeper import Keeper

stops = st.frozensets(st.integers(0, 30), max_size=4)
"""After which instants the queue stops and another one goes on."""


@dataclass(frozen=True)
class Outcome:
    """What became of a script."""

    stories: dict[int, list[JobEvent]]
    """All that is written down of each job."""
    counted: bool
    """Whether jobs were planned by counting at all times."""


def live(
    build: Callable[[], ResourceGraph],
    config: SchedulerConfig,
    script: Script,
    stops: frozenset[int],
    *,
    handed: bool = False,
) -> Outcome:
    """Live through a script with all checks, and start again after some instants: from what was
    written down or, if the queue is handed on, from its own snapshot."""
    world, keeper = World(build, config, script), Keeper()
    books, notary = Books(world), Notary(world)
    counted = True
    for number, step in enumerate(world.steps()):
        for changes in step.changes:
            keeper.fold(changes)
        books.check(step)
        notary.check(step)
        counted &= world.scheduler.plans_by_counting
        if number in stops:
            world.restart(world.scheduler.snapshot() if handed else keeper.snapshot())
    notary.check_that_all_ended_once()
    check_that_nothing_is_leaked(world)
    # A plan for this very instant is only a word on the way to a start.
    events = [event for event in keeper.events if event.start != event.at]
    return Outcome({id: [e for e in events if e.job == id] for id in world.ids}, counted)


@given(config=queues(preempts=True), script=scripts(whole, Weather.WILD), stops=stops)
@examples(40)
def test_by_counting_all_goes_on_as_though_nothing_had_happened(
    config: SchedulerConfig, script: Script, stops: frozenset[int]
) -> None:
    nodes = partial(bare_nodes, NODES)
    expected = live(nodes, config, script, frozenset())
    found = live(nodes, config, script, stops)
    # By rows it matters which places were kept for whom, and that is not written down.
    if expected.counted:
        assert found == expected


@given(config=queues(preempts=True), script=scripts(gangs() | whole, Weather.WILD), stops=stops)
@examples(40)
def test_on_pools_promises_made_before_are_kept_after(
    config: SchedulerConfig, script: Script, stops: frozenset[int]
) -> None:
    live(pools, config, script, stops)
