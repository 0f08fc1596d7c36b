"""The fast matcher gives the answers of the slow one, step by step, on any stream of operations.

Compared are the outcome, the job id, the start time and the exact rows: vertex, needs, exclusive.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.generate import POLICIES, PRUNE_FILTERS
from tests.oracle.streams import Scenario, scenarios, shared_scenarios
from tests.property.duel import Duel
from tests.property.profile import examples

SPELLED_OUT = "policy=low stop_on_1_matches=true"


@pytest.mark.parametrize("policy", [*POLICIES, SPELLED_OUT])
@examples(150)
@given(scenarios())
def test_every_answer_is_the_oracles(policy: str, scenario: Scenario) -> None:
    Duel(scenario, policy).run()


@pytest.mark.parametrize("policy", ["first", "high", "lonode", "lonodex"])
@examples(120)
@given(scenarios(pools=True))
def test_every_answer_about_divisible_pools_is_the_oracles(policy: str, scenario: Scenario) -> None:
    Duel(scenario, policy).run()


@pytest.mark.parametrize("policy", ["first", "high", "low", "hinodex"])
@examples(120)
@given(scenarios(flexible=True))
def test_every_answer_of_the_flexible_traverser_is_the_oracles(
    policy: str, scenario: Scenario
) -> None:
    Duel(scenario, policy, traverser="flexible").run()


@examples(150)
@given(scenarios(), st.sampled_from(POLICIES), st.sampled_from(PRUNE_FILTERS))
def test_no_prune_filter_changes_an_answer_that_the_oracle_does_not_change(
    scenario: Scenario, policy: str, prune_filters: str
) -> None:
    Duel(scenario, policy, prune_filters=prune_filters).run()


@pytest.mark.parametrize("policy", [*POLICIES, SPELLED_OUT])
@examples(150)
@given(shared_scenarios())
def test_every_answer_on_a_graph_with_several_parents_is_the_oracles(
    policy: str, scenario: Scenario
) -> None:
    Duel(scenario, policy).run()


@pytest.mark.parametrize("policy", ["first", "high", "low", "hinodex"])
@examples(100)
@given(shared_scenarios(flexible=True))
def test_every_flexible_answer_on_a_graph_with_several_parents_is_the_oracles(
    policy: str, scenario: Scenario
) -> None:
    Duel(scenario, policy, traverser="flexible").run()
