"""A cycle that is cut short, and taken up again, decides what it would have decided at once."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.config import SchedulerConfig
from tests.property.profile import examples
from tests.property.queue.notary import Notary
from tests.property.queue.scripts import Weather, gangs, pools, queues, scripts, whole
from tests.property.queue.story import Script
from tests.property.queue.workloads import bare_nodes
from tests.property.queue.world import World
from tests.unit.queue.keeper import Keeper

Build = Callable[[], ResourceGraph]


def stories(
    build: Build, config: SchedulerConfig, script: Script, most: int | None
) -> list[list[JobEvent]]:
    """All that is written down of each job."""
    world, keeper = World(build, config, script, most=most), Keeper()
    notary = Notary(world)
    for step in world.steps():
        for changes in step.changes:
            keeper.fold(changes)
        notary.check(step)
    notary.check_that_all_ended_once()
    events = [event for event in keeper.events if event.start != event.at]
    return [[event for event in events if event.job == id] for id in world.ids]


@examples(60)
@given(config=queues(), script=scripts(whole, Weather.ROUGH), most=st.integers(1, 3))
def test_whole_nodes(config: SchedulerConfig, script: Script, most: int) -> None:
    cut = stories(bare_nodes_of_four, config, script, most)
    assert cut == stories(bare_nodes_of_four, config, script, None)


@examples(60)
@given(config=queues(preempts=True), script=scripts(gangs(), Weather.WILD), most=st.integers(1, 3))
def test_gangs_of_pods(config: SchedulerConfig, script: Script, most: int) -> None:
    assert stories(pools, config, script, most) == stories(pools, config, script, None)


def bare_nodes_of_four() -> ResourceGraph:
    return bare_nodes(4)
