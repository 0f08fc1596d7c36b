"""What comes, drawn at random.

Clusters and times are small, so that jobs get in each other's way, and many things happen at one
instant. A workload on whole nodes is a list of the textbook's jobs: (submit, runtime, walltime,
size), in order of their coming.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Submit
from fluxnetes.queue.jobs import Request, Submission
from tests.oracle import textbook
from tests.property.queue.story import Act, Fate, Script

NODES = 6
LICENCES = 3


def bare_nodes(count: int = NODES) -> ResourceGraph:
    """Nodes that hold nothing: whole ones are all that can be asked for."""
    return pool_graph({f"n{number}": {} for number in range(count)})


def whole_nodes(count: int) -> Jobspec:
    return jobspec(slot(count, node(1)))


def pod_nodes() -> ResourceGraph:
    """Half as many nodes, each with capacity for two pods; and licences that no node owns."""
    names = [f"n{number}" for number in range(NODES // 2)]
    return pool_graph({name: {"cpu": 5} for name in names}, shared={"licence": LICENCES})


def pods(count: int, licences: int) -> Gang:
    shape = Shape.of(count, {"cpu": 2})
    return Gang((shape,), (("licence", licences),) if licences else ())


def one_queue(policy: BackfillPolicy, reservations: int = 2, grace: int = 0) -> SchedulerConfig:
    return SchedulerConfig(
        queues=(QueueConfig(policy=policy, reservations=reservations, grace=grace),)
    )


# -- jobs as the textbook knows them ---------------------------------------------------------------

Workload = list[textbook.Job]


@st.composite
def textbook_jobs(draw: st.DrawFn, *, exact: bool, gap: int = 3, most: int = 24) -> Workload:
    """Jobs in order of their coming, from one instant to up to `gap` seconds after each other."""
    walltimes = st.integers(1, 12)
    rows = draw(many(st.tuples(st.integers(0, gap), walltimes, sizes()), most))
    now, jobs = 0, []
    for pause, walltime, size in rows:
        now += pause
        runtime = walltime if exact else draw(st.integers(0, walltime))
        jobs.append((now, runtime, walltime, size))
    return jobs


T = TypeVar("T")


def many(one: st.SearchStrategy[T], most: int) -> st.SearchStrategy[list[T]]:
    """A list, and a long one most of the time; left alone, hypothesis draws about five."""
    long = st.lists(one, min_size=most // 2, max_size=most)
    return st.lists(one, max_size=most // 2) | long | long


def sizes() -> st.SearchStrategy[int]:
    """Small jobs and large ones, in equal parts: many of middle size would rarely pass."""
    return st.integers(1, 2) | st.integers(1, NODES)


def script_of(jobs: Sequence[textbook.Job]) -> Script:
    """The same jobs for the queue, on whole nodes: number 1 comes first."""
    return _script(jobs, [whole_nodes(size) for _, _, _, size in jobs])


def pods_of(jobs: Sequence[textbook.Job], licences: Sequence[int]) -> Script:
    """The same jobs for the queue, as so many pods, each with some licences besides."""
    pairs = zip(jobs, licences, strict=True)
    return _script(jobs, [pods(job[3], amount) for job, amount in pairs])


def _script(jobs: Sequence[textbook.Job], requests: Sequence[Request]) -> Script:
    numbered = list(enumerate(zip(jobs, requests, strict=True), 1))
    acts = tuple(
        Act(submit, Submit(Submission(id, request, walltime=walltime)))
        for id, ((submit, _, walltime, _), request) in numbered
    )
    return Script(acts, {id: Fate(job[1]) for id, (job, _) in numbered})
