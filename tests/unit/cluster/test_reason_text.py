"""Reasons in the units and names that users of Kubernetes write."""

from __future__ import annotations

import doctest

import pytest

from fluxnetes.cluster import reason_text as module
from fluxnetes.cluster.reason_text import KubernetesReasonText
from fluxnetes.common.reasons import Amount, JobRef, Message, Moment, Reason, ResourceHours

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
            "needs 9 pods of 16 cpu; 8 fit now",
        ),
        (
            Reason.of(Message.PODS, count=2, pod=POD_GPU, found=0),
            "needs 2 pods of 500m cpu, 2Gi memory, 8 nvidia.com/gpu; 0 fit now",
        ),
        (
            Reason.of(Message.PODS, count=2, pod=(SLOT, Amount(1_000_000, "tenancy")), found=0),
            "needs 2 pods of a whole node; 0 fit now",
        ),
        (
            Reason.of(Message.PODS, count=2, pod=(SLOT, SHARE), found=0),
            "needs 2 pods; 0 fit now",
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
        (
            Reason.of(
                Message.BUDGET_SHORT,
                budget="lab",
                needs=ResourceHours(2500.0, "cpu"),
                left=ResourceHours(1000.0, "cpu"),
                all=ResourceHours(64_000.0, "cpu"),
            ),
            "budget lab: needs 2.5 cpu-hours and 1.0 of 64.0 are left",
        ),
        (
            Reason.of(
                Message.BUDGET_EXCEEDED,
                budget="lab",
                needs=ResourceHours(2048.0, "memory"),
                all=ResourceHours(1024.0, "memory"),
            ),
            "budget lab: needs 2.0 GiB-hours of memory, more than all of it, 1.0",
        ),
        (
            Reason.of(
                Message.MAY_HOLD,
                account="user ada",
                most=Amount(64_000, "cpu"),
                needs=Amount(500, "cpu"),
            ),
            "limit: user ada may hold 64 cpu at a time, and this job needs 500m cpu",
        ),
        (Reason.of(Message.NO_SUCH_TYPE, type="example.com/fpga"), "no node has example.com/fpga"),
        (
            Reason.of(Message.PODS_EVER, count=2, pod=(SLOT, SHARE), found=0),
            "needs 2 pods; all nodes together fit 0",
        ),
        (
            Reason.of(
                Message.FOREIGN_IN_THE_WAY,
                reason=Reason.from_text("so"),
                nodes=("node-1", "node-2"),
            ),
            "so; it would fit without the pods that others placed on node-1, node-2",
        ),
        (
            Reason.of(
                Message.CLOSED_IN_THE_WAY, reason=Reason.from_text("so"), nodes=("node-1", "2 more")
            ),
            "so; it would fit with node-1, 2 more, which are cordoned, not ready or not selected",
        ),
        (
            Reason.of(Message.INSIDE_ONE, count=8, level="level:example.com/rack", found=5),
            "needs 8 pods inside one rack; the most that fit in one rack now is 5",
        ),
        (
            Reason.of(Message.SPREAD, count=8, most=2, level="subnet", found=5),
            "needs 8 pods with at most 2 in one zone; 5 fit now",
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
        (
            Reason.of(Message.OVERRAN, jobs=(JobRef(7), JobRef(8))),
            "job/prepare, job 8 overran its walltime",
        ),
        (Reason.of(Message.OVERRAN, jobs=(7,)), "job/prepare overran its walltime"),
        (
            Reason.of(Message.AFTER_JOB, kind="afterok", job=JobRef(7)),
            "it runs after job/prepare succeeded",
        ),
        (
            on_one(Amount(1, "port:TCP/8080"), 0),
            "host port 8080/TCP is free on no node that it may use",
        ),
        (
            Reason.of(Message.UNKNOWN_TYPE, type="example.com/fpga", types="cpu, subnet, tenancy"),
            "needs example.com/fpga, which no node of this cluster has",
        ),
        (Reason.from_text("job 7 has 16000 cpu"), "job 7 has 16000 cpu"),
    ],
)
def test_amounts_times_and_jobs_are_stated_as_users_write_them(reason: Reason, text: str) -> None:
    assert KubernetesReasonText({7: "job/prepare"}.get).render(reason) == text


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(module).failed == 0
