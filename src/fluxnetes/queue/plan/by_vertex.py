"""The capacity plan by vertex: the matcher decides, and every booking has a witness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.planning import Candidate
from fluxnetes.queue.plan.base import Booking, CapacityPlan, StartOption, WindowHold
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.plan.timeline import FOREVER

_NEAR = 6
"""Start times tried one by one before the search takes larger steps."""

_FEW = 16
"""Maximum bookings compared one by one; with more, the matcher searches instead."""

_TRIAL_KEY = -(10**14)
"""The matcher's key of a trial booking, while other bookings get new witnesses."""

Bookings = Sequence[tuple[int, Booking]]


class VertexPlan(CapacityPlan):
    """See the module `base`. In the matcher a booking's key is its job's id, negated."""

    by_vertex = True

    # -- queries -------------------------------------------------------------------------------

    def find_now(self, request: PlanRequest, duration: int) -> Candidate | None:
        now, until = self.now, self.now + duration
        if request.window is not None:
            return self._find_inside(request, now, until)
        if not self.could_fit_now(request, duration):
            return None
        # Most often there is no candidate at all, or one that meets no booking; both are quick.
        found = self.planning.find_now_if_nothing_were_booked(request.spec)
        self._full_for = request if found is None else None
        if found is None or self._is_clear(found, until):
            return found
        return self.planning.find_now(request.spec, now, until)

    def _is_clear(self, found: Candidate, until: int) -> bool:
        """Whether a candidate meets no booking; False also if that is expensive to decide."""
        if len(self.bookings) > _FEW:
            return False
        return not self._overlaps_a_block(found, until) and not self._overlapping(
            found, self.now, until
        )

    def earliest(
        self, request: PlanRequest, duration: int, after: int, before: int = FOREVER
    ) -> StartOption | None:
        if request.window is not None:
            return self._earliest_inside(request, duration, after)
        start = self._timeline.earliest(self.columns.needs(request), duration, after)
        if start is None:
            return None
        return self._search(request, duration, [t for t in self._moments(start) if t < before])

    def _moments(self, first: int) -> list[int]:
        """`first`, and the later times at which a job, booking or block ends."""
        ends = {h.until for h in self.holders.values()}
        ends |= {b.until for b in self.bookings.values()}
        ends |= {b.until for b in self.blocks.values()}
        return [first, *sorted(t for t in ends if first < t < FOREVER)]

    def _search(
        self, request: PlanRequest, duration: int, moments: list[int]
    ) -> StartOption | None:
        """The first moment at which a request fits.

        Near moments are tried one by one. Far ones are bisected, as if what fits at one time also
        fitted at all later ones; that may miss the earliest, but finds a good one.
        """
        for moment in moments[:_NEAR]:
            spot = self.fits_at(request, moment, duration)
            if spot is None and moment == moments[0]:
                spot = self._fit_by_moving_bookings(request, moment, duration)
            if spot is not None:
                return spot
        best: StartOption | None = None
        low, high = _NEAR, len(moments)
        while low < high:
            middle = (low + high) // 2
            spot = self.fits_at(request, moments[middle], duration)
            if spot is None:
                low = middle + 1
            else:
                best, high = spot, middle
        return best

    def fits_at(self, request: PlanRequest, start: int, duration: int) -> StartOption | None:
        until = start + duration
        if request.window is not None:
            found = self._find_inside(request, start, until)
        elif self._suffices(self.columns.needs(request), start, until):
            found = self._find_at(request, start, until)
        else:
            found = None
        return None if found is None else StartOption(start, found)

    def _find_at(self, request: PlanRequest, start: int, until: int) -> Candidate | None:
        if start <= self.now:
            return self.planning.find_now(request.spec, start, until)
        return self.planning.find_later(request.spec, start, until)

    def most_units(self, request: PlanRequest, duration: int) -> int:
        return FOREVER

    def could_move(self, job: int) -> bool:
        booking = self.bookings[job]
        return booking.claim or booking.start > self.now

    # -- inside an advance reservation ---------------------------------------------------------

    def _find_inside(self, request: PlanRequest, start: int, until: int) -> Candidate | None:
        block = self.blocks.get(request.window or "")
        if block is None or start < block.start or until > block.until:
            return None
        self.planning.unbook(block.key)
        try:
            return self._find_at(request, start, until)
        finally:
            self.planning.book(block.key, block.found, block.start, block.until)

    def _earliest_inside(
        self, request: PlanRequest, duration: int, after: int
    ) -> StartOption | None:
        block = self.blocks.get(request.window or "")
        if block is None:
            return None
        for moment in self._moments(max(after, block.start)):
            found = self._find_inside(request, moment, moment + duration)
            if found is not None:
                return StartOption(moment, found)
        return None

    # -- bookings ------------------------------------------------------------------------------

    def rebook(self, job: int, booking: Booking) -> None:
        super().rebook(job, booking)
        self._witness(job, booking)

    def _witness(self, job: int, booking: Booking) -> None:
        self.bookings[job] = booking
        if booking.found is not None:
            self.planning.book(-job, booking.found, booking.start, self._bound(booking.until))

    def unbook(self, job: int) -> Booking | None:
        booking = super().unbook(job)
        if booking is not None and booking.found is not None:
            self.planning.unbook(-job)
        return booking

    def keep(self, job: int, booking: Booking) -> bool:
        if booking.claim or booking.start < self.now or not self._is_good(booking, booking.start):
            return False
        self.rebook(job, replace(booking, needs=self.columns.needs(booking.request)))
        return True

    def place_kept(self, booking: Booking) -> Candidate | None:
        # A claim is on capacity of endless jobs, so with them it seems to take more than there is.
        claims = [-job for job, other in self.bookings.items() if other.claim]
        with self.planning.absent(claims):
            return booking.found if self._is_good(booking, self.now) else None

    def _is_good(self, booking: Booking, start: int) -> bool:
        """Whether a witness that was removed from the matcher could be booked again."""
        if booking.found is None:
            return False
        block = self.blocks.get(booking.request.window or "")
        if block is None:
            return self.planning.is_free(booking.found, self.now, start, booking.until)
        self.planning.unbook(block.key)
        try:
            return self.planning.is_free(booking.found, self.now, start, booking.until)
        finally:
            self.planning.book(block.key, block.found, block.start, block.until)

    def claim(self, job: int, request: PlanRequest, duration: int) -> bool:
        needs = self.columns.needs(request)
        start = self._without_endless().earliest(needs, duration, self.now)
        found = None if start is None else self._find_without_endless(request, start, duration)
        if start is None or found is None:
            return False
        self.rebook(job, Booking(request, start, FOREVER, needs, found, claim=True))
        return True

    def _find_without_endless(
        self, request: PlanRequest, start: int, duration: int
    ) -> Candidate | None:
        endless = [job for job, holder in self.holders.items() if holder.until >= FOREVER]
        with self.planning.absent(endless):
            return self._find_at(request, start, start + duration)

    # -- moving bookings -----------------------------------------------------------------------

    def start_by_moving_bookings(
        self, job: int, request: PlanRequest, duration: int
    ) -> Candidate | None:
        if request.window is not None or self._full_for is request:
            return None
        until = self.now + duration
        found = self.planning.find_now_if_nothing_were_booked(request.spec)
        if found is None or self._overlaps_a_block(found, until):
            return None
        before = self._remove_witnesses(self._overlapping(found, self.now, until))
        self.planning.allocate(job, found, self.now, self._bound(until))
        if self._find_new_witnesses(before):
            return found
        self.planning.free(job)
        self._restore_witnesses(before)
        return None

    def _fit_by_moving_bookings(
        self, request: PlanRequest, start: int, duration: int
    ) -> StartOption | None:
        """A start at a time for which sums suffice, if bookings find other witnesses."""
        until = start + duration
        met = [j for j, b in self.bookings.items() if b.start < until and b.until > start]
        if (
            not met
            or len(met) > _FEW
            or not self._suffices(self.columns.needs(request), start, until)
        ):
            return None
        before = self._remove_witnesses(sorted(met, key=self._by_start))
        found = self._find_at(request, start, until)
        if found is not None:
            self.planning.book(_TRIAL_KEY, found, start, self._bound(until))
        if found is None or not self._find_new_witnesses(before):
            found = None
            self._restore_witnesses(before)
        self.planning.unbook(_TRIAL_KEY)
        return None if found is None else StartOption(start, found)

    def prolong_if_free(self, job: int, until: int) -> bool:
        before = self.holders[job].until
        mine = Candidate(self.planning.engine.held(self.planning.matcher.jobs[job].placement))
        if self._runs_into_a_block(job, mine, until):
            return False
        if not super().prolong_if_free(job, until):
            return False
        cleared = self._remove_witnesses(self._overlapping(mine, before, until))
        if self._find_new_witnesses(cleared):
            return True
        self._restore_witnesses(cleared)
        self.prolong(job, before)
        return False

    def _runs_into_a_block(self, job: int, mine: Candidate, until: int) -> bool:
        """Whether a job that runs longer would be on nodes set aside for others."""
        start, own = self.holders[job].until, self.holders[job].request.window
        return any(
            until > block.until
            if block.name == own
            else block.start < until and block.until > start and _overlap(block.found, mine)
            for block in self.blocks.values()
        )

    def _by_start(self, job: int) -> tuple[int, int]:
        return (self.bookings[job].start, job)

    def _overlapping(self, found: Candidate, start: int, until: int) -> list[int]:
        """The bookings that a candidate overlaps, the earliest start first."""
        met = [
            job
            for job, booking in self.bookings.items()
            if booking.start < until and booking.until > start and _overlap(booking.found, found)
        ]
        return sorted(met, key=self._by_start)

    def _remove_witnesses(self, jobs: Sequence[int]) -> Bookings:
        """Remove the witnesses of some bookings; they must get new ones, or their own back."""
        cleared = [(job, self.bookings[job]) for job in jobs]
        for job in jobs:
            self.planning.unbook(-job)
        return cleared

    def _find_new_witnesses(self, cleared: Bookings) -> bool:
        """Find new witnesses for bookings at the same times; False: not for all."""
        for job, booking in cleared:
            found = self._find_witness(booking)
            if found is None:
                return False
            self._witness(job, replace(booking, found=found))
        return True

    def _find_witness(self, booking: Booking) -> Candidate | None:
        if booking.claim:
            start = max(booking.start, self.now)
            return self._find_without_endless(booking.request, start, FOREVER // 2)
        if booking.request.window is not None:
            return self._find_inside(booking.request, booking.start, booking.until)
        return self._find_at(booking.request, booking.start, booking.until)

    def _restore_witnesses(self, cleared: Bookings) -> None:
        """Give bookings back the witnesses that they had."""
        for job, booking in cleared:
            self.planning.unbook(-job)
            self._witness(job, booking)

    # -- blocks --------------------------------------------------------------------------------

    def block(self, block: WindowHold) -> None:
        self.blocks[block.name] = block
        self.planning.book(block.key, block.found, block.start, block.until)

    def _overlaps_a_block(self, found: Candidate, until: int) -> bool:
        return any(b.start < until and _overlap(b.found, found) for b in self.blocks.values())

    def follow(self) -> bool:
        # Sums over types include foreign usage; only witnesses show whether bookings still fit.
        return not self.bookings or not self.planning.is_overbooked(self.now)

    def dissolve(self) -> None:
        for job, booking in self.bookings.items():
            if booking.found is not None:
                self.planning.unbook(-job)
        for block in self.blocks.values():
            self.planning.unbook(block.key)


def _overlap(one: Candidate | None, other: Candidate) -> bool:
    """Whether two candidates conflict: one holds exclusively what the other uses."""
    if one is None:
        return False
    return _uses(one.held, other.held) or _uses(other.held, one.held)


def _uses(one: HeldVertices, other: HeldVertices) -> bool:
    mine = one.position[one.exclusive]
    return bool(np.isin(mine, other.position, assume_unique=True).any())
