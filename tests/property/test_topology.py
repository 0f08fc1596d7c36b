"""Gangs under a topology request, against all placements that there are.

For equal pods the matcher must agree on yes or no and on the start; whatever it places is what was
asked for; and what is only preferred rules nothing out.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.reasons import Message
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.gang.model import Gang, TopologyRequest
from fluxnetes.match.matcher import Matcher
from tests.oracle.topology import is_allowed
from tests.property import invariants
from tests.property.farm import (
    LEVELS,
    Ask,
    Farm,
    Plain,
    Play,
    Seats,
    Step,
    equal_pods,
    near_gangs,
    seats_of,
    streams,
    streams_of,
    tiered_farms,
)
from tests.property.profile import examples


@pytest.mark.parametrize("policy", ["first", "lonode", "high", "lonodex"])
@examples(200)
@given(tiered_farms(), streams_of(equal_pods()))
def test_equal_pods_start_when_any_placement_that_is_allowed_exists(
    policy: str, farm: Farm, stream: list[Step]
) -> None:
    play = Play(farm, policy)

    def check(ask: Ask) -> None:
        expected = play.plain().outcome(ask, play.now)
        answer = play.matcher.match(ask.operation, ask.gang, now=play.now)
        assert (answer.outcome, answer.at) == expected

    play.run(stream, check)


@examples(300)
@given(tiered_farms(), streams_of(st.one_of(near_gangs, equal_pods())), st.sampled_from(["low"]))
def test_what_is_placed_is_what_was_asked_for(farm: Farm, stream: list[Step], policy: str) -> None:
    play = Play(farm, policy)

    def check(ask: Ask) -> None:
        answer = play.matcher.match(ask.operation, ask.gang, now=play.now)
        invariants.check(play.matcher)
        seats = seats_of(play.matcher, answer)
        if seats is not None:
            _check_seats(ask.gang, seats, farm)

    play.run(stream, check)


def _check_seats(gang: Gang, seats: Seats, farm: Farm) -> None:
    request = gang.topology
    assert request is not None
    pods = [{node: 0 for node, _ in shape} for shape in seats]
    for found, shape in zip(pods, seats, strict=True):
        for node, count in shape:
            found[node] += count
    assert [sum(each.values()) for each in pods] == [shape.count for shape in gang.shapes]
    assert is_allowed(request, pods, farm.domains())
    if request.slice_level:
        for shape in seats:
            tasks = [
                farm.domains()[node][request.slice_level] for node, n in shape for _ in range(n)
            ]
            for first in range(0, len(tasks), request.slice_size):
                assert len(set(tasks[first : first + request.slice_size])) == 1


@examples(200)
@given(tiered_farms(), streams, st.sampled_from(LEVELS))
def test_one_domain_is_the_one_with_the_least_capacity_that_suffices(
    farm: Farm, stream: list[Step], level: str
) -> None:
    play = Play(farm, "low")

    def check(ask: Ask) -> None:
        asked = replace(
            ask.gang, shapes=ask.gang.shapes[:1], topology=TopologyRequest(level), shared=()
        )
        plain = play.plain()
        answer = play.matcher.match(Operation.WITHOUT_ALLOCATING, asked, now=play.now)
        if answer:
            _check_tightest(plain, asked, play, answer, level)
        play.matcher.match(ask.operation, ask.gang, now=play.now)

    play.run(stream, check)


def _check_tightest(plain: Plain, asked: Gang, play: Play, answer: Answer, level: str) -> None:
    seconds = plain.seconds_of(play.now, int(asked.duration + 0.5), now=True)
    capacity = plain.capacity(asked.shapes[0], seconds)
    sums: dict[str, int] = {}
    for node, pods in capacity.items():
        domain = plain.domains[node].get(level)
        if domain is not None:
            sums[domain] = sums.get(domain, 0) + pods
    seats = seats_of(play.matcher, answer)
    assert seats is not None
    (chosen,) = {plain.domains[node][level] for node, _ in seats[0]}
    assert sums[chosen] == min(n for n in sums.values() if n >= asked.shapes[0].count)


@examples(200)
@given(tiered_farms(), streams_of(st.one_of(near_gangs, equal_pods())), st.sampled_from(LEVELS))
def test_a_reason_says_truly_how_many_pods_fit_in_one_domain(
    farm: Farm, stream: list[Step], level: str
) -> None:
    play = Play(farm, "low")

    def check(ask: Ask) -> None:
        shape = ask.gang.shapes[0]
        one = Gang((shape,), duration=ask.gang.duration, topology=TopologyRequest(level))
        plain = play.plain()
        answer = play.matcher.match(Operation.ALLOCATE, one, now=play.now)
        if answer.reason is not None and answer.reason.message is Message.INSIDE_ONE:
            seconds = plain.seconds_of(play.now, int(one.duration + 0.5), now=True)
            capacity = plain.capacity(shape, seconds)
            fits = {plain.domains[node].get(level): 0 for node in capacity} | {None: 0}
            for node, pods in capacity.items():
                fits[plain.domains[node].get(level)] += pods
            del fits[None]
            assert dict(answer.reason.args)["found"] == max(fits.values(), default=0) < shape.count
        answer = play.matcher.match(ask.operation, ask.gang, now=play.now)
        assert bool(answer) == (answer.reason is None)

    play.run(stream, check)


@examples(200)
@given(tiered_farms(), streams, st.sampled_from(LEVELS))
def test_a_preference_changes_neither_whether_a_gang_starts_nor_when(
    farm: Farm, stream: list[Step], level: str
) -> None:
    play = Play(farm, "low")

    def check(ask: Ask) -> None:
        near = Ask(ask.operation, replace(ask.gang, topology=TopologyRequest(preferred=level)))
        plain = play.plain()
        outcome, at, _ = plain.answer(ask, play.now)
        answer = play.matcher.match(near.operation, near.gang, now=play.now)
        # For several shapes another order of nodes may serve where the policy's does not.
        is_now = outcome in (Outcome.ALLOCATED, Outcome.SATISFIABLE)
        if is_now or len(ask.gang.shapes) == 1:
            assert (answer.outcome, answer.at) == (outcome, at)

    play.run(stream, check)


@examples(200)
@given(tiered_farms(), streams, st.sampled_from(LEVELS))
def test_a_preferred_gang_is_in_one_domain_of_the_narrowest_level_that_has_one_for_it(
    farm: Farm, stream: list[Step], level: str
) -> None:
    play = Play(farm, "low")

    def check(ask: Ask) -> None:
        one = replace(ask.gang, shapes=ask.gang.shapes[:1], shared=())
        near = replace(one, topology=TopologyRequest(preferred=level))
        answer = play.matcher.match(Operation.WITHOUT_ALLOCATING, near, now=play.now)
        if answer:
            seats = seats_of(play.matcher, answer)
            assert seats is not None
            for wider in LEVELS[LEVELS.index(level) :]:
                if _fits_in_one(play.matcher, one, wider, play.now):
                    domains = {farm.domains()[node].get(wider) for node, _ in seats[0]}
                    assert len(domains) == 1 and None not in domains
                    break
        play.matcher.match(ask.operation, ask.gang, now=play.now)

    play.run(stream, check)


def _fits_in_one(matcher: Matcher, gang: Gang, level: str, now: int) -> bool:
    asked = replace(gang, topology=TopologyRequest(level))
    return bool(matcher.match(Operation.WITHOUT_ALLOCATING, asked, now=now))
