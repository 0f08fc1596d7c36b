"""The capacity plan by count: a timeline of free units, without places on nodes."""

from __future__ import annotations

from fluxnetes.match.planning import Candidate
from fluxnetes.queue.plan.base import Booking, CapacityPlan, RunningHold, StartOption, WindowHold
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.plan.timeline import FOREVER, CapacityTimeline, Needs


class CountPlan(CapacityPlan):
    """See the module `base`."""

    by_vertex = False
    _claimed: CapacityTimeline | None = None
    """The timeline without endless jobs and with claims; None: there are no claims."""

    def find_now(self, request: PlanRequest, duration: int) -> Candidate | None:
        if not self.could_fit_now(request, duration):
            return None
        found = self.planning.find_now_if_nothing_were_booked(request.spec)
        if found is None:
            self.mark_miscounted()
        return found

    def earliest(
        self, request: PlanRequest, duration: int, after: int, before: int = FOREVER
    ) -> StartOption | None:
        needs = self.columns.needs(request)
        start = self._timeline.earliest(needs, duration, after)
        while start is not None and self._claimed is not None:
            other = self._claimed.earliest(needs, duration, start)
            if other == start:
                break
            start = None if other is None else self._timeline.earliest(needs, duration, other)
        return None if start is None or start >= before else StartOption(start)

    def fits_at(self, request: PlanRequest, start: int, duration: int) -> StartOption | None:
        fits = self._suffices(self.columns.needs(request), start, start + duration)
        return StartOption(start) if fits else None

    def most_units(self, request: PlanRequest, duration: int) -> int:
        column = self.columns.column_of_unit(request)
        timelines = [t for t in (self._timeline, self._claimed) if t is not None]
        return min(t.least(column, self.now, self.now + duration) for t in timelines)

    def could_move(self, job: int) -> bool:
        booking = self.bookings[job]
        if booking.claim:
            return True
        if booking.start <= self.now or not booking.needs:
            return False
        column, amount = booking.needs[0]
        # Its own booking is free for it, but only from its own start on.
        return self._timeline.most(column, self.now, booking.start) >= amount

    def _suffices(self, needs: Needs, start: int, until: int) -> bool:
        if not super()._suffices(needs, start, until):
            return False
        return self._claimed is None or self._claimed.fits(needs, start, until)

    # -- claims --------------------------------------------------------------------------------

    def claim(self, job: int, request: PlanRequest, duration: int) -> bool:
        needs = self.columns.needs(request)
        claimed = self._claimed if self._claimed is not None else self._without_endless()
        start = claimed.earliest(needs, duration, self.now)
        if start is None:
            return False
        self._claimed = claimed
        self.rebook(job, Booking(request, start, FOREVER, needs, None, claim=True))
        return True

    def _take(self, holder: RunningHold) -> None:
        super()._take(holder)
        if self._claimed is not None and holder.until < FOREVER:
            self._claimed.take(self.now, holder.until, holder.needs)

    def _give(self, holder: RunningHold) -> None:
        super()._give(holder)
        if self._claimed is not None and holder.until < FOREVER:
            self._claimed.give(self.now, holder.until, holder.needs)

    def rebook(self, job: int, booking: Booking) -> None:
        super().rebook(job, booking)
        if self._claimed is not None:
            self._claimed.take(booking.start, booking.until, booking.needs)

    def unbook(self, job: int) -> Booking | None:
        booking = super().unbook(job)
        if booking is not None and self._claimed is not None:
            self._claimed.give(booking.start, booking.until, booking.needs)
        return booking

    # -- the plan as a whole -------------------------------------------------------------------

    def follow(self) -> bool:
        more = self.columns.recount()
        timelines = [t for t in (self._timeline, self._claimed) if t is not None]
        for timeline in timelines:
            timeline.widen(more)
        return not any(timeline.overdrawn(self.now, FOREVER) for timeline in timelines)

    def advance(self, now: int) -> None:
        super().advance(now)
        if self._claimed is not None:
            self._claimed.advance(now)
            if not any(booking.claim for booking in self.bookings.values()):
                self._claimed = None

    def block(self, block: WindowHold) -> None:
        raise AssertionError("only a plan by vertex can set nodes aside")

    def dissolve(self) -> None:
        """Nothing to do: no booking is in the matcher."""
