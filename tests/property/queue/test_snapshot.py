"""A snapshot of a living queue is what was written down of it, and can be gone on from as well."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial

from hypothesis import given

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.config import SchedulerConfig
from tests.property.profile import examples
from tests.property.queue.scripts import NODES, Weather, gangs, pools, queues, scripts, whole
from tests.property.queue.story import Script
from tests.property.queue.test_restore import live, stops
from tests.property.queue.workloads import bare_nodes
from tests.property.queue.world import World
from tests.unit.queue.keeper import Keeper
from tests.unit.queue.snapshots import check_snapshot

nodes = partial(bare_nodes, NODES)


def check_every_instant(
    build: Callable[[], ResourceGraph], config: SchedulerConfig, script: Script
) -> None:
    """What is seen of a queue is what was written down, and stays what it is while time goes on."""
    world, keeper = World(build, config, script), Keeper()
    last = world.scheduler.snapshot()
    before = deepcopy(last.jobs)
    for step in world.steps():
        for changes in step.changes:
            keeper.fold(changes)
        assert last.jobs == before
        last = world.scheduler.snapshot()
        before = deepcopy(last.jobs)
        check_snapshot(last, keeper.snapshot())


@given(config=queues(preempts=True), script=scripts(gangs() | whole, Weather.WILD))
@examples(60)
def test_at_every_instant_it_is_what_was_written_down(
    config: SchedulerConfig, script: Script
) -> None:
    check_every_instant(pools, config, script)


@given(config=queues(preempts=True), script=scripts(whole, Weather.WILD), stops=stops)
@examples(40)
def test_who_goes_on_from_it_decides_what_the_queue_would_have_decided(
    config: SchedulerConfig, script: Script, stops: frozenset[int]
) -> None:
    expected = live(nodes, config, script, frozenset())
    found = live(nodes, config, script, stops, handed=True)
    # By rows it matters which places were kept for whom, and that is not written down.
    if expected.counted:
        assert found == expected


@given(config=queues(preempts=True), script=scripts(gangs() | whole, Weather.WILD), stops=stops)
@examples(40)
def test_who_goes_on_from_it_keeps_what_was_promised(
    config: SchedulerConfig, script: Script, stops: frozenset[int]
) -> None:
    live(pools, config, script, stops, handed=True)
