"""Equal pods of the old dialects, as requests."""

from __future__ import annotations

import pytest

from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.service.errors import Invalid
from fluxnetes.service.requests.pods import MAX_PODS, request_for
from fluxnetes.service.values import EqualPods
from tests.unit.match.clusters import cluster, cores, nodes

CORES = cluster(*nodes(1, *cores(4)))
POOLS = pool_graph({"n1": {"cpu": 4000, "memory": 4096, "pods": 110, "nvidia.com/gpu": 2}})
MIB = 1 << 20

OLD = """
version: 1
resources:
- {type: slot, count: 3, label: default, with: [
    {type: core, count: 2}, {type: memory, count: 512}, {type: gpu, count: 1}]}
attributes: {system: {duration: 3600}}
tasks: [{command: [group], slot: default, count: {per_slot: 1}}]
"""
OLD_ZONE = """
version: 1
resources: [{type: subnet, count: 1, with: [{type: node, count: 1, with: [
    {type: slot, count: 3, label: default, with: [{type: core, count: 2}]}]}]}]
attributes: {system: {duration: 3600}}
tasks: [{command: [group], slot: default, count: {per_slot: 1}}]
"""


def test_on_cores_it_is_the_jobspec_that_the_old_services_made() -> None:
    pods = EqualPods(3, cpu=2, memory=512 * MIB, gpu=1, storage=10**12)
    request, old = request_for(pods, CORES), parse_jobspec(OLD)
    assert not isinstance(request, Gang)
    assert (request.resources, request.duration) == (old.resources, old.duration)


def test_all_on_one_node_is_what_they_made_of_the_label_zone() -> None:
    request, old = request_for(EqualPods(3, cpu=2, together=True), CORES), parse_jobspec(OLD_ZONE)
    assert not isinstance(request, Gang)
    assert request.resources == old.resources


@pytest.mark.parametrize(
    ("memory", "asked"), [(0, []), (MIB - 1, []), (MIB, [1]), (3 * MIB - 1, [2])]
)
def test_memory_is_counted_in_whole_mib_as_they_did(memory: int, asked: list[int]) -> None:
    request = request_for(EqualPods(1, cpu=1, memory=memory), CORES)
    assert not isinstance(request, Gang)
    found = [each for each in request.resources[0].children if each.type == "memory"]
    assert [each.count.min for each in found] == asked


def test_on_pools_it_is_a_gang_that_never_gets_less_than_it_asked_for() -> None:
    pods = EqualPods(3, cpu=2, memory=MIB + 1, gpu=1)
    amounts = {"cpu": 2000, "memory": 2, "nvidia.com/gpu": 1, "pods": 1}
    assert request_for(pods, POOLS) == Gang((Shape.of(3, amounts),), duration=3600)


def test_all_on_one_node_of_pools_is_one_that_is_as_large_as_all() -> None:
    pods = EqualPods(3, cpu=1, memory=MIB, together=True)
    amounts = {"cpu": 3000, "memory": 3, "pods": 3}
    assert request_for(pods, POOLS) == Gang((Shape.of(1, amounts),), duration=3600)


@pytest.mark.parametrize("graph", [CORES, POOLS])
@pytest.mark.parametrize(
    ("pods", "field"),
    [
        (EqualPods(0, 1), "count"),
        (EqualPods(-3, 1), "count"),
        (EqualPods(MAX_PODS + 1, 1), "count"),
        (EqualPods(1, 0), "cpu"),
        (EqualPods(1, -1), "cpu"),
        (EqualPods(1, 1, memory=-1), "memory"),
        (EqualPods(1, 1, gpu=-1), "gpu"),
    ],
)
def test_an_invalid_field_is_refused_with_its_name(
    pods: EqualPods, field: str, graph: object
) -> None:
    with pytest.raises(Invalid, match="expected") as refused:
        request_for(pods, graph)  # type: ignore[arg-type]
    assert refused.value.field == field
