"""Promises about the jobs on a graph that hold after every step, whatever the answers were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Operation, Outcome
from fluxnetes.match.matcher import Matcher
from tests.oracle.generate import POLICIES, STATIC_POLICIES
from tests.oracle.streams import Match, Scenario, scenarios, shared_scenarios
from tests.property import invariants
from tests.property.duel import Duel, rows_of, rows_of_placement
from tests.property.profile import examples


@examples(250)
@given(scenarios(), st.sampled_from(POLICIES))
def test_nothing_is_overcommitted_and_exclusive_means_alone(
    scenario: Scenario, policy: str
) -> None:
    Duel(scenario, policy).run(after_each=invariants.check)


@examples(200)
@given(scenarios(pools=True), st.sampled_from(POLICIES))
def test_no_pool_is_overcommitted(scenario: Scenario, policy: str) -> None:
    Duel(scenario, policy).run(after_each=invariants.check)


@examples(100)
@given(shared_scenarios(changing=True), st.sampled_from(POLICIES))
def test_nothing_that_several_parents_share_is_taken_twice(scenario: Scenario, policy: str) -> None:
    """Without divisible pools: of those that are shared the matcher may take other amounts than the
    oracle, which docs/conformance.md says."""
    Duel(scenario, policy).run(after_each=invariants.check)


@pytest.mark.parametrize("pools", [False, True])
@examples(100)
@given(st.data())
def test_allocating_and_cancelling_leaves_no_trace(pools: bool, data: st.DataObject) -> None:
    scenario = data.draw(scenarios(pools=pools))
    duel = Duel(scenario, data.draw(st.sampled_from(STATIC_POLICIES), "policy"))
    duel.run()
    requests = [step.jobspec for step in scenario.steps if isinstance(step, Match)]
    before = what_it_would_answer(duel.matcher, requests, duel.now)
    for request in requests:
        answer = duel.matcher.match(Operation.ALLOCATE_ORELSE_RESERVE, request, now=duel.now)
        if answer.outcome in (Outcome.ALLOCATED, Outcome.RESERVED):
            duel.matcher.cancel(answer.jobid)
    after = what_it_would_answer(duel.matcher, requests, duel.now)
    assert after == before, duel.describe()


def what_it_would_answer(matcher: Matcher, requests: list[Jobspec], now: int) -> list[object]:
    """The answers to some requests, without taking anything, and what is free and allocated."""
    answers: list[object] = []
    for request in requests:
        for operation in (Operation.WITHOUT_ALLOCATING_FUTURE, Operation.SATISFIABILITY):
            answer = matcher.match(operation, request, now=now)
            answers.append((answer.outcome, answer.at, rows_of(answer)))
    for query in ("sched-now=free", "sched-now=allocated", "sched-future=reserved"):
        answers.append(rows_of_placement(matcher.find(query)))
    return answers
