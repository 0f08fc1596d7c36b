"""A placement: the vertices allocated to a job, in the order of the output formats.

A placement is a part of the graph: the vertices that a job holds exclusively and, above them up to
the root, the ones that it shares. Its rows are in the order in which a depth-first walk leaves
the vertices (children before parents), which is the order of every output format.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.common.arrays import Bools, Ints


@dataclass(frozen=True, slots=True, repr=False)
class Placement:
    """Columns of the vertices allocated to one job (or found by one query), children first."""

    vertex: Ints
    """Row in the graph."""
    parent: Ints
    """Row of the vertex that holds it in the matched subsystem; -1 for the root."""
    depth: Ints
    """0 for the root."""
    needs: Ints
    """Allocated amount: the vertex's whole size, or a part of a divisible pool."""
    exclusive: Bools
    """Whether the job holds the vertex exclusively; other vertices it shares with other jobs."""
    start: int = 0
    end: int = 0
    queue: str | None = None
    subsystem: str = "containment"
    labels: dict[int, str] = field(default_factory=dict)
    """Labels that the request sets on vertices that are not slots, by row."""
    usage: dict[int, dict[str, str]] | None = None
    """The aggregates of each vertex, by row, where a query asked for them."""

    def __len__(self) -> int:
        return len(self.vertex)

    def __repr__(self) -> str:
        return f"<Placement of {len(self)} vertices from {self.start} to {self.end}>"
