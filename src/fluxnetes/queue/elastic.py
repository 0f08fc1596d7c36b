"""Groups that shrink and grow.

The tasks of a group end one by one and give back what they had one by one; the last one ends the
job. For a gang a task is a pod, numbered in the order of its seats; for a jobspec it is the
job's part of one node, numbered in the order of the graph. A group that may be larger than it is
grows when it is told that it may, into room that nobody was promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fluxnetes.graph.placement import Placement
from fluxnetes.jobspec.model import SLOT, XOR_SLOT
from fluxnetes.match.gang import Gang
from fluxnetes.match.planning import Found, times
from fluxnetes.queue.asks import Ask
from fluxnetes.queue.changes import Allocation, Event
from fluxnetes.queue.core import Core
from fluxnetes.queue.errors import Refused
from fluxnetes.queue.jobs import Job, Size


class Elastic:
    """Shrinks and grows what jobs hold."""

    def __init__(self, core: Core) -> None:
        self._core = core

    # -- shrinking -----------------------------------------------------------------------------

    def tasks_ended(self, job: Job, ended: Sequence[int], now: int) -> bool:
        """Some tasks are gone; True if none is left."""
        before = self._core.allocations[job.id]
        tasks = before.task_nodes(self._core.planning.engine.graph)
        unknown = [task for task in ended if not 0 <= task < len(tasks)]
        if unknown:
            raise Refused(f"job {job.id} has no task {unknown[0]}; it has {len(tasks)}")
        new = set(ended) - before.ended_tasks
        all_ended = before.ended_tasks | new
        if len(all_ended) == len(tasks):
            return True
        if new:
            left = self.without(before, sorted(new))
            self.hold(job, replace(before, placement=left, tasks=tasks, ended_tasks=all_ended), now)
            self._core.freed = self._core.gained = True
        return False

    def reduce(self, job: Job, left: Placement, now: int) -> None:
        """A job keeps only this: what it had besides is not there any more."""
        before = self._core.allocations[job.id]
        tasks = before.task_nodes(self._core.planning.engine.graph)
        self.hold(job, replace(before, placement=left, tasks=tasks), now)

    def without(self, allocation: Allocation, tasks: Sequence[int]) -> Placement:
        """What is left of a placement without some tasks."""
        nodes = allocation.task_nodes(self._core.planning.engine.graph)
        if allocation.seats:
            return self._without_pods(allocation, [(task, nodes[task]) for task in tasks])
        placement = allocation.placement
        for task in tasks:
            placement = _rows(placement, ~self._below(placement, nodes[task]))
        return placement

    def _without_pods(self, allocation: Allocation, pods: Sequence[tuple[int, int]]) -> Placement:
        """What is left of a gang's placement without the pods of some tasks, by task and node."""
        given_back: dict[tuple[int, int], int] = {}
        types = self._core.planning.engine.graph.types
        for task, node in pods:
            for type, amount in self._amounts(allocation, task):
                key = (node, types.get(type))
                given_back[key] = given_back.get(key, 0) + amount
        placement = allocation.placement
        needs = placement.needs.copy()
        of_row = self._core.planning.engine.graph.type_id[placement.vertex]
        pools = np.flatnonzero(placement.exclusive)
        keys = zip(placement.parent[pools].tolist(), of_row[pools].tolist(), strict=True)
        for row, key in zip(pools.tolist(), keys, strict=True):
            needs[row] -= given_back.get(key, 0)
        left = replace(placement, needs=needs)
        return _rows(left, ~placement.exclusive | (needs > 0))

    def _below(self, placement: Placement, vertex: int) -> NDArray[np.bool_]:
        """Which rows of a placement are a vertex or below it."""
        tree = self._core.planning.engine.tree
        at = int(tree.position[vertex])
        position = tree.position[placement.vertex]
        inside: NDArray[np.bool_] = (position >= at) & (position < tree.end[at])
        return inside

    def _amounts(self, allocation: Allocation, task: int) -> tuple[tuple[str, int], ...]:
        """What one pod of a gang has."""
        request = self._core.records.asks[allocation.job].request
        assert isinstance(request, Gang)  # noqa: S101 - only gangs have seats
        shapes = request.tidied().shapes
        # A gang that grew has more seats than shapes: what came later is of its only shape.
        for number, seats in enumerate(allocation.seats):
            task -= int(seats.pods.sum())
            if task < 0:
                return shapes[min(number, len(shapes) - 1)].amounts
        raise AssertionError("the caller looked")

    # -- growing -------------------------------------------------------------------------------

    def grow(self, job: Job, now: int) -> int:
        """Add as many units as there is room for; returns how many."""
        core = self._core
        ask = core.records.asks[job.id]
        if ask.elastic is None:
            raise Refused(f"job {job.id} has a fixed size")
        held = job.size or ask.elastic.min
        most = ask.elastic.max - held
        left = core.duration(job) if job.deadline is None else job.deadline - now
        if most < 1 or left < 1:
            return 0
        more = _units_alone(ask, replace(ask.elastic, min=1, max=most))
        added = core.room.largest_now(more, left, self._allowed(job, more, most, left, now))
        found = core.room.find_now(more.sized(added), left) if added else None
        if found is None:
            return 0
        self._add(job, held + added, found, now)
        return added

    def _allowed(self, job: Job, more: Ask, most: int, left: int, now: int) -> int:
        """How many units more no limit and no budget stops."""
        core = self._core
        if job.queue not in core.limits.any and not core.budgets:
            return most
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            amounts = core.estimate(more.sized(middle))
            stopped = core.limits.stops_growth(job, amounts) or core.budgets.stops(
                job, amounts, left, now
            )
            low, high = (low, middle - 1) if stopped or not amounts else (middle, high)
        return low

    def _add(self, job: Job, size: int, found: Found, now: int) -> None:
        core = self._core
        before = core.allocations[job.id]
        engine = core.planning.engine
        old = before.placement
        more = engine.placement(found.held, old.start, old.end, None)
        held = engine.hold(
            np.concatenate((old.vertex[old.exclusive], more.vertex[more.exclusive])),
            np.concatenate((old.needs[old.exclusive], more.needs[more.exclusive])),
        )
        added = Allocation(job.id, before.start, before.end, more, found.seats)
        graph = engine.graph
        after = replace(
            before,
            placement=engine.placement(held, old.start, old.end, None),
            seats=before.seats + found.seats,
            tasks=before.task_nodes(graph) + added.task_nodes(graph),
        )
        job.size = size
        self.hold(job, after, now)

    # -- both ----------------------------------------------------------------------------------

    def hold(self, job: Job, allocation: Allocation, now: int) -> None:
        """A job holds this from now on."""
        core = self._core
        planning = core.planning
        core.allocations[job.id] = allocation
        core.records.changes.allocations[job.id] = allocation
        planning.reduce(job.id, allocation.placement)
        before = core.records.amounts[job.id]
        after = planning.amounts(Found(planning.engine.held(allocation.placement)))
        core.records.amounts[job.id] = after
        for type in before.keys() | after.keys():
            core.limits.changes(job, type, after.get(type, 0) - before.get(type, 0))
        account = (job.namespace, job.user)
        usage = core.usage.change(account, core.rate(after) - core.rate(before), now)
        core.records.changes.usage[account] = usage
        more = {type: after.get(type, 0) - before.get(type, 0) for type in before.keys() | after}
        core.commit(job, more, 0 if job.deadline is None else max(0, job.deadline - now), now)
        core.room.resize(job.id, self._ask_now(job, after), after)
        note = f"holds {_words(after)} after {_words(before)}"
        core.records.tell(Event(job.id, now, "resized", reason=note))

    def _ask_now(self, job: Job, held: Mapping[str, int]) -> Ask:
        """What a job is counted as now: the units it has left."""
        core = self._core
        ask = core.room.holders[job.id].ask
        if ask.unit is None:
            return ask
        units, exact = units_held(core, ask, held)
        if job.size:
            job.size = units
        if not exact and not core.room.by_rows:
            # Not a whole number of equal units: whoever counts is wrong from here on.
            core.unsettled = core.unsettled or "a group shrank by a part of a unit"
            core.room.mistaken = True
        return replace(ask.sized(units), elastic=None)


