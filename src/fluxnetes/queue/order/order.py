"""Orders the eligible jobs of each queue.

A higher class is strictly first. Within a class the larger score is, and the score is a weighted
sum of four factors: the job's priority, its owner's fair share, its age (up to a cap) and its size
(as a part of the cluster). Unless configured otherwise, only the priority has a weight, and arrival
decides among equal ones.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.order.usage import UsageLedger

Rank = tuple[int, float, int]
"""Minus the class, minus the score, and the number of arrival: smaller goes first."""


@dataclass(frozen=True, slots=True)
class PriorityFactors:
    """The factors of a job's score, each multiplied by its weight."""

    priority: float
    fair_share: float
    age: float
    size: float

    @property
    def score(self) -> float:
        return self.priority + self.fair_share + self.age + self.size


class JobOrder:
    """Computes the ranks of jobs."""

    def __init__(
        self, config: SchedulerConfig, usage: UsageLedger, part: Callable[[QueueJob], float]
    ) -> None:
        self._config = config
        self._usage = usage
        self._part = part
        """The part of the cluster that a job would hold, from 0 to 1."""
        weights = config.weights
        self.changing = weights.changing
        """Whether ranks change with time, or with the usage of other accounts."""
        self._by_priority = weights.by_priority

    @property
    def usage_version(self) -> int:
        """Changes when an account uses more or less, or a new one appears; so may ranks."""
        return self._usage.version

    def factors(self, job: QueueJob, now: int) -> PriorityFactors:
        weights = self._config.weights
        share = self._usage.factor((job.namespace, job.user), now) if weights.fair_share else 0.0
        return PriorityFactors(
            priority=weights.priority * job.priority,
            fair_share=weights.fair_share * share,
            age=weights.age * self._age(job, now),
            size=weights.size * self._part(job) if weights.size else 0.0,
        )

    def _age(self, job: QueueJob, now: int) -> float:
        since = job.eligible if job.eligible is not None else now
        return min(1.0, max(0, now - since) / self._config.age_cap)

    def rank(self, job: QueueJob, now: int) -> Rank:
        if self._by_priority:
            score = self._config.weights.priority * job.priority
        else:
            score = self.factors(job, now).score
        return (-job.submission.job_class, -score, job.arrival)


class QueueLine:
    """The eligible jobs of one queue, in order."""

    def __init__(self, order: JobOrder) -> None:
        self._order = order
        self._ranks: dict[int, Rank] = {}
        self._jobs: dict[int, QueueJob] = {}
        self._sorted: list[tuple[Rank, int]] = []
        self._asof = (-1, -1)

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, job: int) -> bool:
        return job in self._jobs

    def add(self, job: QueueJob, now: int) -> None:
        if job.id in self._jobs:
            return
        rank = self._order.rank(job, now)
        self._jobs[job.id], self._ranks[job.id] = job, rank
        insort(self._sorted, (rank, job.id))

    def discard(self, job: int) -> None:
        if self._jobs.pop(job, None) is None:
            return
        entry = (self._ranks.pop(job), job)
        del self._sorted[bisect_left(self._sorted, entry)]

    def rank(self, job: int) -> Rank:
        return self._ranks[job]

    def refresh(self, now: int) -> None:
        """Rank all jobs anew, where ranks change by themselves."""
        asof = (now, self._order.usage_version)
        if self._order.changing and asof != self._asof:
            rank = self._order.rank
            self._ranks = {id: rank(job, now) for id, job in self._jobs.items()}
            self._sorted = sorted((r, id) for id, r in self._ranks.items())
        self._asof = asof

    def in_order(self) -> Iterator[QueueJob]:
        """All jobs, first to last, as of the last refresh; a job that left meanwhile is skipped."""
        for _, id in tuple(self._sorted):
            job = self._jobs.get(id)
            if job is not None:
                yield job

    def first(self, most: int) -> list[QueueJob]:
        """The first jobs, in order, as of the last refresh."""
        return [self._jobs[id] for _, id in self._sorted[:most]]

    def place(self, job: int) -> int:
        """How many jobs are before a job."""
        return bisect_left(self._sorted, (self._ranks[job], job))

    def __iter__(self) -> Iterator[QueueJob]:
        return iter(self._jobs.values())
