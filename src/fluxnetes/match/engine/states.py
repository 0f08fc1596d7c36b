"""The state of a traversal: columns of each stage, and the context they are evaluated in.

For each stage there is a `StageState`: arrays over the group's members (which qualify, how many
slots can be filled below each) and over the parent group's members (how many qualify below each
parent, and what they add up to). `QualifiedEntries` are a selection of those members, one row each,
to be ranked and packed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.topology import ragged
from fluxnetes.jobspec.model import Count
from fluxnetes.match.engine.intervals import SlotScores
from fluxnetes.match.engine.stages import Stage
from fluxnetes.match.ledger.views import LedgerView
from fluxnetes.match.policy import MatchPolicy


@dataclass(slots=True, eq=False)
class StageState:
    """The columns of one stage in one view."""

    ok: Bools
    """Whether each member qualifies."""
    amount: Ints | None
    """The amount of each member where that is not its group's size: the free part of a pool, the
    slots of a vertex that is not itself requested, all that qualifies below a PASS vertex."""
    count: Ints
    """By parent, the number of members below it that qualify."""
    quantity: Ints
    """By parent, the sum of their amounts."""
    slots: Ints | None
    """The number of slots that can be filled below each member."""
    best: Ints | None
    """The score of each member's best slot, where slots of all members compete."""
    scores: SlotScores | None = None
    """The scores of all slots, where intervals of them matter."""


States = dict[int, StageState]
"""States by `id(stage)`."""


class Limiter(Protocol):
    """The order in which a walk visits vertices, and where it stops."""

    def limit(self, entries: QualifiedEntries, share: int, shares: int) -> QualifiedEntries:
        """Of each parent's entries, those visited before it has its shares, the best first."""

    def below(
        self, stages: list[Stage], states: States, parents: Ints, share: int, shares: int
    ) -> QualifiedEntries:
        """The same of all that qualifies below some parents."""

    def enough(self, entries: QualifiedEntries, count: int) -> QualifiedEntries:
        """Of each parent's entries, those visited before they add up to a count, best first."""


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """The view and the rules under which a stage is evaluated."""

    view: LedgerView
    allowed: Bools | None
    """By position, whether a node satisfies the request's constraint."""
    excluded: Bools | None
    """By position, vertices that the policy cannot score, or that are used by another path."""
    policy: MatchPolicy
    flexible: bool = False
    """Sibling slots are alternatives."""
    limiter: Limiter | None = None
    """What a walk visits, under policies that stop at the first match; None under others."""

    def excluding(self, positions: Ints, count: int) -> EvaluationContext:
        """The same without some of all `count` positions."""
        excluded = np.zeros(count, np.bool_) if self.excluded is None else self.excluded.copy()
        excluded[positions] = True
        return replace(self, excluded=excluded)


def fit(count: Count, available: Ints) -> Ints:
    """`Count.fit` of every element."""
    if count.min == count.max:
        return np.where(available >= count.min, count.min, 0)
    if count.operator == "+":
        most = np.minimum(available, count.max)
        found = most - (most - count.min) % count.operand
        return np.where((available >= count.min) & (count.min <= count.max), found, 0)
    values, where = np.unique(available, return_inverse=True)
    return np.array([count.fit(int(v)) for v in values], np.int64)[where]


def quantity_below(stage: Stage, states: States, members: Ints, type: str) -> Ints:
    total = np.zeros(len(members), np.int64)
    for below in stage.serving(type):
        total += states[id(below)].quantity[members]
    return total


@dataclass(frozen=True, slots=True)
class QualifiedEntries:
    """Qualified vertices below some parents, one row each, parent by parent."""

    parent: Ints
    """Index into the parents that were passed in."""
    stage: Ints
    """Index into the stages that were passed in."""
    member: Ints
    """Index into the stage's group."""
    position: Ints
    score: Ints
    amount: Ints
    size: int
    """The amount of every row, if all are equal and indivisible; 0 if not."""
    divisible: bool
    """The rows are pools."""

    def __len__(self) -> int:
        return len(self.parent)

    def take(self, rows: Ints | Bools) -> QualifiedEntries:
        return QualifiedEntries(
            self.parent[rows],
            self.stage[rows],
            self.member[rows],
            self.position[rows],
            self.score[rows],
            self.amount[rows],
            self.size,
            self.divisible,
        )

    def ordinal(self) -> Ints:
        """The number of each row among those of its parent."""
        numbers: Ints = np.arange(len(self.parent)) - self.parent.searchsorted(self.parent)
        return numbers


def below_members(
    stages: list[Stage], states: States, parents: Ints, low: bool
) -> QualifiedEntries:
    """The qualified members of some stages below each of some members of the stage above.

    Parent by parent, from the most to the least preferred; equals keep depth-first order.
    """
    parts = [_below(number, stage, states, parents, low) for number, stage in enumerate(stages)]
    if len(parts) == 1:
        return parts[0]
    joined = join(parts)
    key = joined.score if low else -joined.score
    return joined.take(np.lexsort((joined.position, key, joined.parent)))


def join(parts: list[QualifiedEntries]) -> QualifiedEntries:
    """The concatenated entries of several stages."""
    sizes = {part.size for part in parts}
    return QualifiedEntries(
        np.concatenate([p.parent for p in parts]),
        np.concatenate([p.stage for p in parts]),
        np.concatenate([p.member for p in parts]),
        np.concatenate([p.position for p in parts]),
        np.concatenate([p.score for p in parts]),
        np.concatenate([p.amount for p in parts]),
        sizes.pop() if len(sizes) == 1 else 0,
        all(part.divisible for part in parts),
    )


def entries_of(
    number: int, stage: Stage, state: StageState, member: Ints, parent: Ints
) -> QualifiedEntries:
    """Members of one stage as entries."""
    group = stage.group
    if group.size >= 0 and (state.amount is None or not group.divisible):
        size, amount = group.size, np.full(len(member), group.size, np.int64)
    else:
        assert state.amount is not None  # noqa: S101 - mixed sizes and pools have amounts
        size, amount = 0, state.amount[member]
    return QualifiedEntries(
        parent,
        np.full(len(member), number, np.int64),
        member,
        group.members[member],
        group.score[member],
        amount,
        size,
        group.divisible,
    )


def _below(number: int, stage: Stage, states: States, parents: Ints, low: bool) -> QualifiedEntries:
    group, state = stage.group, states[id(stage)]
    first = group.first[parents]
    lengths = group.first[parents + 1] - first
    member = ragged(first, lengths)
    order = group.order(low)
    if order is not None:
        member = order[member]
    good = state.ok[member]
    parent = np.repeat(np.arange(len(parents)), lengths)
    return entries_of(number, stage, state, member[good], parent[good])
