"""Ends single tasks of a job, and computes what each of them holds.

For a gang a task is a pod, numbered in the order of its seats; for a jobspec it is the job's part
of one node, numbered in the order of the graph. Tasks end one by one and free what they held; the
last one ends the job. Numbers never change: a task that ended, or was moved to another node, keeps
its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.placement import Placement
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.lifecycle.allocations import AllocationEdits


class TaskHandlers:
    """Ends tasks, and knows what each of them holds."""

    def __init__(self, core: QueueCore, allocation_edits: AllocationEdits) -> None:
        self._core = core
        self._edits = allocation_edits

    def nodes(self, allocation: Allocation) -> tuple[int, ...]:
        """The node of each task, as a row of the graph."""
        return allocation.task_nodes(self._core.planning.engine.graph)

    def check(self, job: QueueJob, tasks: Iterable[int], count: int) -> None:
        """Refuse numbers that no task of a job has."""
        for task in tasks:
            if not 0 <= task < count:
                raise QueueRefused(f"job {job.id} has no task {task}; it has {count} tasks")

    def end(self, job: QueueJob, tasks: Iterable[int], now: int) -> bool:
        """Tasks ended; True if none is left."""
        before = self._core.allocations[job.id]
        nodes = self.nodes(before)
        self.check(job, tasks, len(nodes))
        new = sorted(set(tasks) - before.ended_tasks)
        ended = before.ended_tasks | set(new)
        if len(ended) == len(nodes):
            return True
        if new:
            left = self.without(before, new)
            after = replace(before, placement=left, tasks=nodes, ended_tasks=ended)
            self._edits.change(job, after, now)
            self._core.resources_freed()
        return False

    def drop_vanished(self, job: QueueJob, now: int) -> bool:
        """Free what a job holds of vertices that left the graph; True if it held or used any."""
        before = self._core.allocations[job.id]
        position = self._core.planning.engine.tree.position
        placement, nodes = before.placement, self.nodes(before)
        there = position[placement.vertex] >= 0
        if not there.all():
            kept = _with_all_above(placement, placement.exclusive & there)
            after = replace(before, placement=_rows(placement, kept), tasks=nodes)
            self._edits.change(job, after, now)
            return True
        # Nothing is held on vanished nodes (any more), but a task may still be assigned to one.
        live = [node for task, node in enumerate(nodes) if task not in before.ended_tasks]
        return bool((position[live] < 0).any())

    # -- what a task holds ---------------------------------------------------------------------

    def without(self, allocation: Allocation, tasks: Sequence[int]) -> Placement:
        """What is left of a placement without some tasks."""
        nodes = np.array(self.nodes(allocation), np.int64)[np.array(tasks, np.int64)]
        if not allocation.seats:
            return self._without_nodes(allocation.placement, nodes)
        shapes = self.shapes(allocation.job)
        numbers = self.shape_numbers(allocation, tasks)
        types = self._core.planning.engine.graph.types
        taken: list[tuple[Ints, Ints]] = []
        for number in np.unique(numbers).tolist():
            for type, amount in shapes[number].amounts:
                pools = self._keys(nodes[numbers == number], types.get(type))
                taken.append((pools, np.full(len(pools), amount, np.int64)))
        pools, amounts = (np.concatenate(column) for column in zip(*taken, strict=True))
        return self._less(allocation.placement, pools, amounts)

    def shapes(self, job: int) -> tuple[Shape, ...]:
        """The shapes of a gang's pods."""
        gang = self._core.records.requests[job].spec
        assert isinstance(gang, Gang)  # noqa: S101 - only gangs have seats
        return gang.tidied().shapes

    def shape_numbers(self, allocation: Allocation, tasks: Sequence[int]) -> Ints:
        """The number of each task's shape."""
        ends = np.cumsum([int(seats.pods.sum()) for seats in allocation.seats])
        found: Ints = np.searchsorted(ends, np.array(tasks, np.int64), side="right")
        # A gang that grew has more seats than shapes: the added seats are of its only shape.
        return np.minimum(found, len(self.shapes(allocation.job)) - 1)

    def _keys(self, nodes: Ints, type: int | Ints) -> Ints:
        """A number for each pair of a node and a type."""
        return nodes * len(self._core.planning.engine.graph.types) + type

    def _less(self, placement: Placement, pools: Ints, amounts: Ints) -> Placement:
        """A placement without some amounts, of the pools with these keys."""
        given, where = np.unique(pools, return_inverse=True)
        sums = np.bincount(where, weights=amounts).astype(np.int64)
        types = self._core.planning.engine.graph.type_id[placement.vertex].astype(np.int64)
        mine = self._keys(placement.parent, types)
        at = np.minimum(given.searchsorted(mine), len(given) - 1)
        less = placement.exclusive & (given[at] == mine)
        needs = placement.needs - np.where(less, sums[at], 0)
        kept = placement.exclusive & (needs > 0)
        return _rows(replace(placement, needs=needs), _with_all_above(placement, kept))

    def _without_nodes(self, placement: Placement, nodes: Ints) -> Placement:
        """A placement without what is in some nodes."""
        tree = self._core.planning.engine.tree
        if not tree.is_tree:
            kept = placement.exclusive & ~_with_all_below(placement, nodes)
            return _rows(placement, _with_all_above(placement, kept))
        position = tree.position[placement.vertex]
        kept = placement.exclusive.copy()
        for at in tree.position[nodes].tolist():
            kept &= (position < at) | (position >= tree.end[at])
        return _rows(placement, _with_all_above(placement, kept))


def _with_all_below(placement: Placement, vertices: Ints) -> Bools:
    """The rows of some vertices and the rows below them, by the path of the placement."""
    found = np.isin(placement.vertex, vertices)
    for depth in range(1, int(placement.depth.max(initial=0)) + 1):
        above = placement.vertex[found & (placement.depth == depth - 1)]
        found |= (placement.depth == depth) & np.isin(placement.parent, above)
    return found


def _with_all_above(placement: Placement, kept: Bools) -> Bools:
    """Some rows of a placement and the rows above them; a node without any row left is dropped.

    Rows know their parents, so this needs no tree: the node may be gone from it.
    """
    kept = kept.copy()
    for depth in range(int(placement.depth.max(initial=0)), 0, -1):
        parents = placement.parent[kept & (placement.depth == depth)]
        kept |= (placement.depth == depth - 1) & np.isin(placement.vertex, parents)
    return kept


def _rows(placement: Placement, kept: Bools) -> Placement:
    """Some rows of a placement."""
    return replace(
        placement,
        vertex=placement.vertex[kept],
        parent=placement.parent[kept],
        depth=placement.depth[kept],
        needs=placement.needs[kept],
        exclusive=placement.exclusive[kept],
    )
