"""Moves tasks of a gang to other nodes, while the rest of the gang stays where it is.

A node vanished under a part of a gang, or foreign pods used its capacity before the gang's pods
were bound. The gang need not go back to the queue if the missing tasks fit elsewhere now, beside
all running jobs and all promises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.graph.placement import Placement
from fluxnetes.match.gang.model import Gang, Seats
from fluxnetes.match.planning import Candidate
from fluxnetes.queue.changes import Allocation
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.lifecycle.allocations import AllocationEdits
from fluxnetes.queue.lifecycle.companions import PlacedGang
from fluxnetes.queue.lifecycle.tasks import TaskHandlers
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import JobState

_NAMED = 5
"""Maximum tasks named in an event, so that it stays readable."""


class TaskReseating:
    """Finds other nodes for tasks of a gang."""

    def __init__(
        self, core: QueueCore, tasks: TaskHandlers, allocation_edits: AllocationEdits
    ) -> None:
        self._core = core
        self._tasks = tasks
        self._edits = allocation_edits

    def reseat(self, job: QueueJob, tasks: Iterable[int], now: int) -> None:
        """Move all of these tasks; or raise QueueRefused, and nothing has changed."""
        moved = sorted(set(tasks))
        self._check(job, moved)
        if not moved:
            return
        before = self._core.allocations[job.id]
        left = self._tasks.without(before, moved)
        found = self._find(job, before, left, moved, now)
        nodes = np.array(self._tasks.nodes(before), np.int64)
        nodes[self._in_order_of_shapes(before, moved)] = [
            node for seats in found.seats for node in seats.each()
        ]
        after = replace(
            before,
            placement=self._joined(left, found),
            seats=_seats(before, nodes.tolist()),
            tasks=tuple(nodes.tolist()),
        )
        self._edits.change(job, after, now, self._describe_moves(moved, nodes))
        self._core.resources_freed()

    def _check(self, job: QueueJob, tasks: Sequence[int]) -> None:
        if job.state not in (JobState.ALLOCATED, JobState.RUNNING):
            raise QueueRefused(f"job {job.id} is {job.state.value}; only placed tasks can move")
        allocation = self._core.allocations[job.id]
        if not allocation.seats:
            raise QueueRefused(f"job {job.id} is not a gang; its tasks cannot be moved one by one")
        self._tasks.check(job, tasks, len(self._tasks.nodes(allocation)))
        ended = sorted(allocation.ended_tasks.intersection(tasks))
        if ended:
            raise QueueRefused(f"job {job.id}: task {ended[0]} has already ended")

    # -- finding other places ------------------------------------------------------------------

    def _find(
        self, job: QueueJob, before: Allocation, left: Placement, moved: Sequence[int], now: int
    ) -> Candidate:
        """Where the tasks fit once their present places are free."""
        core, request = self._core, self._request(before, moved)
        holder = core.capacity.holders[job.id]
        staying = core.planning.amounts(core.planning.reduce(job.id, left))
        counted = holder.request.unit is not None
        less = (
            holder.request.sized(holder.request.count - len(moved)) if counted else holder.request
        )
        core.capacity.resize(job.id, less, staying)
        found = core.capacity.find_now(request, self._duration(job, now))
        if found is not None:
            return found
        reason = core.planning.why_not_now(request.spec) or Reason.of(Message.PROMISED_TO_OTHERS)
        core.planning.reduce(job.id, before.placement)
        core.capacity.resize(job.id, holder.request, core.records.amounts[job.id])
        raise QueueRefused(f"job {job.id}: its tasks fit nowhere else: {reason}")

    def _request(self, allocation: Allocation, moved: Sequence[int]) -> PlanRequest:
        """What some tasks request, by shapes."""
        whole = self._core.records.requests[allocation.job]
        assert isinstance(whole.spec, Gang)  # noqa: S101 - the caller checked
        absent = [*moved, *allocation.ended_tasks]
        placed = PlacedGang(self._core.planning, whole.spec, self._tasks.nodes(allocation), absent)
        tasks = self._in_order_of_shapes(allocation, moved)
        moving = placed.moving(tasks, self._tasks.shape_numbers(allocation, tasks).tolist())
        return PlanRequest(moving, whole.unit, len(moved), window=whole.window)

    def _duration(self, job: QueueJob, now: int) -> int:
        """How long a job still holds resources, for the planner."""
        core = self._core
        return core.duration(job) if job.deadline is None else max(1, job.deadline - now)

    # -- the new places ------------------------------------------------------------------------

    def _in_order_of_shapes(self, allocation: Allocation, moved: Sequence[int]) -> list[int]:
        """Tasks in the order in which seats were found for them."""
        numbers = self._tasks.shape_numbers(allocation, moved).tolist()
        return [task for _, task in sorted(zip(numbers, moved, strict=True))]

    def _joined(self, left: Placement, found: Candidate) -> Placement:
        """What stays where it was, and what was found."""
        engine = self._core.planning.engine
        more = engine.placement(found.held, left.start, left.end, None)
        held = engine.joined(left, more)
        return engine.placement(held, left.start, left.end, left.queue)

    def _describe_moves(self, moved: Sequence[int], nodes: np.ndarray) -> Reason:
        names = self._core.planning.engine.graph.names(nodes[moved[:_NAMED]])
        moves = ", ".join(f"{task} to {name}" for task, name in zip(moved, names, strict=False))
        more = f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else ""
        return Reason.of(Message.TASKS_MOVED, moves=f"{moves}{more}")


def _seats(before: Allocation, nodes: Sequence[int]) -> tuple[Seats, ...]:
    """The seats of a gang whose tasks are on these nodes: neighbours on one node are one entry."""
    found = []
    first = 0
    for seats in before.seats:
        count = int(seats.pods.sum())
        mine = np.array(nodes[first : first + count], np.int64)
        starts = np.flatnonzero(np.concatenate(([True], mine[1:] != mine[:-1])))
        found.append(Seats(mine[starts], np.diff(np.append(starts, count))))
        first += count
    return tuple(found)
