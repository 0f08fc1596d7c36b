"""What the topology request of a gang means for pods that are placed while others of it stay.

Tasks that move, or are added, belong where the rest of their gang is: inside the same domain, in
the domain of the other pods of their slice, and no more in one domain than there may be altogether.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from fluxnetes.jobspec.constraint import And, Hostlist
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.match.planning import Planning


class PlacedGang:
    """A gang that is placed, and the tasks of it that are to get other places."""

    def __init__(
        self, planning: Planning, gang: Gang, nodes: Sequence[int], absent: Sequence[int]
    ) -> None:
        """`nodes`: the node of each task, as a row of the graph. `absent`: tasks that have ended,
        or are to move."""
        self._planning = planning
        self._gang = gang.tidied()
        self._nodes = nodes
        self._absent = frozenset(absent)

    def _names(self, tasks: Sequence[int]) -> list[str]:
        """The names of the nodes of those tasks that stay."""
        rows = [self._nodes[task] for task in tasks if task not in self._absent]
        return self._planning.engine.graph.names(np.array(rows, np.int64))

    @property
    def topology(self) -> TopologyRequest | None:
        """The topology request for pods beside those that stay."""
        request = self._gang.topology
        if request is None:
            return None
        there = Counter(self._names(range(len(self._nodes))))
        return replace(request, beside=tuple(sorted(there.items())))

    def moving(self, tasks: Sequence[int], shape_numbers: Sequence[int]) -> Gang:
        """What some tasks ask for, which are in order of their shapes."""
        numbered = list(zip(shape_numbers, tasks, strict=True))
        shapes = [
            self._shape(number, slice, [task for _, task in same])
            for (number, slice), same in groupby(
                numbered, key=lambda each: (each[0], self._slice(*each))
            )
        ]
        return Gang(tuple(shapes), topology=self.topology)

    def _slice(self, number: int, task: int) -> int:
        """The number of the slice that a task is in; without slices there is one."""
        request = self._gang.topology
        if request is None or request.slice_level is None:
            return 0
        return (task - self._first(number)) // request.slice_size

    def _first(self, number: int) -> int:
        """The first task of a shape."""
        return sum(shape.count for shape in self._gang.shapes[:number])

    def _end(self, number: int) -> int:
        """The task after the last one of a shape; a gang that grew has more of its last shape."""
        is_last = number + 1 == len(self._gang.shapes)
        return len(self._nodes) if is_last else self._first(number + 1)

    def _shape(self, number: int, slice: int, tasks: list[int]) -> Shape:
        """Pods of one shape and slice, on the nodes that they may use."""
        shape = replace(self._gang.shapes[number], count=len(tasks))
        request = self._gang.topology
        if request is None or request.slice_level is None:
            return shape
        first = self._first(number) + slice * request.slice_size
        others = range(first, min(first + request.slice_size, self._end(number)))
        names = self._planning.neighbours(request.slice_level, self._names(others))
        if not names:
            return shape  # all of the slice moves
        near = Hostlist(frozenset(names))
        both = near if shape.constraint is None else And((shape.constraint, near))
        return replace(shape, constraint=both)
