"""Why a request does not fit, as a `Reason`.

The reason comes from the states of the traversal that failed: the deepest requirement that no
vertex meets is the one to report, as in "needs 4 gpu on one node; the largest node has 2". Only
vertices that the request may use are mentioned: open, below open ones, and allowed by its
constraint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.common.reasons import Amount, Message, Reason
from fluxnetes.jobspec.model import SLOT, Resource
from fluxnetes.match.engine.evaluate import CONSTRAINED_TYPES
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import EvaluationContext, States, quantity_below

_MAX_SHAPE = 63
"""Maximum words of a shape in a reason, odd, so that the last one is a type."""


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


OF_VERTICES = frozenset({Message.BECAUSE, *astuple(NOW), *astuple(EVER)})
"""Messages that tell what there is: under a constraint, on the nodes that satisfy it."""


def explain(
    stage: Stage | None,
    resources: tuple[Resource, ...],
    states: States,
    context: EvaluationContext,
    messages: AvailabilityMessages,
) -> Reason:
    """The reason why a request found nothing in the states of a traversal."""
    senseless = _senseless(resources, context.flexible)
    if senseless is not None:
        return senseless
    if stage is None:
        return Reason.of(Message.NO_SUCH_SHAPE, shape=_shape(resources))
    return _Finding(states, context, messages).explain(stage, resources)


def _senseless(resources: tuple[Resource, ...], flexible: bool) -> Reason | None:
    """Why a request can be met by no graph at all; None if it could be."""
    level = [resources]
    while level:
        for siblings in level:
            times = Counter(r.type for r in siblings if not (flexible and r.type == SLOT))
            twice = [type for type, number in times.items() if number > 1]
            if twice:
                return Reason.of(Message.SIDE_BY_SIDE, type=min(twice))
            for resource in siblings:
                if resource.count.largest == 0:
                    return _no_count(resource)
        level = [r.children for siblings in level for r in siblings if r.children]
    return None


def _no_count(wanted: Resource) -> Reason:
    least, most = wanted.count.min, wanted.count.max
    if least == most:
        return Reason.of(Message.COUNT_OF_ZERO, type=wanted.type)
    return Reason.of(Message.COUNT_RANGE, type=wanted.type, least=least, most=most)


def _shape(resources: tuple[Resource, ...]) -> str:
    """The types of a request and what they hold; of many requests, the first ones."""
    written: list[str] = []
    _write_shape(resources, written)
    if len(written) > _MAX_SHAPE:
        return "".join(written[:_MAX_SHAPE]) + " ..."
    return "".join(written)


def _write_shape(resources: tuple[Resource, ...], written: list[str]) -> None:
    for number, resource in enumerate(resources):
        if len(written) > _MAX_SHAPE:
            return
        written += [" and "] * (number > 0) + [resource.type]
        if resource.children:
            written.append("->")
            _write_shape(resource.children, written)


def _amount(wanted: Resource) -> Amount:
    return Amount(wanted.count.min, wanted.type, at_least=wanted.count.min != wanted.count.max)


@dataclass(frozen=True, slots=True)
class _Served:
    """A stage that serves a request's top level, and what of it is below open vertices only."""

    stage: Stage
    parents: Bools
    """By member of the parent group, whether it and all above it can be used."""

    @property
    def reach(self) -> Bools:
        """The same by member of the group, without the member itself."""
        found: Bools = self.parents[self.stage.group.above]
        return found


