"""The tasks on each node, counted by what a job holds there."""

from __future__ import annotations

import pytest

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import core, gpu, jobspec, memory, node, rack, res, slot
from fluxnetes.jobspec.model import Count, Jobspec
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.jobs import Request
from fluxnetes.service.views.shares import shares
from fluxnetes.service.views.tasks import EqualTasks, tasks_of
from tests.unit.match.clusters import a, cluster, cores, gpus, nodes


def tasks(graph: ResourceGraph, request: Request, *before: Request) -> dict[str, int]:
    """The tasks on each node of a job that comes after some others."""
    matcher = Matcher(graph, policy="lonode")
    for each in before:
        assert matcher.allocate(each)
    answer = matcher.allocate(request)
    assert answer.placement is not None, answer.reason
    found = shares(graph, answer.placement, tasks_of(request, answer.seats))
    return {share.node: share.tasks for share in found}


TWO = cluster(*nodes(2, *cores(8), *gpus(2)))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (jobspec(slot(3, core(2))), {"node0": 3}),
        (jobspec(slot(5, core(2))), {"node0": 4, "node1": 1}),
        (jobspec(slot(3, core(2), gpu(1))), {"node0": 2, "node1": 1}),
        (jobspec(node(2, slot(2, core(1)))), {"node0": 2, "node1": 2}),
        (jobspec(slot(1, core(8))), {"node0": 1}),
    ],
)
def test_slots_that_are_alike_are_counted_by_what_they_take(
    request_: Jobspec, expected: dict[str, int]
) -> None:
    assert tasks(TWO, request_) == expected


def test_slots_beside_those_of_others_are_counted_right() -> None:
    found = tasks(TWO, jobspec(slot(3, core(3))), jobspec(slot(1, core(3))))
    assert found == {"node0": 1, "node1": 2}


def test_slots_below_racks_and_nodes_are_multiplied() -> None:
    graph = cluster(a("rack", *nodes(2, *cores(4))), a("rack", a("node", *cores(4), id=2)))
    found = tasks(graph, jobspec(rack(1, node(2, slot(2, core(2))))))
    assert found == {"node0": 2, "node1": 2}


@pytest.mark.parametrize(
    "request_",
    [
        jobspec(slot(1, node(1, core(4)))),
        jobspec(slot(1, core(Count(1, 4)))),
        jobspec(slot(1, res("socket", 1, core(1)))),
        jobspec(slot(1, core(1)), slot(1, core(1))),
    ],
)
def test_where_tasks_cannot_be_counted_their_number_is_0(request_: Jobspec) -> None:
    assert tasks_of(request_).on(0, {"core": 8}) == 0


def test_no_node_has_more_tasks_than_the_job() -> None:
    """A node that is held exclusively would suffice for more tasks than the job has."""
    three = EqualTasks(3, {"core": 1})
    assert [three.on(node, {"core": 2}) for node in range(4)] == [2, 1, 0, 0]


def test_what_is_not_on_a_node_is_enough_for_nothing() -> None:
    assert EqualTasks(3, {"core": 1, "gpu": 1}).on(0, {"core": 8}) == 0


def test_pods_are_where_they_were_seated() -> None:
    graph = pool_graph({"n1": {"cpu": 4000, "pods": 9}, "n2": {"cpu": 4000, "pods": 9}})
    shapes = (Shape.of(3, {"cpu": 1500, "pods": 1}), Shape.of(1, {"cpu": 500, "pods": 1}))
    found = tasks(graph, Gang(shapes))
    assert sum(found.values()) == 4
    assert max(found.values()) <= 3


def test_pods_of_one_shape_are_counted_also_when_their_seats_are_unknown() -> None:
    """As after a restart."""
    gang = Gang((Shape.of(3, {"cpu": 1500, "pods": 1}),))
    known = tasks_of(gang)
    assert [known.on(n, {"cpu": c, "pods": p}) for n, c, p in ((0, 3000, 2), (1, 1500, 1))] == [
        2,
        1,
    ]


def test_memory_in_a_slot_is_part_of_what_it_takes() -> None:
    known = tasks_of(jobspec(slot(2, core(2), memory(512))))
    assert known.on(0, {"core": 4, "memory": 512}) == 1
    assert known.on(1, {"core": 4, "memory": 1024}) == 1
