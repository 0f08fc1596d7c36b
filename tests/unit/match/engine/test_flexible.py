"""Slots that are alternatives: the best mixture, and requests split at their xor slots."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.build import core, gpu, jobspec, memory, node, res, slot, xor_slot
from fluxnetes.jobspec.model import Count, Resource
from fluxnetes.match.answers import Outcome
from fluxnetes.match.engine.flexible import (
    MAX_VARIANTS,
    Mixture,
    TooManyVariants,
    TypeStock,
    best_mixture,
    split_xor_slots,
)
from fluxnetes.match.matcher import Matcher
from tests.property.profile import examples
from tests.unit.match import clusters as built

TYPES = ("core", "gpu", "memory")


def stock(*units: int) -> tuple[TypeStock, ...]:
    """So many vertices of size 1 of each type."""
    return tuple(TypeStock(t, (1,) * n, False) for t, n in zip(TYPES, units, strict=False))


def most_slots(slots: tuple[Resource, ...], units: dict[str, int]) -> int:
    """The most slots that any order of alternatives makes, by trying all."""

    @cache
    def most(left: tuple[tuple[str, int], ...]) -> int:
        best = 0
        for alternative in slots:
            rest = dict(left)
            for part in alternative.children:
                rest[part.type] = rest.get(part.type, 0) - part.count.min
            if min(rest.values()) >= 0:
                best = max(best, 1 + most(tuple(sorted(rest.items()))))
        return best

    return most(tuple(sorted(units.items())))


def replay(slots: tuple[Resource, ...], units: dict[str, int], mixture: Mixture) -> bool:
    """Whether there is enough to fill a mixture, slot by slot."""
    left = dict(units)
    for way in mixture:
        for part in slots[way].children:
            left[part.type] -= part.count.min
    return min(left.values()) >= 0


parts = st.lists(
    st.tuples(st.sampled_from(TYPES), st.integers(1, 3)), min_size=1, max_size=3, unique_by=str
).map(lambda pairs: tuple(res(type, count) for type, count in dict(pairs).items()))
alternatives = st.lists(parts.map(lambda p: slot(99, *p)), min_size=1, max_size=3).map(tuple)


@examples(300)
@given(alternatives, st.tuples(*[st.integers(0, 6)] * 3))
def test_a_mixture_makes_as_many_slots_as_any_could(
    slots: tuple[Resource, ...], units: tuple[int, int, int]
) -> None:
    there = dict(zip(TYPES, units, strict=True))
    mixture = best_mixture(slots, stock(*units))
    assert len(mixture) == most_slots(slots, there)
    assert replay(slots, there, mixture)


@examples(150)
@given(alternatives, st.tuples(*[st.integers(0, 5)] * 3))
def test_of_mixtures_that_make_as_many_the_first_listed_begins(
    slots: tuple[Resource, ...], units: tuple[int, int, int]
) -> None:
    there = dict(zip(TYPES, units, strict=True))
    mixture = best_mixture(slots, stock(*units))
    for better in range(mixture[0] if mixture else 0):
        rest = dict(there)
        for part in slots[better].children:
            rest[part.type] -= part.count.min
        enough = min(rest.values()) >= 0
        assert not enough or 1 + most_slots(slots, rest) < len(mixture)


def test_one_alternative_alone_makes_no_more_slots_than_are_asked_for() -> None:
    assert best_mixture((slot(2, core(1)),), stock(9)) == (0, 0)
    assert best_mixture((slot(Count(1, 5), core(2)),), stock(9)) == (0, 0, 0, 0)


def test_granules_that_do_not_go_round_make_no_slot() -> None:
    two_of_four = (TypeStock("memory", (4, 4), False),)
    assert best_mixture((slot(9, memory(4)),), two_of_four) == (0, 0)
    assert best_mixture((slot(9, memory(3)),), two_of_four) == (0, 0)
    assert best_mixture((slot(9, memory(2)),), two_of_four) == ()


@examples(200)
@given(st.lists(st.integers(1, 5), max_size=6), st.integers(1, 6))
def test_uneven_granules_are_used_in_order_or_make_no_slot(sizes: list[int], each: int) -> None:
    """As many slots as the units make; if whole granules run out before, none at all."""
    wanted = sum(sizes) // each
    left = list(sizes)
    for _ in range(wanted):
        share = 0
        while share < each and left:
            share += left.pop(0)
        if share < each:
            wanted = 0
            break
    found = best_mixture((slot(99, memory(each)),), (TypeStock("memory", tuple(sizes), False),))
    assert found == (0,) * wanted


def test_a_pool_is_cut_exactly() -> None:
    assert best_mixture((slot(9, memory(3)),), (TypeStock("memory", (8,), True),)) == (0, 0)


# -- xor -------------------------------------------------------------------------------------------


def test_a_request_without_xor_slots_is_its_only_variant() -> None:
    request = (node(2, slot(1, core(1))), gpu(1))
    assert split_xor_slots(request) == [request]


def test_xor_slots_become_slots_one_in_each_variant_in_order() -> None:
    request = (node(1, xor_slot(1, core(2)), xor_slot(1, gpu(1))),)
    assert split_xor_slots(request) == [
        (node(1, slot(1, core(2))),),
        (node(1, slot(1, gpu(1))),),
    ]


def test_what_stands_beside_xor_slots_is_in_every_variant() -> None:
    request = (xor_slot(1, core(2)), memory(1), xor_slot(1, gpu(1)))
    assert [set(v) for v in split_xor_slots(request)] == [
        {memory(1), slot(1, core(2))},
        {memory(1), slot(1, gpu(1))},
    ]


def test_siblings_that_hold_xor_slots_multiply() -> None:
    request = (
        node(1, xor_slot(1, core(1)), xor_slot(1, core(2))),
        res("ssd", 1, xor_slot(1, gpu(1)), xor_slot(1, gpu(2))),
    )
    asked = {tuple(sorted(map(repr, variant))) for variant in split_xor_slots(request)}
    assert asked == {
        tuple(sorted(map(repr, (node(1, slot(1, core(c))), res("ssd", 1, slot(1, gpu(g)))))))
        for c in (1, 2)
        for g in (1, 2)
    }


def test_xor_slots_within_xor_slots_are_split_too() -> None:
    request = (xor_slot(1, res("socket", 1, xor_slot(1, core(4)))),)
    assert split_xor_slots(request) == [(slot(1, res("socket", 1, slot(1, core(4)))),)]


def test_more_variants_than_should_be_tried_are_refused() -> None:
    def some(count: int) -> tuple[Resource, ...]:
        return tuple(xor_slot(1, core(n + 1)) for n in range(count))

    assert len(split_xor_slots((node(1, *some(MAX_VARIANTS)),))) == MAX_VARIANTS
    with pytest.raises(TooManyVariants, match="make 1001 variants"):
        split_xor_slots(some(MAX_VARIANTS + 1))


def test_a_request_of_too_many_variants_is_invalid() -> None:
    matcher = Matcher(built.cluster(*built.nodes(1, *built.cores(1))), traverser="flexible")
    many = tuple(xor_slot(1, core(n + 1)) for n in range(MAX_VARIANTS + 1))
    answer = matcher.allocate(jobspec(*many))
    assert (answer.outcome, matcher.next_jobid) == (Outcome.INVALID, 1)
    assert "1001 variants" in reason_text(answer.reason)


# -- through the matcher ---------------------------------------------------------------------------


def flexible(*below: built.Branch) -> Matcher:
    return Matcher(built.cluster(*built.nodes(1, *below)), policy="low", traverser="flexible")


def test_the_first_variant_that_fits_is_taken() -> None:
    matcher = flexible(*built.cores(2), *built.gpus(2))
    either = jobspec(xor_slot(1, core(2)), xor_slot(1, gpu(2)))
    first, second, third = (matcher.allocate(either) for _ in range(3))
    assert set(built.given_to(matcher, first)) == {
        "/cluster0/node0/core0",
        "/cluster0/node0/core1",
    }
    assert set(built.given_to(matcher, second)) == {"/cluster0/node0/gpu0", "/cluster0/node0/gpu1"}
    assert third.outcome is Outcome.BUSY


def test_alternatives_are_mixed_to_make_the_most_slots() -> None:
    matcher = flexible(*built.cores(3), *built.gpus(1))
    answer = matcher.allocate(jobspec(node(1, slot(2, core(2)), slot(2, core(1), gpu(1)))))
    assert len(built.given_to(matcher, answer)) == 4


def test_a_slot_is_filled_from_vertices_of_different_sizes() -> None:
    matcher = flexible(*built.memory(2, 4))
    assert built.given_to(matcher, matcher.allocate(jobspec(node(1, slot(1, memory(3))))))


def test_a_share_comes_from_one_pool_as_with_the_simple_traverser() -> None:
    matcher = flexible(built.pool("cpu", 4), built.pool("cpu", 4))
    assert matcher.allocate(jobspec(node(1, slot(1, res("cpu", 6))))).outcome is Outcome.BUSY
