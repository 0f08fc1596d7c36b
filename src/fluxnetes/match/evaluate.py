"""Which vertices of each stage qualify, and how many slots they can fill.

Evaluation goes bottom up over the stages of a request. For each stage it keeps, as arrays over the
group's members: whether a member qualifies (`ok`), and how many slots can be filled from its
children (`slots`); and, as arrays over the parent group's members: how many members below qualify
(`count`) and what they add up to (`quantity`).

For the view of *now* the arrays are kept from one match to the next, and only the members that
changed since (the ledger tells which) are looked at again, so a match costs as much as the
last job was large, not as the graph is. For any other window they are computed afresh.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fluxnetes.graph.topology import ragged
from fluxnetes.jobspec.model import SLOT, Count, Resource
from fluxnetes.match.flexible import Mixture, Stock, best_mixture
from fluxnetes.match.intervals import NONE, SlotScores
from fluxnetes.match.ledger import View
from fluxnetes.match.packing import count_shares, pack
from fluxnetes.match.policy import Policy
from fluxnetes.match.scores import MATCH_MET
from fluxnetes.match.stages import Kind, Stage

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CONSTRAINED_TYPES = frozenset({"node", "storage_node"})


@dataclass(slots=True, eq=False)
class State:
    """What is known of one stage in one view."""

    ok: Bools
    amount: Ints | None
    """What each member counts for where that is not its group's size: the free part of a pool,
    the slots of a vertex that is not itself asked for, all there is below one that is passed."""
    count: Ints
    quantity: Ints
    slots: Ints | None
    best: Ints | None
    """The score of each member's best slot, where slots of all members compete."""
    scores: SlotScores | None = None
    """The scores of all slots, where intervals of them matter."""


States = dict[int, State]
"""States by `id(stage)`."""


class Limiter(Protocol):
    """Knows in which order vertices are met, and when there is enough."""

    def limit(self, entries: Entries, share: int, shares: int) -> Entries:
        """Of each parent's entries, those met before it has its shares, the best first."""

    def below(
        self, stages: list[Stage], states: States, parents: Ints, share: int, shares: int
    ) -> Entries:
        """The same of all that qualifies below some parents."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a stage is evaluated against."""

    view: View
    allowed: Bools | None
    """By position, whether a node satisfies the request's constraint."""
    barred: Bools | None
    """By position, vertices that the policy cannot score."""
    policy: Policy
    flexible: bool = False
    """Sibling slots are alternatives."""
    limiter: Limiter | None = None
    """Who says what a walk meets, under policies that stop at the first match."""


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


def evaluate(stage: Stage, states: States, question: Question, changed: Ints | None) -> None:
    """Bring the states of a stage and all below it up to date.

    `changed` are the positions to look at again, ancestors included; None: all.
    """
    for below in stage.below:
        evaluate(below, states, question, changed)
    state = states.get(id(stage))
    if state is None or changed is None:
        states[id(stage)] = _evaluate_all(stage, states, question)
    else:
        members = stage.group.locate(changed)
        if len(members):
            _evaluate_some(stage, state, states, question, members)


def _evaluate_all(stage: Stage, states: States, question: Question) -> State:
    group = stage.group
    everybody = np.arange(len(group))
    ok, slots = _qualify(stage, states, question, everybody)
    best, scores = None, None
    if slots is not None and competes(stage, question):
        if question.policy.scoring == "interval":
            scores = SlotScores(_slot_scores(stage, states, question, everybody, slots))
        else:
            best = _best_slots(stage, states, question, everybody, slots)
    parents = len(group.first) - 1
    count = np.bincount(group.above[ok], minlength=parents)
    amount = _amounts(stage, states, question, everybody, ok, slots)
    if amount is None:
        quantity = count * group.size
    else:
        sums = np.bincount(group.above, weights=amount, minlength=parents)
        quantity = sums.astype(np.int64)
    return State(ok, amount, count, quantity, slots, best, scores)


