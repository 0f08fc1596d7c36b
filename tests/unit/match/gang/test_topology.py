"""Gangs that say which of their pods are to be close together, and which apart."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.common.reasons import ReasonCode
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.constraint import Hostlist
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.planning import Planning

CPUS = {"a0": 4, "a1": 4, "a2": 4, "b0": 2, "b1": 4, "c0": 8, "x0": 8}
RACKS = {"a0": "a", "a1": "a", "a2": "a", "b0": "b", "b1": "b", "c0": "c"}
"""x0 is in no rack."""
BLOCKS = {"a0": "ab", "a1": "ab", "a2": "ab", "b0": "ab", "b1": "ab", "c0": "c", "x0": "c"}


def cluster() -> Matcher:
    """Racks with capacity for 12 (a), 6 (b) and 8 (c) pods; the first two make up a block."""
    graph = pool_graph(
        {name: {"cpu": cpus, "licence": 1} for name, cpus in CPUS.items()},
        levels={"block": BLOCKS, "rack": RACKS},
    )
    return Matcher(graph, policy="lonode")


def gang(pods: int | tuple[int, ...], cpu: int = 1, **topology: Any) -> Gang:
    counts = (pods,) if isinstance(pods, int) else pods
    shapes = tuple(Shape.of(count, {"cpu": cpu + n}) for n, count in enumerate(counts))
    request = TopologyRequest(**topology)
    return Gang(shapes, duration=10, topology=request)


def seats(matcher: Matcher, asked: Gang) -> list[dict[str, int]]:
    answer = matcher.allocate(asked)
    assert answer, f"{answer.outcome}: {answer.reason}"
    names = matcher.graph.name
    return [
        {names(row): int(n) for row, n in zip(s.node, s.pods, strict=True)} for s in answer.seats
    ]


def racks(found: list[dict[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for pods in found:
        for node, count in pods.items():
            rack = RACKS.get(node, "-")
            sums[rack] = sums.get(rack, 0) + count
    return sums


# -- inside one domain -----------------------------------------------------------------------------


def test_a_gang_goes_to_the_rack_that_it_leaves_the_least_of() -> None:
    for pods, rack in [(6, "b"), (7, "c"), (8, "c"), (9, "a")]:
        assert racks(seats(cluster(), gang(pods, required="rack"))) == {rack: pods}


def test_inside_its_rack_it_uses_nodes_in_the_policys_order() -> None:
    assert seats(cluster(), gang(9, required="rack")) == [{"a0": 4, "a1": 4, "a2": 1}]


def test_what_is_free_decides_not_what_a_rack_has() -> None:
    matcher = cluster()
    assert racks(seats(matcher, gang(8, required="rack"))) == {"c": 8}
    assert racks(seats(matcher, gang(7, required="rack"))) == {"a": 7}
    assert racks(seats(matcher, gang(5, required="rack"))) == {"a": 5}
    assert racks(seats(matcher, gang(5, required="rack"))) == {"b": 5}


def test_all_shapes_of_a_gang_are_in_one_domain() -> None:
    found = seats(cluster(), gang((3, 2), required="rack"))  # 3 pods of 1 cpu and 2 of 2
    assert racks(found) == {"c": 5}
    assert racks(seats(cluster(), gang((2, 2), required="rack"))) == {"b": 4}


def test_a_wider_level_holds_several_narrower_ones() -> None:
    assert racks(seats(cluster(), gang(13, required="block"))) == {"c": 8, "-": 5}
    assert racks(seats(cluster(), gang(17, required="block"))) == {"a": 12, "b": 5}


def test_a_node_is_a_level_too() -> None:
    assert seats(cluster(), gang(5, required="node")) == [{"c0": 5}]


def test_a_node_without_a_rack_is_in_no_rack() -> None:
    matcher = cluster()
    assert racks(seats(matcher, gang(8, required="rack"))) == {"c": 8}
    assert racks(seats(matcher, gang(8, required="rack"))) == {"a": 8}
    assert not matcher.allocate(gang(8, required="rack")), "x0 alone has 8 free"


def test_constraints_of_shapes_count_when_a_domain_is_chosen() -> None:
    there = Hostlist(frozenset({"a1", "b1", "c0"}))
    asked = Gang((Shape.of(4, {"cpu": 1}, there),), topology=TopologyRequest("rack"))
    assert seats(cluster(), asked) == [{"a1": 4}]


# -- preferred -------------------------------------------------------------------------------------


def test_a_preference_takes_the_narrowest_level_that_fits() -> None:
    assert racks(seats(cluster(), gang(12, preferred="rack"))) == {"a": 12}
    assert racks(seats(cluster(), gang(13, preferred="rack"))) == {"c": 8, "-": 5}
    assert racks(seats(cluster(), gang(17, preferred="rack"))) == {"a": 12, "b": 5}


def test_what_fits_in_no_domain_fills_the_largest_ones_first() -> None:
    found = seats(cluster(), gang(20, preferred="rack"))
    assert racks(found) == {"a": 12, "b": 6, "c": 2}


def test_a_preference_is_kept_inside_of_what_is_required() -> None:
    assert racks(seats(cluster(), gang(8, required="block", preferred="rack"))) == {"c": 8}
    assert racks(seats(cluster(), gang(9, required="block", preferred="rack"))) == {"a": 9}
    assert not cluster().allocate(gang(19, required="block", preferred="rack"))


# -- slices ----------------------------------------------------------------------------------------


def test_every_slice_is_in_one_domain() -> None:
    found = seats(cluster(), gang(24, slice_level="rack", slice_size=4))
    assert racks(found) == {"a": 12, "c": 8, "b": 4}


def test_pods_that_are_left_over_are_in_one_domain_too_and_come_last() -> None:
    found = seats(cluster(), gang(22, slice_level="rack", slice_size=5))
    assert racks(found) == {"a": 12, "b": 5, "c": 5}
    assert list(found[0])[-1] == "a2", "a slice is a run of tasks"


def test_slices_that_fit_in_one_domain_are_in_one() -> None:
    assert racks(seats(cluster(), gang(8, slice_level="rack", slice_size=2))) == {"c": 8}


def test_slices_are_in_the_domain_that_all_of_them_have_to_be_in() -> None:
    asked = gang(12, required="block", slice_level="rack", slice_size=6)
    assert racks(seats(cluster(), asked)) == {"a": 12}
    assert racks(
        seats(cluster(), gang(18, required="block", slice_level="rack", slice_size=6))
    ) == {
        "a": 12,
        "b": 6,
    }


# -- spread ----------------------------------------------------------------------------------------


def test_no_domain_gets_more_than_it_may() -> None:
    assert racks(seats(cluster(), gang(9, spread_level="rack", spread_most=3))) == {
        "a": 3,
        "b": 3,
        "c": 3,
    }
    assert not cluster().allocate(gang(10, spread_level="rack", spread_most=3))


def test_the_limit_counts_all_shapes() -> None:
    assert not cluster().allocate(gang((3, 1), spread_level="block", spread_most=1))
    found = seats(cluster(), gang((1, 1), spread_level="block", spread_most=1))
    assert [list(each) for each in found] == [["a0"], ["c0"]]


def test_pods_are_apart_inside_of_what_holds_all_of_them() -> None:
    found = seats(cluster(), gang(3, required="rack", spread_level="node", spread_most=1))
    assert found == [{"a0": 1, "a1": 1, "a2": 1}]


def test_slices_respect_the_limit_of_a_wider_domain() -> None:
    asked = gang(8, slice_level="rack", slice_size=4, spread_level="block", spread_most=4)
    assert racks(seats(cluster(), asked)) == {"c": 4, "b": 4}


def test_a_smaller_last_slice_leaves_the_others_their_part_of_a_limit() -> None:
    graph = pool_graph(
        {"p": {"cpu": 8}, "q": {"cpu": 8}},
        levels={"block": {"p": "p", "q": "q"}, "rack": {"p": "p", "q": "q"}},
    )
    asked = gang(11, slice_level="rack", slice_size=4, spread_level="block", spread_most=8)
    answer = Matcher(graph, policy="lonode").allocate(asked)
    assert sorted(int(s) for each in answer.seats for s in each.pods) == [3, 8]


# -- later -----------------------------------------------------------------------------------------


def test_a_gang_waits_until_one_domain_is_free_enough() -> None:
    matcher = cluster()
    for seconds in (30, 20):
        other = Gang((Shape.of(6, {"cpu": 1}),), duration=seconds, topology=TopologyRequest("rack"))
        assert matcher.allocate(other)  # in b, then in c
    assert matcher.allocate(gang(6, required="rack"))  # in a, until 10
    answer = matcher.allocate_orelse_reserve(gang(12, required="rack"))
    assert (answer.outcome, answer.at) == (Outcome.RESERVED, 10)


def test_a_placement_of_before_is_not_used_again_where_another_domain_is_tighter_now() -> None:
    matcher = cluster()
    first = matcher.allocate(gang(2, required="node"))
    assert racks(seats(matcher, gang(2, required="node"))) == {"a": 2}
    matcher.cancel(first.jobid)
    assert seats(matcher, gang(2, required="node")) == [{"a0": 2}], "the tightest node"


# -- why not ---------------------------------------------------------------------------------------


def why(asked: Gang, matcher: Matcher | None = None) -> str:
    answer = (matcher or cluster()).allocate(asked)
    assert answer.outcome is Outcome.BUSY
    return reason_text(answer.reason)


def test_a_reason_says_what_is_lacking() -> None:
    assert why(gang(13, required="rack")) == (
        "needs 13 pods inside one rack; the most that fit in one rack now is 12"
    )
    assert why(gang(10, spread_level="rack", spread_most=3)) == (
        "needs 10 pods with at most 3 in one rack; 9 fit now"
    )
    assert why(gang(24, slice_level="rack", slice_size=5)) == (
        "needs 5 slices of 5 pods, each inside one rack; 4 fit now"
    )
    assert why(gang(18, required="block", slice_level="rack", slice_size=5)) == (
        "needs 4 slices of 5 pods, each inside one rack; 3 fit now (all inside one block)"
    )
    assert why(gang((9, 3), required="rack")) == (
        "needs 12 pods inside one rack; the most that fit in one rack now is 10"
    )


def test_what_fits_nowhere_has_the_reason_that_it_has_without_a_topology() -> None:
    assert why(gang(1, cpu=9, required="rack")) == (
        "needs 9 cpu on one node; the most that one has free is 8"
    )
    assert why(gang(40, required="rack")) == "needs 40 pods of 1 cpu; 34 fit now"


def test_whether_it_can_ever_fit_is_told_apart() -> None:
    matcher = cluster()
    answer = matcher.match(Operation.ALLOCATE_WITH_SATISFIABILITY, gang(13, required="rack"))
    assert (answer.outcome, reason_text(answer.reason)) == (
        Outcome.UNSATISFIABLE,
        "needs 13 pods inside one rack; the most that one rack can hold is 12",
    )
    assert matcher.allocate(gang(1, required="rack"))
    judged = Planning(matcher).judge(gang(31, slice_level="rack", slice_size=31))
    assert judged is not None and judged.code is ReasonCode.UNSATISFIABLE


def test_a_level_without_a_domain_is_told() -> None:
    graph = pool_graph({"n": {"cpu": 4}}, levels={"rack": {}})
    assert why(gang(1, required="rack"), Matcher(graph)) == (
        "it is to be inside one rack, and no node is in one"
    )


def invalid(asked: Gang) -> Answer:
    answer = cluster().allocate(asked)
    assert answer.outcome is Outcome.INVALID
    return answer


@pytest.mark.parametrize(
    ("topology", "reason"),
    [
        ({"required": "shelf"}, "no resource of type 'shelf' is known here"),
        ({"slice_level": "rack"}, "slices of 0 pods: expected 1 or more"),
        ({"spread_level": "rack", "spread_most": -1}, "at most -1 pods each: expected 1 or more"),
    ],
)
def test_what_makes_no_sense_is_invalid(topology: dict[str, Any], reason: str) -> None:
    assert reason in reason_text(invalid(gang(1, **topology)).reason)


def test_a_level_that_is_unknown_here_can_never_be_served() -> None:
    judged = Planning(cluster()).judge(gang(1, required="shelf"))
    assert judged is not None and judged.code is ReasonCode.UNSATISFIABLE
