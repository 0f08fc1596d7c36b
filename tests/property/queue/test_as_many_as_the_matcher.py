"""A queue of equal jobs starts exactly as many as the matcher places one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.jobspec.build import core, jobspec, node, rack, res, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Operation
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.events import Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import HOLDING
from tests.oracle.generate import Blueprint, Cluster, V, build, clusters, jobspecs
from tests.property.profile import examples

MOST = 60
"""Jobs that are tried; graphs of more are not drawn."""


def placed(cluster: Cluster, request: Jobspec, policy: str) -> int:
    matcher = Matcher(build(cluster.root), policy=policy)
    for number in range(MOST):
        if not matcher.match(Operation.ALLOCATE, request):
            return number
    return MOST


def started(cluster: Cluster, request: Jobspec, policy: str) -> int:
    queue = Scheduler(Matcher(build(cluster.root), policy=policy), validate=True)
    for id in range(1, MOST + 1):
        queue.apply(Submit(Submission(id, request, walltime=60)), now=0)
    queue.cycle(now=0)
    return sum(job.state in HOLDING for job in queue.jobs.values())


@st.composite
def cases(draw: st.DrawFn) -> tuple[Cluster, Jobspec]:
    cluster = draw(clusters())
    return cluster, draw(jobspecs(cluster.blueprint))


@given(cases(), st.sampled_from(["lonode", "high", "first", "lonodex"]))
@examples(150)
def test_a_queue_starts_as_many_equal_jobs_as_the_matcher_places(
    case: tuple[Cluster, Jobspec], policy: str
) -> None:
    cluster, request = case
    assert started(cluster, request, policy) == placed(cluster, request, policy)


RACKS = V(
    "cluster",
    0,
    tuple(
        V("rack", r, tuple(V("node", n, tuple(V("core", c) for c in range(8))) for n in range(3)))
        for r in range(2)
    ),
)


@pytest.mark.parametrize(
    ("request_", "jobs"),
    [
        (jobspec(slot(1, core(1))), 48),
        (jobspec(node(1, slot(1, core(1)))), 48),
        (jobspec(rack(1, node(1, slot(1, core(1))))), 48),
        (jobspec(node(1, slot(3, core(1)))), 12),
        (jobspec(rack(1, slot(1, node(1)))), 6),
        (jobspec(node(2, slot(1, core(4)))), 6),
    ],
    ids=lambda each: "",
)
def test_shared_levels_above_a_slot_are_shared(request_: Jobspec, jobs: int) -> None:
    """Two racks of three nodes of eight cores."""
    cluster = Cluster(RACKS, Blueprint((), {}, frozenset()))
    assert placed(cluster, request_, "lonode") == jobs
    assert started(cluster, request_, "lonode") == jobs


@pytest.mark.parametrize(
    ("request_", "jobs"),
    [
        (jobspec(slot(1, core(1))), 6),
        (jobspec(slot(8, core(1))), 6),
        (jobspec(slot(10, core(1))), 3),
        (jobspec(slot(2, node(1))), 3),
        (jobspec(slot(1, rack(1))), 2),
    ],
    ids=lambda each: "",
)
def test_parts_of_nodes_that_are_allocated_whole(request_: Jobspec, jobs: int) -> None:
    """Two racks of three nodes of eight cores; slots of one job may share a node, jobs do not."""
    cluster = Cluster(RACKS, Blueprint((), {}, frozenset()))
    assert placed(cluster, request_, "lonodex") == jobs
    assert started(cluster, request_, "lonodex") == jobs


@pytest.mark.parametrize("policy", ["lonode", "high", "first"])
def test_vertices_of_different_sizes_serve_a_slot_each(policy: str) -> None:
    disks = tuple(V("ssd", number, size=size) for number, size in enumerate((1, 2, 2, 4)))
    root = V("cluster", 0, (V("rack", 0, (V("node", 0), *disks)),))
    cluster = Cluster(root, Blueprint((), {}, frozenset()))
    request = jobspec(slot(3, res("ssd", 1)))
    assert placed(cluster, request, policy) == 1
    assert started(cluster, request, policy) == 1
