"""Reasons in the units and names that users of Kubernetes write."""

from __future__ import annotations

import doctest

import pytest

from fluxnetes.cluster import reason_text as module
from fluxnetes.cluster.reason_text import KubernetesReasonText
from fluxnetes.common.reasons import Amount, JobRef, Message, Moment, Reason

SLOT, SHARE = Amount(1, "pods"), Amount(1, "tenancy")
POD_16 = (Amount(16000, "cpu"), SLOT, SHARE)
POD_GPU = (Amount(500, "cpu"), Amount(2048, "memory"), Amount(8, "nvidia.com/gpu"), SLOT, SHARE)
MIDNIGHT = 1_794_787_200


def on_one(needs: Amount, best: int) -> Reason:
    return Reason.of(Message.POD_ON_ONE_NODE, needs=needs, best=Amount(best, needs.type))


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            Reason.of(Message.PODS, count=9, pod=POD_16, found=8),
            "needs room for 9 pods of 16 cpu; there is room for 8",
        ),
        (
            Reason.of(Message.PODS, count=2, pod=POD_GPU, found=0),
            "needs room for 2 pods of 500m cpu, 2Gi memory, 8 nvidia.com/gpu; there is room for 0",
        ),
        (
            Reason.of(Message.PODS, count=2, pod=(SLOT, Amount(1_000_000, "tenancy")), found=0),
            "needs room for 2 pods of a whole node; there is room for 0",
        ),
        (
            Reason.of(Message.PODS, count=2, pod=(SLOT, SHARE), found=0),
            "needs room for 2 pods of 1 pods, 1 tenancy; there is room for 0",
        ),
        (
            on_one(Amount(20000, "cpu"), 15500),
            "needs 20 cpu on one node; the most that one has is 15500m cpu",
        ),
        (
            on_one(Amount(111, "pods"), 110),
            "needs 111 pods on one node; the most that one has is 110 pods",
        ),
        (
            on_one(Amount(1_000_000, "tenancy"), 999_999),
            "no node is free for a pod that shares its node with no other",
        ),
        (Reason.of(Message.QUEUE_STOPPED, queue="batch"), "queue batch is stopped"),
        (
            Reason.of(Message.BEGINS, begin=Moment(MIDNIGHT)),
            "begins at 2026-11-16T00:00:00Z at the earliest",
        ),
        (
            Reason.of(
                Message.WINDOW_SPAN,
                kind="maintenance window",
                name="disks",
                start=Moment(MIDNIGHT),
                end=Moment(MIDNIGHT + 60),
            ),
            "maintenance window disks (2026-11-16T00:00:00Z to 2026-11-16T00:01:00Z)",
        ),
        (
            Reason.of(
                Message.MAY_HOLD,
                account="user ada",
                most=Amount(8000, "cpu"),
                needs=Amount(500, "cpu"),
            ),
            "limit: user ada may hold 8 cpu at a time, and this job needs 500m cpu",
        ),
        (Reason.of(Message.ORDERED_BEFORE, job=JobRef(7)), "job/prepare is ordered before it"),
        (Reason.of(Message.ORDERED_BEFORE, job=JobRef(8)), "job 8 is ordered before it"),
        (Reason.from_text("job 7 has 16000 cpu"), "job 7 has 16000 cpu"),
    ],
)
def test_amounts_times_and_jobs_are_stated_as_users_write_them(reason: Reason, text: str) -> None:
    assert KubernetesReasonText({7: "job/prepare"}.get).render(reason) == text


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(module).failed == 0
