"""From the vertices that a search marked to the rows that a job holds.

Marked vertices are walked from the root. Where a vertex is of a type that the request (or the
policy) wants exclusively, everything below it comes along, whether it was asked for or not. Only
vertices that are exclusive, or have one below them, become rows; a request of which nothing is
exclusive holds nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fluxnetes.jobspec.model import Resource
from tests.oracle.calendar import Row
from tests.oracle.search import Mark
from tests.oracle.tree import Vertex


def exclusive_types(resources: Iterable[Resource]) -> set[str]:
    """All types that a request wants exclusively, at whatever level."""
    found: set[str] = set()
    for resource in resources:
        if resource.exclusive:
            found.add(resource.type)
        found |= exclusive_types(resource.children)
    return found


@dataclass
class Emission:
    """One walk over the marked vertices; `rows` is its result, children first."""

    marks: Mapping[Vertex, Mark]
    whole: Collection[str]
    """The types of which everything below comes along."""
    rows: dict[int, Row] = field(default_factory=dict)

    def emit(self, vertex: Vertex, mark: Mark, shadow: bool = False) -> int:
        """Emit a vertex and what is selected below it; the number of exclusive rows."""
        shadow = shadow or vertex.type in self.whole
        exclusive = mark.exclusive or shadow
        count = 0
        for child in vertex.children:
            if shadow:
                count += self.emit(child, Mark(child.size, True), True)
            elif child in self.marks:
                count += self.emit(child, self.marks[child])
        count += exclusive
        if count:
            self.rows[vertex.row] = Row(vertex, mark.needs, exclusive)
        return count
