"""What a run left behind, by workload, and what a check of it may find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tests.integration.crash.truth.outcome import Outcome
from tests.integration.crash.truth.said import Said, StoredJob
from tests.integration.crash.truth.workloads import WorkloadRecord


@dataclass(frozen=True, slots=True)
class Watched:
    """A workload of ours whose end is compared."""

    name: str
    is_job: bool = False
    is_single: bool = False
    """One pod: it has no FluxJob."""
    after: str = ""
    """The workload that must succeed first."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Something that is not true of a workload."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True)
class Findings:
    """What a run left behind, by workload."""

    watched: Mapping[str, Watched]
    records: Mapping[str, WorkloadRecord]
    rows: tuple[StoredJob, ...]
    deleted_by_user: frozenset[str] = frozenset()
    """Names of pods."""

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        return {name: each.outcome(self.deleted_by_user) for name, each in self.records.items()}

    @cached_property
    def said(self) -> dict[str, Said]:
        by_name: dict[str, list[StoredJob]] = {}
        for row in self.rows:
            by_name.setdefault(row.name, []).append(row)
        return {
            name: Said(tuple(by_name.get(name, ())), each.fluxjob)
            for name, each in self.records.items()
        }
