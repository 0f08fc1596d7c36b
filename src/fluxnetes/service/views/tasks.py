"""How many tasks of a job go to each node.

A placement says which vertices a job has, not which slot each of them is of. Where all slots are
alike they can be counted: a node has as many of them as what the job has there is enough for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fluxnetes.jobspec.model import SLOT, Jobspec, Resource
from fluxnetes.match.gang.model import Gang, Seats
from fluxnetes.queue.jobs import Request


class TaskCounter(Protocol):
    """Asked about each node of a job once."""

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        """How many tasks go to a node, given as a row of the graph, of which the job has this."""
        ...


class UnknownTasks:
    """Nobody can tell."""

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        return 0


class EqualTasks:
    """So many tasks, each of which takes these amounts."""

    def __init__(self, count: int, each: Mapping[str, int]) -> None:
        self._left = count
        self._each = each

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        enough = min(amounts.get(type, 0) // amount for type, amount in self._each.items())
        # A node that is taken whole has room for more of them than there are.
        here = min(enough, self._left)
        self._left -= here
        return here


class SeatedTasks:
    """Pods that were given seats."""

    def __init__(self, seats: tuple[Seats, ...]) -> None:
        self._pods: dict[int, int] = {}
        for each in seats:
            for node, pods in zip(each.node.tolist(), each.pods.tolist(), strict=True):
                self._pods[node] = self._pods.get(node, 0) + pods

    def on(self, node: int, amounts: Mapping[str, int]) -> int:
        return self._pods.get(node, 0)


def tasks_of(request: Request | None, seats: tuple[Seats, ...] = ()) -> TaskCounter:
    """The tasks of a job that asked for this and, if it is a gang, was given these seats."""
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
    """What a slot takes that is on a node; nothing if it is more than leaves of fixed number."""
    if any(child.children or child.count.min != child.count.max for child in slot.children):
        return {}
    return {child.type: child.count.min for child in slot.children if child.count.min}
