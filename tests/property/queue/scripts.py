"""Whole stories, drawn at random: jobs of all kinds come, and everything happens to them.

Nothing here knows what state a job will be in, so a script asks for much that cannot be: the queue
refuses that, and it must change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.constraint import Hostlist
from fluxnetes.match.gang import Gang, Shape
from fluxnetes.queue.config import Config, Policy, QueueConfig
from fluxnetes.queue.events import (
    Alter,
    Cancel,
    Event,
    Hold,
    Maintain,
    NodesBack,
    NodesLost,
    Release,
    RemoveWindow,
    Reserve,
    Submit,
)
from fluxnetes.queue.jobs import OnLoss, Request, Submission
from tests.property.queue.workloads import many, whole_nodes
from tests.property.queue.world import Act, Fate, Script

NODES = 4
CPU, MEMORY, LICENCES = 4, 6, 3


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

policies = st.sampled_from([Policy.EASY, Policy.HYBRID, Policy.CONSERVATIVE])


@st.composite
def queues(draw: st.DrawFn) -> Config:
    """A queue for everybody, and one that goes before it."""
    grace = draw(st.integers(0, 2))
    return Config(
        queues=(
            QueueConfig("default", draw(policies), reservations=2, grace=grace),
            QueueConfig("urgent", draw(policies), reservations=2, grace=grace, priority=1),
        )
    )


# -- what happens ----------------------------------------------------------------------------------

Move = Callable[[int, int], Event]
"""What happens, once it is known when, and how many jobs there are by then."""

hosts = st.frozensets(st.sampled_from([f"n{n}" for n in range(NODES)]), min_size=1, max_size=2)
names = st.sampled_from(["w1", "w2"])
rarely = st.integers(0, 7).map(lambda drawn: drawn == 7)
spans = st.tuples(st.integers(0, 12), st.integers(1, 6))
"""How long until something begins, and how long it lasts."""


@st.composite
def scripts(draw: st.DrawFn, requests: st.SearchStrategy[Request], *, calm: bool = False) -> Script:
    """Jobs come, and things happen; in a `calm` one nothing that may move a promise later."""
    coming = calm_jobs(requests) if calm else jobs(requests)
    happening = calm_moves if calm else moves
    what = st.integers(0, 2).flatmap(lambda drawn: happening if drawn == 2 else coming)
    drawn = draw(many(st.tuples(st.integers(0, 3), what), 24))
    now = 0
    acts: list[Act] = []
    fates: dict[int, Fate] = {}
    for pause, move in drawn:
        now += pause
        if isinstance(move, tuple):
            id = len(fates) + 1
            acts.append(Act(now, Submit(replace(move[0], id=id))))
            fates[id] = move[1]
        else:
            acts.append(Act(now, move(now, len(fates))))
    return Script(tuple(acts), fates)


@st.composite
def jobs(draw: st.DrawFn, requests: st.SearchStrategy[Request]) -> tuple[Submission, Fate]:
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
        reservation=draw(names) if draw(rarely) else None,
        on_loss=draw(st.sampled_from(OnLoss)),
    )
    runtime = draw(st.just(walltime) | st.integers(0, walltime + 4))
    balks = int(draw(rarely))
    return submission, Fate(runtime, draw(st.integers(0, 3)), draw(st.booleans()), balks)


@st.composite
def calm_jobs(draw: st.DrawFn, requests: st.SearchStrategy[Request]) -> tuple[Submission, Fate]:
    walltime = draw(st.integers(1, 10))
    runtime = draw(st.just(walltime) | st.integers(0, walltime))
    return Submission(0, draw(requests), walltime=walltime), Fate(runtime)


def _to_some_job(kind: Callable[[int], Event]) -> st.SearchStrategy[Move]:
    """It happens to one of those that came last: most of the others have ended."""
    return st.integers(0, 6).map(lambda back: lambda now, jobs: kind(max(1, jobs - back)))


def _alter(walltime: int) -> Callable[[int], Event]:
    return lambda job: Alter(job, walltime=walltime)


def _maintain(name: str, span: tuple[int, int], nodes: frozenset[str]) -> Move:
    wait, length = span
    return lambda now, jobs: Maintain(name, now + wait, now + wait + length, Hostlist(nodes))


def _reserve(name: str, span: tuple[int, int], count: int) -> Move:
    wait, length = span
    for_whom = frozenset({"ada"})
    return lambda now, jobs: Reserve(name, now + wait, now + wait + length, count, users=for_whom)


calm_moves = _to_some_job(Cancel) | _to_some_job(Hold)
moves = (
    _to_some_job(Cancel)
    | _to_some_job(Hold)
    | _to_some_job(Release)
    | st.integers(1, 12).flatmap(lambda walltime: _to_some_job(_alter(walltime)))
    | hosts.map(lambda nodes: lambda now, jobs: NodesLost(tuple(sorted(nodes))))
    | hosts.map(lambda nodes: lambda now, jobs: NodesBack(tuple(sorted(nodes))))
    | st.builds(_maintain, names, spans, hosts)
    | st.builds(_reserve, names, spans, st.integers(1, 2))
    | names.map(lambda name: lambda now, jobs: RemoveWindow(name))
)
