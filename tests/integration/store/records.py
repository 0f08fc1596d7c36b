"""Small changes, to write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fluxnetes.graph.placement import Placement
from fluxnetes.jobspec.build import core, jobspec
from fluxnetes.queue.changes import Allocation, Changes, JobEvent
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.states import JobState

REQUEST = jobspec(core(1), duration=60)


def a_job(id: int, state: JobState = JobState.PENDING) -> QueueJob:
    """A job as it is when it has just come."""
    return QueueJob(
        submission=Submission(id, REQUEST, walltime=60, user="ada"),
        state=state,
        submitted=id,
        arrival=id,
        queue="default",
        priority=0,
        walltime=60,
        ranked=id,
    )


def a_placement(vertices: int = 3) -> Placement:
    rows = np.arange(vertices, dtype=np.int64)
    return Placement(rows, rows - 1, rows, rows + 1, rows > 0, 0, 60)


def an_allocation(job: int, placement: Placement | None = None) -> Allocation:
    return Allocation(job, 0, 60, placement or a_placement())


def changes(*jobs: QueueJob, **others: object) -> Changes:
    """Changes of these jobs, each with a line in its story."""
    found = Changes(jobs={job.id: job for job in jobs}, **others)  # type: ignore[arg-type]
    for job in jobs:
        found.events.append(JobEvent(job.id, job.submitted, "transition", None, job.state))
    return found


def moved(job: QueueJob, state: JobState) -> QueueJob:
    """The same job, elsewhere."""
    return replace(job, state=state)
