"""Whatever happens: no job is placed twice, promises are kept, every job ends once."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.config import SchedulerConfig
from tests.property.profile import examples
from tests.property.queue.books import Books, check_that_nothing_is_leaked
from tests.property.queue.notary import Notary
from tests.property.queue.scripts import NODES, Weather, gangs, pools, queues, scripts, whole
from tests.property.queue.story import Script
from tests.property.queue.workloads import bare_nodes
from tests.property.queue.world import World


def live_through(
    build: Callable[[], ResourceGraph],
    config: SchedulerConfig,
    script: Script,
    *,
    count: bool = True,
) -> None:
    """Check everything at every instant, and once more in the end."""
    world = World(build, config, script, count=count)
    books, notary = Books(world), Notary(world)
    for step in world.steps():
        books.check(step)
        notary.check(step)
    notary.check_that_all_ended_once()
    check_that_nothing_is_leaked(world)


@given(config=queues(), script=scripts(whole))
@examples(60)
def test_whole_nodes_are_never_overcommitted_and_promises_are_kept(
    config: SchedulerConfig, script: Script
) -> None:
    live_through(lambda: bare_nodes(NODES), config, script)


@given(config=queues(), script=scripts(gangs()))
@examples(60)
def test_so_it_is_for_mixed_gangs_on_pools_with_licences(
    config: SchedulerConfig, script: Script
) -> None:
    live_through(pools, config, script)


@given(config=queues(), script=scripts(gangs() | whole), count=st.booleans())
@examples(60)
def test_so_it_is_where_gangs_and_whole_nodes_compete(
    config: SchedulerConfig, script: Script, count: bool
) -> None:
    live_through(pools, config, script, count=count)


@given(config=queues(preempts=True), script=scripts(whole, Weather.WILD), count=st.booleans())
@examples(60)
def test_so_it_is_for_arrays_elastic_groups_and_preempted_jobs_on_whole_nodes(
    config: SchedulerConfig, script: Script, count: bool
) -> None:
    live_through(lambda: bare_nodes(NODES), config, script, count=count)


@given(config=queues(preempts=True), script=scripts(gangs() | whole, Weather.WILD))
@examples(60)
def test_so_it_is_for_arrays_elastic_groups_and_preempted_jobs_on_pools(
    config: SchedulerConfig, script: Script
) -> None:
    live_through(pools, config, script)


@given(config=queues(), script=scripts(gangs() | whole, Weather.CALM), count=st.booleans())
@examples(60)
def test_where_jobs_only_come_end_early_or_go_no_promise_moves_later_at_all(
    config: SchedulerConfig, script: Script, count: bool
) -> None:
    world = World(pools, config, script, count=count)
    notary = Notary(world)
    for step in world.steps():
        notary.check(step)
    assert notary.moved_later == 0
