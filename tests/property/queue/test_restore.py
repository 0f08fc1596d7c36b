"""A queue that stops and goes on from what was written down decides what it would have decided."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Event
from fluxnetes.queue.config import Config
from tests.property.profile import examples
from tests.property.queue.books import Books, check_that_nothing_is_leaked
from tests.property.queue.notary import Notary
from tests.property.queue.scripts import NODES, gangs, pools, queues, scripts, whole
from tests.property.queue.workloads import bare_nodes
from tests.property.queue.world import Script, World
from tests.unit.queue.keeper import Keeper

stops = st.frozensets(st.integers(0, 30), max_size=4)
"""After which instants the queue stops and another one goes on."""


def stories(
    build: Callable[[], ResourceGraph], config: Config, script: Script, stops: frozenset[int]
) -> dict[int, list[Event]]:
    """All that is written down of each job."""
    world, keeper = World(build, config, script), Keeper()
    books, notary = Books(world), Notary(world)
    for number, step in enumerate(world.steps()):
        for changes in step.changes:
            keeper.fold(changes)
        books.check(step)
        notary.check(step)
        if number in stops:
            world.restart(keeper.snapshot())
    notary.check_that_all_ended_once()
    check_that_nothing_is_leaked(world)
    # A plan for this very instant is only a word on the way to a start.
    told = [event for event in keeper.events if event.start != event.at]
    return {job: [event for event in told if event.job == job] for job in world.ids}


@given(config=queues(), script=scripts(whole), stops=stops)
@examples(60)
def test_on_whole_nodes_all_goes_on_as_though_nothing_had_happened(
    config: Config, script: Script, stops: frozenset[int]
) -> None:
    nodes = lambda: bare_nodes(NODES)  # noqa: E731
    assert stories(nodes, config, script, stops) == stories(nodes, config, script, frozenset())


@given(config=queues(), script=scripts(gangs() | whole), stops=stops)
@examples(60)
def test_on_pools_promises_made_before_are_kept_after(
    config: Config, script: Script, stops: frozenset[int]
) -> None:
    stories(pools, config, script, stops)
