"""Why not: each no has a sentence that says what was needed and what there is."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.build import (
    cluster,
    core,
    gpu,
    jobspec,
    memory,
    node,
    rack,
    res,
    slot,
    socket,
)
from fluxnetes.jobspec.constraint import Hostlist, Not, Properties
from fluxnetes.jobspec.model import Count, Jobspec, Resource
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.matcher import HORIZON, Matcher
from tests.unit.match import clusters as built

JUDGED = Operation.ALLOCATE_WITH_SATISFIABILITY


def two_nodes(traverser: str = "simple") -> Matcher:
    """Two nodes, each with two cores and a gpu."""
    graph = built.cluster(*built.nodes(2, *built.cores(2), *built.gpus(1)))
    return Matcher(graph, policy="low", traverser=traverser)


def verdict(answer: Answer) -> tuple[Outcome, str]:
    return answer.outcome, reason_text(answer.reason)


def judged(asked: Jobspec, matcher: Matcher | None = None) -> tuple[Outcome, str]:
    return verdict((matcher or two_nodes()).match(JUDGED, asked))


# -- never -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [node(1, slot(1, gpu(4))), slot(1, gpu(4))])
def test_too_many_gpus_on_one_node(asked: object) -> None:
    request = jobspec(asked)  # type: ignore[arg-type]
    reason = "needs 4 gpu on one node; the largest node has 1"
    assert judged(request) == (Outcome.UNSATISFIABLE, reason)
    assert verdict(two_nodes().satisfiable(request)) == (Outcome.UNSATISFIABLE, reason)


def test_too_many_slots_on_one_node() -> None:
    assert judged(jobspec(node(1, slot(3, core(1))))) == (
        Outcome.UNSATISFIABLE,
        "needs 3 slot of core on one node; the largest node has 2",
    )
    assert judged(jobspec(node(1, slot(2, core(1), gpu(1)))))[1] == (
        "needs 2 slot of core and gpu on one node; the largest node has 1"
    )


def test_a_range_asks_for_at_least_its_least() -> None:
    assert judged(jobspec(slot(Count(9, 99), core(1))))[1] == (
        "needs at least 9 slot; only 4 in this graph could serve"
    )


def test_more_nodes_than_there_are() -> None:
    request = jobspec(node(5, slot(1, core(1))))
    assert judged(request) == (Outcome.UNSATISFIABLE, "needs 5 node; 2 of 2 are up")


def test_a_slot_that_cannot_be_filled_at_that_level() -> None:
    assert judged(jobspec(cluster(1, slot(1, core(1))))) == (
        Outcome.UNSATISFIABLE,
        "a slot of core cannot be filled directly below one cluster",
    )
    assert judged(jobspec(node(1, slot(1, socket(1, core(1))))))[1] == (
        "a slot of socket->core cannot be filled directly below one node"
    )


def test_a_level_in_between_was_left_out() -> None:
    assert judged(jobspec(cluster(1, core(1)))) == (
        Outcome.UNSATISFIABLE,
        "needs 1 core on one cluster; the largest cluster has 0",
    )


def test_nothing_is_built_like_that() -> None:
    assert judged(jobspec(slot(1, res("ssd")))) == (
        Outcome.UNSATISFIABLE,
        "nothing in this graph is built like slot->ssd",
    )


def test_one_of_two_requests_is_for_something_that_is_not_there() -> None:
    assert judged(jobspec(node(1, exclusive=True), rack(1)))[1] == (
        "needs 1 rack, which nothing in this graph can hold as it is asked for"
    )


@pytest.mark.parametrize(
    ("asked", "twice"),
    [
        (jobspec(node(1), node(1)), "node"),
        (jobspec(slot(1, core(1)), slot(1, gpu(1))), "slot"),
        (jobspec(node(1, slot(1, core(1)), slot(1, gpu(1)))), "slot"),
        (jobspec(slot(1, node(1, slot(1, core(1)), slot(1, gpu(1))))), "slot"),
        (jobspec(slot(1, node(1, core(1), core(1)))), "core"),
    ],
)
def test_siblings_that_ask_for_one_type(asked: Jobspec, twice: str) -> None:
    assert judged(asked) == (
        Outcome.UNSATISFIABLE,
        f"two requests side by side ask for {twice}; only one of them can",
    )


@pytest.mark.parametrize("policy", ["low", "first", "locality", "variation"])
def test_siblings_within_a_slot_that_ask_for_one_type(policy: str) -> None:
    graph = built.cluster(*built.nodes(1, *built.cores(4)))
    outcome, reason = judged(jobspec(slot(1, core(1), core(2))), Matcher(graph, policy=policy))
    assert outcome is Outcome.UNSATISFIABLE
    assert "two requests side by side ask for core" in reason


# -- not now ---------------------------------------------------------------------------------------


def full() -> Matcher:
    """Every core of both nodes is taken."""
    matcher = two_nodes()
    assert matcher.allocate(jobspec(slot(4, core(1)), duration=10))
    return matcher


@pytest.mark.parametrize("operation", [Operation.ALLOCATE, JUDGED, Operation.WITHOUT_ALLOCATING])
def test_all_cores_are_busy(operation: Operation) -> None:
    answer = full().match(operation, jobspec(node(1, slot(1, core(1)))))
    assert verdict(answer) == (
        Outcome.BUSY,
        "needs 1 core on one node; the most that one node has free now is 0",
    )


def test_a_whole_node_is_not_to_be_had() -> None:
    answer = full().allocate(jobspec(node(1, exclusive=True)))
    assert verdict(answer) == (Outcome.BUSY, "needs 1 node; none can be had now")


def test_some_but_too_few_slots_are_free() -> None:
    matcher = two_nodes()
    assert matcher.allocate(jobspec(slot(3, core(1))))
    answer = matcher.allocate(jobspec(slot(2, core(1))))
    assert verdict(answer) == (Outcome.BUSY, "needs 2 slot; only 1 can be had now")


def test_what_is_in_the_way_has_no_end() -> None:
    matcher = two_nodes()
    assert matcher.allocate(jobspec(node(2, exclusive=True)))
    answer = matcher.allocate_orelse_reserve(jobspec(node(1, exclusive=True)))
    assert verdict(answer) == (
        Outcome.BUSY,
        "needs 1 node; none can be had now; what is in the way has no end",
    )


def test_a_start_at_the_end_of_time_is_stated_as_a_sentence() -> None:
    answer = two_nodes().allocate(jobspec(slot(1, core(1))), now=HORIZON)
    assert answer.outcome is Outcome.BUSY
    assert answer.reason
    assert not reason_text(answer.reason).startswith(";")


# -- nodes that are down, constraints --------------------------------------------------------------


def test_too_few_nodes_are_up() -> None:
    matcher = two_nodes()
    matcher.set_status("/cluster0/node0", False)
    request = jobspec(node(2, slot(1, core(1))))
    reason = "needs 2 node; 1 of 2 are up"
    assert verdict(matcher.allocate(request)) == (Outcome.BUSY, reason)
    assert verdict(matcher.allocate_orelse_reserve(request)) == (Outcome.BUSY, reason)
    # As in the reference, this operation takes nodes that are down for missing:
    assert judged(request, matcher) == (Outcome.UNSATISFIABLE, reason)
    assert verdict(matcher.satisfiable(request)) == (Outcome.SATISFIABLE, "")


def test_a_node_below_something_down_is_not_up() -> None:
    graph = built.cluster(*built.racks(2, *built.nodes(2, *built.cores(1))))
    matcher = Matcher(graph, policy="low")
    matcher.set_status("/cluster0/rack1", False)
    answer = matcher.allocate(jobspec(node(3, slot(1, core(1)))))
    assert verdict(answer) == (Outcome.BUSY, "needs 3 node; 2 of 4 are up")


def test_the_constraint_allows_too_few_nodes() -> None:
    request = jobspec(node(2, slot(1, core(1))), constraint=Hostlist(frozenset({"node1"})))
    reason = "needs 2 node that its constraint allows; there are 1"
    assert verdict(two_nodes().allocate(request)) == (Outcome.BUSY, reason)
    assert judged(request) == (Outcome.UNSATISFIABLE, reason)


def test_the_constraint_excludes_all_that_could_hold_slots() -> None:
    request = jobspec(slot(1, core(1)), constraint=Properties(("fast",)))
    reason = "no node satisfies its constraint"
    assert judged(request) == (Outcome.UNSATISFIABLE, reason)
    assert verdict(two_nodes().allocate(request)) == (Outcome.BUSY, reason)


def test_the_nodes_that_the_constraint_allows_are_down() -> None:
    matcher = two_nodes()
    matcher.set_status("/cluster0/node1", False)
    request = jobspec(slot(1, core(1)), constraint=Hostlist(frozenset({"node1"})))
    reason = "no node that satisfies its constraint is up and takes new jobs"
    assert verdict(matcher.allocate(request)) == (Outcome.BUSY, reason)


def test_numbers_are_those_of_the_nodes_that_the_constraint_allows() -> None:
    graph = built.cluster(*built.nodes(1, *built.cores(1)), *built.nodes(1, *built.cores(4)))
    matcher = Matcher(graph, policy="low")
    request = jobspec(slot(1, core(2)), constraint=Hostlist(frozenset({"node0"})))
    assert verdict(matcher.satisfiable(request)) == (
        Outcome.UNSATISFIABLE,
        "needs 2 core on one node; the largest node has 1 "
        "(of the nodes that satisfy its constraint)",
    )


def test_what_a_constraint_excludes_is_not_reported_as_free() -> None:
    matcher = two_nodes()
    everywhere_else = Not((Hostlist(frozenset({"node1"})),))
    assert matcher.allocate(jobspec(slot(2, core(1)), constraint=everywhere_else))
    answer = matcher.allocate(jobspec(slot(1, core(1)), constraint=everywhere_else))
    assert answer.outcome is Outcome.BUSY
    assert "free now is 2" not in reason_text(answer.reason)


# -- requests that make no sense -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (slot(0, core(1)), "asks for 0 slot; a request asks for at least 1"),
        (slot(1, core(0)), "asks for 0 core; a request asks for at least 1"),
        (node(1, slot(1, core(0))), "asks for 0 core; a request asks for at least 1"),
        (node(0, slot(1, core(1))), "asks for 0 node; a request asks for at least 1"),
        (slot(1, core(Count(5, 3))), "asks for 5 to 3 core; no number is in that range"),
    ],
)
def test_a_count_that_nothing_can_meet_is_told_as_it_is(asked: Resource, reason: str) -> None:
    assert judged(jobspec(asked)) == (Outcome.UNSATISFIABLE, reason)
    assert verdict(two_nodes().allocate(jobspec(asked))) == (Outcome.BUSY, reason)


def test_two_of_a_type_side_by_side_are_told_at_any_level() -> None:
    asked = jobspec(node(1, core(1), core(2)))
    reason = "two requests side by side ask for core; only one of them can"
    assert judged(asked) == (Outcome.UNSATISFIABLE, reason)


def test_an_unknown_type_is_invalid_and_the_known_ones_are_named() -> None:
    assert judged(jobspec(slot(1, res("corse")))) == (
        Outcome.INVALID,
        "no resource of type 'corse' is known here; the graph has cluster, core, gpu, node",
    )


def test_a_built_in_type_that_the_graph_lacks_is_known_but_unsatisfiable() -> None:
    assert judged(jobspec(slot(1, socket(1))))[0] is Outcome.UNSATISFIABLE


def test_nothing_exclusive_would_hold_nothing() -> None:
    matcher = two_nodes()
    reason = "nothing in the request is exclusive, so the job would hold nothing"
    assert verdict(matcher.allocate(jobspec(node(1)))) == (Outcome.INVALID, reason)
    assert not matcher.jobs


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (jobspec(), "the jobspec asks for no resources"),
        (
            jobspec(slot(1, core(1)), duration=-1),
            f"duration -1.0 is not between 0 and {HORIZON} seconds",
        ),
        (
            jobspec(slot(1, core(1)), duration=float("nan")),
            f"duration nan is not between 0 and {HORIZON} seconds",
        ),
        (
            jobspec(slot(1, core(1)), duration=HORIZON + 1),
            f"duration {HORIZON + 1}.0 is not between 0 and {HORIZON} seconds",
        ),
    ],
)
def test_requests_that_make_no_sense(asked: Jobspec, reason: str) -> None:
    assert judged(asked) == (Outcome.INVALID, reason)


# -- always ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/cluster0", "/cluster0/rack0"])
def test_what_is_down_above_the_candidates_is_reported(path: str) -> None:
    graph = built.cluster(*built.racks(1, *built.nodes(1, *built.cores(1))))
    matcher = Matcher(graph, policy="low")
    matcher.set_status(path, False)
    answer = matcher.allocate(jobspec(slot(1, core(1))))
    assert answer.outcome is Outcome.BUSY
    assert "combined" not in reason_text(answer.reason)


def test_alternatives_that_are_all_too_large_are_named_by_the_first() -> None:
    matcher = two_nodes("flexible")
    assert judged(jobspec(node(1, slot(1, core(9)), slot(1, gpu(9)))), matcher) == (
        Outcome.UNSATISFIABLE,
        "needs 9 core on one node; the largest node has 2",
    )


def test_a_yes_has_no_reason_and_every_no_has_one() -> None:
    matcher = full()
    for asked in (slot(1, core(1)), slot(1, gpu(1)), slot(1, memory(1)), node(9), slot(9, gpu(1))):
        for operation in Operation:
            answer = matcher.match(operation, jobspec(asked, duration=5))
            assert bool(answer) == (reason_text(answer.reason) == ""), (asked, operation)
