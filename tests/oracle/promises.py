"""The promise-keeping rules of the conservative policy, as docs/queue.md lists them, step by step.

Jobs come in any class, overestimate their walltimes, overrun them, are slow to leave, and are
cancelled. Nodes are alike. Time passes second by second; what is planned is a list of spans, and
whether something fits is found by adding up all of them. Nothing here is quick, and nothing is
shared with the queue that it judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PromisedJob:
    """A job, and what becomes of it."""

    submit: int
    runtime: int
    """Seconds that it stays if it is not asked to end; perhaps longer than its walltime."""
    walltime: int
    size: int
    job_class: int = 0
    """A higher one is ordered before all lower ones; within a class the first to come is."""
    leaves: int = 0
    """Seconds until it is gone once it was asked to end."""
    cancel: int | None = None
    """When it is cancelled."""


@dataclass
class _Span:
    start: int
    end: int
    size: int


def simulate(jobs: Sequence[PromisedJob], nodes: int, grace: int) -> PromiseOracle:
    """Live through it all. Jobs are numbered from 0, in order of submission."""
    oracle = PromiseOracle(jobs, nodes, grace)
    while not oracle.is_over:
        oracle.second()
    return oracle


class PromiseOracle:
    """The machine, the plan and the clock."""

    def __init__(self, jobs: Sequence[PromisedJob], nodes: int, grace: int) -> None:
        self.jobs, self.nodes, self.grace = jobs, nodes, max(1, grace)
        self.now = 0
        self.starts: list[int | None] = [None] * len(jobs)
        self.promises: list[list[int]] = [[] for _ in jobs]
        """Every start that each job was promised, in order."""
        self.to_come = list(range(len(jobs)))
        self.unplanned: list[int] = []
        """Jobs that wait and have had no turn yet."""
        self.planned: dict[int, _Span] = {}
        self.since: dict[int, int] = {}
        """In which round each planned job was first promised a start."""
        self.running: dict[int, _Span] = {}
        """With the expected end of each."""
        self.gone_at: dict[int, int] = {}
        self.asked: set[int] = set()
        """Running jobs that were asked to end."""
        self.round = 0
        self.freed = False

    @property
    def is_over(self) -> bool:
        return not (self.to_come or self.unplanned or self.planned or self.running)

    # -- order and capacity --------------------------------------------------------------------

    def rank(self, job: int) -> tuple[int, int]:
        return -self.jobs[job].job_class, job

    def spans(self) -> Iterable[_Span]:
        yield from self.running.values()
        yield from self.planned.values()

    def fits(self, job: int, start: int) -> bool:
        """Whether a job fits from a time on, for its walltime, beside all spans."""
        wanted = self.jobs[job]
        end = start + wanted.walltime
        beside = [span for span in self.spans() if span.start < end and span.end > start]
        moments = {start, *(span.start for span in beside if span.start > start)}
        return all(
            sum(s.size for s in beside if s.start <= at < s.end) + wanted.size <= self.nodes
            for at in moments
        )

    def earliest(self, job: int) -> int:
        times = sorted({self.now, *(span.end for span in self.spans() if span.end > self.now)})
        return next(time for time in times if self.fits(job, time))

    def plan(self, job: int, start: int) -> None:
        wanted = self.jobs[job]
        self.planned[job] = _Span(start, start + wanted.walltime, wanted.size)
        if not self.promises[job] or self.promises[job][-1] != start:
            self.promises[job].append(start)

    def start(self, job: int) -> None:
        wanted = self.jobs[job]
        self.running[job] = _Span(self.now, self.now + wanted.walltime, wanted.size)
        self.gone_at[job] = self.now + wanted.runtime
        self.starts[job] = self.now
        assert sum(span.size for span in self.running.values()) <= self.nodes, "over-committed"

    # -- one second ----------------------------------------------------------------------------

    def second(self) -> None:
        """All rounds of one instant: a job that leaves at once makes for another round."""
        self.one_round(comes=True)
        while self.now in self.gone_at.values():
            self.one_round(comes=False)
        self.now += 1

    def one_round(self, *, comes: bool) -> None:
        self.round += 1
        self.freed = False
        for job in [job for job, at in self.gone_at.items() if at == self.now]:
            self.leave(job)
        if comes:
            self.take_in()
        self.mind_overruns()
        first = True
        while first or self.freed or self.is_due():
            stay: set[int] = self.overtaken() if first else set()
            if self.freed:
                self.freed = bool(stay)
                self.move_earlier(stay)
            self.start_due()
            self.give_turns()
            first = False

    def leave(self, job: int) -> None:
        span = self.running.pop(job)
        del self.gone_at[job]
        self.asked.discard(job)
        self.freed |= span.end > self.now

    def take_in(self) -> None:
        for job in [job for job in self.to_come if self.jobs[job].submit == self.now]:
            self.to_come.remove(job)
            self.unplanned.append(job)
        for job, each in enumerate(self.jobs):
            if each.cancel == self.now:
                self.cancel(job)

    def cancel(self, job: int) -> None:
        if job in self.unplanned:
            self.unplanned.remove(job)
        elif job in self.planned:
            del self.planned[job]
            self.freed = True
        elif job in self.running and job not in self.asked:
            self.ask_to_end(job)
            if self.now + self.grace < self.running[job].end:
                self.running[job].end = self.now + self.grace
                self.freed = True

    def ask_to_end(self, job: int) -> None:
        self.asked.add(job)
        self.gone_at[job] = min(self.gone_at[job], self.now + self.jobs[job].leaves)

    def mind_overruns(self) -> None:
        late = [job for job, span in self.running.items() if span.end <= self.now]
        for job in late:
            if job not in self.asked:
                self.ask_to_end(job)
            self.running[job].end = self.now + self.grace
        if late:
            lifted, self.planned = self.planned, {}
            self.put_back(lifted)

    # -- the plan ------------------------------------------------------------------------------

    def newly_before(self, job: int, other: int) -> bool:
        """Whether a job without a planned start was newly ordered before one that has one."""
        return self.rank(job) < self.rank(other) and self.since[other] < self.round

    def overtaken(self) -> set[int]:
        return {
            other
            for other in self.planned
            for job in self.unplanned
            if self.newly_before(job, other)
        }

    def move_earlier(self, stay: set[int]) -> None:
        moved = True
        while moved:
            moved = False
            for job in sorted(self.planned.keys() - stay, key=self.rank):
                span = self.planned.pop(job)
                start = min(span.start, self.earliest(job))
                self.plan(job, start)
                moved |= start < span.start

    def is_due(self) -> bool:
        return any(span.start <= self.now for span in self.planned.values())

    def start_due(self) -> None:
        due = [job for job, span in self.planned.items() if span.start <= self.now]
        for job in sorted(due, key=lambda job: (self.planned[job].start, self.rank(job))):
            del self.planned[job]
            self.start(job)

    def give_turns(self) -> None:
        for job in sorted(self.unplanned, key=self.rank):
            self.unplanned.remove(job)
            lifted = {o: s for o, s in self.planned.items() if self.newly_before(job, o)}
            self.planned = {o: s for o, s in self.planned.items() if o not in lifted}
            if self.fits(job, self.now):
                self.start(job)
            else:
                self.since[job] = self.round
                self.plan(job, self.earliest(job))
            self.put_back(lifted)

    def put_back(self, lifted: dict[int, _Span]) -> None:
        for job in sorted(lifted, key=lambda job: (lifted[job].start, self.rank(job))):
            before = lifted[job].start
            stays = max(before, self.now)
            start = stays if self.fits(job, stays) else self.earliest(job)
            self.freed |= start > before
            self.plan(job, start)
