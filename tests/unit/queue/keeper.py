"""A store in memory: folds what the queue says has changed, and gives it back as a snapshot.

It keeps copies, as a database would: a record that changes later without the queue saying so is not
changed here, and a queue that is restored from here goes on without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from fluxnetes.queue.changes import (
    Allocation,
    BudgetRecord,
    Changes,
    JobEvent,
    NodeWindow,
    QueueState,
    Snapshot,
    UsageRecord,
)
from fluxnetes.queue.jobs import QueueJob

K = TypeVar("K")
V = TypeVar("V")


class Keeper:
    """Everything that was ever written down."""

    def __init__(self) -> None:
        self.jobs: dict[int, QueueJob] = {}
        self.events: list[JobEvent] = []
        self._allocations: dict[int, Allocation] = {}
        self._windows: dict[str, NodeWindow] = {}
        self._usage: dict[tuple[str, str], UsageRecord] = {}
        self._queues: dict[str, QueueState] = {}
        self._spent: dict[str, BudgetRecord] = {}
        self._step = 0

    def fold(self, changes: Changes) -> None:
        self.events += changes.events
        for id, job in changes.jobs.items():
            self.jobs[id] = replace(job, commitments=dict(job.commitments))
        _fold(self._allocations, changes.allocations)
        _fold(self._windows, changes.windows)
        self._usage.update(changes.usage)
        self._queues.update(changes.queues)
        self._spent.update(changes.spent)
        if changes.step is not None:
            self._step = changes.step

    def allocation(self, job: int) -> Allocation | None:
        return self._allocations.get(job)

    def snapshot(self) -> Snapshot:
        jobs = [replace(job, commitments=dict(job.commitments)) for job in self.jobs.values()]
        return Snapshot(
            jobs=tuple(jobs),
            allocations=tuple(self._allocations.values()),
            windows=tuple(self._windows.values()),
            usage=tuple(self._usage.values()),
            queues=tuple(self._queues.values()),
            spent=tuple(self._spent.values()),
            step=self._step,
            arrivals=max((job.arrival for job in jobs), default=0),
        )


def _fold(kept: dict[K, V], changed: dict[K, V | None]) -> None:
    for key, value in changed.items():
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = value
