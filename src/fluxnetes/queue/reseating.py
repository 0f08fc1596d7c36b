"""Tasks that lose their places and get others, while the rest of their gang stays where it is.

A node vanished under a part of a gang, or others took the room before its pods got there. The gang
need not go back to the queue if what is missing fits elsewhere now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fluxnetes.graph.placement import Placement
from fluxnetes.match.gang import Gang
from fluxnetes.match.planning import Found
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.core import Core
from fluxnetes.queue.elastic import Elastic
from fluxnetes.queue.errors import Refused
from fluxnetes.queue.jobs import Job
from fluxnetes.queue.timeline import FOREVER


class Reseating:
    """Moves tasks."""

    def __init__(self, core: Core, elastic: Elastic) -> None:
        self._core = core
        self._elastic = elastic

    def reseat(self, job: Job, tasks: Sequence[int], now: int) -> None:
        """Give tasks other places, or raise Refused and change nothing."""
        before = self._core.allocations[job.id]
        nodes = before.task_nodes(self._core.planning.engine.graph)
        shapes = self._shapes(job, before, tasks, len(nodes))
        left = self._elastic.without(before, sorted(tasks))
        planning = self._core.planning
        planning.reduce(job.id, left)
        found = planning.find_now(self._gang(job, shapes), now, self._until(job, now))
        if found is None:
            reason = planning.why_not_now(self._gang(job, shapes))
            planning.reduce(job.id, before.placement)
            raise Refused(f"job {job.id}: {reason or 'what is free is promised to others'}")
        moved = list(nodes)
        for members, seats in zip(shapes.values(), found.seats, strict=True):
            for task, node in zip(members, seats.each(), strict=True):
                moved[task] = node
        placement = self._together(left, found)
        self._elastic.hold(job, replace(before, placement=placement, tasks=tuple(moved)), now)
        self._core.unsettled = self._core.unsettled or "tasks of a job were moved"

    def _shapes(
        self, job: Job, allocation: Allocation, tasks: Sequence[int], count: int
    ) -> dict[int, list[int]]:
        """The tasks of each shape, by the shape's number."""
        request = self._core.records.asks[job.id].request
        if not isinstance(request, Gang) or not allocation.seats:
            raise Refused(f"job {job.id} is no gang; its tasks cannot be moved one by one")
        ends = np.cumsum([int(seats.pods.sum()) for seats in allocation.seats])
        found: dict[int, list[int]] = {}
        for task in sorted(set(tasks)):
            if not 0 <= task < count or task in allocation.ended_tasks:
                raise Refused(f"job {job.id} has no task {task} that could be moved")
            number = int(np.searchsorted(ends, task, side="right"))
            # What a gang that grew got later is of its only shape.
            found.setdefault(min(number, len(request.shapes) - 1), []).append(task)
        return found

    def _gang(self, job: Job, shapes: dict[int, list[int]]) -> Gang:
        request = self._core.records.asks[job.id].request
        assert isinstance(request, Gang)  # noqa: S101 - `_shapes` looked
        asked = request.tidied().shapes
        return Gang(tuple(replace(asked[n], count=len(tasks)) for n, tasks in shapes.items()))

    def _until(self, job: Job, now: int) -> int:
        until = FOREVER if job.deadline is None else max(job.deadline, now + 1)
        return min(until, self._core.planning.matcher.horizon)

    def _together(self, left: Placement, found: Found) -> Placement:
        engine = self._core.planning.engine
        more = engine.placement(found.held, left.start, left.end, None)
        held = engine.hold(
            np.concatenate((left.vertex[left.exclusive], more.vertex[more.exclusive])),
            np.concatenate((left.needs[left.exclusive], more.needs[more.exclusive])),
        )
        return engine.placement(held, left.start, left.end, None)
