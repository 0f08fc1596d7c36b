"""The capacity plan: what running jobs hold until when, what is promised, and what is left.

Planning is by *time*: a booking promises a start, not nodes. There are two ways to decide whether a
request fits beside all bookings, and a form of the plan for each.

- *By count* (`by_count`). Where every job is a multiple of units that do not compete for the same
  nodes (see `requests`), a timeline of free units is exact: if the numbers suffice at every moment,
  nodes can be chosen when a job starts, whichever they are.
- *By vertex* (`by_vertex`). Otherwise sums over types can only rule a request out, and the matcher
  must search. Every booking then has a *witness*: a candidate on real vertices that was free for
  its span when it was made. As long as nothing takes it, the promise can be kept. A witness is no
  promise of nodes: a booking gets another one when another job needs its vertices and there is one.

An *endless* job (one without a walltime) never ends for the planner. A job that can only start once
an endless one has ended has no known start. It may instead *claim* capacity: what it would get if
all endless jobs ended at once, from the time on at which the other jobs have freed it. No other job
gets claimed capacity, so no long job delays the claimant further.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from fluxnetes.match.planning import Candidate, Planning
from fluxnetes.queue.plan.columns import PlanColumns
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.plan.timeline import FOREVER, CapacityTimeline, Needs


@dataclass(frozen=True, slots=True)
class StartOption:
    """A time at which a request fits and, by vertex, the candidate."""

    start: int
    found: Candidate | None = None


@dataclass(slots=True)
class Booking:
    """Capacity kept for a waiting job."""

    request: PlanRequest
    start: int
    until: int
    needs: Needs
    found: Candidate | None
    claim: bool = False


@dataclass(slots=True)
class RunningHold:
    """What a running job holds, and until when the planner expects it to."""

    request: PlanRequest
    until: int
    needs: Needs


@dataclass(frozen=True, slots=True)
class WindowHold:
    """Nodes that are set aside for a time."""

    key: int
    name: str
    start: int
    until: int
    found: Candidate


class CapacityPlan(ABC):
    """The running jobs and the bookings on one graph. See the module's docstring."""

    by_vertex: bool

    def __init__(self, planning: Planning, columns: PlanColumns, now: int) -> None:
        self.planning = planning
        self.columns = columns
        self._miscounted = False
        self._timeline = CapacityTimeline(columns.capacity, now)
        self._full_for: PlanRequest | None = None
        """The request for which the last search found no candidate, even without bookings."""
        self.holders: dict[int, RunningHold] = {}
        self._ends: list[tuple[int, int]] = []
        """When holders are expected to end, as a heap; some entries are outdated."""
        self.bookings: dict[int, Booking] = {}
        self.blocks: dict[str, WindowHold] = {}

    @property
    def now(self) -> int:
        return self._timeline.now

    @property
    def miscounted(self) -> bool:
        """Whether counting said that a job fits where the matcher found no candidate.

        Then units must not be counted any more.
        """
        return self._miscounted

    def mark_miscounted(self) -> None:
        """A job does not hold whole units, or the matcher disagreed with the count."""
        self._miscounted = True

    # -- queries -------------------------------------------------------------------------------

    @abstractmethod
    def find_now(self, request: PlanRequest, duration: int) -> Candidate | None:
        """Where a request fits from now on, beside all running jobs and all bookings."""

    @abstractmethod
    def earliest(
        self, request: PlanRequest, duration: int, after: int, before: int = FOREVER
    ) -> StartOption | None:
        """The first time at which a request fits beside all running jobs and all bookings.

        None if there is none, or none before `before`.
        """

    @abstractmethod
    def fits_at(self, request: PlanRequest, start: int, duration: int) -> StartOption | None:
        """Whether a request fits at a given time beside all running jobs and all bookings."""

    @abstractmethod
    def most_units(self, request: PlanRequest, duration: int) -> int:
        """An upper bound of the units that are free from now on; the matcher may find fewer."""

    @abstractmethod
    def could_move(self, job: int) -> bool:
        """Whether a booking might start earlier; False is certain, and quick."""

    def could_fit_now(self, request: PlanRequest, duration: int) -> bool:
        """Whether sums alone allow a request now; False is certain, and quick."""
        self._full_for = None
        if request.window is not None:
            return True
        return self._suffices(self.columns.needs(request), self.now, self.now + duration)

    def refused_for(self, request: PlanRequest, duration: int) -> int:
        """The shortest duration for which a request that was refused need not be tried again."""
        return 1 if self._full_for is request or not self.could_fit_now(request, 1) else duration

    def _suffices(self, needs: Needs, start: int, until: int) -> bool:
        return self._timeline.fits(needs, start, until)

    def largest_now(self, request: PlanRequest, duration: int, most: int) -> int:
        """The most units of an elastic request that fit from now on; 0: not even its minimum."""
        assert request.elastic is not None  # noqa: S101 - the caller checked
        low, high = request.elastic.min, min(most, self.most_units(request, duration))
        if high < low or self.find_now(request.sized(low), duration) is None:
            return 0
        middle = high  # most often all of it fits, or next to nothing
        while low < high:
            if self.find_now(request.sized(middle), duration) is not None:
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        return low

    def fits_without(
        self, request: PlanRequest, start: int, duration: int, jobs: Sequence[int]
    ) -> bool:
        """Whether a request would fit at a time, beside all bookings, without some jobs."""
        absent = [self.holders[job] for job in jobs]
        for holder in absent:
            self._give(holder)
        try:
            with self.planning.absent(jobs):
                return self.fits_at(request, start, duration) is not None
        finally:
            for holder in absent:
                self._take(holder)

    # -- running jobs --------------------------------------------------------------------------

    def enter(self, job: int, request: PlanRequest, until: int, amounts: Mapping[str, int]) -> None:
        """A job starts; the matcher has it already."""
        self._enter(job, RunningHold(request, until, self.columns.needs_of(request, amounts)))

    def enter_all(self, jobs: Iterable[tuple[int, PlanRequest, int, Mapping[str, int]]]) -> None:
        """All running jobs, in a plan that is empty so far."""
        for job, request, until, amounts in jobs:
            self._note(job, RunningHold(request, until, self.columns.needs_of(request, amounts)))
        holders = self.holders.values()
        self._timeline.take_until([h.until for h in holders], [h.needs for h in holders])

    def _enter(self, job: int, holder: RunningHold) -> None:
        self._note(job, holder)
        self._take(holder)

    def leave(self, job: int) -> bool:
        """A job ended; whether that was earlier than planned."""
        holder = self.holders.pop(job)
        self._give(holder)
        return holder.until > self.now

    def resize(self, job: int, request: PlanRequest, amounts: Mapping[str, int]) -> None:
        """A job holds more or less than before, until the same time."""
        until = self.holders[job].until
        self.leave(job)
        if self.columns.covers(request):
            self.enter(job, request, until, amounts)
        else:  # it was adopted just now, and the plan is about to be rebuilt
            self.remember(job, request, until)

    def prolong(self, job: int, until: int) -> None:
        """A job is expected to end at another time than before."""
        holder = self.holders[job]
        self._give(holder)
        self._enter(job, RunningHold(holder.request, until, holder.needs))
        self.planning.prolong(job, self._bound(until))

    def prolong_if_free(self, job: int, until: int) -> bool:
        """Let a job run until another time, if that takes nothing from any booking."""
        holder = self.holders[job]
        if until > holder.until and not self._suffices(holder.needs, holder.until, until):
            return False
        self.prolong(job, until)
        return True

    def has_endless(self) -> bool:
        """Whether an endless job runs; without one there is nothing to claim."""
        return any(holder.until >= FOREVER for holder in self.holders.values())

    def remember(self, job: int, request: PlanRequest, until: int) -> None:
        """A job runs, in a plan that is about to be rebuilt."""
        self._note(job, RunningHold(request, until, ()))

    def _note(self, job: int, holder: RunningHold) -> None:
        self.holders[job] = holder
        if holder.until < FOREVER:
            heappush(self._ends, (holder.until, job))

    def overdue(self) -> list[int]:
        """Jobs that should have ended by now."""
        found = set()
        while (first := self._first_end()) is not None and first[0] <= self.now:
            found.add(heappop(self._ends)[1])
        for job in found:
            heappush(self._ends, (self.holders[job].until, job))
        return sorted(found)

    def next_end(self) -> int | None:
        """When the next job is expected to end."""
        first = self._first_end()
        return None if first is None else first[0]

    def _first_end(self) -> tuple[int, int] | None:
        """When the next job is expected to end, and which one."""
        while self._ends:
            until, job = self._ends[0]
            holder = self.holders.get(job)
            if holder is not None and holder.until == until:
                return self._ends[0]
            heappop(self._ends)
        return None

    def _take(self, holder: RunningHold) -> None:
        self._timeline.take(self.now, holder.until, holder.needs)

    def _give(self, holder: RunningHold) -> None:
        self._timeline.give(self.now, holder.until, holder.needs)

    def _bound(self, until: int) -> int:
        return min(until, self.planning.matcher.horizon)

    # -- bookings ------------------------------------------------------------------------------

    def book(self, job: int, request: PlanRequest, spot: StartOption, duration: int) -> None:
        """Keep capacity for a job."""
        until = min(spot.start + duration, FOREVER)
        self.rebook(
            job, Booking(request, spot.start, until, self.columns.needs(request), spot.found)
        )

    def rebook(self, job: int, booking: Booking) -> None:
        """Keep capacity for a job as it was kept before."""
        self.bookings[job] = booking
        if not booking.claim:
            self._timeline.take(booking.start, booking.until, booking.needs)

    def unbook(self, job: int) -> Booking | None:
        """Keep no more capacity for a job."""
        booking = self.bookings.pop(job, None)
        if booking is not None and not booking.claim:
            self._timeline.give(booking.start, booking.until, booking.needs)
        return booking

    def remember_booking(self, job: int, booking: Booking) -> None:
        """A job has a booking, in a plan that is about to be rebuilt."""
        self.bookings[job] = booking

    def keep(self, job: int, booking: Booking) -> bool:
        """Book what was booked before, if its witness is still free; False: it has none."""
        return False

    def place_kept(self, booking: Booking) -> Candidate | None:
        """The witness of a booking that is due now, if it has one that is still free."""
        return None

    @abstractmethod
    def claim(self, job: int, request: PlanRequest, duration: int) -> bool:
        """Keep what a job could get if all endless jobs ended now; False: not even then."""

    def _without_endless(self) -> CapacityTimeline:
        """The timeline without endless jobs."""
        timeline = CapacityTimeline(self.columns.capacity, self.now)
        for holder in self.holders.values():
            if holder.until < FOREVER:
                timeline.take(self.now, holder.until, holder.needs)
        for booking in self.bookings.values():
            timeline.take(booking.start, booking.until, booking.needs)
        return timeline

    def start_by_moving_bookings(
        self, job: int, request: PlanRequest, duration: int
    ) -> Candidate | None:
        """Start a job now on vertices of bookings that find other witnesses.

        On success the job is allocated in the matcher. By count, no booking has a witness.
        """
        return None

    # -- the plan as a whole -------------------------------------------------------------------

    @abstractmethod
    def follow(self) -> bool:
        """Foreign usage changed; False: what is held and booked no longer fits."""

    def advance(self, now: int) -> None:
        """Time has passed."""
        if now > self.now:
            self._timeline.advance(now)

    def is_overdrawn(self) -> bool:
        """Whether more is taken than there is, at any time."""
        return self._timeline.overdrawn(self.now, FOREVER)

    @abstractmethod
    def block(self, block: WindowHold) -> None:
        """Set nodes aside."""

    @abstractmethod
    def dissolve(self) -> None:
        """Remove all bookings and blocks from the matcher; the plan is not used any more."""
