"""Evaluates stages: which vertices of each qualify, and how many slots they can fill.

Evaluation goes bottom up over the stages of a request. For each stage it keeps, as arrays over the
group's members: whether a member qualifies (`ok`), and how many slots can be filled from its
children (`slots`); and, as arrays over the parent group's members: how many members below qualify
(`count`) and what they add up to (`quantity`).

For the view of *now* the arrays are kept from one match to the next, and only the members that
changed since (the ledger logs them) are evaluated again, so the cost of a match depends on the size
of the last job, not on that of the graph. For any other window they are computed from scratch.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.jobspec.model import SLOT, Resource
from fluxnetes.match.engine.intervals import SlotScores
from fluxnetes.match.engine.slots import best_slots, competes, count_slots, slot_scores
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import EvaluationContext, StageState, States, fit, quantity_below

CONSTRAINED_TYPES = frozenset({"node", "storage_node"})
"""The types of vertices to which constraints apply."""


def evaluate(
    stage: Stage, states: States, context: EvaluationContext, changed: Ints | None
) -> None:
    """Update the states of a stage and all below it.

    `changed` are the positions to evaluate again, ancestors included; None: all.
    """
    for below in stage.below:
        evaluate(below, states, context, changed)
    state = states.get(id(stage))
    if state is None or changed is None:
        states[id(stage)] = _evaluate_all(stage, states, context)
    else:
        members = stage.group.locate(changed)
        if len(members):
            _evaluate_some(stage, state, states, context, members)


def _evaluate_all(stage: Stage, states: States, context: EvaluationContext) -> StageState:
    group = stage.group
    all_members = np.arange(len(group))
    ok, slots = _qualify(stage, states, context, all_members)
    best, scores = None, None
    if slots is not None and competes(stage, context):
        if context.policy.scoring == "interval":
            scores = SlotScores(slot_scores(stage, states, context, all_members, slots))
        else:
            best = best_slots(stage, states, context, all_members, slots)
    parents = len(group.first) - 1
    count = np.bincount(group.above[ok], minlength=parents)
    amount = _amounts(stage, states, context, all_members, ok, slots)
    if amount is None:
        quantity = count * group.size
    else:
        sums = np.bincount(group.above, weights=amount, minlength=parents)
        quantity = sums.astype(np.int64)
    return StageState(ok, amount, count, quantity, slots, best, scores)


def _evaluate_some(
    stage: Stage, state: StageState, states: States, context: EvaluationContext, members: Ints
) -> None:
    group = stage.group
    ok, slots = _qualify(stage, states, context, members)
    if state.slots is not None and slots is not None:
        state.slots[members] = slots
        if state.best is not None:
            state.best[members] = best_slots(stage, states, context, members, slots)
        if state.scores is not None:
            rows = slot_scores(stage, states, context, members, slots)
            state.scores.replace(members, rows)
    if state.amount is not None:
        amount = _amounts(stage, states, context, members, ok, slots)
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
    context: EvaluationContext,
    members: Ints,
    ok: Bools,
    slots: Ints | None,
) -> Ints | None:
    """The amount of each member, where that is not simply its group's size."""
    group = stage.group
    if stage.request is None and not context.policy.first:
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
    return np.where(ok, context.view.free(group.members[members], stage.depth), 0)


def _qualify(
    stage: Stage, states: States, context: EvaluationContext, members: Ints
) -> tuple[Bools, Ints | None]:
    """Whether each of some members qualifies, and the slots below it."""
    group = stage.group
    positions = group.members[members] if len(members) < len(group) else group.members
    view = context.view
    free = view.is_alone if stage.alone else view.is_open
    ok = free(positions, stage.depth)
    if context.allowed is not None and group.type in CONSTRAINED_TYPES:
        ok &= context.allowed[positions]
    if context.excluded is not None:
        ok &= ~context.excluded[positions]
    if stage.contradictory:
        ok[:] = False
    slots = None
    if stage.kind is StageKind.SLOT:
        slots = np.where(ok, count_slots(stage, states, context, members), 0)
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
    if stage.kind is StageKind.SLOT:
        return np.zeros(len(members), np.int64)  # beside a slot no sibling can be matched
    return fit(wanted.count, quantity_below(stage, states, members, wanted.type))
