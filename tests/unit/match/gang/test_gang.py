"""Gangs: all pods or none, each on a node that has the capacity for it."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, res, slot
from fluxnetes.jobspec.constraint import Hostlist, Properties
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.gang import placer
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import HORIZON, Matcher
from tests.unit.match.clusters import a, cluster, given_to, nodes, pool, racks

NODES = {"n0": {"cpu": 8, "memory": 16}, "n1": {"cpu": 4, "memory": 16, "gpu": 2}}


def two_nodes(policy: str = "low", **options: object) -> Matcher:
    return Matcher(pool_graph(NODES, shared={"licence": 5}, **options), policy=policy)  # type: ignore[arg-type]


def pods(count: int, **amounts: int) -> Shape:
    return Shape.of(count, amounts)


def gang(*shapes: Shape, licences: int = 0, duration: float = 10) -> Gang:
    shared = (("licence", licences),) if licences else ()
    return Gang(shapes, shared, duration)


def seats(matcher: Matcher, answer: Answer) -> list[dict[str, int]]:
    assert answer, f"{answer.outcome}: {answer.reason}"
    return [
        {
            matcher.graph.name(row): pods
            for row, pods in zip(s.node.tolist(), s.pods.tolist(), strict=True)
        }
        for s in answer.seats
    ]


# -- where pods go ---------------------------------------------------------------------------------


def test_pods_go_to_the_first_nodes_in_the_policys_order_as_many_as_fit() -> None:
    for policy, expected in [("low", {"n0": 4, "n1": 1}), ("high", {"n1": 2, "n0": 3})]:
        matcher = two_nodes(policy)
        assert seats(matcher, matcher.allocate(gang(pods(5, cpu=2)))) == [expected]


def test_what_an_earlier_shape_took_is_gone_for_the_next() -> None:
    matcher = two_nodes()
    answer = matcher.allocate(gang(pods(1, cpu=5), pods(2, cpu=3)))
    assert seats(matcher, answer) == [{"n0": 1}, {"n0": 1, "n1": 1}]
    assert given_to(matcher, answer) == {"/cluster0/n0/cpu0": 8, "/cluster0/n1/cpu0": 3}


def test_a_pod_goes_only_where_every_amount_is() -> None:
    matcher = two_nodes()
    assert seats(matcher, matcher.allocate(gang(pods(2, cpu=1, gpu=1)))) == [{"n1": 2}]


def test_constraints_are_each_shapes_own() -> None:
    matcher = two_nodes()
    there = Shape.of(1, {"cpu": 1}, Hostlist(frozenset({"n1"})))
    assert seats(matcher, matcher.allocate(gang(there, pods(1, cpu=1)))) == [{"n1": 1}, {"n0": 1}]


def test_properties_are_looked_at_anew() -> None:
    matcher = two_nodes()
    fast = gang(Shape.of(1, {"cpu": 1}, Properties(("fast",))))
    assert not matcher.allocate(fast)
    matcher.set_property("/cluster0/n1", "fast", "")
    assert seats(matcher, matcher.allocate(fast)) == [{"n1": 1}]


def test_licences_that_no_node_owns_are_taken_with_the_pods_or_nothing_is() -> None:
    matcher = two_nodes()
    first = matcher.allocate(gang(pods(1, cpu=1), licences=3))
    assert given_to(matcher, first) == {"/cluster0/n0/cpu0": 1, "/cluster0/licence0": 3}
    assert matcher.allocate(gang(pods(1, cpu=1), licences=3)).outcome is Outcome.BUSY
    assert matcher.allocate(gang(pods(1, cpu=7), licences=2))


def test_nodes_that_cannot_be_reached_are_not_used() -> None:
    matcher = two_nodes(zones={"n0": "west", "n1": "east"})
    matcher.set_status("/cluster0/west", False)
    assert seats(matcher, matcher.allocate(gang(pods(1, cpu=1)))) == [{"n1": 1}]
    assert matcher.satisfiable(gang(pods(1, cpu=8)))
    assert not matcher.allocate(gang(pods(1, cpu=8)))
    matcher.set_status("/cluster0/west", True)
    assert matcher.allocate(gang(pods(1, cpu=8)))


def test_a_node_that_a_job_has_alone_takes_no_pods_and_one_with_pods_is_not_alone() -> None:
    matcher = two_nodes()
    a_node = jobspec(slot(1, node(1)), duration=10)
    assert matcher.allocate(a_node)
    assert seats(matcher, matcher.allocate(gang(pods(1, cpu=1)))) == [{"n1": 1}]
    assert matcher.allocate(a_node).outcome is Outcome.BUSY


def test_pods_and_slots_share_the_pools_of_a_node() -> None:
    matcher = two_nodes()
    assert matcher.allocate(gang(pods(1, cpu=5)))
    assert given_to(matcher, matcher.allocate(jobspec(node(1, slot(1, res("cpu", 3)))))) == {
        "/cluster0/n0/cpu0": 3
    }
    assert seats(matcher, matcher.allocate(gang(pods(1, cpu=1)))) == [{"n1": 1}]


@pytest.mark.parametrize("policy", ["lonodex", "firstnodex"])
def test_a_node_exclusive_policy_gives_whole_nodes_to_a_gang(policy: str) -> None:
    matcher = two_nodes(policy)
    first = matcher.allocate(gang(pods(1, gpu=1)))
    assert given_to(matcher, first) == {
        "/cluster0/n1": 1,
        "/cluster0/n1/cpu0": 4,
        "/cluster0/n1/memory0": 16,
        "/cluster0/n1/gpu0": 2,
    }
    assert matcher.allocate(gang(pods(1, gpu=1))).outcome is Outcome.BUSY


# -- all or none, now or later ---------------------------------------------------------------------


def test_one_pod_too_many_leaves_all_without_a_place() -> None:
    matcher = two_nodes()
    assert not matcher.allocate(gang(pods(1, cpu=1), pods(4, cpu=4)))
    assert matcher.jobs == {}
    assert matcher.allocate(gang(pods(3, cpu=4)))


def test_a_gang_waits_for_the_earliest_time_at_which_all_of_it_fits() -> None:
    matcher = two_nodes()
    assert matcher.allocate(gang(pods(1, cpu=8), duration=30))
    assert matcher.allocate(gang(pods(1, cpu=4), duration=20))
    assert matcher.allocate_orelse_reserve(gang(pods(1, cpu=4))).at == 20
    assert matcher.allocate_orelse_reserve(gang(pods(2, cpu=4))).at == 30
    both = matcher.allocate_orelse_reserve(gang(pods(3, cpu=4)))
    assert (both.outcome, both.at) == (Outcome.RESERVED, 40)


def test_a_short_gang_slips_in_before_a_reservation_and_a_long_one_does_not() -> None:
    matcher = two_nodes()
    assert matcher.allocate(gang(pods(1, cpu=8), duration=30))
    assert matcher.allocate_orelse_reserve(gang(pods(3, cpu=4))).at == 30
    assert matcher.allocate(gang(pods(1, cpu=4), duration=31)).outcome is Outcome.BUSY
    assert matcher.allocate(gang(pods(1, cpu=4), duration=30)).outcome is Outcome.ALLOCATED


def test_questions_about_gangs_take_no_id_and_nothing_else() -> None:
    matcher = two_nodes()
    for operation in (Operation.SATISFIABILITY, Operation.WITHOUT_ALLOCATING):
        assert matcher.match(operation, gang(pods(3, cpu=4)))
    assert (matcher.next_jobid, matcher.jobs) == (1, {})
    assert matcher.allocate(gang(pods(3, cpu=4))).jobid == 1


def test_a_cancelled_gang_gives_all_back() -> None:
    matcher = two_nodes()
    everything = gang(pods(3, cpu=4), licences=5)
    matcher.cancel(matcher.allocate(everything).jobid)
    assert matcher.allocate(everything)


# -- why not ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (gang(pods(1, cpu=9)), "needs 9 cpu on one node; the most that one has is 8"),
        (
            gang(pods(3, gpu=1)),
            "needs 3 pods of 1 gpu; all nodes together fit 2",
        ),
        (
            gang(pods(4, cpu=4, memory=1)),
            "needs 4 pods of 4 cpu, 1 memory; all nodes together fit 3",
        ),
        (
            gang(pods(1, cpu=1), licences=6),
            "needs 6 licence that no node owns; the most in one place is 5",
        ),
        (
            Gang((pods(1, cpu=1),), (("gpu", 1),)),
            "needs 1 gpu that no node owns; the most in one place is 0",
        ),
    ],
)
def test_why_a_gang_can_never_fit(asked: Gang, reason: str) -> None:
    answer = two_nodes().match(Operation.ALLOCATE_WITH_SATISFIABILITY, asked)
    assert (answer.outcome, reason_text(answer.reason)) == (Outcome.UNSATISFIABLE, reason)


def test_why_a_gang_does_not_fit_now() -> None:
    matcher = two_nodes()
    assert matcher.allocate(gang(pods(1, cpu=6)))
    answer = matcher.allocate(gang(pods(1, cpu=5)))
    assert (answer.outcome, reason_text(answer.reason)) == (
        Outcome.BUSY,
        "needs 5 cpu on one node; the most that one has free is 4",
    )


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (gang(), "a gang needs at least one pod, and a pod at least one amount"),
        (gang(pods(0, cpu=1)), "a gang needs at least one pod, and a pod at least one amount"),
        (gang(pods(1)), "a gang needs at least one pod, and a pod at least one amount"),
        (gang(pods(1, cpu=-1)), "an amount of -1 cpu: expected 0 or more"),
        (Gang((pods(1, cpu=1),), (("licence", -2),)), "an amount of -2 licence: expected 0 or"),
        (gang(pods(1, cup=1)), "no resource of type 'cup' is known here"),
        (gang(pods(1, cpu=1), duration=-1), f"duration -1 is not between 0 and {HORIZON}"),
    ],
)
def test_gangs_that_make_no_sense_are_invalid_and_take_no_id(asked: Gang, reason: str) -> None:
    matcher = two_nodes()
    answer = matcher.allocate(asked)
    assert answer.outcome is Outcome.INVALID
    assert reason in reason_text(answer.reason)
    assert matcher.next_jobid == 1


# -- promises that are not kept yet ----------------------------------------------------------------


def test_a_gang_that_asks_for_nothing_gets_an_answer() -> None:
    assert two_nodes().allocate(gang(pods(1, cpu=0))).outcome is Outcome.INVALID


def test_an_amount_of_0_asks_for_nothing() -> None:
    matcher = two_nodes()
    assert seats(matcher, matcher.allocate(gang(pods(1, cpu=1, gpu=0)))) == [{"n0": 1}]


@pytest.mark.parametrize(
    "asked",
    [
        Gang((pods(1, cpu=1),), (("licence", 3), ("licence", 3))),
        Gang((Shape(1, (("cpu", 5), ("cpu", 5))),)),
    ],
)
def test_two_amounts_of_one_type_add_up(asked: Gang) -> None:
    assert not two_nodes().allocate(asked)


@pytest.mark.parametrize("path", ["/cluster0/n1/gpu0", "/cluster0/licence0"])
def test_a_pool_that_is_down_serves_no_job(path: str) -> None:
    matcher = two_nodes()
    matcher.set_status(path, False)
    assert not matcher.allocate(gang(pods(1, gpu=1), licences=1))


def test_a_pool_below_a_rack_that_is_down_serves_no_job() -> None:
    matcher = Matcher(
        cluster(*nodes(1, pool("cpu", 4)), a("rack", pool("licence", 4))), policy="low"
    )
    matcher.set_status("/cluster0/rack0", False)
    assert not matcher.allocate(gang(pods(1, cpu=1), licences=1))


def test_no_pod_goes_below_what_a_job_has_alone() -> None:
    matcher = Matcher(cluster(*racks(1, *nodes(1, pool("cpu", 4)))), policy="low")
    assert matcher.allocate(jobspec(slot(1, res("rack", 1))))
    assert not matcher.allocate(gang(pods(1, cpu=1)))


def test_nodes_at_different_depths_are_never_overcommitted() -> None:
    graph = cluster(*nodes(1, pool("cpu", 4)), *racks(1, *nodes(1, pool("cpu", 4))))
    matcher = Matcher(graph, policy="low")
    whole_node = pods(1, cpu=4)
    assert matcher.allocate(gang(whole_node, duration=20))
    assert matcher.allocate(gang(whole_node, duration=30))
    first = matcher.allocate_orelse_reserve(gang(whole_node, duration=30))
    second = matcher.allocate_orelse_reserve(gang(whole_node, duration=30))
    assert (first.at, second.at) == (20, 30)


def test_variation_prefers_nodes_by_class_even_after_it_changed() -> None:
    matcher = two_nodes("variation", properties={"n0": {"perf_class": "1"}})
    assert seats(matcher, matcher.allocate(gang(pods(1, cpu=1)))) == [{"n0": 1}]
    matcher.set_property("/cluster0/n1", "perf_class", "0")
    assert seats(matcher, matcher.allocate(gang(pods(1, cpu=1)))) == [{"n1": 1}]


def test_of_several_pools_of_one_type_in_a_node_the_largest_serves_pods() -> None:
    """Kubernetes knows one amount of a resource a node; docs/critique.md says so."""
    matcher = Matcher(cluster(*nodes(1, pool("cpu", 2), pool("cpu", 4))), policy="low")
    assert matcher.allocate(gang(pods(1, cpu=4)))
    assert not matcher.allocate(gang(pods(1, cpu=2)))


def test_what_stands_anywhere_in_a_node_is_the_nodes() -> None:
    graph = cluster(*nodes(1, pool("memory", 4), a("socket", pool("licence", 4))))
    assert not Matcher(graph, policy="low").allocate(gang(pods(1, memory=1), licences=1))


# -- many nodes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pods", [1, 3, 7, 20, 36, 37])
def test_it_makes_no_difference_how_many_nodes_are_looked_at_at_a_time(
    monkeypatch: pytest.MonkeyPatch, pods: int
) -> None:
    """Nine nodes with capacity for 0 to 8 pods, the largest last."""
    graph = pool_graph({f"n{number}": {"cpu": 2 * number} for number in range(9)})
    gang = Gang((Shape.of(pods, {"cpu": 2}),))
    answers = []
    for at_once in (1, 2, 4, 1024):
        monkeypatch.setattr(placer, "_CHUNK", at_once)
        answer = Matcher(graph, policy="lonode").allocate(gang)
        answers.append([(s.node.tolist(), s.pods.tolist()) for s in answer.seats])
    assert answers == [answers[-1]] * 4
    assert bool(answers[0]) == (pods <= 36)


# -- the same again --------------------------------------------------------------------------------


def looks(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> list[Gang]:
    """Gangs for which all nodes had to be searched."""
    looked: list[Gang] = []
    seat = placer.GangPlacer.seat

    def counted(self: placer.GangPlacer, gang: Gang, allowed: object) -> object:
        looked.append(gang)
        return seat(self, gang, allowed)  # type: ignore[arg-type]

    monkeypatch.setattr(placer.GangPlacer, "seat", counted)
    return looked


def where(matcher: Matcher, asked: Gang) -> str:
    (seated,) = seats(matcher, matcher.allocate(asked))
    (name,) = seated
    return name


def test_the_same_again_is_not_looked_for_until_its_node_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matcher, one = two_nodes(), gang(pods(1, cpu=2))
    looked = looks(matcher, monkeypatch)
    assert [where(matcher, one) for _ in range(6)] == ["n0"] * 4 + ["n1"] * 2
    assert len(looked) == 2


def test_something_else_in_between_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher, one, large = two_nodes(), gang(pods(1, cpu=2)), gang(pods(1, cpu=7))
    assert where(matcher, large) == "n0"
    assert where(matcher, one) == "n1"
    matcher.cancel(1)
    looked = looks(matcher, monkeypatch)
    assert where(matcher, one) == "n0"
    assert len(looked) == 1


def test_what_was_given_back_is_given_again() -> None:
    matcher, one = two_nodes(), gang(pods(1, cpu=8))
    for _ in range(3):
        answer = matcher.allocate(one)
        assert seats(matcher, answer) == [{"n0": 1}]
        matcher.cancel(answer.jobid)


def test_properties_that_changed_in_between_count() -> None:
    matcher = two_nodes()
    matcher.set_property("/cluster0/n0", "fast", "")
    asked = gang(Shape.of(1, {"cpu": 1}, Properties(("fast",))))
    assert where(matcher, asked) == "n0"
    matcher.set_property("/cluster0/n1", "fast", "")
    matcher.remove_property("/cluster0/n0", "fast")
    assert where(matcher, asked) == "n1"


def test_a_licence_is_never_given_twice() -> None:
    matcher, asked = two_nodes(), gang(pods(1, cpu=1), licences=3)
    assert matcher.allocate(asked)
    assert not matcher.allocate(asked)