def _evaluate_some(
    stage: Stage, state: State, states: States, question: Question, members: Ints
) -> None:
    group = stage.group
    ok, slots = _qualify(stage, states, question, members)
    if state.slots is not None and slots is not None:
        state.slots[members] = slots
        if state.best is not None:
            state.best[members] = _best_slots(stage, states, question, members, slots)
        if state.scores is not None:
            rows = _slot_scores(stage, states, question, members, slots)
            state.scores.replace(members, rows)
    if state.amount is not None:
        amount = _amounts(stage, states, question, members, ok, slots)
        assert amount is not None  # noqa: S101 - decided by the stage, not by the members
        np.add.at(state.quantity, group.above[members], amount - state.amount[members])
        state.amount[members] = amount
    turned = (ok != state.ok[members]).nonzero()[0]
    if len(turned):
        members, ok = members[turned], ok[turned]
        step = np.where(ok, 1, -1)
        state.ok[members] = ok
        above = group.above[members]
        np.add.at(state.count, above, step)
        if state.amount is None:
            np.add.at(state.quantity, above, step * group.size)


def _amounts(
    stage: Stage,
    states: States,
    question: Question,
    members: Ints,
    ok: Bools,
    slots: Ints | None,
) -> Ints | None:
    """What each member counts for, where that is not simply its group's size."""
    group = stage.group
    if stage.request is None and not question.policy.first:
        return None
    if stage.request is None:
        if slots is not None:
            return slots.copy()
        below = np.zeros(len(members), np.int64)
        for child in stage.below:
            below += states[id(child)].quantity[members]
        return np.where(ok, below, 0)
    if group.size >= 0 and not group.divisible:
        return None
    return np.where(ok, question.view.free(group.members[members], stage.depth), 0)


def _qualify(
    stage: Stage, states: States, question: Question, members: Ints
) -> tuple[Bools, Ints | None]:
    """Whether each of some members qualifies, and the slots below it."""
    group = stage.group
    positions = group.members[members] if len(members) < len(group) else group.members
    view = question.view
    free = view.is_alone if stage.alone else view.is_open
    ok = free(positions, stage.depth)
    if question.allowed is not None and group.type in CONSTRAINED_TYPES:
        ok &= question.allowed[positions]
    if question.barred is not None:
        ok &= ~question.barred[positions]
    if stage.contradictory:
        ok[:] = False
    slots = None
    if stage.kind is Kind.SLOT:
        slots = np.where(ok, _slots(stage, states, question, members), 0)
    if stage.request is not None:
        for wanted in stage.request.children:
            ok &= _supply(stage, states, members, wanted, slots) > 0
    return ok, slots


def _supply(
    stage: Stage, states: States, members: Ints, wanted: Resource, slots: Ints | None
) -> Ints:
    """How many of `wanted` the children of each member serve, 0 if not enough."""
    if wanted.type == SLOT:
        return np.zeros(len(members), np.int64) if slots is None else fit(wanted.count, slots)
    if stage.kind is Kind.SLOT:
        return np.zeros(len(members), np.int64)  # beside a slot nothing else is looked for
    return fit(wanted.count, quantity_below(stage, states, members, wanted.type))


def quantity_below(stage: Stage, states: States, members: Ints, type: str) -> Ints:
    total = np.zeros(len(members), np.int64)
    for below in stage.serving(type):
        total += states[id(below)].quantity[members]
    return total


def share_of(stage: Stage, states: States, members: Ints, part: Resource) -> Ints:
    """How much of one part each slot below each member takes.

    Of a range, the most that there is; where that is in several pools, the most that one has.
    """
    have = quantity_below(stage, states, members, part.type)
    serving = stage.serving(part.type)
    if part.count.min < part.count.max and any(s.group.divisible for s in serving):
        entries = below_members(serving, states, members, low=False)
        if entries.divisible:
            have = np.zeros(len(members), np.int64)
            np.maximum.at(have, entries.parent, entries.amount)
    return fit(part.count, have)


def _slots(stage: Stage, states: States, question: Question, members: Ints) -> Ints:
    """How many slots can be filled below each member: the scarcest part decides."""
    if question.flexible:
        made = (len(m) for m in mixtures(stage, states, question, members))
        return np.fromiter(made, np.int64, len(members))
    fewest: Ints | None = None
    for part in stage.slots[0].children:
        share = share_of(stage, states, members, part)
        if question.limiter is not None and stage.uneven:
            shares = _shares_met(stage, states, question.limiter, members, part, share)
        else:
            low = question.policy.slots_low
            shares = _shares(stage.serving(part.type), states, low, members, share)
        fewest = shares if fewest is None else np.minimum(fewest, shares)
    return np.zeros(len(members), np.int64) if fewest is None else fewest


