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

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


class Calendar:
    """All jobs, and the questions a search asks about them."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}

    def on(self, vertex: Vertex) -> list[Job]:
        """The jobs that hold something on or below a vertex."""
        return [job for job in self.jobs.values() if vertex.row in job.rows]

    def available(self, vertex: Vertex, start: int, end: int) -> int:
        """What is left of a vertex through a whole window: its size minus the peak of use."""
        held = [
            job
            for job in self.on(vertex)
            if job.rows[vertex.row].exclusive and job.overlaps(start, end)
        ]
        instants = {start} | {job.start for job in held if job.start > start}
        used = (
            sum(job.rows[vertex.row].needs for job in held if job.start <= t < job.end)
            for t in instants
        )
        return vertex.size - max(used, default=0)

    def is_alone(self, vertex: Vertex, start: int, end: int) -> bool:
        """Does no job hold anything on or below the vertex in the window?"""
        return not any(job.overlaps(start, end) for job in self.on(vertex))

    def is_allocated(self, vertex: Vertex) -> bool:
        """Does a job hold the vertex itself, be its walltime over or not? (Not a reservation.)"""
        return any(not job.reserved and job.rows[vertex.row].exclusive for job in self.on(vertex))
