"""What happens in a run follows from its seed, and leaves nothing out."""

from __future__ import annotations

from collections import Counter

from tests.integration.crash.faults.load import CORES, Kind, NodeVerb, Verb
from tests.integration.crash.faults.objects import manifests
from tests.integration.crash.faults.plan import FaultKind, draw_plan

NODES = 12
PLAN = draw_plan(7, 2000, 60, NODES)


def test_the_same_seed_draws_the_same_plan() -> None:
    assert draw_plan(7, 80, 5, NODES) == draw_plan(7, 80, 5, NODES)
    assert draw_plan(7, 80, 5, NODES) != draw_plan(8, 80, 5, NODES)


def test_there_are_as_many_workloads_and_faults_as_were_asked_for() -> None:
    assert (len(PLAN.load.pieces), len(PLAN.faults)) == (2000, 60)
    assert len({each.name for each in PLAN.load.pieces}) == 2000


def test_every_kind_of_fault_comes_as_often_as_any_other() -> None:
    assert set(Counter(each.kind for each in PLAN.faults).values()) == {60 // len(FaultKind)}
    assert [each.at for each in PLAN.faults] == sorted(each.at for each in PLAN.faults)


def test_there_is_work_of_every_kind_and_every_action() -> None:
    pieces = PLAN.load.pieces
    assert {each.kind for each in pieces} == set(Kind)
    assert {action.verb for each in pieces for action in each.actions} == set(Verb)
    assert {each.verb for each in PLAN.load.node_actions} == set(NodeVerb)
    assert any(each.after for each in pieces) and any(each.failing for each in pieces)
    assert any(each.seconds > each.walltime for each in pieces)


def test_every_piece_fits_a_cluster_without_the_nodes_that_may_be_away() -> None:
    for piece in PLAN.load.pieces:
        on_a_node = CORES // piece.cores
        assert piece.pods <= on_a_node * (NODES - NODES // 4)


def test_a_piece_depends_on_an_earlier_piece_of_ours() -> None:
    known: set[str] = set()
    for piece in PLAN.load.pieces:
        assert not piece.after or piece.after in known
        known |= {piece.name} if piece.is_ours else set()


def test_every_node_that_goes_comes_back() -> None:
    back = {NodeVerb.DELETE: NodeVerb.CREATE, NodeVerb.DRAIN: NodeVerb.UNCORDON}
    away: dict[int, NodeVerb] = {}
    for each in PLAN.load.node_actions:
        if each.verb in back:
            assert each.node not in away
            away[each.node] = back[each.verb]
            assert len(away) <= NODES // 4
        else:
            assert away.pop(each.node) is each.verb
    assert not away


def test_every_piece_becomes_objects_with_names_of_their_own() -> None:
    made = [
        (path, thing["metadata"]["name"])
        for piece in PLAN.load.pieces
        for path, thing in manifests(piece)
    ]
    assert len(set(made)) == len(made)