def _shares(serving: list[Stage], states: States, low: bool, members: Ints, share: Ints) -> Ints:
    """How many shares the qualified vertices below each member make, vertices kept whole."""
    found = np.zeros(len(members), np.int64)
    asked = np.flatnonzero(share)
    if len(serving) == 1 and serving[0].group.size > 0 and not serving[0].group.divisible:
        each = -(-share[asked] // serving[0].group.size)
        found[asked] = states[id(serving[0])].count[members[asked]] // each
        return found
    if serving and len(asked):
        entries = below_members(serving, states, members[asked], low)
        found[asked] = count_shares(entries, share[asked], len(asked))
    return found


def alternatives(
    stage: Stage, states: States, question: Question, members: Ints
) -> Iterator[tuple[str, list[Stage], Entries]]:
    """What the alternatives of a stage's slots can be made of, type by type."""
    for type in sorted({part.type for slot in stage.slots for part in slot.children}):
        serving = stage.serving(type)
        if not serving:
            continue
        entries = below_members(serving, states, members, question.policy.slots_low)
        if question.limiter is not None:
            asked = [p for slot in stage.slots for p in slot.children if p.type == type]
            most = max(asked, key=lambda part: part.count.min)
            shares = stage.slots[-1].count.largest
            entries = question.limiter.limit(entries, most.count.largest, shares)
        yield type, serving, entries


def mixtures(stage: Stage, states: States, question: Question, members: Ints) -> list[Mixture]:
    """For each member the alternatives that its slots are best made of."""
    stocks: list[list[Stock]] = [[] for _ in range(len(members))]
    for type, _, entries in alternatives(stage, states, question, members):
        bounds = entries.parent.searchsorted(np.arange(len(members) + 1)).tolist()
        amounts = entries.amount.tolist()
        for number, stock in enumerate(stocks):
            granules = tuple(amounts[bounds[number] : bounds[number + 1]])
            stock.append(Stock(type, granules, entries.divisible))
    known: dict[tuple[Stock, ...], Mixture] = {}
    found = []
    for stock in stocks:
        key = tuple(stock)
        if key not in known:
            known[key] = best_mixture(stage.slots, key)
        found.append(known[key])
    return found


def _shares_met(
    stage: Stage, states: States, limiter: Limiter, members: Ints, part: Resource, share: Ints
) -> Ints:
    """The same of what a walk meets: of mixed sizes, it may leave less than it could have had."""
    most, shares = part.count.largest, stage.slots[0].count.largest
    entries = limiter.below(stage.serving(part.type), states, members, most, shares)
    found = np.zeros(len(members), np.int64)
    asked = share > 0
    made = count_shares(entries, np.maximum(share, 1), len(members))
    found[asked] = made[asked]
    return found


def competes(stage: Stage, question: Question) -> bool:
    """Whether the slots of all members of a stage are ranked against each other by score.

    Pools can make more slots than anybody wants to rank; they are ranked as they are filled.
    """
    plain = stage.request is None and not question.policy.first and not question.flexible
    pools = question.policy.scoring != "id" and any(b.group.divisible for b in stage.below)
    return plain and not pools


def _best_slots(
    stage: Stage, states: States, question: Question, members: Ints, slots: Ints
) -> Ints:
    """The score of the best slot that can be filled below each member.

    Slots are filled from the highest score down, or from the lowest up, so the best is the first;
    but see `first_is_best`.
    """
    if not first_is_best(stage, question.policy):
        scores = _slot_scores(stage, states, question, members, slots)
        if not question.policy.low:
            return np.asarray(scores.max(axis=1, initial=NONE))
        return np.asarray(np.where(scores == NONE, -NONE, scores).min(axis=1, initial=-NONE))
    return _first_slots(stage, states, question, members, slots)


def first_is_best(stage: Stage, policy: Policy) -> bool:
    """Whether a vertex's slots get no better the later they are filled.

    They do under `variation`, which fills from the worst class and prefers the best one, and may
    where a slot takes one large vertex and the next several small ones, or is made otherwise.
    """
    return policy.scoring != "property" and not stage.uneven and len(stage.slots) == 1


def _first_slots(
    stage: Stage, states: States, question: Question, members: Ints, slots: Ints
) -> Ints:
    """The score of the first slot that would be filled below each member."""
    having = slots.nonzero()[0]
    asked = members[having]
    sums = np.full(len(asked), MATCH_MET, np.int64)
    one = np.ones(len(asked), np.int64)
    for part in stage.slots[0].children:
        share = share_of(stage, states, asked, part)
        serving = stage.serving(part.type)
        entries = below_members(serving, states, asked, question.policy.slots_low)
        rows, _, _ = pack(entries, share, one)
        weights = entries.score[rows]
        sums += np.bincount(entries.parent[rows], weights, len(asked)).astype(np.int64)
    best = np.zeros(len(members), np.int64)
    best[having] = sums
    return best


def _slot_scores(
    stage: Stage, states: States, question: Question, members: Ints, slots: Ints
) -> Ints:
    """The scores of the first `slots[i]` slots below member i, one row each."""
    width = max(int(slots.max(initial=0)), 1)
    scores = np.where(np.arange(width) < slots[:, None], MATCH_MET, 0)
    having = np.flatnonzero(slots)
    asked = members[having]
    for part in stage.slots[0].children:
        share = share_of(stage, states, asked, part)
        serving = stage.serving(part.type)
        entries = below_members(serving, states, asked, question.policy.slots_low)
        rows, number, _ = pack(entries, share, slots[having])
        np.add.at(scores, (having[entries.parent[rows]], number), entries.score[rows])
    return np.where(np.arange(width) < slots[:, None], scores, NONE)


@dataclass(frozen=True, slots=True)
class Entries:
    """Qualified vertices below some parents, one row each, parent by parent."""

    parent: Ints
    """Index into the parents asked about."""
    stage: Ints
    """Index into the stages asked about."""
    member: Ints
    """Index into the stage's group."""
    position: Ints
    score: Ints
    amount: Ints
    size: int
    """The amount of every row, if they are alike and whole; 0 if not."""
    divisible: bool
    """The rows are pools."""

    def __len__(self) -> int:
        return len(self.parent)

    def take(self, rows: Ints | Bools) -> Entries:
        return Entries(
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


def below_members(stages: list[Stage], states: States, parents: Ints, low: bool) -> Entries:
    """The qualified members of some stages below each of some members of the stage above.

    Parent by parent, from the most to the least preferred; equals keep depth-first order.
    """
    parts = [_below(number, stage, states, parents, low) for number, stage in enumerate(stages)]
    if len(parts) == 1:
        return parts[0]
    joined = join(parts)
    key = joined.score if low else -joined.score
    return joined.take(np.lexsort((joined.position, key, joined.parent)))


def join(parts: list[Entries]) -> Entries:
    """Entries of several stages one after the other."""
    sizes = {part.size for part in parts}
    return Entries(
        np.concatenate([p.parent for p in parts]),
        np.concatenate([p.stage for p in parts]),
        np.concatenate([p.member for p in parts]),
        np.concatenate([p.position for p in parts]),
        np.concatenate([p.score for p in parts]),
        np.concatenate([p.amount for p in parts]),
        sizes.pop() if len(sizes) == 1 else 0,
        all(part.divisible for part in parts),
    )


def entries_of(number: int, stage: Stage, state: State, member: Ints, parent: Ints) -> Entries:
    """Members of one stage as entries."""
    group = stage.group
    whole = state.amount is None or not group.divisible
    if group.size > 0 and whole:
        size, amount = group.size, np.full(len(member), group.size, np.int64)
    else:
        assert state.amount is not None  # noqa: S101 - mixed sizes and pools have amounts
        size, amount = 0, state.amount[member]
    return Entries(
        parent,
        np.full(len(member), number, np.int64),
        member,
        group.members[member],
        group.score[member],
        amount,
        size,
        group.divisible,
    )


def _below(number: int, stage: Stage, states: States, parents: Ints, low: bool) -> Entries:
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
