"""Lists the vertices that a walk of the `first` policies visits for a request, at all levels.

What a walk visits is more than what is chosen in the end: of a range as many as its maximum, and
where sizes differ as many as make up the shares.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.jobspec.model import Resource
from fluxnetes.match.engine.first_fit import EdgeWeights, FirstFitWalk
from fluxnetes.match.engine.slots import alternatives
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import (
    EvaluationContext,
    QualifiedEntries,
    States,
    below_members,
)


def visited_positions(
    root: Stage,
    states: States,
    context: EvaluationContext,
    weights: EdgeWeights,
    wanted: tuple[Resource, ...],
) -> Ints:
    """The positions that a walk visits for a request and that qualify, at all levels."""
    met = FirstFitWalk(weights, states).meet(root, wanted)
    found: list[Ints] = [np.empty(0, np.int64)]
    for stage in root.all():
        if id(stage) in met:
            _visit(stage, met[id(stage)].members, states, context, found)
    return np.concatenate(found)


def _visit(
    stage: Stage, members: Ints, states: States, context: EvaluationContext, found: list[Ints]
) -> None:
    """Add members of a stage, and what is visited below them."""
    found.append(stage.group.members[members])
    for serving, entries in _visited_below(stage, members, states, context):
        for number, below in enumerate(serving):
            _visit(below, entries.member[entries.stage == number], states, context, found)


def _visited_below(
    stage: Stage, members: Ints, states: States, context: EvaluationContext
) -> Iterator[tuple[list[Stage], QualifiedEntries]]:
    limiter = context.limiter
    assert limiter is not None  # noqa: S101 - there is one under every policy that walks
    if not len(members):
        return
    if stage.kind is StageKind.SLOT and context.flexible:
        for _, serving, entries in alternatives(stage, states, context, members):
            yield serving, entries
    elif stage.kind is StageKind.SLOT:
        slot = stage.slots[0]
        for part in slot.children:
            serving = stage.serving(part.type)
            if serving:
                most, shares = part.count.largest, slot.count.largest
                yield serving, limiter.below(serving, states, members, most, shares)
    elif stage.request is not None:
        for part in stage.request.children:
            serving = stage.serving(part.type)
            if serving:
                entries = below_members(serving, states, members, context.policy.low)
                yield serving, limiter.enough(entries, part.count.largest)
