"""Reasons as callers of the service read them."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons import Amount, Message, Reason, ResourceHours
from fluxnetes.service.views.reason_text import caller_text


def may_hold(type: str, most: int, needs: int) -> Reason:
    return Reason.of(
        Message.MAY_HOLD, account="user ada", most=Amount(most, type), needs=Amount(needs, type)
    )


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (None, ""),
        (
            may_hold("cpu", 64_000, 500),
            "limit: user ada may hold 64 cpu at a time, and this job needs 0.5",
        ),
        (
            may_hold("node", 4, 5),
            "limit: user ada may hold 4 node at a time, and this job needs 5",
        ),
        (
            Reason.of(
                Message.BUDGET_EXCEEDED,
                budget="lab",
                needs=ResourceHours(2500.0, "cpu"),
                all=ResourceHours(1000.0, "cpu"),
            ),
            "budget lab: needs 2.5 cpu-hours, more than all of it, 1.0",
        ),
        (
            Reason.of(Message.WAITS, reason=may_hold("cpu", 1000, 2000)),
            "waits: limit: user ada may hold 1 cpu at a time, and this job needs 2",
        ),
        (
            Reason.of(Message.POD_ON_ONE_NODE, needs=Amount(2000, "cpu"), best=Amount(1000, "cpu")),
            "needs 2000 cpu on one node; the most that one has is 1000",
        ),
        (
            Reason.of(
                Message.PODS,
                count=3,
                pod=(Amount(16000, "cpu"), Amount(1, "pods"), Amount(1, "tenancy")),
                found=2,
            ),
            "needs 3 pods of 16000 cpu; 2 fit now",
        ),
        (
            Reason.of(Message.PODS, count=3, pod=(Amount(1, "pods"),), found=2),
            "needs 3 pods of 1 pods; 2 fit now",
        ),
    ],
)
def test_limits_are_told_in_cpus_and_all_else_as_callers_ask_for_it(
    reason: Reason | None, text: str
) -> None:
    assert caller_text(reason) == text
