"""Parts of pools, asked for by jobspec: exact amounts, from one pool each, beside other things."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import cluster, jobspec, memory, node, rack, res, slot
from fluxnetes.jobspec.model import Count, Resource
from fluxnetes.match.answers import Operation, Outcome
from fluxnetes.match.matcher import Matcher
from tests.unit.match import clusters as built
from tests.unit.match.clusters import given_to, pool


def cpu(count: int | Count) -> Resource:
    return res("cpu", count)


def licence(count: int) -> Resource:
    return res("licence", count)


def bandwidth(count: int) -> Resource:
    return res("bandwidth", count)


def farm(policy: str = "low") -> Matcher:
    graph = pool_graph({"n0": {"cpu": 8}, "n1": {"cpu": 8}}, shared={"licence": 5})
    return Matcher(graph, policy=policy)


def two_racks(policy: str = "low") -> Matcher:
    """Racks with 5 and 8 units of bandwidth, each with two nodes of 4 cpu."""
    machines = built.nodes(2, pool("cpu", 4))
    graph = built.cluster(
        built.a("rack", *machines, pool("bandwidth", 5)),
        built.a("rack", *machines, pool("bandwidth", 8)),
    )
    return Matcher(graph, policy=policy)


# -- parts of one pool -----------------------------------------------------------------------------


def test_a_job_takes_exactly_what_it_asks_for_and_others_the_rest() -> None:
    matcher = farm()
    sizes = [5, 2, 1, 1]
    taken = [given_to(matcher, matcher.allocate(jobspec(slot(1, cpu(n))))) for n in sizes]
    assert taken == [
        {"/cluster0/n0/cpu0": 5},
        {"/cluster0/n0/cpu0": 2},
        {"/cluster0/n0/cpu0": 1},
        {"/cluster0/n1/cpu0": 1},
    ]


def test_slots_on_one_pool_are_one_amount() -> None:
    matcher = farm()
    assert given_to(matcher, matcher.allocate(jobspec(node(1, slot(3, cpu(2)))))) == {
        "/cluster0/n0/cpu0": 6
    }


def test_what_a_cancelled_job_took_is_there_again() -> None:
    matcher = farm()
    first = matcher.allocate(jobspec(node(2, slot(1, cpu(8)))))
    assert not matcher.allocate(jobspec(slot(1, cpu(1))))
    matcher.cancel(first.jobid)
    assert matcher.allocate(jobspec(node(2, slot(1, cpu(8)))))


def test_a_range_takes_as_much_as_there_is() -> None:
    matcher = farm()
    assert matcher.allocate(jobspec(slot(1, cpu(5))))
    least_two = jobspec(node(1, slot(1, cpu(Count(2, 20)))))
    assert given_to(matcher, matcher.allocate(least_two)) == {"/cluster0/n0/cpu0": 3}
    assert given_to(matcher, matcher.allocate(least_two)) == {"/cluster0/n1/cpu0": 8}
    assert not matcher.allocate(least_two)


def test_a_share_comes_from_one_pool() -> None:
    graph = built.cluster(*built.nodes(1, pool("cpu", 4), pool("cpu", 4)))
    matcher = Matcher(graph, policy="low")
    assert not matcher.allocate(jobspec(node(1, slot(1, cpu(6)))))
    assert given_to(matcher, matcher.allocate(jobspec(node(1, slot(2, cpu(3)))))) == {
        "/cluster0/node0/cpu0": 3,
        "/cluster0/node0/cpu1": 3,
    }


def test_a_whole_node_takes_its_pools_whole_and_only_if_no_job_is_there() -> None:
    matcher = farm()
    assert matcher.allocate(jobspec(slot(1, cpu(1))))
    assert given_to(matcher, matcher.allocate(jobspec(node(1, exclusive=True)))) == {
        "/cluster0/n1": 1,
        "/cluster0/n1/cpu0": 8,
    }
    assert not matcher.allocate(jobspec(node(1, exclusive=True)))


def test_a_pool_that_is_down_is_not_used() -> None:
    matcher = farm()
    matcher.set_status("/cluster0/n0/cpu0", False)
    assert given_to(matcher, matcher.allocate(jobspec(slot(1, cpu(1))))) == {"/cluster0/n1/cpu0": 1}


def test_too_much_of_a_pool_is_reported_by_the_largest() -> None:
    answer = farm().match(Operation.ALLOCATE_WITH_SATISFIABILITY, jobspec(slot(1, cpu(9))))
    assert (answer.outcome, reason_text(answer.reason)) == (
        Outcome.UNSATISFIABLE,
        "needs 9 cpu on one node; the largest node has 8",
    )


# -- pools that no node owns -----------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["low", "first", "high", "locality", "variation", "hinode"])
@pytest.mark.parametrize(
    "asked",
    [
        (node(1, slot(1, cpu(3))), licence(2)),
        (licence(2), node(1, slot(1, cpu(3)))),
        (slot(1, cpu(3)), licence(2)),
        (cluster(1, node(1, slot(1, cpu(3))), licence(2)),),
    ],
)
def test_nodes_and_licences_are_given_together(policy: str, asked: tuple[Resource, ...]) -> None:
    matcher = farm(policy)
    for _ in range(2):
        taken = given_to(matcher, matcher.allocate(jobspec(*asked)))
        assert sorted(taken.values()) == [2, 3]
        assert taken["/cluster0/licence0"] == 2
    before = matcher.engine.ledger.held.copy()
    assert matcher.allocate(jobspec(*asked)).outcome is Outcome.BUSY, "one licence is left"
    assert (matcher.engine.ledger.held == before).all()


def test_a_job_waits_for_licences_while_nodes_are_free() -> None:
    matcher = farm()
    asked = jobspec(node(1, slot(1, cpu(1))), licence(3), duration=10)
    assert matcher.allocate(asked)
    later = matcher.allocate_orelse_reserve(asked)
    assert (later.outcome, later.at) == (Outcome.RESERVED, 10)


# -- pools below a rack ----------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["low", "first", "hinode"])
def test_bandwidth_beside_nodes_comes_from_their_rack(policy: str) -> None:
    matcher = two_racks(policy)
    answer = matcher.allocate(jobspec(rack(1, node(2, slot(1, cpu(3))), bandwidth(6))))
    assert given_to(matcher, answer) == {
        "/cluster0/rack1/node0/cpu0": 3,
        "/cluster0/rack1/node1/cpu0": 3,
        "/cluster0/rack1/bandwidth0": 6,
    }


def test_bandwidth_within_slots_adds_up() -> None:
    matcher = two_racks()
    answer = matcher.allocate(jobspec(rack(1, slot(2, node(1), bandwidth(4)))))
    assert given_to(matcher, answer) == {
        "/cluster0/rack1/node0": 1,
        "/cluster0/rack1/node1": 1,
        "/cluster0/rack1/bandwidth0": 8,
    }


def test_a_rack_without_enough_bandwidth_serves_no_job() -> None:
    matcher = two_racks()
    asked = jobspec(rack(1, node(1, slot(1, cpu(1))), bandwidth(3)))
    racks = []
    for _ in range(4):
        answer = matcher.allocate(asked)
        racks.append(min(given_to(matcher, answer)).split("/")[2] if answer else None)
    assert racks == ["rack0", "rack1", "rack1", None]


def test_beside_a_slot_that_is_filled_there_nothing_else_is_looked_for() -> None:
    asked = jobspec(rack(1, slot(1, node(1)), bandwidth(1)))
    answer = two_racks().match(Operation.ALLOCATE_WITH_SATISFIABILITY, asked)
    assert answer.outcome is Outcome.UNSATISFIABLE


def test_without_a_slot_or_a_rack_pools_add_up() -> None:
    matcher = two_racks()
    assert given_to(matcher, matcher.allocate(jobspec(bandwidth(6)))) == {
        "/cluster0/rack0/bandwidth0": 5,
        "/cluster0/rack1/bandwidth0": 1,
    }


# -- promises that are not kept yet ----------------------------------------------------------------


@pytest.mark.parametrize(
    "asked", [node(1, res("cpu", 2, exclusive=True)), res("cpu", 2, exclusive=True)]
)
def test_a_pool_asked_for_alone_is_given_only_if_no_job_has_a_part_of_it(asked: Resource) -> None:
    matcher = Matcher(pool_graph({"n0": {"cpu": 8}}), policy="low")
    assert matcher.allocate(jobspec(slot(1, cpu(1))))
    assert matcher.allocate(jobspec(asked)).outcome is Outcome.BUSY


def test_a_vertex_beside_a_pool_of_its_type_is_taken_whole() -> None:
    graph = built.cluster(*built.nodes(1, built.a("memory", size=4), pool("memory", 4)))
    matcher = Matcher(graph, policy="low")
    taken = given_to(matcher, matcher.allocate(jobspec(node(1, slot(1, memory(2))))))
    assert taken in ({"/cluster0/node0/memory0": 4}, {"/cluster0/node0/memory1": 2})


def test_a_range_is_served_by_one_of_two_pools() -> None:
    graph = built.cluster(*built.nodes(1, pool("cpu", 4), pool("cpu", 4)))
    matcher = Matcher(graph, policy="low")
    answer = matcher.allocate(jobspec(node(1, slot(1, cpu(Count(1, 6))))))
    assert list(given_to(matcher, answer).values()) == [4]
