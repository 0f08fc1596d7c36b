"""Disagreements that were found once, in their smallest form.

Each was drawn by the strategies of `tests.oracle` and shrunk. In every one the rules of
the reference say what the oracle says; the reason stands with the test.
"""

from __future__ import annotations

import pytest

from fluxnetes.jobspec.model import SLOT, Count, Jobspec, Resource
from fluxnetes.match.answers import Operation
from tests.oracle.generate import Blueprint, Cluster, V
from tests.oracle.streams import Match, Scenario
from tests.property import invariants
from tests.property.duel import Duel

NO_BLUEPRINT = Blueprint((), {}, frozenset())

policies = pytest.mark.parametrize(
    "policy", ["high", "low", "hinode", "locality", "variation", "first"]
)


def ask(type: str, count: int, *inside: Resource, exclusive: bool | None = None) -> Resource:
    return Resource(type, Count(count, count), inside, exclusive)


def pool(type: str, id: int, size: int) -> V:
    return V(type, id, size=size, divisible=True)


def compare(
    root: V, *requests: tuple[Resource, ...], policy: str, traverser: str = "simple"
) -> None:
    """Ask for one thing after the other, the last one with a look into the future."""
    jobspecs = [Jobspec(request, duration=1.0) for request in requests]
    steps = [Match(Operation.ALLOCATE, jobspec) for jobspec in jobspecs]
    steps.append(Match(Operation.ALLOCATE_ORELSE_RESERVE, jobspecs[-1]))
    scenario = Scenario(Cluster(root, NO_BLUEPRINT), tuple(steps))
    Duel(scenario, policy, traverser).run(after_each=invariants.check)


def test_what_no_filter_counts_is_reserved_at_no_time() -> None:
    """A rack alone is nothing that the root's filter counts, so no time is known to try."""
    rack = V("rack", 0, (V("node", 0, (V("core", 0),)),))
    request = (ask("cluster", 1, ask(SLOT, 1, ask("rack", 1))),)
    compare(V("cluster", 0, (rack,)), request, request, policy="high")


@pytest.mark.parametrize("policy", ["first", "firstnodex"])
def test_equals_keep_the_order_in_which_they_were_visited(policy: str) -> None:
    """First-match policies visit the newest rack first; its node wins over an equal of another."""
    racks = V("rack", 0, (V("node", 0), V("node", 1))), V("rack", 1, (V("node", 0),))
    compare(V("cluster", 0, racks), (ask("node", 2, exclusive=True),), policy=policy)


@policies
def test_slots_compete_by_the_sum_of_what_is_in_them(policy: str) -> None:
    """Two small memories may score higher than the one large one that was packed first."""
    node = V("node", 0, (V("memory", 0), V("memory", 1), V("memory", 2, size=2)))
    request = (ask("node", 1, ask(SLOT, 1, ask("memory", 2))),)
    compare(V("cluster", 0, (node,)), request, policy=policy)


def test_what_is_left_of_a_share_makes_no_slot() -> None:
    """The first-match walk sees the small ssd first; it is too small for a slot of its own."""
    ssds = V("ssd", 0, size=2), V("ssd", 1, size=2), V("ssd", 2)
    node = V("node", 0, (V("memory", 0), V("memory", 1), *ssds))
    request = (ask("node", 1, ask(SLOT, 1, ask("memory", 1), ask("ssd", 2))),)
    compare(V("cluster", 0, (node,)), request, policy="policy=low stop_on_1_matches=true")


@policies
def test_a_pool_asked_for_alone_is_not_given_where_a_job_has_a_part(policy: str) -> None:
    root = V("cluster", 0, (V("node", 0, (pool("cpu", 0, 2),)),))
    part, whole = (ask(SLOT, 1, ask("cpu", 1)),), (ask("cpu", 1, exclusive=True),)
    compare(root, part, whole, policy=policy)


@policies
def test_outside_of_a_slot_pools_are_emptied_in_the_order_of_their_scores(policy: str) -> None:
    """What one pool cannot serve comes from the next, though a later one had it all."""
    node = V("node", 0, (pool("ram", 0, 4), pool("ram", 1, 1)))
    request = (ask(SLOT, 1, ask("node", 1, ask("ram", 4))),)
    compare(V("cluster", 0, (node,)), request, policy=policy)


@policies
def test_the_flexible_traverser_fills_slots_from_vertices_of_different_sizes(policy: str) -> None:
    node = V("node", 0, (V("memory", 0), V("memory", 1, size=2)))
    request = (ask("node", 1, ask(SLOT, 1, ask("memory", 1))),)
    compare(V("cluster", 0, (node,)), request, policy=policy, traverser="flexible")


@policies
def test_of_alternatives_that_both_fit_the_better_score_is_taken(policy: str) -> None:
    """All alternatives that fit together are packed; the score shows which ones are taken."""
    node = V("node", 0, (V("core", 0), V("gpu", 0), V("memory", 0), V("memory", 1)))
    either = ask(SLOT, 1, ask("core", 1)), ask(SLOT, 1, ask("gpu", 1), ask("memory", 1))
    request = (ask("node", 1, *either),)
    compare(V("cluster", 0, (node,)), request, policy=policy, traverser="flexible")


@policies
def test_an_alternative_that_the_graph_does_not_have_leaves_the_others(policy: str) -> None:
    node = V("node", 0, (V("gpu", 0),))
    request = (ask("node", 1, ask(SLOT, 1, ask("core", 1)), ask(SLOT, 1, ask("gpu", 1))),)
    compare(V("cluster", 0, (node,)), request, policy=policy, traverser="flexible")
