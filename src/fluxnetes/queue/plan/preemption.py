"""Preemption: a job of a higher class ends preemptible jobs of lower classes.

Off unless a queue turns it on. Only whole jobs are preempted; those first that lose the least work;
none that has not run its minimum; and only if the freed capacity really starts the job: once the
grace time of the victims is over, and sooner than it would start without preemption. Until the
victims have ended, their capacity is booked for the job that preempted them. Classes are strictly
ordered, so a job is never preempted by one of its own victims.
"""

from __future__ import annotations

from fluxnetes.common.reasons import JobRef, Message, Reason
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.states import EndCause, JobState

_PRUNED = 64
"""Maximum victims for which each one is tested for being needless, since every test is a search."""


class Preemption:
    """Chooses victims, and asks them to end."""

    def __init__(self, core: QueueCore, transitions: Transitions) -> None:
        self._core = core
        self._transitions = transitions

    def preempt_for(self, job: QueueJob, now: int) -> bool:
        """Preempt as few jobs as needed, least lost work first; False: none, it would not help."""
        if not self._core.queues[job.queue].preempts:
            return False
        candidates = self._candidates(job, now)
        victims = self._choose_victims(job, candidates, now) if candidates else []
        for victim in victims:
            self._preempt(victim, job, now)
        if victims:
            self._core.preempting[job.id] = {victim.id for victim in victims}
        return bool(victims)

    def _candidates(self, job: QueueJob, now: int) -> list[QueueJob]:
        """The jobs that may be preempted, least lost work first."""
        found = [
            other
            for other in self._core.records.holding.values()
            if other.state is not JobState.ENDING and self._may_preempt(job, other, now)
        ]
        return sorted(
            found, key=lambda other: (self.lost_work(other, now), -other.arrival, other.id)
        )

    def _may_preempt(self, job: QueueJob, other: QueueJob, now: int) -> bool:
        spec = other.submission
        if not spec.preemptible or spec.job_class >= job.submission.job_class:
            return False
        return other.start is not None and now - other.start >= spec.min_runtime

    def lost_work(self, job: QueueJob, now: int) -> float:
        """Resource-seconds that are lost if a job has to start over."""
        since = job.start if job.start is not None else now
        return self._core.rate(self._core.records.amounts[job.id]) * (now - since)

    def next_chances(self) -> list[int]:
        """When jobs will have run their minimum, if any queue preempts."""
        if not any(queue.preempts for queue in self._core.queues.values()):
            return []
        return [
            job.start + job.submission.min_runtime
            for job in self._core.records.holding.values()
            if job.submission.preemptible and job.start is not None
        ]

    def _choose_victims(
        self, job: QueueJob, candidates: list[QueueJob], now: int
    ) -> list[QueueJob]:
        """The fewest victims with which the job starts sooner than without preemption."""
        core = self._core
        kept = core.capacity.unbook(job.id)
        try:
            victims = self._fewest(job, candidates, now)
            if victims and self._starts_by(job, self._gone(victims, now), now):
                return []
            return victims
        finally:
            if kept is not None:
                core.capacity.rebook(job.id, kept)

    def _starts_by(self, job: QueueJob, time: int, now: int) -> bool:
        """Whether a job can start by this time without preemption."""
        core = self._core
        spot = core.capacity.earliest(
            core.records.requests[job.id], core.duration(job), now, time + 1
        )
        return spot is not None and spot.start <= time

    def _gone(self, victims: list[QueueJob], now: int) -> int:
        """When the last of the victims has ended, if they keep to their grace time."""
        return now + max(max(1, self._core.queues[victim.queue].grace) for victim in victims)

    def _fewest(self, job: QueueJob, candidates: list[QueueJob], now: int) -> list[QueueJob]:
        """The shortest prefix of the candidates that frees enough, without needless ones."""
        if not self._fits(job, candidates, now):
            return []
        low, high = 1, len(candidates)
        while low < high:
            middle = (low + high) // 2
            if self._fits(job, candidates[:middle], now):
                high = middle
            else:
                low = middle + 1
        victims = candidates[:low]
        if len(victims) <= _PRUNED:
            for spared in reversed(candidates[: low - 1]):
                without = [victim for victim in victims if victim is not spared]
                if without and self._fits(job, without, now):
                    victims = without
        return victims

    def _fits(self, job: QueueJob, without: list[QueueJob], now: int) -> bool:
        core = self._core
        request, duration = core.records.requests[job.id], core.duration(job)
        ids = [other.id for other in without]
        return core.capacity.fits_without(request, self._gone(without, now), duration, ids)

    def _preempt(self, victim: QueueJob, job: QueueJob, now: int) -> None:
        reason = Reason.of(Message.PREEMPTED, job=JobRef(job.id))
        self._transitions.holding_to_ending(victim, now, EndCause.PREEMPTED, reason)
        self._transitions.expect(victim, self._gone([victim], now))
