"""Why a request does not fit, in words.

The words come from the states of the traversal that failed: the deepest requirement that no
vertex meets is the one worth telling, as in "needs 4 gpu on one node; the largest node has 2".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.jobspec.model import SLOT, Resource
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import States, quantity_below


@dataclass(frozen=True, slots=True)
class AvailabilityWords:
    """How to say what there is: ever, or free at some time."""

    most: str
    all: str


NOW = AvailabilityWords(
    "the most that one {holder} has free now is {best}", "{have} can be had now"
)
EVER = AvailabilityWords("the largest {holder} has {best}", "{have} in this graph could serve")


def explain(
    stage: Stage | None, resources: tuple[Resource, ...], states: States, words: AvailabilityWords
) -> str:
    """The reason why a request found nothing in the states of a traversal."""
    if stage is None:
        return _shapeless(resources)
    for wanted in resources:
        serving = list(_serving(stage, wanted.type))
        if not serving:
            return (
                f"needs {_amount(wanted)}, which nothing in this graph can hold as it is asked for"
            )
        have = sum(_total(s, states, wanted.type) for s in serving)
        if wanted.count.fit(have) == 0:
            return _why_few(serving, states, wanted, have, words)
    return "what could serve is out of reach: something above it is down or held"


def _shapeless(resources: tuple[Resource, ...]) -> str:
    types = [r.type for r in resources]
    twice = sorted({t for t in types if types.count(t) > 1})
    if twice:
        return f"two requests side by side ask for {twice[0]}; only one of them can"
    for resource in resources:
        if len({c.type for c in resource.children}) < len(resource.children):
            return _shapeless(resource.children)
    return f"nothing in this graph is built like {_shape(resources)}"


def _shape(resources: tuple[Resource, ...]) -> str:
    return " and ".join(
        f"{r.type}->{_shape(r.children)}" if r.children else r.type for r in resources
    )


def _amount(wanted: Resource) -> str:
    at_least = "" if wanted.count.min == wanted.count.max else "at least "
    return f"{at_least}{wanted.count.min} {wanted.type}"


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
    serving: list[Stage], states: States, wanted: Resource, have: int, words: AvailabilityWords
) -> str:
    deeper = [reason for s in serving if (reason := _unmet_below(s, states, words))]
    if have == 0 and deeper:
        return deeper[0]
    how_many = words.all.format(have=f"only {have}" if have else "none")
    reason = f"needs {_amount(wanted)}; {how_many}"
    return f"{reason} ({deeper[0]})" if deeper else reason


def _unmet_below(stage: Stage, states: States, words: AvailabilityWords) -> str:
    """The deepest requirement that no vertex of a stage meets."""
    slots = [c for slot in stage.slots for c in slot.children]
    asked = slots or list(stage.request.children if stage.request is not None else ())
    everybody = np.arange(len(stage.group))
    for wanted in asked:
        if wanted.type == SLOT:
            holder, parts = stage.group.type, _shape(wanted.children)
            return f"a slot of {parts} cannot be filled directly below one {holder}"
        for below in stage.serving(wanted.type):
            reason = _unmet_below(below, states, words)
            if reason:
                return reason
        have = quantity_below(stage, states, everybody, wanted.type)
        best = int(have.max()) if len(have) else 0
        if wanted.count.fit(best) == 0:
            most = words.most.format(holder=stage.group.type, best=best)
            return f"needs {_amount(wanted)} on one {stage.group.type}; {most}"
    return _unmet_slots(stage, states, words)


def _unmet_slots(stage: Stage, states: States, words: AvailabilityWords) -> str:
    made = states[id(stage)].slots
    for wanted in stage.request.children if stage.request is not None else ():
        if wanted.type == SLOT and made is not None and wanted.count.fit(int(made.max())) == 0:
            holder = stage.group.type
            most = words.most.format(holder=holder, best=int(made.max()))
            return f"needs {_amount(wanted)} of {_shape(wanted.children)} on one {holder}; {most}"
    return ""
