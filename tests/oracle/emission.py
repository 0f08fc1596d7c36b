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
    _shadow: set[int] = field(default_factory=set)
    """The rows that come along."""
    _met: set[int] = field(default_factory=set)
    """A vertex that several parents share is emitted below the first of them."""

    def emit(self, root: Vertex, mark: Mark) -> None:
        self._cast_shadows(root)
        self._emit(root, mark)

    def _cast_shadows(self, vertex: Vertex) -> None:
        if vertex.type in self.whole:
            self._shadow |= vertex.rows_within()
            return
        for child in vertex.children:
            if child in self.marks:
                self._cast_shadows(child)

    def _emit(self, vertex: Vertex, mark: Mark) -> int:
        """Emit a vertex and what is selected below it; the number of exclusive rows."""
        self._met.add(vertex.row)
        shadow = vertex.row in self._shadow
        exclusive = mark.exclusive or shadow
        count = 0
        for child in vertex.children:
            if child.row in self._met:
                continue
            if shadow or child in self.marks:
                count += self._emit(child, self.marks.get(child, Mark(child.size, True)))
        count += exclusive
        if count:
            needs = vertex.size if shadow else mark.needs
            self.rows[vertex.row] = Row(vertex, needs, exclusive)
        return count
