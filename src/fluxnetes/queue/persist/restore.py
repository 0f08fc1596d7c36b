"""Restores a queue from a snapshot.

Jobs are entered in order of arrival; jobs that held resources hold them again, eligible jobs are in
line again, and every promise is booked again at its time.
"""

from __future__ import annotations

from dataclasses import replace

from fluxnetes.match.planning import Candidate
from fluxnetes.queue.changes import Allocation, JobEvent, QueueState, Snapshot
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.lifecycle.allocations import units_held
from fluxnetes.queue.lifecycle.handlers import EventHandlers
from fluxnetes.queue.plan.base import Booking
from fluxnetes.queue.plan.timeline import FOREVER
from fluxnetes.queue.states import ENDED, WAITING, JobState


def with_forgotten_queues(
    config: SchedulerConfig, snapshot: Snapshot
) -> tuple[SchedulerConfig, list[QueueState]]:
    """A configuration with every queue that has jobs, and the states of the added queues.

    An added queue is stopped and drained; its jobs can be moved or cancelled.
    """
    known = {queue.name for queue in config.queues}
    used = {job.queue for job in snapshot.jobs if job.state not in ENDED}
    forgotten = sorted(used - known)
    queues = config.queues + tuple(QueueConfig(name) for name in forgotten)
    states = [QueueState(name, stopped=True, drained=True) for name in forgotten]
    return replace(config, queues=queues), states


def restore(core: QueueCore, handlers: EventHandlers, snapshot: Snapshot, now: int) -> None:
    """Enter a snapshot into an empty queue."""
    core.records.resume(snapshot.step, snapshot.arrivals)
    core.windows.update({window.name: window for window in snapshot.windows})
    core.operators.update({state.queue: state for state in snapshot.queues})
    core.records.outcomes.update(snapshot.outcomes)
    for usage in snapshot.usage:
        core.usage.load(usage)
    for spent in snapshot.spent:
        core.budgets.load(spent)
    allocations = {allocation.job: allocation for allocation in snapshot.allocations}
    jobs = sorted(snapshot.jobs, key=lambda job: (job.arrival, job.id))
    for job in jobs:
        core.records.add(job)
        if job.state in ENDED:
            core.records.retire(job)
        elif job.parent is not None:
            core.records.children[job.parent].add(job.id)
        elif job.submission.array is not None:
            core.records.arrays[job.id] = job
    for job in jobs:
        if job.state not in ENDED:
            _enter(core, handlers, job, allocations.get(job.id))
    for job in jobs:
        if job.state is JobState.PENDING:
            _line_up(core, handlers, job, now)


def _enter(
    core: QueueCore, handlers: EventHandlers, job: QueueJob, allocation: Allocation | None
) -> None:
    if job.state is not JobState.GATHERING:
        request = handlers.admission.plan_request(job)
        core.add_request(job.id, request, holds=job.state not in WAITING)
    if job.state in WAITING:
        core.limits.waits(job, +1)
        return
    assert allocation is not None  # noqa: S101 - every job that holds resources has one
    planning = core.planning
    until = FOREVER if job.expected is None else job.expected
    # It may be expected to end at another time than when it was placed.
    end = min(until, planning.matcher.horizon)
    planning.readmit(job.id, replace(allocation.placement, end=end))
    amounts = planning.amounts(Candidate(planning.engine.held(allocation.placement)))
    request = core.records.requests[job.id]
    if request.unit is not None:
        units, exact = units_held(core, request, amounts)
        request = request.sized(units)
        if not exact:
            core.capacity.mark_miscounted()
    core.capacity.remember(job.id, request, until)
    core.records.holding[job.id] = job
    core.records.amounts[job.id] = amounts
    core.allocations[job.id] = allocation
    core.limits.holds(job, amounts, +1)
    core.usage.resume((job.namespace, job.user), core.rate(amounts))


def _line_up(core: QueueCore, handlers: EventHandlers, job: QueueJob, now: int) -> None:
    handlers.gate.park_or_enqueue(job, now)
    plan, job.plan = job.plan, None
    if plan is None:
        return
    if job.id in core.lines[job.queue]:
        core.set_plan(job, plan)
        request = core.records.requests[job.id]
        until = core.until(job, plan.start)
        # The plan is rebuilt before the first decision, and books this with needs and a witness.
        core.capacity.remember_booking(job.id, Booking(request, plan.start, until, (), None))
    elif job.state is JobState.PENDING:  # nothing can serve it any more
        reason = core.parked.get(job.id)
        core.records.add_event(JobEvent(job.id, now, "unplanned", reason=reason))
