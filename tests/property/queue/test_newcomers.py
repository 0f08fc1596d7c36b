"""New jobs that only wait may be persisted after the rest, and may be lost before.

Both parts together are the whole. A queue that is restored from the first part alone, and to which
the new jobs are submitted once more, serves all jobs, and no job holds anything twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Submit
from fluxnetes.queue.states import WAITING
from tests.property.profile import examples
from tests.property.queue.books import Books, check_that_nothing_is_leaked
from tests.property.queue.scripts import Weather, gangs, pools, queues, scripts, whole
from tests.property.queue.story import Script
from tests.property.queue.workloads import bare_nodes
from tests.property.queue.world import World
from tests.unit.queue.keeper import Keeper

stops = st.frozensets(st.integers(0, 30), max_size=4)
"""At which instants the queue stops between the two writes, and another one goes on."""


def live(
    build: Callable[[], ResourceGraph],
    config: SchedulerConfig,
    script: Script,
    stops: frozenset[int],
) -> None:
    world, at_once, later = World(build, config, script), Keeper(), Keeper()
    books = Books(world)
    for number, step in enumerate(world.steps()):
        first = joined(step.changes)
        at_once.fold(first)
        known = set(later.jobs)
        aside = first.set_aside_newcomers()
        later.fold(first)
        assert not known & aside.jobs.keys()
        assert not world.present.keys() & aside.jobs.keys()
        assert all(job.state in WAITING for job in aside.jobs.values())
        books.check(step)
        if number in stops:
            world.restart(later.snapshot())
            for job in aside.jobs.values():
                world.scheduler.apply(Submit(job.submission), world.now)
        else:
            later.fold(aside)
            if not stops:
                assert later.jobs == at_once.jobs
                assert sorted(later.events, key=repr) == sorted(at_once.events, key=repr)
    check_that_nothing_is_leaked(world)


def joined(parts: Iterable[Changes]) -> Changes:
    """What changed at one instant, as though it had been read only at its end."""
    whole = Changes()
    for part in parts:
        whole.events += part.events
        whole.jobs |= part.jobs
        whole.allocations |= part.allocations
        whole.windows |= part.windows
        whole.usage |= part.usage
        whole.queues |= part.queues
        whole.spent |= part.spent
        whole.step = part.step if part.step is not None else whole.step
    return whole


@examples(60)
@given(config=queues(), script=scripts(whole, Weather.ROUGH), stops=stops)
def test_whole_nodes(config: SchedulerConfig, script: Script, stops: frozenset[int]) -> None:
    live(lambda: bare_nodes(4), config, script, stops)


@examples(60)
@given(config=queues(preempts=True), script=scripts(gangs(), Weather.WILD), stops=stops)
def test_gangs_of_pods(config: SchedulerConfig, script: Script, stops: frozenset[int]) -> None:
    live(pools, config, script, stops)
