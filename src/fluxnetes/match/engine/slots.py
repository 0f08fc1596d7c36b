"""Counts and scores the slots that can be filled below a vertex.

A slot is made of parts, each a number of units of one type. Below each vertex the qualified
children of each type are packed into shares; the scarcest part decides how many slots there are.
Where the slots of many vertices compete, each vertex is ranked by its best slot.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.jobspec.model import Resource
from fluxnetes.match.engine.flexible import Mixture, TypeStock, best_mixture
from fluxnetes.match.engine.intervals import NONE
from fluxnetes.match.engine.packing import count_shares, pack
from fluxnetes.match.engine.scores import MATCH_MET
from fluxnetes.match.engine.stages import Stage
from fluxnetes.match.engine.states import (
    EvaluationContext,
    Limiter,
    QualifiedEntries,
    States,
    below_members,
    fit,
    quantity_below,
)
from fluxnetes.match.policy import MatchPolicy


def share_of(stage: Stage, states: States, members: Ints, part: Resource) -> Ints:
    """The units of one part that each slot below each member takes.

    Of a range, as many as are available; where they are in several pools, in the largest of them.
    """
    have = quantity_below(stage, states, members, part.type)
    serving = stage.serving(part.type)
    if part.count.min < part.count.max and any(s.group.divisible for s in serving):
        entries = below_members(serving, states, members, low=False)
        if entries.divisible:
            have = np.zeros(len(members), np.int64)
            np.maximum.at(have, entries.parent, entries.amount)
    return fit(part.count, have)


def count_slots(stage: Stage, states: States, context: EvaluationContext, members: Ints) -> Ints:
    """Number of slots that can be filled below each member: the scarcest part decides."""
    if context.flexible:
        made = (len(m) for m in mixtures(stage, states, context, members))
        return np.fromiter(made, np.int64, len(members))
    fewest: Ints | None = None
    for part in stage.slots[0].children:
        share = share_of(stage, states, members, part)
        if context.limiter is not None and stage.uneven:
            shares = _shares_met(stage, states, context.limiter, members, part, share)
        else:
            low = context.policy.slots_low
            shares = _shares(stage.serving(part.type), states, low, members, share)
        fewest = shares if fewest is None else np.minimum(fewest, shares)
    return np.zeros(len(members), np.int64) if fewest is None else fewest


def _shares(serving: list[Stage], states: States, low: bool, members: Ints, share: Ints) -> Ints:
    """Number of shares that the qualified vertices below each member make, vertices unsplit."""
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
    stage: Stage, states: States, context: EvaluationContext, members: Ints
) -> Iterator[tuple[str, list[Stage], QualifiedEntries]]:
    """The qualified vertices for the alternatives of a stage's slots, type by type."""
    for type in sorted({part.type for slot in stage.slots for part in slot.children}):
        serving = stage.serving(type)
        if not serving:
            continue
        entries = below_members(serving, states, members, context.policy.slots_low)
        if context.limiter is not None:
            asked = [p for slot in stage.slots for p in slot.children if p.type == type]
            most = max(asked, key=lambda part: part.count.min)
            shares = stage.slots[-1].count.largest
            entries = context.limiter.limit(entries, most.count.largest, shares)
        yield type, serving, entries


def mixtures(
    stage: Stage, states: States, context: EvaluationContext, members: Ints
) -> list[Mixture]:
    """The best mixture of alternatives for the slots of each member."""
    stocks: list[list[TypeStock]] = [[] for _ in range(len(members))]
    for type, _, entries in alternatives(stage, states, context, members):
        bounds = entries.parent.searchsorted(np.arange(len(members) + 1)).tolist()
        amounts = entries.amount.tolist()
        for number, stock in enumerate(stocks):
            granules = tuple(amounts[bounds[number] : bounds[number + 1]])
            stock.append(TypeStock(type, granules, entries.divisible))
    known: dict[tuple[TypeStock, ...], Mixture] = {}
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
    """The same for what a walk visits: with mixed sizes that may be fewer than possible."""
    most, shares = part.count.largest, stage.slots[0].count.largest
    entries = limiter.below(stage.serving(part.type), states, members, most, shares)
    found = np.zeros(len(members), np.int64)
    asked = share > 0
    made = count_shares(entries, np.maximum(share, 1), len(members))
    found[asked] = made[asked]
    return found


def competes(stage: Stage, context: EvaluationContext) -> bool:
    """Whether the slots of all members of a stage are ranked against each other by score.

    Pools can make too many slots to rank in advance; they are ranked as they are filled.
    """
    plain = stage.request is None and not context.policy.first and not context.flexible
    pools = context.policy.scoring != "id" and any(b.group.divisible for b in stage.below)
    return plain and not pools


def best_slots(
    stage: Stage, states: States, context: EvaluationContext, members: Ints, slots: Ints
) -> Ints:
    """The score of the best slot that can be filled below each member.

    Slots are filled from the highest score down, or from the lowest up, so the best is the first;
    but see `first_is_best`.
    """
    if not first_is_best(stage, context.policy):
        scores = slot_scores(stage, states, context, members, slots)
        if not context.policy.low:
            return np.asarray(scores.max(axis=1, initial=NONE))
        return np.asarray(np.where(scores == NONE, -NONE, scores).min(axis=1, initial=-NONE))
    return _first_slots(stage, states, context, members, slots)


def first_is_best(stage: Stage, policy: MatchPolicy) -> bool:
    """Whether a vertex's slots get no better the later they are filled.

    They do get better under `variation`, which fills from the worst class and prefers the best one,
    and may where a slot takes one large vertex and the next one several small ones, or where slots
    have alternatives.
    """
    return policy.scoring != "property" and not stage.uneven and len(stage.slots) == 1


def _first_slots(
    stage: Stage, states: States, context: EvaluationContext, members: Ints, slots: Ints
) -> Ints:
    """The score of the first slot that would be filled below each member."""
    having = slots.nonzero()[0]
    asked = members[having]
    sums = np.full(len(asked), MATCH_MET, np.int64)
    one = np.ones(len(asked), np.int64)
    for part in stage.slots[0].children:
        share = share_of(stage, states, asked, part)
        serving = stage.serving(part.type)
        entries = below_members(serving, states, asked, context.policy.slots_low)
        rows, _, _ = pack(entries, share, one)
        weights = entries.score[rows]
        sums += np.bincount(entries.parent[rows], weights, len(asked)).astype(np.int64)
    best = np.zeros(len(members), np.int64)
    best[having] = sums
    return best


def slot_scores(
    stage: Stage, states: States, context: EvaluationContext, members: Ints, slots: Ints
) -> Ints:
    """The scores of the first `slots[i]` slots below member i, one row each."""
    width = max(int(slots.max(initial=0)), 1)
    scores = np.where(np.arange(width) < slots[:, None], MATCH_MET, 0)
    having = np.flatnonzero(slots)
    asked = members[having]
    for part in stage.slots[0].children:
        share = share_of(stage, states, asked, part)
        serving = stage.serving(part.type)
        entries = below_members(serving, states, asked, context.policy.slots_low)
        rows, number, _ = pack(entries, share, slots[having])
        np.add.at(scores, (having[entries.parent[rows]], number), entries.score[rows])
    return np.where(np.arange(width) < slots[:, None], scores, NONE)
