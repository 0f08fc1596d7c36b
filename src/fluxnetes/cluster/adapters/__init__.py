"""Workloads: objects that make pods, one adapter a kind.

An adapter says what an object means (how many pods, of which template, whether it is over) and how
it is let go, taken back and ended. To add a kind, write one module like `jobs` and put its adapter
into the table below; nothing else names a kind.

Only the top owner is taken: what a workload creates belongs to it, never to itself.
"""

from __future__ import annotations

from typing import Any

from fluxnetes.cluster.adapters.base import WorkloadAdapter, WorkloadOutcome
from fluxnetes.cluster.adapters.jobs import JobAdapter

ADAPTERS: dict[str, WorkloadAdapter[Any]] = {adapter.kind: adapter for adapter in (JobAdapter(),)}
"""By the kind that ownerReferences name."""

__all__ = ["ADAPTERS", "WorkloadAdapter", "WorkloadOutcome"]
