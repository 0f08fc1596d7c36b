"""Who holds what, and when.

A job holds rows (vertex, needs, exclusive) for a half-open window [start, end). Whether a vertex
is free, who is on it and what it still has are computed from the jobs each time, so that ending a
job is deleting it and nothing can be left behind.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.tree import Vertex


@dataclass(frozen=True)
class Row:
    """One vertex of a placement."""

    vertex: Vertex
    needs: int
    exclusive: bool


@dataclass
class Job:
    """An allocation, or a reservation."""

    jobid: int
    start: int
    end: int
    reserved: bool
    rows: dict[int, Row]
    _closed: tuple[dict[int, Row], set[int]] | None = None

    def closed(self) -> set[int]:
        """The rows that no other job may use: what it holds alone, with all below."""
        if self._closed is None or self._closed[0] is not self.rows:
            alone = (row.vertex for row in self.rows.values() if row.exclusive)
            found: set[int] = set()
            self._closed = (self.rows, found.union(*(v.rows_within() for v in alone)))
        return self._closed[1]


@dataclass(frozen=True)
class Window:
    """A half-open span of time that a search looks at.

    Where it begins now, a job that outlives its walltime is still there; seen from later, jobs
    end when they should.
    """

    start: int
    end: int
    begins_now: bool = False

    def end_of(self, job: Job) -> int:
        if self.begins_now and not job.reserved:
            return max(job.end, self.start + 1)
        return job.end

    def sees(self, job: Job) -> bool:
        return job.start < self.end and self.start < self.end_of(job)


class Calendar:
    """All jobs, and the questions a search asks about them."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}

    def on(self, vertex: Vertex) -> list[Job]:
        """The jobs that hold something on or below a vertex, and came through it."""
        return [job for job in self.jobs.values() if vertex.row in job.rows]

    def available(self, vertex: Vertex, window: Window) -> int:
        """What is left of a vertex through a whole window: its size minus the peak of use."""
        held = [job for job in self.jobs.values() if window.sees(job) and job_takes(job, vertex)]
        instants = {window.start} | {job.start for job in held if job.start > window.start}
        used = (
            sum(job_takes(job, vertex) for job in held if job.start <= t < window.end_of(job))
            for t in instants
        )
        return vertex.size - max(used)

    def is_alone(self, vertex: Vertex, window: Window) -> bool:
        """Does no job hold anything on or below the vertex in the window?

        By whatever path it came there: what is below a vertex is below all its parents.
        """
        within = vertex.rows_within()
        seen = (job for job in self.jobs.values() if window.sees(job))
        return not any(not within.isdisjoint(job.closed()) for job in seen)


def job_takes(job: Job, vertex: Vertex) -> int:
    """How much of a vertex a job takes: a part of a pool, or all of it with what holds it."""
    row = job.rows.get(vertex.row)
    if row is not None and row.exclusive:
        return row.needs
    return vertex.size if vertex.row in job.closed() else 0
