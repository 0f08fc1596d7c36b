"""Graphs of several subsystems: a request is matched in one of them, by what that one holds.

containment: cluster ─ rack ─┬─ pdu         power: panel ─┬─ pdu ─┬─ outlet
                             └─ node ─ core               │       └─ node ─ feed
                                                          └─ outlet
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.jobspec.build import jobspec, node, res, slot
from fluxnetes.jobspec.model import Count, Jobspec, Resource
from fluxnetes.match.answers import Operation, Outcome
from fluxnetes.match.engine.groups import build_groups
from fluxnetes.match.matcher import Matcher
from tests.oracle.generate import POLICIES
from tests.oracle.oracle import Oracle
from tests.property.duel import rows_of
from tests.property.profile import examples

TYPES = ("rack", "pdu", "node", "core", "panel", "outlet", "feed")


def powered() -> ResourceGraph:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster, panel = patch.vertex("cluster", id=0), patch.vertex("panel", id=0)
    outlets = patch.vertices("outlet", [90, 91])
    patch.edges(panel, outlets, "power")
    for number in range(2):
        rack, pdu = patch.vertex("rack", id=number), patch.vertex("pdu", id=number)
        patch.edge(cluster, rack)
        patch.edge(rack, pdu)
        patch.edge(panel, pdu, "power")
        patch.edges(pdu, patch.vertices("outlet", [2 * number, 2 * number + 1]), "power")
        for place in range(2):
            host = patch.vertex("node", id=2 * number + place, rank=2 * number + place)
            patch.edge(rack, host)
            patch.edges(host, patch.vertices("core", [0, 1]))
            patch.edge(pdu, host, "power")
            patch.edge(host, patch.vertex("feed", id=0), "power")
    graph.apply(patch)
    return graph


OUTLET_AND_NODE = jobspec(slot(1, res("outlet", 1), node(1)), duration=10)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_slot_is_filled_where_the_matched_subsystem_can_fill_it(policy: str) -> None:
    power = Matcher(powered(), policy=policy, subsystems=("power",))
    assert power.allocate(OUTLET_AND_NODE)
    for subsystems in (("containment",), ("containment", "power")):
        beside = Matcher(powered(), policy=policy, subsystems=subsystems)
        answer = beside.allocate(OUTLET_AND_NODE)
        assert answer.outcome is Outcome.BUSY
        assert not beside.satisfiable(OUTLET_AND_NODE)
        assert str(answer.reason) == "nothing in this graph is built like slot->outlet and node"


def test_a_vertex_holds_the_types_of_the_matched_subsystem() -> None:
    graph = powered()
    held = {}
    for subsystem in ("containment", "power"):
        pending = [build_groups(graph, graph.topology(subsystem))]
        while pending:
            group = pending.pop()
            held[subsystem, group.type] = group.child_types
            pending.extend(group.below)
    assert held["containment", "node"] == {"core"}
    assert held["power", "node"] == {"feed"}
    assert held["containment", "pdu"] == frozenset()
    assert held["power", "pdu"] == {"outlet", "node"}


def requests() -> st.SearchStrategy[tuple[Resource, ...]]:
    """Any nesting of the types of all subsystems, slots anywhere."""
    counts = st.sampled_from([Count(1, 1), Count(2, 2), Count(1, 4)])
    exclusive = st.sampled_from([None, None, True])
    leaf = st.builds(Resource, st.sampled_from(TYPES), counts, st.just(()), exclusive)

    def above(inside: st.SearchStrategy[Resource]) -> st.SearchStrategy[Resource]:
        below = st.lists(inside, min_size=1, max_size=2).map(tuple)
        held = st.builds(Resource, st.sampled_from(TYPES), counts, below, exclusive)
        slots = st.builds(Resource, st.just("slot"), counts, below, label=st.just("task"))
        return held | slots

    return st.recursive(leaf, above, max_leaves=9).map(lambda asked: (asked,))


@pytest.mark.parametrize("subsystem", ["containment", "power"])
@examples(150)
@given(requests(), st.sampled_from(POLICIES))
def test_every_request_gets_an_answer_the_oracles(
    subsystem: str, asked: tuple[Resource, ...], policy: str
) -> None:
    request = Jobspec(asked, duration=10)
    made = Matcher(powered(), policy=policy, subsystems=(subsystem,))
    oracle = Oracle(powered(), policy, subsystem=subsystem)
    for operation in (Operation.ALLOCATE, Operation.SATISFIABILITY, Operation.ALLOCATE):
        answer = made.match(operation, request)
        verdict = oracle.match(operation, request)
        assert answer.outcome is verdict.outcome
        if answer.outcome is Outcome.ALLOCATED:
            assert rows_of(answer) == verdict.rows
