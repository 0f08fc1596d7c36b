"""Textbook schedulers by node counts alone: fcfs, EASY and conservative backfill.

A job is (submit, runtime, walltime, size) in whole seconds and nodes; jobs come in the order in
which they are submitted, which is the order of the queue. Nodes are alike, so that a number of
free nodes is all there is to know. A job ends after its run time, and is killed at its walltime.

    fcfs          the head starts when it fits; no job passes it
    easy          the head gets a reservation: the earliest time by which the walltimes of running
                  jobs leave enough nodes. Any other job, first come first, starts now if it ends
                  by then or if it fits beside the head after that
    conservative  each job is planned when it is submitted, at the earliest time at which it fits
                  for its walltime, and starts as planned. When a job ends early the waiting jobs
                  are moved to the earliest time that fits, one after the other in queue order,
                  each with all others where they are, again and again until none moves: never later

At one instant ends come before submits, and submits before starts. A job of no run time ends at
the instant of its start, in a second round of that instant.

This file is to be read beside a textbook and shares no code with the scheduler that it judges.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import inf

Job = tuple[int, int, int, int]


def simulate(jobs: Sequence[Job], nodes: int, policy: str) -> list[int]:
    """When each job starts."""
    for before, job in zip([(0, 0, 1, 1), *jobs], jobs, strict=False):
        submit, runtime, walltime, size = job
        if submit < before[0] or runtime < 0 or walltime < 1 or not 1 <= size <= nodes:
            raise ValueError(f"not a job for {nodes} nodes, after {before}: {job}")
    return POLICIES[policy](jobs, nodes).run()


class Fcfs:
    """The machine, its queue and its clock; and the plainest policy."""

    def __init__(self, jobs: Sequence[Job], nodes: int) -> None:
        self.jobs = jobs
        self.free = nodes
        self.waiting: list[int] = []
        self.ends: list[tuple[int, int]] = []
        """When running jobs really end, soonest first, and which."""
        self.starts = [-1] * len(jobs)

    def run(self) -> list[int]:
        submitted = 0
        while submitted < len(self.jobs) or self.ends:
            now = self._next_instant(submitted)
            ended = []
            while self.ends and self.ends[0][0] == now:
                ended.append(heapq.heappop(self.ends)[1])
            self.free += sum(self.jobs[job][3] for job in ended)
            first = submitted
            while submitted < len(self.jobs) and self.jobs[submitted][0] == now:
                submitted += 1
            self.waiting.extend(range(first, submitted))
            self.cycle(now, ended, range(first, submitted))
        return self.starts

    def _next_instant(self, submitted: int) -> int:
        comes = [job[0] for job in self.jobs[submitted : submitted + 1]]
        return min([end for end, _ in self.ends[:1]] + comes)

    def cycle(self, now: int, ended: Sequence[int], came: Sequence[int]) -> None:
        """Start what the policy allows to start now."""
        self.start_heads(now)

    def start_heads(self, now: int) -> None:
        while self.waiting and self.jobs[self.waiting[0]][3] <= self.free:
            self.start(self.waiting[0], now)

    def start(self, job: int, now: int) -> None:
        _, runtime, walltime, size = self.jobs[job]
        assert size <= self.free, "over-committed"
        self.free -= size
        self.waiting.remove(job)
        self.starts[job] = now
        heapq.heappush(self.ends, (now + min(runtime, walltime), job))


class Easy(Fcfs):
    """One reservation, for the head of the queue."""

    def cycle(self, now: int, ended: Sequence[int], came: Sequence[int]) -> None:
        self.start_heads(now)
        if not self.waiting or self.free == 0:
            return
        head, *others = self.waiting
        shadow, extra = self.reservation(self.jobs[head][3])
        for job in others:
            _, _, walltime, size = self.jobs[job]
            if size > self.free:
                continue
            if now + walltime <= shadow:
                self.start(job, now)
            elif size <= extra:
                self.start(job, now)
                extra -= size

    def reservation(self, size: int) -> tuple[int, int]:
        """The earliest time at which so many nodes are free, and how many are free beside them."""
        planned = sorted((self.starts[job] + self.jobs[job][2], job) for _, job in self.ends)
        free, shadow = self.free, 0
        for end, job in planned:
            if free >= size and end > shadow:
                break
            free += self.jobs[job][3]
            shadow = end
        return shadow, free - size


class Conservative(Fcfs):
    """A reservation for every job, made when it comes."""

    def __init__(self, jobs: Sequence[Job], nodes: int) -> None:
        super().__init__(jobs, nodes)
        self.profile = Profile(nodes)
        self.plan: dict[int, int] = {}

    def cycle(self, now: int, ended: Sequence[int], came: Sequence[int]) -> None:
        self.profile.forget_before(now)
        if self.give_back(ended, now):
            self.compress(now)
        for job in came:
            self.reserve(job, now)
        for job in [job for job in self.waiting if self.plan[job] == now]:
            self.start(job, now)

    def give_back(self, ended: Iterable[int], now: int) -> bool:
        """Free what jobs that ended early had planned to use; False: none did."""
        early = False
        for job in ended:
            _, _, walltime, size = self.jobs[job]
            if self.starts[job] + walltime > now:
                self.profile.take(now, self.starts[job] + walltime, -size)
                early = True
        return early

    def compress(self, now: int) -> None:
        moved = True
        while moved:
            moved = False
            for job in self.waiting:
                moved |= job in self.plan and self.move_up(job, now)

    def move_up(self, job: int, now: int) -> bool:
        _, _, walltime, size = self.jobs[job]
        before = self.plan[job]
        self.profile.take(before, before + walltime, -size)
        self.reserve(job, now)
        assert self.plan[job] <= before, "a promise was broken"
        return self.plan[job] < before

    def reserve(self, job: int, now: int) -> None:
        _, _, walltime, size = self.jobs[job]
        self.plan[job] = start = self.profile.earliest(now, walltime, size)
        self.profile.take(start, start + walltime, size)


class Profile:
    """How many nodes are free from each instant at which that changes until the next."""

    def __init__(self, nodes: int) -> None:
        self.times: list[float] = [-inf, inf]
        self.free: list[int] = [nodes]

    def earliest(self, now: int, length: int, size: int) -> int:
        """The first time from which so many nodes are free for so long."""
        start: float = now
        for i in range(bisect_right(self.times, now) - 1, len(self.free)):
            if self.free[i] < size:
                start = self.times[i + 1]
            elif self.times[i + 1] >= start + length:
                break
        return int(start)

    def take(self, start: int, end: int, size: int) -> None:
        first, last = self._cut(start), self._cut(end)
        for i in range(first, last):
            self.free[i] -= size
        for i in (last, first):
            if self.free[i] == self.free[i - 1]:
                del self.times[i], self.free[i]

    def _cut(self, time: int) -> int:
        """Where the step that begins at this time is; makes one if there is none."""
        i = bisect_left(self.times, time)
        if self.times[i] != time:
            self.times.insert(i, time)
            self.free.insert(i, self.free[i - 1])
        return i

    def forget_before(self, now: int) -> None:
        past = bisect_right(self.times, now) - 1
        del self.times[1 : past + 1], self.free[:past]


POLICIES = {"fcfs": Fcfs, "easy": Easy, "conservative": Conservative}
