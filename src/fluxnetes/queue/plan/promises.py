"""Promises: planned starts, and how they are kept.

A promise is a booking in the capacity plan and a plan in the job's record. It never moves later
while jobs arrive behind it, start beside it or end. It moves later only for a recorded reason:

- a job arrived, or was moved, before it in the order and needs its capacity;
- nodes were lost, or a maintenance window was set;
- a job overran its walltime.

It moves earlier whenever something is free that the plan did not count on. Re-planning always
starts from the old plan: each promise is first put back where it was.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, takewhile

from fluxnetes.common.reasons import Reason
from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.core import OrderKey, QueueCore
from fluxnetes.queue.jobs import PlannedStart, QueueJob
from fluxnetes.queue.plan.base import Booking, StartOption
from fluxnetes.queue.plan.requests import PlanRequest

_FIRST: OrderKey = (-(2**62), "", (0, 0.0, 0), 0)
"""Before every job in the order."""

_PASSES = 10
"""Maximum passes over all promises that move them earlier; a few are enough."""
_PASSES_BY_VERTEX = 2
"""The same for a plan by vertex, where every move is a search of the matcher."""


class PromiseKeeper:
    """Gives, keeps and moves planned starts."""

    def __init__(self, core: QueueCore) -> None:
        self._core = core
        self._last = _FIRST
        """No job with a booking is behind this place in the order."""
        self._unplannable: set[tuple[PlanRequest, int]] = set()
        """Requests and durations for which no start is known, since something was last freed."""

    # -- due promises --------------------------------------------------------------------------

    def due(self, now: int) -> list[QueueJob]:
        """The jobs whose planned start has come, the earliest first."""
        jobs = self._core.records.jobs
        bookings = self._core.capacity.bookings
        due = [jobs[id] for id, b in bookings.items() if b.start <= now and not b.claim]
        return sorted(due, key=lambda job: (bookings[job.id].start, self._core.rank(job)))

    def is_due(self, now: int) -> bool:
        """Whether some planned start has come."""
        return any(b.start <= now and not b.claim for b in self._core.capacity.bookings.values())

    def next_due(self) -> int | None:
        bookings = self._core.capacity.bookings.values()
        return min((b.start for b in bookings if not b.claim), default=None)

    def claims(self, queue: str) -> bool:
        """Whether some job of a queue has a claim."""
        capacity, jobs = self._core.capacity, self._core.records.jobs
        return any(b.claim and jobs[id].queue == queue for id, b in capacity.bookings.items())

    # -- making and dropping -------------------------------------------------------------------

    def promise(self, job: QueueJob, now: int) -> bool:
        """Promise a job the earliest start; or, where none is known, let it claim capacity."""
        core = self._core
        request, duration = core.records.requests[job.id], core.duration(job)
        if (request, duration) in self._unplannable:
            return False
        spot = core.capacity.earliest(request, duration, now)
        if spot is not None:
            core.capacity.book(job.id, request, spot, duration)
            self._last = max(self._last, core.rank(job))
            self._plan(job, PlannedStart(spot.start, core.records.step), now)
            return True
        if request.window is None and core.capacity.has_endless() and not self.claims(job.queue):
            self._last = max(self._last, core.rank(job))
            return core.capacity.claim(job.id, request, duration)
        if request.window is None and not core.capacity.has_endless():
            self._unplannable.add((request, duration))
        return False

    def retry_unplannable(self) -> None:
        """Something was freed: requests without a known start may have one now."""
        self._unplannable.clear()

    def _plan(self, job: QueueJob, plan: PlannedStart, now: int) -> None:
        """Record a plan, if its start is new."""
        if job.plan is not None and job.plan.start == plan.start:
            return
        self._core.set_plan(job, plan)
        event = JobEvent(job.id, now, "planned", start=plan.start, reason=plan.reason)
        self._core.records.add_event(event)

    def drop(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """A job is no longer promised a start."""
        core = self._core
        if core.capacity.unbook(job.id) is not None:
            core.resources_freed()
        if job.plan is not None:
            core.set_plan(job, None)
            core.records.add_event(JobEvent(job.id, now, "unplanned", reason=reason))

    # -- overtaking ----------------------------------------------------------------------------

    def withdraw_overtaken(self, job: QueueJob) -> list[tuple[QueueJob, Booking]]:
        """Withdraw the promises of jobs that this one newly overtook in the order.

        They must be put back. A job that was before them all along had its chance when their
        promises were made, and takes nothing from them.
        """
        core = self._core
        rank = core.rank(job)
        if not core.capacity.bookings or (rank >= self._last and not core.order.changing):
            return []
        others = [core.records.jobs[id] for id in core.capacity.bookings]
        self._last = max((r for r in map(core.rank, others) if r > rank), default=rank)
        return [(other, self._unbook(other)) for other in others if self._yields(other, job)]

    def _yields(self, other: QueueJob, job: QueueJob) -> bool:
        """Whether `job` newly overtook `other`, which has a promise or a claim."""
        core = self._core
        newly = other.plan is None or other.plan.since < job.ranked
        before = core.yields(other.queue, job.queue) and core.rank(job) < core.rank(other)
        return newly and before

    def _unbook(self, job: QueueJob) -> Booking:
        booking = self._core.capacity.unbook(job.id)
        assert booking is not None  # noqa: S101 - found among the bookings
        return booking

    def put_back(
        self, taken: list[tuple[QueueJob, Booking]], now: int, reason: Reason | None
    ) -> None:
        """Book withdrawn promises again: at the same start if that fits, else the earliest."""
        core = self._core
        # Claims come last: they promise no start.
        taken.sort(key=lambda pair: (pair[1].claim, pair[1].start, core.rank(pair[0])))
        # First the bookings whose witnesses are still free: these do not conflict with each other.
        for job, booking in [pair for pair in taken if not core.capacity.keep(pair[0].id, pair[1])]:
            duration = core.duration(job)
            if booking.claim:
                # Where a start is known by now, it is promised when the job is visited: others that
                # are ordered before it may not have been.
                if core.capacity.has_endless():
                    core.capacity.claim(job.id, booking.request, duration)
                continue
            spot = core.capacity.fits_at(booking.request, max(booking.start, now), duration)
            behind = self._withdraw_behind(job) if spot is None else []
            if spot is None:
                spot = core.capacity.earliest(booking.request, duration, now)
            self._book_or_drop(job, spot, duration, now, reason)
            self.put_back(behind, now, reason)

    def _withdraw_behind(self, job: QueueJob) -> list[tuple[QueueJob, Booking]]:
        """Withdraw all promises behind a job that preempted others.

        The victims' capacity is kept for it: if they end late, no job behind it gets that capacity.
        """
        core = self._core
        if not core.preempting.get(job.id):
            return []
        others = [core.records.jobs[id] for id in core.capacity.bookings]
        return [(o, self._unbook(o)) for o in others if core.rank(o) > core.rank(job)]

    def _book_or_drop(
        self,
        job: QueueJob,
        spot: StartOption | None,
        duration: int,
        now: int,
        reason: Reason | None,
    ) -> None:
        core = self._core
        if spot is None:
            self.drop(job, now, reason)
            core.resources_freed()
            return
        core.capacity.book(job.id, core.records.requests[job.id], spot, duration)
        self._last = max(self._last, core.rank(job))
        assert job.plan is not None  # noqa: S101 - a job with a booking that is no claim has one
        later = spot.start > job.plan.start
        if later:
            # Its old span is free for other jobs.
            core.resources_freed()
        plan = replace(job.plan, start=spot.start, reason=reason if later else job.plan.reason)
        self._plan(job, plan, now)

    def keep_all(self, now: int, reason: Reason | None) -> None:
        """Capacity was lost: keep all promises that can be kept, and move the others."""
        self.put_back(self.take_all(), now, reason)

    def take_all(self) -> list[tuple[QueueJob, Booking]]:
        """Withdraw all promises; they must be put back."""
        jobs = self._core.records.jobs
        return [(jobs[id], self._unbook(jobs[id])) for id in list(self._core.capacity.bookings)]

    # -- moving earlier ------------------------------------------------------------------------

    def move_earlier(self, now: int, *, all: bool) -> None:
        """Something is free that the plan did not count on: move promises earlier, in order.

        A promise that moves frees its old span, which may help a job ordered before it: so the
        passes repeat until no promise moves. Each pass moves something earlier, so they end.

        Not `all`: jobs overtaken by a job that this cycle has not visited yet keep their promises
        until it was.
        """
        core = self._core
        stay = set() if all else self._yielding()
        if stay:
            core.plan_may_improve()
        for _ in range(_PASSES_BY_VERTEX if core.capacity.by_vertex else _PASSES):
            planned = [core.records.jobs[id] for id in core.capacity.bookings if id not in stay]
            moved = [self._move_up(job, now) for job in sorted(planned, key=core.rank)]
            if not any(moved):
                break

    def _yielding(self) -> set[int]:
        """Jobs with a booking that a waiting job without a promise overtook."""
        core = self._core
        planned = [core.records.jobs[id] for id in core.capacity.bookings]
        last = max(map(core.rank, planned), default=_FIRST)
        lines = [line.in_order() for line in core.lines.values()]
        ahead = [takewhile(lambda job: core.rank(job) < last, line) for line in lines]
        waiting = [job for job in chain.from_iterable(ahead) if job.plan is None]
        return {other.id for job in waiting for other in planned if self._yields(other, job)}

    def promise_or_improve(self, job: QueueJob, now: int) -> None:
        """Promise a job the earliest start, or move its promise there if that is earlier."""
        if job.id in self._core.capacity.bookings:
            self._move_up(job, now)
        else:
            self.promise(job, now)

    def _move_up(self, job: QueueJob, now: int) -> bool:
        core = self._core
        capacity = core.capacity
        if not capacity.could_move(job.id):
            return False
        booking = self._unbook(job)
        if booking.claim:
            self.promise(job, now)
            return job.plan is not None
        duration = core.duration(job)
        spot = capacity.earliest(booking.request, duration, now, before=booking.start)
        if spot is None:
            capacity.rebook(job.id, booking)
            return False
        capacity.book(job.id, booking.request, spot, duration)
        assert job.plan is not None  # noqa: S101 - it has a booking that is no claim
        self._plan(job, replace(job.plan, start=spot.start), now)
        return True
