"""A queue that lives, as something that another one can go on from.

What a store holds is what it was told, change by change. This is the same, taken at once from the
queue itself: by whoever wants to see what would become of it, and by nobody who wants it kept.
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
    """All that `restore` needs. Nothing in it changes when the queue does."""
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
    """Jobs that have not ended, and what those wait for, as far as it is remembered."""
    jobs = records.jobs
    living = [job for job in jobs.values() if job.state not in ENDED]
    yield from living
    wanted = {dependency.job for job in living for dependency in job.submission.dependencies}
    yield from (jobs[id] for id in sorted(wanted) if id in jobs and jobs[id].state in ENDED)


def _copy(job: QueueJob) -> QueueJob:
    """A record that nobody else changes; all but one of its values never change themselves."""
    return replace(job, commitments=dict(job.commitments))
