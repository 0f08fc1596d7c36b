"""Translates allocations from a stored graph to another: the same vertices, other row numbers.

A process that starts builds its graph from the current nodes, in the order in which it learns of
them, so a vertex may have another row than before. A vertex is the same if its path is the same. A
vertex that no longer exists is removed from its job's allocation, and the job is reported as lost.

Tasks keep their numbers, because pods refer to them. So a task whose node no longer exists stays,
as an ended one, and its node is NOWHERE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.match.gang.model import Seats
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.store.system import StoredSystem

T = TypeVar("T")

NOWHERE = -1
"""The row of a vertex that the graph does not have."""


@dataclass(frozen=True, slots=True)
class TranslatedSnapshot:
    """A snapshot whose allocations are on another graph."""

    snapshot: Snapshot
    lost: tuple[int, ...]
    """Jobs with vertices that the graph does not have."""


def translate(snapshot: Snapshot, system: StoredSystem, graph: ResourceGraph) -> TranslatedSnapshot:
    """Translate the allocations of a stored queue to the rows of a graph.

    Allocations without a change stay the same objects.
    """
    used = _used(snapshot.allocations)
    new = _Rows(system, graph, used)
    if (new.row[used] == used).all():
        return TranslatedSnapshot(snapshot, ())
    moved = tuple(new.allocation(each) for each in snapshot.allocations)
    pairs = zip(moved, snapshot.allocations, strict=True)
    lost = tuple(now.job for now, was in pairs if len(now.placement) < len(was.placement))
    return TranslatedSnapshot(replace(snapshot, allocations=moved), lost)


def _used(allocations: Iterable[Allocation]) -> Ints:
    """All rows that allocations refer to, each once."""
    columns = [np.empty(0, np.int64)]
    for each in allocations:
        placed = each.placement
        columns += [placed.vertex, placed.parent, *(seats.node for seats in each.seats)]
        others = [*placed.labels, *(placed.usage or ()), *(each.tasks or ())]
        columns.append(np.array(others, np.int64))
    rows = np.unique(np.concatenate(columns))
    return rows[rows >= 0]


class _Rows:
    """The new row of each old one."""

    def __init__(self, system: StoredSystem, graph: ResourceGraph, used: Ints) -> None:
        self._system = system
        self._graph = graph
        size = 1 + max(int(used.max(initial=-1)), int(system.rows.max(initial=-1)))
        # One entry more, so that -1 (no parent, or removed earlier) maps to itself.
        self.row = np.full(size + 1, NOWHERE, np.int64)
        self._stored = np.full(size, NOWHERE, np.int64)
        self._stored[system.rows] = np.arange(len(system.rows))
        self._fill(used)

    def _fill(self, used: Ints) -> None:
        stored = self._stored[used]
        old, stored = used[stored >= 0], stored[stored >= 0]
        if self._graph is self._system.graph:
            self.row[old] = stored
            return
        stayed = _unmoved(self._system, self._graph)[stored]
        self.row[old[stayed]] = old[stayed]
        for was, vertex in zip(old[~stayed].tolist(), stored[~stayed].tolist(), strict=True):
            self.row[was] = _find(self._system.graph, vertex, self._graph)

    def allocation(self, held: Allocation) -> Allocation:
        used = _used((held,))
        if (self.row[used] == used).all():
            return held
        placement = self._placement(held.placement)
        seats = tuple(Seats(self.row[each.node], each.pods) for each in held.seats)
        tasks = tuple(self.row[np.array(self._tasks(held), np.int64)].tolist())
        moved = replace(held, placement=placement, seats=seats, tasks=None)
        gone = {task for task, node in enumerate(tasks) if node == NOWHERE}
        if held.tasks is None and not gone and tasks == moved.task_nodes(self._graph):
            return moved
        return replace(moved, tasks=tasks, ended_tasks=held.ended_tasks | gone)

    def _tasks(self, held: Allocation) -> tuple[int, ...]:
        """The node of each task, as a row of the stored graph."""
        if held.tasks is not None or held.seats:
            return held.task_nodes(self._graph)
        placed, graph = held.placement, self._system.graph
        stored = self._stored[placed.vertex]
        is_node = (stored >= 0) & (graph.type_id[stored] == graph.types.get("node"))
        # A node that was removed before the graph was written has the depth of the others.
        is_node |= (stored < 0) & np.isin(placed.depth, placed.depth[is_node])
        return tuple(sorted(placed.vertex[is_node].tolist()))

    def _placement(self, placed: Placement) -> Placement:
        vertex = self.row[placed.vertex]
        kept = vertex >= 0
        return replace(
            placed,
            vertex=vertex[kept],
            parent=self.row[placed.parent[kept]],
            depth=placed.depth[kept],
            needs=placed.needs[kept],
            exclusive=placed.exclusive[kept],
            labels=self._by_row(placed.labels),
            usage=None if placed.usage is None else self._by_row(placed.usage),
        )

    def _by_row(self, found: dict[int, T]) -> dict[int, T]:
        rows = {int(self.row[old]): value for old, value in found.items()}
        return {row: value for row, value in rows.items() if row != NOWHERE}


def _unmoved(system: StoredSystem, graph: ResourceGraph) -> Bools:
    """Which vertices of the stored graph have the same row in the other graph.

    They do if the vertex in that row has the same name, and so have all its ancestors. Vertices of
    the same path differ by rank, so the rank must be the same, too.
    """
    stored, tree, other = system.graph, system.graph.topology(), graph.topology()
    old = system.rows[tree.vertex]
    inside = old < graph.vertex_count
    position = np.where(inside, other.position[np.where(inside, old, 0)], NOWHERE)
    there = np.flatnonzero(position >= 0)
    same = np.zeros(len(tree), np.bool_)
    pairs = zip(stored.names(tree.vertex[there]), graph.names(old[there]), strict=True)
    same[there] = [one == another for one, another in pairs]
    same[there] &= stored.rank[tree.vertex[there]] == graph.rank[old[there]]
    same &= _above(tree.parent, old) == _above(other.parent[position], other.vertex)
    for depth in range(1, int(tree.depth.max()) + 1):
        level = np.flatnonzero(tree.depth == depth)
        same[level] &= same[tree.parent[level]]
    found = np.zeros(stored.vertex_count, np.bool_)
    once = tree.once()
    found[tree.vertex[once]] = same[once]
    return found


def _above(parent: Ints, row: Ints) -> Ints:
    """The rows of parents that are given by position."""
    rows: Ints = np.where(parent < 0, NOWHERE, row[parent])
    return rows


def _find(stored: ResourceGraph, vertex: int, graph: ResourceGraph) -> int:
    """The row of the vertex of a graph that has the path of a stored one."""
    # Containment comes first; a vertex of another subsystem alone has a path only there.
    path = next(iter(stored.paths(vertex).values()), "")
    found = graph.find_path(path)
    if len(found) > 1:
        found = [row for row in found if graph.rank[row] == stored.rank[vertex]]
    return found[0] if found else NOWHERE
