"""What a match costs must not grow with what a node holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.readers.rv1 import load_rv1
from fluxnetes.jobspec.build import core, jobspec, node, res, slot
from fluxnetes.jobspec.constraint import Hostlist, Or
from fluxnetes.jobspec.model import MAX_LEVELS, MAX_RESOURCES, Jobspec, Resource
from fluxnetes.match import attempt
from fluxnetes.match.answers import Operation, Outcome
from fluxnetes.match.matcher import Matcher

REQUESTS = {
    "one core": jobspec(slot(1, core(1)), duration=60),
    "cores of nodes": jobspec(node(2, slot(1, core(4))), duration=60),
    "whole nodes": jobspec(slot(2, node(1, exclusive=True)), duration=60),
}


def machine(nodes: int, cores: int) -> str:
    lite = f'{{"rank": "0-{nodes - 1}", "children": {{"core": "0-{cores - 1}"}}}}'
    hosts = f'["n[0-{nodes - 1}]"]'
    return f'{{"version": 1, "execution": {{"R_lite": [{lite}], "nodelist": {hosts}}}}}'


def steps(act: Callable[[], object]) -> int:
    """How many functions are called, Python's and C's, while something is done."""
    count = 0

    def see(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def steps_of_a_match(policy: str, request: Jobspec, nodes: int, cores: int) -> int:
    matcher = Matcher(load_rv1(machine(nodes, cores)), policy=policy)
    for _ in range(3):
        assert matcher.allocate(request)
    return steps(lambda: matcher.allocate(request))


@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("policy", ["first", "lonode", "high", "lonodex", "locality", "variation"])
def test_the_steps_of_a_match_do_not_grow_with_the_cores_of_a_node(
    policy: str, request_name: str
) -> None:
    request = REQUESTS[request_name]
    few = steps_of_a_match(policy, request, nodes=32, cores=16)
    many = steps_of_a_match(policy, request, nodes=32, cores=256)
    assert many <= few + 5


@pytest.mark.parametrize("policy", ["first", "lonode", "high"])
def test_the_steps_of_a_match_do_not_grow_with_the_nodes(policy: str) -> None:
    request = REQUESTS["cores of nodes"]
    few = steps_of_a_match(policy, request, nodes=32, cores=16)
    many = steps_of_a_match(policy, request, nodes=512, cores=16)
    assert many <= few + 5


@pytest.mark.parametrize("policy", ["first", "lonode"])
def test_a_cancel_takes_no_more_steps_than_a_match(policy: str) -> None:
    matcher = Matcher(load_rv1(machine(32, 16)), policy=policy)
    request = REQUESTS["cores of nodes"]
    for _ in range(3):
        assert matcher.allocate(request)
    match = steps(lambda: matcher.allocate(request))
    assert steps(lambda: matcher.cancel(4)) <= match


class Counted(str):
    """A name that counts how often it is compared with another."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def comparisons(*resources: Resource) -> int:
    matcher = Matcher(load_rv1(machine(4, 4)))
    Counted.compared = 0
    for operation in Operation:
        assert not matcher.match(operation, jobspec(*resources, duration=60))
    return Counted.compared


@pytest.mark.parametrize("above", [(), ("node",), ("slot",), ("node", "slot")])
def test_the_steps_of_a_refusal_grow_no_faster_than_the_request(above: tuple[str, ...]) -> None:
    def siblings(count: int) -> tuple[Resource, ...]:
        found = tuple(res(Counted("core"), 1) for _ in range(count))
        for type in reversed(above):
            found = (res(type, 1, *found, label="x"),)
        return found

    assert comparisons(*siblings(2000)) <= 5 * comparisons(*siblings(500))


def test_the_nodes_are_named_once_for_all_constraints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named: list[int] = []
    names = ResourceGraph.names

    def noted(graph: ResourceGraph, vertices: Ints) -> list[str]:
        named.append(len(vertices))
        return names(graph, vertices)

    monkeypatch.setattr(ResourceGraph, "names", noted)
    matcher = Matcher(load_rv1(machine(32, 1)), policy="lonode")
    for hosts in (range(20), range(10, 30)):
        constraint = Or(tuple(Hostlist(frozenset({f"n{number}"})) for number in hosts))
        assert matcher.allocate(jobspec(slot(10, core(1)), duration=60, constraint=constraint))
    assert named == [32]


def test_the_steps_of_a_walk_do_not_grow_with_the_parents_of_what_it_had() -> None:
    """A rack that comes later in the walk than the one that has the storage finds nothing there."""
    few, many = (steps_on_shared_storage(racks) for racks in (8, 64))
    assert many <= few + 5


def steps_on_shared_storage(racks: int) -> int:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster, storage = patch.vertex("cluster", id=0), patch.vertex("storage", id=0)
    for number in range(racks):
        rack = patch.vertex("rack", id=number)
        patch.edge(cluster, rack)
        patch.edge(rack, storage)
    graph.apply(patch)
    matcher = Matcher(graph, policy="first")
    both = jobspec(res("rack", 2, slot(1, res("storage", 1))), duration=60)
    assert not matcher.allocate(both)
    return steps(lambda: matcher.allocate(both))


def test_a_request_that_no_parser_would_accept_is_refused_by_its_size() -> None:
    matcher = Matcher(load_rv1(machine(4, 4)))
    deep = slot(1, core(1))
    for _ in range(5000):
        deep = node(1, deep)
    answer = matcher.allocate(jobspec(deep))
    assert str(answer.reason) == f"requests are nested more than {MAX_LEVELS} deep"
    wide = matcher.allocate(jobspec(*[core(1)] * (MAX_RESOURCES + 1)))
    assert str(wide.reason) == f"the jobspec has more than {MAX_RESOURCES} requests"
    assert {answer.outcome, wide.outcome} == {Outcome.INVALID}


def test_the_times_that_one_call_tries_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Matcher(load_rv1(machine(4, 4)), policy="low")
    for seconds in range(1, 16):
        assert matcher.allocate(jobspec(slot(1, core(1)), duration=seconds))
    asked = jobspec(slot(1, node(4, exclusive=True)), duration=60)
    monkeypatch.setattr(attempt, "MAX_TIMES", 3)
    answer = matcher.allocate_orelse_reserve(asked)
    assert answer.outcome is Outcome.BUSY
    assert "among the next 3 times" in str(answer.reason)
    monkeypatch.setattr(attempt, "MAX_TIMES", 100)
    assert matcher.allocate_orelse_reserve(asked).at == 15
