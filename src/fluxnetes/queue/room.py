"""The room over time: who runs until when, who is promised what, and what is left.

Planning is by *time*: a booking promises a start, not nodes. There are two ways to know whether
something fits beside all bookings.

- *By counting.* Where every job is a multiple of units that do not compete for the same nodes (see
  `asks`), a timeline of free units is exact: if the numbers suffice at every moment, nodes can be
  chosen when a job starts, whichever they are.
- *By rows.* Otherwise sums over types only tell when it is not worth asking. Every booking then has
  a *witness*: a place on real vertices that was free for its span when it was made. As long as
  nothing takes it, the promise can be kept. Witnesses are no promise of nodes: a booking gets
  another one when somebody else needs its place and there is another.

An *endless* job (one without a walltime) never ends for the planner. A job that can only start once
an endless one has ended has no known start. It may instead *claim* room: what it would get if all
endless jobs ended at once, from the time at which the others leave that room on. Nobody takes
what is claimed, so nothing long gets in its way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fluxnetes.match.place import Held
from fluxnetes.match.planning import Found, Planning
from fluxnetes.queue.asks import Ask
from fluxnetes.queue.columns import Columns
from fluxnetes.queue.timeline import FOREVER, Needs, Timeline

_NEAR = 6
"""By rows, so many times are tried one by one before the search takes larger steps."""


_NOBODY = -(10**14)
"""Under this key something is booked while others look for their places."""

_FEW = 16
"""Of so few bookings each is looked at; of more, the matcher is asked."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A time at which something fits and, by rows, where."""

    start: int
    found: Found | None = None


@dataclass(slots=True)
class Booking:
    """Room kept for a job that waits."""

    ask: Ask
    start: int
    until: int
    needs: Needs
    found: Found | None
    claim: bool = False


