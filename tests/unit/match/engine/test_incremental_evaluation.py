"""What is kept between matches is what evaluating from scratch would find."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.engine.engine import CompiledRequest, MatchEngine, NothingHeld
from fluxnetes.match.engine.evaluate import evaluate
from fluxnetes.match.engine.intervals import NONE
from fluxnetes.match.engine.stages import Stage
from fluxnetes.match.engine.states import StageState, States
from fluxnetes.match.matcher import Matcher
from tests.oracle.generate import build
from tests.oracle.streams import Advance, Cancel, Match, Scenario, SetStatus, Step, scenarios
from tests.property.duel import live_jobs, pick
from tests.property.profile import examples

POLICIES = ("first", "low", "hinode", "lonodex", "locality", "variation")


class Player:
    """A matcher that does the steps of a scenario."""

    def __init__(self, scenario: Scenario, policy: str, traverser: str = "simple") -> None:
        self.matcher = Matcher(build(scenario.cluster.root), policy=policy, traverser=traverser)
        self.requests = [s.jobspec for s in scenario.steps if isinstance(s, Match)]
        self.now = 0

    def do(self, step: Step) -> None:
        matcher = self.matcher
        match step:
            case Match(operation, jobspec):
                matcher.match(operation, jobspec, now=self.now)
            case Cancel(nth):
                job = pick(live_jobs(matcher), nth)
                if job is not None:
                    matcher.cancel(job.jobid)
            case SetStatus(nth, up):
                tree = matcher.engine.tree
                path = matcher.graph.path(int(tree.vertex[nth % len(tree)]))
                matcher.set_status(path or "", up)
            case Advance(seconds):
                self.now += seconds

    def plans(self) -> Iterator[CompiledRequest]:
        """The plans of all requests, as a match of each now would leave them."""
        engine = self.matcher.engine
        for jobspec in self.requests:
            for plan in asked(engine, jobspec):
                with suppress(NothingHeld):
                    engine.select([plan], engine.ledger.now())
                yield plan


def asked(engine: MatchEngine, jobspec: Jobspec) -> list[CompiledRequest]:
    return engine.plans(jobspec.resources, jobspec.constraint)


def from_scratch(engine: MatchEngine, plan: CompiledRequest, stage: Stage) -> States:
    states: States = {}
    evaluate(stage, states, engine.context(plan, engine.ledger.now()), None)
    return states


def plain(state: StageState) -> dict[str, Any]:
    """A state as lists, whatever its arrays were padded to."""
    found: dict[str, Any] = {"ok": state.ok.tolist(), "count": state.count.tolist()}
    for name in ("amount", "quantity", "slots", "best"):
        column = getattr(state, name)
        found[name] = None if column is None else column.tolist()
    if state.scores is not None:
        found["scores"] = [[s for s in row if s != NONE] for row in state.scores.rows.tolist()]
        found["seen"] = state.scores.seen().tolist()
    return found


def check(player: Player) -> None:
    for plan in player.plans():
        if plan.stage is None:
            continue
        fresh = from_scratch(player.matcher.engine, plan, plan.stage)
        assert plan.now.keys() == fresh.keys()
        for stage, state in fresh.items():
            assert plain(plan.now[stage]) == plain(state)


@pytest.mark.parametrize("policy", POLICIES)
@examples(20)
@given(scenarios())
def test_states_kept_between_matches_are_those_from_scratch(
    policy: str, scenario: Scenario
) -> None:
    player = Player(scenario, policy)
    for step in scenario.steps:
        player.do(step)
        check(player)


@pytest.mark.parametrize("policy", ["first", "low", "locality"])
@examples(12)
@given(scenarios(pools=True))
def test_so_are_those_of_pools(policy: str, scenario: Scenario) -> None:
    player = Player(scenario, policy)
    for step in scenario.steps:
        player.do(step)
        check(player)


@examples(12)
@given(scenarios())
def test_so_are_those_looked_at_only_at_the_end(scenario: Scenario) -> None:
    player = Player(scenario, "lonode")
    check(player)
    for step in scenario.steps:
        player.do(step)
    check(player)


@examples(12)
@given(scenarios(flexible=True))
def test_so_are_those_of_slots_that_are_alternatives(scenario: Scenario) -> None:
    player = Player(scenario, "low", "flexible")
    for step in scenario.steps:
        player.do(step)
        check(player)
