"""Gangs against a plain greedy loop: both agree on yes or no, on the start, and on every seat."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property import invariants
from tests.property.farm import Ask, Farm, Play, Step, farms, seats_of, streams
from tests.property.profile import examples


@pytest.mark.parametrize("policy", ["first", "lonode", "high", "variation", "lonodex"])
@examples(120)
@given(farms(), streams)
def test_every_gang_gets_what_a_plain_loop_gives_it(
    policy: str, farm: Farm, stream: list[Step]
) -> None:
    play = Play(farm, policy)

    def check(ask: Ask) -> None:
        expected = play.plain().answer(ask, play.now)
        answer = play.matcher.match(ask.operation, ask.gang, now=play.now)
        assert (answer.outcome, answer.at, seats_of(play.matcher, answer)) == expected

    play.run(stream, check)


@examples(150)
@given(farms(), streams, st.sampled_from(["first", "low", "locality", "hinodex"]))
def test_no_pool_is_ever_overcommitted(farm: Farm, stream: list[Step], policy: str) -> None:
    play = Play(farm, policy)

    def check(ask: Ask) -> None:
        play.matcher.match(ask.operation, ask.gang, now=play.now)
        invariants.check(play.matcher)

    play.run(stream, check)


@examples(120)
@given(farms(), streams, st.sampled_from(["low", "first"]))
def test_a_gang_that_finds_no_place_changes_nothing(
    farm: Farm, stream: list[Step], policy: str
) -> None:
    play = Play(farm, policy)

    def check(ask: Ask) -> None:
        matcher, ledger = play.matcher, play.matcher.engine.ledger
        before = (ledger.held.copy(), ledger.tags.copy(), dict(matcher.jobs), ledger.clock)
        if matcher.match(ask.operation, ask.gang, now=play.now):
            return
        assert (ledger.held == before[0]).all()
        assert (ledger.tags == before[1]).all()
        assert (matcher.jobs, ledger.clock) == before[2:]

    play.run(stream, check)


@examples(120)
@given(farms(), streams)
def test_seats_add_up_to_pods_and_pods_to_what_is_taken(farm: Farm, stream: list[Step]) -> None:
    play = Play(farm, "low")

    def check(ask: Ask) -> None:
        answer = play.matcher.match(ask.operation, ask.gang, now=play.now)
        if answer.placement is None:
            assert answer.seats == ()
            return
        graph = play.matcher.graph
        wanted: dict[tuple[str, str], int] = {}
        for shape, seats in zip(ask.gang.shapes, answer.seats, strict=True):
            assert int(seats.pods.sum()) == shape.count
            for node, pods in zip(seats.node.tolist(), seats.pods.tolist(), strict=True):
                for type, amount in shape.amounts:
                    key = (graph.name(node), type)
                    wanted[key] = wanted.get(key, 0) + amount * pods
        for type, amount in ask.gang.shared:
            wanted["cluster0", type] = amount
        placement = answer.placement
        rows = np.flatnonzero(placement.exclusive).tolist()
        taken = {
            (
                graph.name(int(placement.parent[row])),
                graph.type_name(int(placement.vertex[row])),
            ): int(placement.needs[row])
            for row in rows
        }
        assert taken == {key: amount for key, amount in wanted.items() if amount}

    play.run(stream, check)
