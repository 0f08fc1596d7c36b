"""Parents and paths of the vertices of a graph that a recipe is generating, by subsystem.

While a recipe runs a vertex may be placed again: a later step associates it with another parent,
and its path in that subsystem changes. What was placed below it before keeps the path that it had.
Most recipes never do this; then no path is stored at all, since it follows from the tree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.patch import GraphPatch, derived_name

_NOT_HERE, _NOTHING = -2, -1
"""In a column of parents: the vertex is not in the subsystem; the vertex is its root."""


class VertexPaths:
    """Parents of vertices by subsystem, and the paths that do not follow from the tree."""

    def __init__(self) -> None:
        self._first_rows: list[int] = []
        self._named: list[tuple[str, Ints]] = []
        self._placed: dict[str, list[tuple[Ints, Ints]]] = {}
        self._parents: dict[str, Ints] = {}
        self._paths: dict[str, dict[int, str]] = {}
        self._count = 0

    def name(self, rows: Ints, basename: str, ids: Ints) -> None:
        """Register the names of new vertices, whose rows follow those registered before."""
        if len(rows):
            self._first_rows.append(int(rows[0]))
            self._named.append((basename, ids))
            self._count += len(rows)

    def put_root(self, subsystem: str, row: int) -> None:
        self._place(subsystem, np.array([row]), np.array([_NOTHING]))
        self._paths.setdefault(subsystem, {})[row] = "/" + self._name_of(row)

    def put(self, subsystem: str, rows: Ints, parents: Ints) -> None:
        """Place new vertices below their parents."""
        self._place(subsystem, rows, parents)

    def put_again(self, subsystem: str, rows: Ints, parents: Ints) -> None:
        """Place vertices that may already be in the subsystem; the last parent counts."""
        paths = self._paths.setdefault(subsystem, {})
        above = self._above(subsystem)
        if (above[rows] != _NOT_HERE).any():
            for row in np.flatnonzero(above != _NOT_HERE).tolist():
                paths[row] = self._path_of(subsystem, row)
        for row, parent in zip(rows.tolist(), parents.tolist(), strict=True):
            paths[row] = f"{self._path_of(subsystem, parent)}/{self._name_of(row)}"
        self._place(subsystem, rows, parents)

    def prefixes(self, subsystem: str) -> Callable[[Ints, int], Ints]:
        """A function that numbers the path so many levels above each vertex; -1 where none is."""
        above = self._above(subsystem)
        numbers: dict[str, int] = {}

        def prefix(rows: Ints, up: int) -> Ints:
            at = np.where(above[rows] == _NOT_HERE, _NOTHING, rows)
            while up > 0 and (at >= 0).any():
                at = np.where(at >= 0, np.maximum(above[at], _NOTHING), _NOTHING)
                up -= 1
            distinct, which = np.unique(at, return_inverse=True)
            numbered = [
                numbers.setdefault(self._path_of(subsystem, row), len(numbers)) if row >= 0 else -1
                for row in distinct.tolist()
            ]
            return np.array(numbered, dtype=np.int64)[which]

        return prefix

    def add_to(self, patch: GraphPatch) -> None:
        """Copy the paths that have to be stored into a patch."""
        patch.paths.update(self._paths)

    def _place(self, subsystem: str, rows: Ints, parents: Ints) -> None:
        self._placed.setdefault(subsystem, []).append((rows, parents))
        self._parents.pop(subsystem, None)

    def _above(self, subsystem: str) -> Ints:
        """The parent of every vertex in a subsystem."""
        found = self._parents.get(subsystem)
        if found is None or len(found) != self._count:
            found = np.full(self._count, _NOT_HERE, dtype=np.int64)
            for rows, parents in self._placed.get(subsystem, []):
                found[rows] = parents
            self._parents[subsystem] = found
        return found

    def _path_of(self, subsystem: str, row: int) -> str:
        """The path of a vertex; empty for one that is not in the subsystem."""
        given = self._paths.get(subsystem, {})
        above = self._above(subsystem)
        names: list[str] = []
        while row not in given:
            if above[row] == _NOT_HERE:
                return "".join(reversed(names))
            names.append("/" + self._name_of(row))
            row = int(above[row])
        return given[row] + "".join(reversed(names))

    def _name_of(self, row: int) -> str:
        at = bisect_right(self._first_rows, row) - 1
        basename, ids = self._named[at]
        id = int(ids[row - self._first_rows[at]])
        return basename if id == -1 else derived_name(basename, id)
