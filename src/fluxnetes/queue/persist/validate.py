"""Checks the invariants of the queue after every step. For tests and for debugging.

The checks compare independent copies of the same facts: records, lines, limits, the capacity plan
and the matcher each track which jobs wait and which hold what, and all of them must agree.

The queue never allocates what is not free. But foreign pods may use what jobs hold, nodes may
become smaller, and a job may be adopted on a node without enough capacity: so over-commitment comes
from outside alone, and otherwise only ever shrinks.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState


class BrokenInvariant(AssertionError):  # noqa: N818 - reads better where it is raised
    """An invariant does not hold. Always a bug in the queue."""


class Validator:
    """Checks a queue after every step."""

    def __init__(self, core: QueueCore) -> None:
        self._core = core
        self._excess: dict[int, int] = {}
        """What was over-committed at the last check, by row of the graph."""

    def tolerate(self) -> None:
        """An event from outside was applied: accept the present over-commitment."""
        self._excess = _excess(self._core)

    def check(self) -> None:
        """Raise BrokenInvariant if any invariant does not hold."""
        core = self._core
        for job in core.records.jobs.values():
            _check_job(core, job)
        _check_agreement(core)
        self._check_excess()
        _check_capacity(core)
        _check_limits(core)

    def _check_excess(self) -> None:
        """No vertex is over-committed: the sum of all allocations fits."""
        excess = _excess(self._core)
        for row, amount in excess.items():
            if amount > self._excess.get(row, 0):
                path = self._core.planning.engine.graph.path(row)
                raise BrokenInvariant(f"{path} is over-committed by {amount}")
        self._excess = excess


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenInvariant(what)


def _check_job(core: QueueCore, job: QueueJob) -> None:
    id = job.id
    holds = id in core.records.holding
    _need(holds == (job.state in HOLDING), f"job {id} is {job.state.value}; holding: {holds}")
    in_line = id in core.lines[job.queue] if job.queue in core.lines else False
    _need(not in_line or job.state is JobState.PENDING, f"job {id} in line is {job.state.value}")
    _need(not (in_line and id in core.parked), f"job {id} is in line and parked")
    aside = id in core.set_aside
    _need(not aside or (job.state in WAITING and not in_line), f"job {id} set aside, in line")
    _need(job.plan is None or in_line, f"job {id} has a plan but is not in line")
    _need((job.end is not None) == (job.state in ENDED), f"job {id}: end of a {job.state.value}")
    booking = core.capacity.bookings.get(id)
    promised = booking is not None and not booking.claim
    _need(promised == (job.plan is not None), f"job {id}: plan {job.plan}, booking {booking}")
    if booking is not None and job.plan is not None:
        _need(booking.start == job.plan.start, f"job {id}: booked {booking.start}, {job.plan}")
    # The request of a group is not known before it is complete.
    unknown = job.state in ENDED or job.state is JobState.GATHERING
    _need(unknown or id in core.records.requests, f"job {id} has no request")


def _check_agreement(core: QueueCore) -> None:
    holding = set(core.records.holding)
    for what, ids in (
        ("the matcher", set(core.planning.matcher.jobs)),
        ("the capacity plan", set(core.capacity.holders)),
        ("the allocations", set(core.allocations)),
        ("the amounts", set(core.records.amounts)),
    ):
        _need(ids == holding, f"{what} has {sorted(ids ^ holding)[:5]}, or lacks them")


def _excess(core: QueueCore) -> dict[int, int]:
    """What jobs hold beyond what foreign usage leaves them, by row of the graph."""
    engine = core.planning.engine
    held = np.zeros(len(engine.tree), np.int64)
    for allocation in core.allocations.values():
        placement = allocation.placement
        mine = placement.vertex[placement.exclusive]
        position = engine.tree.position[mine]
        there = position >= 0
        np.add.at(held, position[there], placement.needs[placement.exclusive][there])
    excess = held - np.maximum(engine.ledger.nominal - engine.graph.occupied[engine.tree.vertex], 0)
    over = np.flatnonzero(excess > 0)
    return dict(zip(engine.tree.vertex[over].tolist(), excess[over].tolist(), strict=True))


def _check_capacity(core: QueueCore) -> None:
    if not core.capacity.by_vertex and core.is_settled:
        _need(not core.capacity.is_overdrawn(), "more is promised than there is")


def _check_limits(core: QueueCore) -> None:
    for name in core.queues:
        waiting = [j for j in core.records.jobs.values() if j.queue == name and j.state in WAITING]
        counted = core.limits.waiting(name)
        _need(counted == len(waiting), f"queue {name}: {len(waiting)} wait, {counted} counted")
