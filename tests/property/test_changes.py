"""Jobs that give back a part, and graphs that grow and shrink under their jobs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.generate import POLICIES
from tests.oracle.streams import Scenario, scenarios
from tests.property import invariants
from tests.property.duel import Duel
from tests.property.profile import examples


@pytest.mark.parametrize("policy", ["first", "high", "lonodex"])
@examples(150)
@given(scenarios(changing=True))
def test_every_answer_is_the_oracles_while_the_graph_changes(
    policy: str, scenario: Scenario
) -> None:
    Duel(scenario, policy).run()


@examples(200)
@given(scenarios(changing=True), st.sampled_from(POLICIES))
def test_partial_cancel_and_grow_and_shrink_keep_the_promises(
    scenario: Scenario, policy: str
) -> None:
    Duel(scenario, policy).run(after_each=invariants.check)
