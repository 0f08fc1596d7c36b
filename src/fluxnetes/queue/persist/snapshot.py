"""Takes a snapshot of a running queue, from which another queue can continue.

A store builds the same snapshot from persisted changes. This one is taken at once from the queue
itself, for callers that look ahead, such as a simulation of the waiting jobs; it is not persisted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.persist.records import JobRecords
from fluxnetes.queue.states import ENDED


def take_snapshot(core: QueueCore) -> Snapshot:
    """All that `restore` needs. Later changes of the queue do not change it."""
    records = core.records
    return Snapshot(
        jobs=tuple(_copy(job) for job in _needed(records)),
        outcomes=tuple(records.outcomes.items()),
        allocations=tuple(core.allocations.values()),
        windows=tuple(core.windows.values()),
        usage=core.usage.written(),
        queues=tuple(core.operators.values()),
        spent=core.budgets.written(),
        step=records.step,
        arrivals=records.arrivals,
    )


def _needed(records: JobRecords) -> Iterator[QueueJob]:
    """Jobs that have not ended, and the ended ones they depend on, as far as these are kept."""
    jobs = records.jobs
    living = [job for job in jobs.values() if job.state not in ENDED]
    yield from living
    wanted = {dependency.job for job in living for dependency in job.submission.dependencies}
    yield from (jobs[id] for id in sorted(wanted) if id in jobs and jobs[id].state in ENDED)


def _copy(job: QueueJob) -> QueueJob:
    """A copy that the queue does not change; `commitments` is its only mutable value."""
    return replace(job, commitments=dict(job.commitments))
