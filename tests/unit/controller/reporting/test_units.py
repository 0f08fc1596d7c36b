"""Reasons in the units that users write."""

from __future__ import annotations

import pytest

from fluxnetes.controller.reporting.units import in_users_units


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (
            "needs room for 9 pods of 16000 cpu, 1 pods, 1 tenancy; there is room for 8",
            "needs room for 9 pods of 16 cpu; there is room for 8",
        ),
        (
            "needs room for 2 pods of 500 cpu, 2048 memory, 8 nvidia.com/gpu, 1 pods, 1 tenancy; "
            "there is room for 0",
            "needs room for 2 pods of 500m cpu, 2Gi memory, 8 nvidia.com/gpu; there is room for 0",
        ),
        (
            "needs 20000 cpu on one node; the most that one has is 15500",
            "needs 20 cpu on one node; the most that one has is 15500m cpu",
        ),
        (
            "needs 111 pods on one node; the most that one has is 110",
            "needs 111 pods on one node; the most that one has is 110 pods",
        ),
        (
            "needs 1000000 tenancy on one node; the most that one has is 999999",
            "no node is free for a pod that shares its node with nobody",
        ),
        ("queue batch is stopped", "queue batch is stopped"),
        (
            "waits: begins at 1794787200 at the earliest",
            "waits: begins at 2026-11-16T00:00:00Z at the earliest",
        ),
        (
            "it would run into maintenance window disks (1794787200 to 1794787260)",
            "it would run into maintenance window disks (2026-11-16T00:00:00Z to "
            "2026-11-16T00:01:00Z)",
        ),
        ("needs 4000000000 example.com/bits", "needs 4000000000 example.com/bits"),
    ],
)
def test_amounts_and_times_are_told_as_users_write_them(said: str, read: str) -> None:
    assert in_users_units(said) == read