def units_held(core: Core, ask: Ask, held: Mapping[str, int]) -> tuple[int, bool]:
    """How many units of an ask are in what is held, and whether that is all there is.

    A unit may come with more than it asks for, as cores do with a node, or ask for something that
    it shares with others, as for the node around its cores; but of one type it takes just what it
    asked for.
    """
    assert ask.unit is not None  # noqa: S101 - asked only where units are counted
    own = core.estimate(ask).keys() - {SLOT, XOR_SLOT}
    least = core.planning.least(ask.unit)
    parts = [(held.get(type, 0), least[type]) for type in own if least.get(type)]
    units = min((have // amount for have, amount in parts), default=ask.count)
    return units, any(have == units * amount for have, amount in parts)


def _units_alone(ask: Ask, size: Size) -> Ask:
    """One unit of an ask, without what it takes whatever its size."""
    request = ask.request
    if isinstance(request, Gang):
        request = replace(request, shared=())
    return replace(ask, request=times(request, 1), count=1, shared=(), elastic=size)


def _rows(placement: Placement, kept: NDArray[np.bool_]) -> Placement:
    """Some rows of a placement."""
    return replace(
        placement,
        vertex=placement.vertex[kept],
        parent=placement.parent[kept],
        depth=placement.depth[kept],
        needs=placement.needs[kept],
        exclusive=placement.exclusive[kept],
    )


def _words(amounts: dict[str, int]) -> str:
    return ", ".join(f"{amount} {type}" for type, amount in sorted(amounts.items())) or "nothing"
