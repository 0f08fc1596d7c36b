"""Whole stories, drawn at random: jobs of all kinds come, and everything happens to them.

Nothing here knows what state a job will be in, so a script asks for much that cannot be: the queue
refuses that, and it must change nothing. There are three kinds of weather:

- *calm*: jobs come, end early, are cancelled or held. Nothing of that may move a promise later.
- *rough*: besides, jobs of higher classes come, jobs overrun, begin later, go back to the queue;
  nodes are lost and come back, are closed and opened; others take capacity of them and leave it;
  windows are set and removed.
- *wild*: besides, jobs depend on each other, come as arrays, are elastic, lose tasks or have them
  moved, ask for something else, and are preempted.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import NodesBack, NodesOpened, Occupied, Release, Submit
from fluxnetes.queue.jobs import (
    Dependency,
    DependencyKind,
    ElasticSize,
    JobArray,
    OnLoss,
    Request,
    Submission,
)
from tests.property.queue.happenings import CALM, ROUGH, wild, windows
from tests.property.queue.story import Act, Fate, Script
from tests.property.queue.workloads import many, whole_nodes

NODES = 4
CPU, MEMORY, LICENCES = 4, 6, 3
SOON, LATE = 20, 300
"""So long after all else all nodes are back and without foreign pods, and held jobs are released.

In calm weather all others have ended by then: a released job may get in the way of others.
"""


class Weather(enum.Enum):
    CALM = "calm"
    ROUGH = "rough"
    WILD = "wild"


def pools() -> ResourceGraph:
    """Nodes that are shared, and licences that no node owns."""
    names = [f"n{number}" for number in range(NODES)]
    node = {"cpu": CPU, "memory": MEMORY}
    return pool_graph(dict.fromkeys(names, node), shared={"licence": LICENCES})


# -- what is asked for -----------------------------------------------------------------------------

whole = st.builds(whole_nodes, st.integers(1, 2) | st.integers(1, NODES))


@st.composite
def gangs(draw: st.DrawFn) -> Gang:
    """One or two shapes of pods that fit an idle cluster, some with licences."""
    first = _shape(draw, 3)
    shapes = (first, _shape(draw, 2)) if draw(st.booleans()) else (first,)
    licences = draw(st.sampled_from([0, 0, 1, 2, 3]))
    return Gang(shapes, (("licence", licences),) if licences else ())


def _shape(draw: st.DrawFn, most: int) -> Shape:
    cpu, memory = draw(st.integers(1, CPU)), draw(st.integers(1, MEMORY // 2))
    return Shape.of(draw(st.integers(1, most)), {"cpu": cpu, "memory": memory})


# -- queues ----------------------------------------------------------------------------------------

policies = st.sampled_from(
    [BackfillPolicy.EASY, BackfillPolicy.HYBRID, BackfillPolicy.CONSERVATIVE]
)


@st.composite
def queues(draw: st.DrawFn, *, preempts: bool = False) -> SchedulerConfig:
    """A default queue, and one that goes before it."""
    grace = draw(st.integers(0, 2))
    urgent = QueueConfig("urgent", draw(policies), reservations=2, grace=grace, priority=1)
    default = QueueConfig("default", draw(policies), reservations=2, grace=grace)
    return SchedulerConfig(queues=(default, replace(urgent, preempts=preempts)))


# -- stories ---------------------------------------------------------------------------------------

Coming = tuple[Submission, Fate]


@st.composite
def scripts(
    draw: st.DrawFn, requests: st.SearchStrategy[Request], weather: Weather = Weather.ROUGH
) -> Script:
    """Jobs come, and things happen."""
    coming = {Weather.CALM: calm_jobs, Weather.ROUGH: rough_jobs, Weather.WILD: wild_jobs}
    happening = {Weather.CALM: CALM, Weather.ROUGH: ROUGH, Weather.WILD: wild(requests)}
    comes, happens = coming[weather](requests), happening[weather]
    what = st.integers(0, 2).flatmap(lambda drawn: happens if drawn == 2 else comes)
    now, free = 0, 1
    acts: list[Act] = []
    fates: dict[int, Fate] = {}
    for pause, drawn in draw(many(st.tuples(st.integers(0, 3), what), 24)):
        now += pause
        if not isinstance(drawn, tuple):
            acts.append(Act(now, drawn(now, list(fates))))
            continue
        submission = _numbered(drawn[0], free, list(fates))
        acts.append(Act(now, Submit(submission)))
        fates[free] = drawn[1]
        free += 1 + (submission.array.tasks if submission.array is not None else 0)
    nodes = tuple(f"n{number}" for number in range(NODES))
    good = NodesBack(nodes), NodesOpened(nodes), Occupied({node: {} for node in nodes})
    end = now + (LATE if weather is Weather.CALM else SOON)
    acts += [*(Act(end, event) for event in good), *(Act(end, Release(id)) for id in fates)]
    return Script(tuple(acts), fates)


def _numbered(submission: Submission, id: int, others: list[int]) -> Submission:
    """A job with its number, and with those of the jobs that it depends on."""
    wanted = [(d.kind, d.job) for d in submission.dependencies]
    found = tuple(Dependency(kind, others[-back]) for kind, back in wanted if back <= len(others))
    return replace(submission, id=id, dependencies=found)


rarely = st.integers(0, 7).map(lambda drawn: drawn == 7)


@st.composite
def calm_jobs(draw: st.DrawFn, requests: st.SearchStrategy[Request]) -> Coming:
    walltime = draw(st.integers(1, 10))
    runtime = draw(st.just(walltime) | st.integers(0, walltime))
    return Submission(0, draw(requests), walltime=walltime), Fate(runtime)


@st.composite
def rough_jobs(draw: st.DrawFn, requests: st.SearchStrategy[Request]) -> Coming:
    walltime = draw(st.integers(1, 10))
    submission = Submission(
        0,
        draw(requests),
        walltime=None if draw(rarely) else walltime,
        queue="urgent" if draw(rarely) else "default",
        user=draw(st.sampled_from(["ada", "bob"])),
        job_class=int(draw(rarely)),
        held=draw(rarely),
        begin=draw(st.integers(0, 20)) if draw(rarely) else None,
        reservation=draw(windows) if draw(rarely) else None,
        on_loss=draw(st.sampled_from(OnLoss)),
    )
    runtime = draw(st.just(walltime) | st.integers(0, walltime + 4))
    balks = int(draw(rarely))
    return submission, Fate(runtime, draw(st.integers(0, 3)), draw(st.booleans()), balks)


arrays = st.builds(JobArray, st.integers(1, 4), st.sampled_from([None, 1, 2]))
sizes = st.builds(
    lambda low, more: ElasticSize(low, low + more), st.integers(1, 2), st.integers(0, 3)
)
dependencies = st.builds(Dependency, st.sampled_from(DependencyKind), st.integers(1, 4))


@st.composite
def wild_jobs(draw: st.DrawFn, requests: st.SearchStrategy[Request]) -> Coming:
    submission, fate = draw(rough_jobs(requests))
    shape = draw(st.sampled_from(["plain", "plain", "array", "elastic"]))
    submission = replace(
        submission,
        dependencies=(draw(dependencies),) if draw(rarely) else (),
        array=draw(arrays) if shape == "array" else None,
        size=draw(sizes) if shape == "elastic" else None,
        preemptible=draw(st.booleans()),
        requeue=draw(st.booleans()),
        min_runtime=draw(st.integers(0, 3)),
    )
    return submission, fate
