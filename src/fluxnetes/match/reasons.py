"""Why a request does not fit, as a `Reason`.

The reason comes from the states of the traversal that failed: the deepest requirement that no
vertex meets is the one worth telling, as in "needs 4 gpu on one node; the largest node has 2".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.reasons import Amount, Message, Reason
from fluxnetes.jobspec.model import SLOT, Resource
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import States, quantity_below


@dataclass(frozen=True, slots=True)
class AvailabilityMessages:
    """What is said of what there is: ever, or free at some time."""

    none: Message
    few: Message
    on_one: Message
    slots_on_one: Message


NOW = AvailabilityMessages(
    Message.NONE_FREE, Message.FEW_FREE, Message.MOST_FREE_ON_ONE, Message.SLOTS_FREE_ON_ONE
)
EVER = AvailabilityMessages(
    Message.NONE_EXISTS, Message.FEW_EXIST, Message.LARGEST_HAS, Message.SLOTS_OF_LARGEST
)


def explain(
    stage: Stage | None,
    resources: tuple[Resource, ...],
    states: States,
    messages: AvailabilityMessages,
) -> Reason:
    """The reason why a request found nothing in the states of a traversal."""
    if stage is None:
        return _shapeless(resources)
    for wanted in resources:
        serving = list(_serving(stage, wanted.type))
        if not serving:
            return Reason.of(Message.CANNOT_HOLD, needs=_amount(wanted))
        have = sum(_total(s, states, wanted.type) for s in serving)
        if wanted.count.fit(have) == 0:
            return _why_few(serving, states, wanted, have, messages)
    return Reason.of(Message.OUT_OF_REACH)


def _shapeless(resources: tuple[Resource, ...]) -> Reason:
    types = [r.type for r in resources]
    twice = sorted({t for t in types if types.count(t) > 1})
    if twice:
        return Reason.of(Message.SIDE_BY_SIDE, type=twice[0])
    for resource in resources:
        if len({c.type for c in resource.children}) < len(resource.children):
            return _shapeless(resource.children)
    return Reason.of(Message.NO_SUCH_SHAPE, shape=_shape(resources))


def _shape(resources: tuple[Resource, ...]) -> str:
    return " and ".join(
        f"{r.type}->{_shape(r.children)}" if r.children else r.type for r in resources
    )


def _amount(wanted: Resource) -> Amount:
    return Amount(wanted.count.min, wanted.type, at_least=wanted.count.min != wanted.count.max)


def _serving(stage: Stage, type: str) -> list[Stage]:
    """The stages that compete for a request's top level."""
    if stage.kind is StageKind.PASS:
        return [found for below in stage.below for found in _serving(below, type)]
    asked_for = stage.request.type if stage.request is not None else SLOT
    return [stage] if asked_for == type else []


def _total(stage: Stage, states: States, type: str) -> int:
    state = states[id(stage)]
    if type == SLOT and state.slots is not None:
        return int(state.slots.sum())
    return int(state.quantity.sum())


def _why_few(
    serving: list[Stage],
    states: States,
    wanted: Resource,
    have: int,
    messages: AvailabilityMessages,
) -> Reason:
    deeper = [reason for s in serving if (reason := _unmet_below(s, states, messages))]
    if have == 0 and deeper:
        return deeper[0]
    if have:
        reason = Reason.of(messages.few, needs=_amount(wanted), have=have)
    else:
        reason = Reason.of(messages.none, needs=_amount(wanted))
    if not deeper:
        return reason
    return Reason.of(Message.BECAUSE, reason=reason, because=deeper[0]).coded(reason.code)


def _unmet_below(stage: Stage, states: States, messages: AvailabilityMessages) -> Reason | None:
    """The deepest requirement that no vertex of a stage meets."""
    slots = [c for slot in stage.slots for c in slot.children]
    asked = slots or list(stage.request.children if stage.request is not None else ())
    members = np.arange(len(stage.group))
    holder = stage.group.type
    for wanted in asked:
        if wanted.type == SLOT:
            return Reason.of(Message.SLOT_NOT_BELOW, shape=_shape(wanted.children), holder=holder)
        for below in stage.serving(wanted.type):
            reason = _unmet_below(below, states, messages)
            if reason is not None:
                return reason
        have = quantity_below(stage, states, members, wanted.type)
        best = Amount(int(have.max()) if len(have) else 0, wanted.type)
        if wanted.count.fit(best.value) == 0:
            return Reason.of(messages.on_one, needs=_amount(wanted), holder=holder, best=best)
    return _unmet_slots(stage, states, messages)


def _unmet_slots(stage: Stage, states: States, messages: AvailabilityMessages) -> Reason | None:
    made = states[id(stage)].slots
    for wanted in stage.request.children if stage.request is not None else ():
        if wanted.type == SLOT and made is not None and wanted.count.fit(int(made.max())) == 0:
            return Reason.of(
                messages.slots_on_one,
                needs=_amount(wanted),
                shape=_shape(wanted.children),
                holder=stage.group.type,
                best=Amount(int(made.max()), wanted.type),
            )
    return None
