"""Packing vertices into shares, against a plain greedy loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.match.engine.packing import count_shares, pack
from fluxnetes.match.engine.states import QualifiedEntries
from tests.property.profile import examples


@dataclass(frozen=True)
class Case:
    """For each parent the units of its vertices, in order, and the units of a share."""

    units: list[list[int]]
    share: list[int]
    divisible: bool = False

    def entries(self) -> QualifiedEntries:
        parent = [p for p, its in enumerate(self.units) for _ in its]
        amount = [units for its in self.units for units in its]
        number = np.arange(len(parent))
        alike = len(set(amount)) == 1 and not self.divisible
        return QualifiedEntries(
            parent=np.array(parent, np.int64),
            stage=np.zeros(len(parent), np.int64),
            member=number,
            position=number,
            score=number,
            amount=np.array(amount, np.int64),
            size=amount[0] if alike else 0,
            divisible=self.divisible,
        )

    def shares(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(self.share, np.int64)


Shares = list[list[tuple[int, int]]]
"""For each share of a parent the vertices in it: (number among the parent's, units taken)."""


def whole(units: list[int], share: int) -> Shares:
    """Take vertices in order until a share has enough; what is too much is lost."""
    made: Shares = []
    open_share: list[tuple[int, int]] = []
    for number, amount in enumerate(units):
        open_share.append((number, amount))
        if sum(taken for _, taken in open_share) >= share:
            made.append(open_share)
            open_share = []
    return made


def parts(units: list[int], share: int) -> Shares:
    """Cut shares off each pool while they last."""
    made: Shares = []
    for number, amount in enumerate(units):
        while amount >= share:
            made.append([(number, share)])
            amount -= share
    return made


def expected(case: Case) -> list[Shares]:
    greedy = parts if case.divisible else whole
    return [greedy(units, share) for units, share in zip(case.units, case.share, strict=True)]


def packed(case: Case, most: list[int]) -> list[Shares]:
    entries = case.entries()
    rows, number, taken = pack(entries, case.shares(), np.array(most, np.int64))
    found: list[Shares] = [[[] for _ in range(count)] for count in most]
    ordinal = entries.ordinal()
    for row, share, units in zip(rows.tolist(), number.tolist(), taken.tolist(), strict=True):
        found[int(entries.parent[row])][share].append((int(ordinal[row]), units))
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    size = draw(st.sampled_from([st.just(1), st.just(3), st.integers(1, 5), st.integers(0, 9)]))
    units = draw(st.lists(st.lists(size, max_size=7), min_size=1, max_size=4))
    share = draw(st.lists(st.integers(1, 7), min_size=len(units), max_size=len(units)))
    return Case(units, share, divisible=draw(st.booleans()))


@examples(400)
@given(cases())
def test_as_many_shares_are_counted_as_a_greedy_loop_makes(case: Case) -> None:
    made = count_shares(case.entries(), case.shares(), len(case.units))
    assert made.tolist() == [len(shares) for shares in expected(case)]


@examples(400)
@given(cases(), st.data())
def test_shares_are_made_of_what_a_greedy_loop_takes(case: Case, data: st.DataObject) -> None:
    greedy = expected(case)
    most = [data.draw(st.integers(0, len(shares))) for shares in greedy]
    wanted = [shares[:count] for shares, count in zip(greedy, most, strict=True)]
    assert packed(case, most) == wanted


def test_what_the_last_vertex_of_a_share_has_too_much_is_lost() -> None:
    assert packed(Case([[2, 3, 4, 1]], [4]), [2]) == [[[(0, 2), (1, 3)], [(2, 4)]]]


def test_a_pool_serves_as_many_shares_as_it_holds_and_two_never_one() -> None:
    case = Case([[5, 3]], [2], divisible=True)
    assert packed(case, [3]) == [[[(0, 2)], [(0, 2)], [(1, 2)]]]
    assert count_shares(Case([[3, 3]], [4], divisible=True).entries(), np.array([4]), 1) == [0]
