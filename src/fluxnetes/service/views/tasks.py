"""Counts the tasks of a job on each node.

A placement lists the vertices of a job, but not the slot that each belongs to. If all slots are
equal they can be counted all the same: a node has as many as the job's amounts there suffice for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fluxnetes.jobspec.model import SLOT, Jobspec, Resource
from fluxnetes.match.gang.model import Gang, Seats
from fluxnetes.queue.jobs import Request


class TaskCounter(Protocol):
    """Counts tasks; called once for each node of a job."""

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        """The tasks on a node (a row of the graph) of which the job holds these amounts."""
        ...


class UnknownTasks:
    """The number of tasks is not known."""

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        return 0


class EqualTasks:
    """A number of tasks that take these amounts each."""

    def __init__(self, count: int, each: Mapping[str, int]) -> None:
        self._left = count
        self._each = each

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        enough = min(amounts.get(type, 0) // amount for type, amount in self._each.items())
        # A node that is held exclusively may suffice for more tasks than there are.
        here = min(enough, self._left)
        self._left -= here
        return here


class SeatedTasks:
    """Pods whose seats are known."""

    def __init__(self, seats: tuple[Seats, ...]) -> None:
        self._pods: dict[int, int] = {}
        for each in seats:
            for node, pods in zip(each.node.tolist(), each.pods.tolist(), strict=True):
                self._pods[node] = self._pods.get(node, 0) + pods

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        return self._pods.get(node, 0)


def tasks_of(request: Request | None, seats: tuple[Seats, ...] = ()) -> TaskCounter:
    """The task counter of a request; `seats` are those of a gang, if they are known."""
    if seats:
        return SeatedTasks(seats)
    if isinstance(request, Gang) and len(request.shapes) == 1:
        [shape] = request.tidied().shapes
        return EqualTasks(shape.count, dict(shape.amounts)) if shape.amounts else UnknownTasks()
    if isinstance(request, Jobspec) and len(request.resources) == 1:
        return _slots(request.resources[0], 1)
    return UnknownTasks()


def _slots(resource: Resource, above: int) -> TaskCounter:
    count = resource.count.largest * above
    if resource.type == SLOT:
        each = _amounts(resource)
        return EqualTasks(count, each) if each else UnknownTasks()
    return _slots(resource.children[0], count) if len(resource.children) == 1 else UnknownTasks()


def _amounts(slot: Resource) -> dict[str, int]:
    """The amounts of a slot; empty if it has more than leaves with fixed counts."""
    if any(child.children or child.count.min != child.count.max for child in slot.children):
        return {}
    return {child.type: child.count.min for child in slot.children if child.count.min}
