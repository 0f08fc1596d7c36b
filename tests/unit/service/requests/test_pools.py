"""Jobspecs with cores and gpus, and gangs, on a graph of Kubernetes' pools."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.build import core, gpu, jobspec, node, res, slot
from fluxnetes.jobspec.model import Count, Jobspec, Resource
from fluxnetes.match.answers import Operation
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.service.requests.pools import pooled
from fluxnetes.service.values import EqualPods, MatchCall
from fluxnetes.service.views.shares import shares
from tests.integration.rpc.graphs import a_cluster
from tests.unit.service.manual_queue import a_manual_pool_queue, cores

SIZES = {"cpu": 4000, "memory": 1024, "pods": 10, "tenancy": 1_000_000, "nvidia.com/gpu": 2}
GRAPH = pool_graph({"n0": SIZES, "n1": SIZES})


def asked(request: Jobspec) -> Resource:
    found = pooled(request, GRAPH)
    assert isinstance(found, Jobspec)
    return found.resources[0]


def test_a_core_is_a_thousand_of_cpu_and_a_gpu_is_one_of_nvidias() -> None:
    [cpu, card, *_] = asked(jobspec(slot(1, core(2), gpu(1)))).children
    assert (cpu.type, cpu.count.min, cpu.count.max) == ("cpu", 2000, 2000)
    assert (card.type, card.count) == ("nvidia.com/gpu", Count(1, 1))


def test_every_slot_takes_the_place_of_a_pod() -> None:
    for request in (jobspec(slot(3, core(1))), jobspec(node(2, slot(3, core(1))))):
        found = asked(request)
        inner = found if found.type == "slot" else found.children[0]
        assert [(r.type, r.count.min) for r in inner.children[1:]] == [("pods", 1), ("tenancy", 1)]


def test_resource_types_of_kubernetes_stay_as_they_are() -> None:
    request = jobspec(slot(2, res("cpu", 250), res("memory", 64), res("pods", 3)))
    children = asked(request).children
    assert [(r.type, r.count.min) for r in children] == [
        ("cpu", 250),
        ("memory", 64),
        ("pods", 3),
        ("tenancy", 1),
    ]


def test_ranges_are_a_thousand_times_as_large_in_the_same_steps() -> None:
    for given_, expected in (
        (Count(1, 4, "+", 1), Count(1000, 4000, "+", 1000)),
        (Count(1, 8, "*", 2), Count(1000, 8000, "*", 2)),
    ):
        assert asked(jobspec(slot(1, core(given_)))).children[0].count == expected


def test_on_a_graph_of_cores_nothing_changes() -> None:
    request = jobspec(slot(1, core(2)))
    assert pooled(request, read_graph(a_cluster(1, 2), "jgf")) is request


def test_pods_of_a_gang_take_a_place_each() -> None:
    gang = Gang((Shape.of(2, {"cpu": 500}), Shape.of(1, {"cpu": 1, "tenancy": 1_000_000})))
    found = pooled(gang, GRAPH)
    assert isinstance(found, Gang)
    assert [dict(shape.amounts) for shape in found.shapes] == [
        {"cpu": 500, "pods": 1, "tenancy": 1},
        {"cpu": 1, "tenancy": 1_000_000, "pods": 1},
    ]


@given(st.integers(1, 9), st.integers(1, 4))
def test_slots_and_pods_of_the_same_size_get_as_much(count: int, size: int) -> None:
    """A jobspec of cores fits where a gang of as many thousandths does."""
    requests = (
        jobspec(slot(count, core(size)), duration=60),
        Gang((Shape.of(count, {"cpu": 1000 * size}),), duration=60),
    )
    found = []
    for request in requests:
        matcher = Matcher(GRAPH.copy(), policy="lonode")
        answer = matcher.match(Operation.ALLOCATE, pooled(request, matcher.graph), now=0)
        given_ = () if answer.placement is None else shares(matcher.graph, answer.placement)
        found.append({type: sum(s.amounts.get(type, 0) for s in given_) for type in SIZES})
    assert found[0] == found[1]


async def test_a_jobspec_of_cores_is_matched_on_pools_and_its_tasks_are_counted() -> None:
    queue = a_manual_pool_queue(nodes=2, cpu=4000)
    grant = await queue.ask(queue.operations.match(MatchCall(cores(6))))
    assert [(s.node, s.tasks, s.amounts["cpu"], s.amounts["pods"]) for s in grant.shares] == [
        ("n0", 4, 4000, 4),
        ("n1", 2, 2000, 2),
    ]


async def test_a_node_has_no_more_pods_than_places() -> None:
    queue = a_manual_pool_queue(nodes=1, cpu=4000, pods=2)
    gang = Gang((Shape.of(3, {"cpu": 1}),))
    grant = await queue.ask(queue.operations.match(MatchCall(gang)))
    assert not grant and "pods" in reason_text(grant.reason)


async def test_pods_that_are_to_be_together_are_counted_on_their_one_node() -> None:
    queue = a_manual_pool_queue(nodes=2, cpu=4000)
    grant = await queue.ask(queue.operations.match(MatchCall(EqualPods(3, cpu=1, together=True))))
    assert [(share.node, share.tasks, share.amounts["cpu"]) for share in grant.shares] == [
        ("n0", 3, 3000)
    ]