@dataclass(slots=True)
class Holder:
    """Who is there now, and until when the planner thinks so."""

    ask: Ask
    until: int
    needs: Needs


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes that are set aside for a time."""

    key: int
    name: str
    start: int
    until: int
    found: Found


class Room:
    """All jobs that hold or are promised room on one graph."""

    def __init__(self, planning: Planning, columns: Columns, now: int) -> None:
        self.planning = planning
        self.columns = columns
        self.mistaken = False
        """Counting said that a job fits and the matcher found no place: do not count any more."""
        self._full_for: Ask | None = None
        """The ask for which there was no place at all a moment ago."""
        self._timeline = Timeline(columns.capacity, now)
        self._claimed: Timeline | None = None
        """By counting: the timeline without endless jobs and with claims."""
        self.holders: dict[int, Holder] = {}
        self.bookings: dict[int, Booking] = {}
        self.blocks: dict[str, Block] = {}

    @property
    def by_rows(self) -> bool:
        return self.columns.by_rows

    @property
    def now(self) -> int:
        return self._timeline.now

    # -- questions -----------------------------------------------------------------------------

    def find_now(self, ask: Ask, duration: int) -> Found | None:
        """Where something fits from now on, beside everybody and all bookings."""
        now, until = self.now, self.now + duration
        if ask.window is not None:
            return self._find_inside(ask, now, until)
        needs = self.columns.needs(ask)
        if not self._suffices(needs, now, until):
            return None
        found = self.planning.find_now_if_nothing_were_booked(ask.request)
        self._full_for = ask if found is None else None
        if not self.by_rows:
            self.mistaken |= found is None
            return found
        if found is None or self._is_clear(found, until):
            return found
        return self.planning.find_now(ask.request, now, until)

    def _is_clear(self, found: Found, until: int) -> bool:
        """Whether something that fits now meets no booking; False also if that is hard to say."""
        if len(self.bookings) > _FEW:
            return False
        return not self._meets_a_block(found, until) and not self._met(found, self.now, until)

    def could_fit_now(self, ask: Ask, duration: int) -> bool:
        """Whether sums alone speak against it; a quick no."""
        self._full_for = None
        if ask.window is not None:
            return True
        return self._suffices(self.columns.needs(ask), self.now, self.now + duration)

    def refused_for(self, ask: Ask, duration: int) -> int:
        """The shortest time for which something that was refused need not be asked again."""
        return 1 if self._full_for is ask or not self.could_fit_now(ask, 1) else duration

    def _suffices(self, needs: Needs, start: int, until: int) -> bool:
        if not self._timeline.fits(needs, start, until):
            return False
        return self._claimed is None or self._claimed.fits(needs, start, until)

    def largest_now(self, ask: Ask, duration: int, most: int) -> int:
        """The most units of an elastic ask that fit from now on; 0: not even its least."""
        if ask.elastic is None:
            return ask.count if self.find_now(ask, duration) is not None else 0
        low, high = ask.elastic.min - 1, most
        while low < high:
            middle = high if low < ask.elastic.min else (low + high + 1) // 2
            if self.find_now(ask.sized(middle), duration) is not None:
                low = middle
            elif low < ask.elastic.min and middle > ask.elastic.min:
                if self.find_now(ask.sized(ask.elastic.min), duration) is None:
                    return 0
                low, high = ask.elastic.min, middle - 1
            else:
                high = middle - 1
        return low if low >= ask.elastic.min else 0

    def earliest(self, ask: Ask, duration: int, after: int, before: int = FOREVER) -> Spot | None:
        """The first time at which something fits beside everybody and all bookings.

        None if there is none, or none before `before`.
        """
        if ask.window is not None:
            return self._earliest_inside(ask, duration, after)
        needs = self.columns.needs(ask)
        start = self._earliest_by_sums(needs, duration, after)
        if start is None or start >= before:
            return None
        if not self.by_rows:
            return Spot(start)
        return self._search(ask, duration, [t for t in self._moments(start) if t < before])

    def _search(self, ask: Ask, duration: int, moments: list[int]) -> Spot | None:
        """By rows: the first moment at which something fits.

        Near moments are tried one by one. Far ones are searched by halves, as though what fits at
        one time also fit at all later ones; that may miss the earliest, but finds a good one.
        """
        for moment in moments[:_NEAR]:
            spot = self.fits_at(ask, moment, duration)
            if spot is None and moment == moments[0]:
                spot = self._squeeze_in(ask, moment, duration)
            if spot is not None:
                return spot
        best: Spot | None = None
        low, high = _NEAR, len(moments)
        while low < high:
            middle = (low + high) // 2
            spot = self.fits_at(ask, moments[middle], duration)
            if spot is None:
                low = middle + 1
            else:
                best, high = spot, middle
        return best

    def _squeeze_in(self, ask: Ask, start: int, duration: int) -> Spot | None:
        """By rows: a spot at a time for which sums suffice, if bookings find other places."""
        until = start + duration
        if not self._suffices(self.columns.needs(ask), start, until):
            return None
        met = [j for j, b in self.bookings.items() if b.start < until and b.until > start]
        if not met or len(met) > _FEW:
            return None
        before = [(who, self.bookings[who]) for who in sorted(met, key=self._by_start)]
        for who, _ in before:
            self.planning.unbook(-who)
        found = self._find_at(ask, start, until)
        if found is not None:
            self.planning.book(_NOBODY, found, start, self._bound(until))
        if found is None or not self._reseat(before):
            found = None
            self._witness_again(before)
        self.planning.unbook(_NOBODY)
        return None if found is None else Spot(start, found)

    def _by_start(self, job: int) -> tuple[int, int]:
        return (self.bookings[job].start, job)

    def _earliest_by_sums(self, needs: Needs, duration: int, after: int) -> int | None:
        start = self._timeline.earliest(needs, duration, after)
        while start is not None and self._claimed is not None:
            other = self._claimed.earliest(needs, duration, start)
            if other == start:
                break
            start = None if other is None else self._timeline.earliest(needs, duration, other)
        return start

    def _moments(self, first: int) -> list[int]:
        """The times from `first` on at which something ends, and `first`."""
        ends = {h.until for h in self.holders.values()}
        ends |= {b.until for b in self.bookings.values()}
        ends |= {b.until for b in self.blocks.values()}
        return [first, *sorted(t for t in ends if first < t < FOREVER)]

    def _find_at(self, ask: Ask, start: int, until: int) -> Found | None:
        if start <= self.now:
            return self.planning.find_now(ask.request, start, until)
        return self.planning.find_later(ask.request, start, until)

    def fits_at(self, ask: Ask, start: int, duration: int) -> Spot | None:
        """Whether something fits at a given time beside everybody and all bookings."""
        until = start + duration
        if ask.window is not None:
            spot = self._earliest_inside(ask, duration, start)
            return spot if spot is not None and spot.start == start else None
        if not self._suffices(self.columns.needs(ask), start, until):
            return None
        if not self.by_rows:
            return Spot(start)
        found = self._find_at(ask, start, until)
        return None if found is None else Spot(start, found)

    def least_free(self, ask: Ask, duration: int) -> int:
        """By counting: the most units that could be had from now on."""
        column = self.columns.column_of_unit(ask)
        until = self.now + duration
        least = self._timeline.least(column, self.now, until)
        if self._claimed is not None:
            least = min(least, self._claimed.least(column, self.now, until))
        return least

    # -- inside an advance reservation ---------------------------------------------------------

    def _find_inside(self, ask: Ask, start: int, until: int) -> Found | None:
        block = self.blocks.get(ask.window or "")
        if block is None or start < block.start or until > block.until:
            return None
        self.planning.unbook(block.key)
        try:
            return self._find_at(ask, start, until)
        finally:
            self.planning.book(block.key, block.found, block.start, block.until)

    def _earliest_inside(self, ask: Ask, duration: int, after: int) -> Spot | None:
        block = self.blocks.get(ask.window or "")
        if block is None:
            return None
        for moment in self._moments(max(after, block.start)):
            found = self._find_inside(ask, moment, moment + duration)
            if found is not None:
                return Spot(moment, found)
        return None

    # -- those who are there -------------------------------------------------------------------

    def enter(self, job: int, ask: Ask, until: int, amounts: Mapping[str, int]) -> None:
        """A job is there; the matcher has it already."""
        self._enter(job, ask, until, self.columns.needs_of(ask, amounts))

    def _enter(self, job: int, ask: Ask, until: int, needs: Needs) -> None:
        self.holders[job] = Holder(ask, until, needs)
        self._timeline.take(self.now, until, needs)
        if self._claimed is not None and until < FOREVER:
            self._claimed.take(self.now, until, needs)

    def leave(self, job: int) -> bool:
        """A job is gone; whether that was earlier than planned."""
        holder = self.holders.pop(job)
        self._return(holder)
        return holder.until > self.now

    def _return(self, holder: Holder) -> None:
        self._timeline.give(self.now, holder.until, holder.needs)
        if self._claimed is not None and holder.until < FOREVER:
            self._claimed.give(self.now, holder.until, holder.needs)

    def resize(self, job: int, ask: Ask, amounts: Mapping[str, int]) -> None:
        """A job holds more or less than before, until the same time."""
        self._return(self.holders[job])
        self.enter(job, ask, self.holders[job].until, amounts)

    def prolong(self, job: int, until: int) -> None:
        """A job is there for longer or less long than was thought."""
        holder = self.holders[job]
        self._return(holder)
        self._enter(job, holder.ask, until, holder.needs)
        self.planning.prolong(job, self._bound(until))

    def _bound(self, until: int) -> int:
        return min(until, self.planning.matcher.horizon)

    def prolong_if_free(self, job: int, until: int) -> bool:
        """Let a job stay until another time, if that takes nothing from any booking."""
        holder = self.holders[job]
        before = holder.until
        if until > before and not self._suffices(holder.needs, before, until):
            return False
        if self._meets_a_block_later(job, before, until):
            return False
        met = self._met_by(job, before, until) if self.by_rows else []
        self.prolong(job, until)
        bookings = [(who, self.bookings[who]) for who in met]
        for who, _ in bookings:
            self.planning.unbook(-who)
        if self._reseat(bookings):
            return True
        self._witness_again(bookings)
        self.prolong(job, before)
        return False

    def _meets_a_block_later(self, job: int, start: int, until: int) -> bool:
        """Whether a job would run into nodes that are set aside, other than for itself."""
        own = self.holders[job].ask.window
        mine = Found(self.planning.engine.held(self.planning.matcher.jobs[job].placement))
        return any(
            block.start < until and block.until > start and _meet(block.found, mine)
            for block in self.blocks.values()
            if block.name != own or until > block.until
        )

    def _met_by(self, job: int, start: int, until: int) -> list[int]:
        """The bookings that a job would meet if it stayed until then."""
        placement = self.planning.matcher.jobs[job].placement
        return self._met(Found(self.planning.engine.held(placement)), start, until)

    def remember(self, job: int, ask: Ask, until: int) -> None:
        """A job is there, in a room that is about to be laid out anew."""
        self.holders[job] = Holder(ask, until, ())

    def overdue(self) -> list[int]:
        """Those who should be gone by now."""
        return [job for job, holder in self.holders.items() if holder.until <= self.now]

    # -- bookings ------------------------------------------------------------------------------

    def book(self, job: int, ask: Ask, spot: Spot, duration: int) -> None:
        """Keep room for a job."""
        until = min(spot.start + duration, FOREVER)
        booking = Booking(ask, spot.start, until, self.columns.needs(ask), spot.found)
        self.bookings[job] = booking
        self._timeline.take(booking.start, until, booking.needs)
        if self._claimed is not None:
            self._claimed.take(booking.start, until, booking.needs)
        self._witness(job, booking)

    def _witness(self, job: int, booking: Booking) -> None:
        if booking.found is not None:
            self.planning.book(-job, booking.found, booking.start, self._bound(booking.until))

    def unbook(self, job: int) -> Booking | None:
        """Keep no more room for a job."""
        booking = self.bookings.pop(job, None)
        if booking is None:
            return None
        if booking.found is not None:
            self.planning.unbook(-job)
        if not booking.claim:
            self._timeline.give(booking.start, booking.until, booking.needs)
        if self._claimed is not None:
            self._claimed.give(booking.start, booking.until, booking.needs)
        return booking

    def rebook(self, job: int, booking: Booking) -> None:
        """Take back an `unbook`."""
        self.bookings[job] = booking
        if not booking.claim:
            self._timeline.take(booking.start, booking.until, booking.needs)
        if self._claimed is not None:
            self._claimed.take(booking.start, booking.until, booking.needs)
        self._witness(job, booking)

    def could_move(self, job: int) -> bool:
        """Whether a booking has any chance to start earlier; a quick no."""
        booking = self.bookings[job]
        if booking.start <= self.now and not booking.claim:
            return False
        if booking.claim or self.by_rows or not booking.needs:
            return True
        column, amount = booking.needs[0]
        # What it takes itself is free for it, but only from its own start on.
        return self._timeline.most(column, self.now, booking.start) >= amount

    # -- claims --------------------------------------------------------------------------------

    def claim(self, job: int, ask: Ask, duration: int) -> bool:
        """Keep what a job could have if all endless jobs ended now; False: not even then."""
        needs = self.columns.needs(ask)
        optimistic = self._optimistic()
        start = optimistic.earliest(needs, duration, self.now)
        if start is None:
            return False
        found = self._find_without_endless(ask, start, duration) if self.by_rows else None
        if self.by_rows and found is None:
            return False
        if not self.by_rows:
            self._claimed = optimistic
            optimistic.take(start, FOREVER, needs)
        booking = Booking(ask, start, FOREVER, needs, found, claim=True)
        self.bookings[job] = booking
        self._witness(job, booking)
        return True

    def _optimistic(self) -> Timeline:
        """The timeline as it were without endless jobs."""
        if self._claimed is not None:
            return self._claimed
        timeline = Timeline(self.columns.capacity, self.now)
        for holder in self.holders.values():
            if holder.until < FOREVER:
                timeline.take(self.now, holder.until, holder.needs)
        for booking in self.bookings.values():
            timeline.take(booking.start, booking.until, booking.needs)
        return timeline

    def _find_without_endless(self, ask: Ask, start: int, duration: int) -> Found | None:
        endless = [job for job, holder in self.holders.items() if holder.until >= FOREVER]
        with self.planning.absent(endless):
            return self._find_at(ask, start, start + duration)

    def find_without(self, ask: Ask, duration: int, jobs: Sequence[int]) -> Found | None:
        """Where something would fit from now on, beside all bookings, if some jobs were gone."""
        absent = [self.holders[job] for job in jobs]
        for holder in absent:
            self._return(holder)
        try:
            with self.planning.absent(jobs):
                return self.find_now(ask, duration)
        finally:
            for holder in absent:
                self._timeline.take(self.now, holder.until, holder.needs)
                if self._claimed is not None and holder.until < FOREVER:
                    self._claimed.take(self.now, holder.until, holder.needs)

    # -- making way ----------------------------------------------------------------------------

    def squeeze(self, job: int, ask: Ask, duration: int) -> Found | None:
        """By rows: start a job now in the place of bookings that find another one.

        On success the job is allocated and the bookings have their new witnesses.
        """
        if not self.by_rows or ask.window is not None or self._full_for is ask:
            return None
        found = self.planning.find_now_if_nothing_were_booked(ask.request)
        if found is None or self._meets_a_block(found, self.now + duration):
            return None
        until = self.now + duration
        met = self._met(found, self.now, until)
        self.planning.allocate(job, found, self.now, self._bound(until))
        before = [(who, self.bookings[who]) for who in met]
        for who, _ in before:
            self.planning.unbook(-who)
        if self._reseat(before):
            return found
        self.planning.free(job)
        self._witness_again(before)
        return None

    def _witness_again(self, before: Sequence[tuple[int, Booking]]) -> None:
        """Give bookings the witnesses back that they had."""
        for who, booking in before:
            self.planning.unbook(-who)
            self._witness(who, booking)
            self.bookings[who] = booking

    def _met(self, found: Found, start: int, until: int) -> list[int]:
        """The bookings that something would meet, those that start first in front."""
        met = [
            job
            for job, booking in self.bookings.items()
            if booking.start < until and booking.until > start and _meet(booking.found, found)
        ]
        return sorted(met, key=self._by_start)

    def _meets_a_block(self, found: Found, until: int) -> bool:
        return any(b.start < until and _meet(b.found, found) for b in self.blocks.values())

    def _reseat(self, before: Sequence[tuple[int, Booking]]) -> bool:
        """Find new witnesses for bookings at their old times; False: not for all."""
        for who, booking in before:
            found = self._another_witness(booking)
            if found is None:
                return False
            moved = Booking(
                booking.ask, booking.start, booking.until, booking.needs, found, booking.claim
            )
            self._witness(who, moved)
            self.bookings[who] = moved
        return True

    def _another_witness(self, booking: Booking) -> Found | None:
        if booking.claim:
            return self._find_without_endless(
                booking.ask, max(booking.start, self.now), FOREVER // 2
            )
        if booking.ask.window is not None:
            return self._find_inside(booking.ask, booking.start, booking.until)
        return self._find_at(booking.ask, booking.start, booking.until)

    # -- blocks --------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Set nodes aside."""
        self.blocks[block.name] = block
        self.planning.book(block.key, block.found, block.start, block.until)

    def unblock(self, name: str) -> None:
        block = self.blocks.pop(name)
        self.planning.unbook(block.key)

    def is_overdrawn(self) -> bool:
        """By counting: whether more is taken than there is, at any time."""
        return self._timeline.overdrawn(self.now, FOREVER)

    # -- time ----------------------------------------------------------------------------------

    def advance(self, now: int) -> None:
        """Time has passed."""
        if now > self.now:
            self._timeline.advance(now)
            if self._claimed is not None:
                self._claimed.advance(now)
        if self._claimed is not None and not any(b.claim for b in self.bookings.values()):
            self._claimed = None

    def dissolve(self) -> None:
        """Take all bookings and blocks out of the matcher; the room is not used any more."""
        for job, booking in self.bookings.items():
            if booking.found is not None:
                self.planning.unbook(-job)
        for block in self.blocks.values():
            self.planning.unbook(block.key)


def _meet(one: Found | None, other: Found) -> bool:
    """Whether two would get in each other's way: one holds for itself what the other uses."""
    if one is None:
        return False
    return _uses(one.held, other.held) or _uses(other.held, one.held)


def _uses(one: Held, other: Held) -> bool:
    mine = one.position[one.exclusive]
    return bool(np.isin(mine, other.position, assume_unique=True).any())