@dataclass(frozen=True, slots=True)
class _Finding:
    """Reads a reason from the states of one traversal."""

    states: States
    context: EvaluationContext
    messages: AvailabilityMessages

    def explain(self, stage: Stage, resources: tuple[Resource, ...]) -> Reason:
        for wanted in resources:
            serving = list(self._serving(stage, wanted.type, np.ones(1, np.bool_)))
            if not serving:
                return Reason.of(Message.CANNOT_HOLD, needs=_amount(wanted))
            have = sum(self._total(each, wanted.type) for each in serving)
            if wanted.count.fit(have) == 0:
                return self._why_few(serving, wanted, have)
        if len(resources) > 1:
            return Reason.of(Message.NOT_TOGETHER, shape=_shape(resources))
        return Reason.of(Message.OUT_OF_REACH)

    def _serving(self, stage: Stage, type: str, parents: Bools) -> Iterator[_Served]:
        """The stages that compete for a request's top level."""
        if stage.kind is StageKind.PASS:
            usable = parents[stage.group.above] & self._eligible(stage)
            for below in stage.below:
                yield from self._serving(below, type, usable)
            return
        asked_for = stage.request.type if stage.request is not None else SLOT
        if asked_for == type:
            yield _Served(stage, parents)

    def _eligible(self, stage: Stage) -> Bools:
        """Whether each member of a stage is open, and allowed by the constraint."""
        group, context = stage.group, self.context
        found = context.view.is_open(group.members, stage.depth)
        if context.allowed is not None and group.type in CONSTRAINED_TYPES:
            found = found & context.allowed[group.members]
        if context.excluded is not None:
            found = found & ~context.excluded[group.members]
        return found

    def _total(self, served: _Served, type: str) -> int:
        state = self.states[id(served.stage)]
        if type == SLOT and state.slots is not None:
            return int(state.slots[served.reach].sum())
        return int(state.quantity[served.parents].sum())

    def _why_few(self, serving: list[_Served], wanted: Resource, have: int) -> Reason:
        deeper = [
            reason
            for each in serving
            if (reason := self._unmet_below(each.stage, each.reach & self._eligible(each.stage)))
        ]
        if have == 0 and not any(each.parents.any() for each in serving):
            return Reason.of(Message.OUT_OF_REACH)
        if have == 0 and deeper:
            return deeper[0]
        if have:
            reason = Reason.of(self.messages.few, needs=_amount(wanted), have=have)
        else:
            reason = Reason.of(self.messages.none, needs=_amount(wanted))
        if not deeper:
            return reason
        return Reason.of(Message.BECAUSE, reason=reason, because=deeper[0]).coded(reason.code)

    def _unmet_below(self, stage: Stage, usable: Bools) -> Reason | None:
        """The deepest requirement that no usable vertex of a stage meets."""
        slots = [c for slot in stage.slots for c in slot.children]
        asked = slots or list(stage.request.children if stage.request is not None else ())
        members = np.flatnonzero(usable)
        if not asked or not len(members):
            return None
        holder = stage.group.type
        for wanted in asked:
            if wanted.type == SLOT:
                shape = _shape(wanted.children)
                return Reason.of(Message.SLOT_NOT_BELOW, shape=shape, holder=holder)
            for below in stage.serving(wanted.type):
                if below.request is not None and below.request.children:
                    inside = usable[below.group.above] & self._eligible(below)
                    reason = self._unmet_below(below, inside)
                    if reason is not None:
                        return reason
            have = quantity_below(stage, self.states, members, wanted.type)
            best = Amount(int(have.max()), wanted.type)
            if wanted.count.fit(best.value) == 0:
                return Reason.of(
                    self.messages.on_one, needs=_amount(wanted), holder=holder, best=best
                )
        return self._unmet_slots(stage, members)

    def _unmet_slots(self, stage: Stage, members: Ints) -> Reason | None:
        made = self.states[id(stage)].slots
        for wanted in stage.request.children if stage.request is not None else ():
            if wanted.type != SLOT or made is None:
                continue
            best = Amount(int(made[members].max()), wanted.type)
            if wanted.count.fit(best.value) == 0:
                return Reason.of(
                    self.messages.slots_on_one,
                    needs=_amount(wanted),
                    shape=_shape(wanted.children),
                    holder=stage.group.type,
                    best=best,
                )
        return None
