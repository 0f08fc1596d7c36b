"""Reasons: data with a stable code, whose English is written in one place."""

from __future__ import annotations

import string

import pytest

from fluxnetes.cluster.reason_text import KubernetesReasonText
from fluxnetes.common.reasons import (
    Amount,
    JobRef,
    Message,
    Moment,
    Reason,
    ReasonCode,
    ResourceHours,
    code_of,
)
from fluxnetes.common.reasons.text import TEMPLATES, reason_text

STABLE = [
    "Gathering",
    "Incomplete",
    "Held",
    "Dependency",
    "BeginTime",
    "Limit",
    "Budget",
    "Priority",
    "Resources",
    "Promised",
    "Window",
    "QueueStopped",
    "Unsatisfiable",
    "Invalid",
    "Returned",
    "Prerequisite",
    "Submitted",
    "Unsupported",
    "Backfilled",
    "Adopted",
    "Altered",
    "Endless",
    "Overrun",
    "ClusterChanged",
    "Completed",
    "Failed",
    "Cancelled",
    "Expired",
    "Deleted",
    "Withdrawn",
    "TimedOut",
    "Preempted",
    "NodesLost",
    "Unknown",
]


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_codes_are_part_of_the_api_and_stay() -> None:
    assert {code.value for code in ReasonCode} == set(STABLE)


def test_every_message_has_a_text_and_no_text_is_left_over() -> None:
    assert set(TEMPLATES) == set(Message)


@pytest.mark.parametrize("message", Message, ids=lambda message: message.name)
def test_a_text_needs_only_arguments_of_its_message(message: Message) -> None:
    """Rendering fails on a placeholder that no argument fills; both audiences fill the same."""
    names = {name.removesuffix("_value") for name in fields(TEMPLATES[message])}
    args = {name: Amount(2, "cpu") for name in names}
    reason = Reason.of(message, **args)
    assert reason_text(reason)
    assert KubernetesReasonText().render(reason)


def test_a_reason_has_the_code_of_its_message_unless_the_context_decides() -> None:
    reason = Reason.of(Message.CANNOT_HOLD, needs=Amount(4, "gpu"))
    assert reason.code is ReasonCode.UNSATISFIABLE
    assert reason.coded(ReasonCode.RESOURCES).code is ReasonCode.RESOURCES
    assert (code_of(reason), code_of(None)) == ("Unsatisfiable", "")


def test_reasons_are_values() -> None:
    one, other = (Reason.of(Message.KEPT_FOR, job=JobRef(7)) for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
    assert one != Reason.of(Message.KEPT_FOR, job=JobRef(8))


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (None, ""),
        (Reason.from_text("because"), "because"),
        (
            Reason.of(
                Message.BUDGET_SHORT,
                budget="lab",
                needs=ResourceHours(5, "node"),
                left=ResourceHours(2.04, "node"),
                all=ResourceHours(10, "node"),
            ),
            "budget lab: needs 5.0 node-hours and 2.0 of 10.0 are left",
        ),
        (
            Reason.of(Message.FEW_FREE, needs=Amount(2, "node", at_least=True), have=1),
            "needs at least 2 node; only 1 can be had now",
        ),
        (
            Reason.of(
                Message.TRIED_AGAIN,
                begin=Moment(600),
                reason=Reason.of(Message.NODES_LOST, nodes="a, b"),
            ),
            "it is tried again at 600 at the earliest; nodes were lost: a, b",
        ),
        (
            Reason.of(
                Message.SEVERAL,
                reasons=(Reason.of(Message.NODES_BACK), Reason.of(Message.FOREIGN_LESS)),
            ),
            "nodes came back; others released capacity",
        ),
    ],
)
def test_texts_in_the_units_of_the_queue(reason: Reason | None, text: str) -> None:
    assert reason_text(reason) == text
