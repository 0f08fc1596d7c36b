"""Callers' jobs that hold something: lent to pods, kept for as long as they are wanted, seen off.

A job that a caller matched or submitted stands for nothing on the cluster but what the caller puts
there. So its caller says that it runs, that it is over, that it is still wanted. What nobody
renews, and no pod uses, expires; what is told to go is gone when its grace is over, whatever its
caller does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.events import Cancel, Ended
from fluxnetes.queue.jobs import CALLERS, QueueJob
from fluxnetes.queue.states import ENDED, HOLDING, EndCause, JobState
from fluxnetes.service.mailbox import QueueHost
from fluxnetes.service.views.jobs import shares_of


@dataclass(slots=True, eq=False)
class CallerLeases:
    """See the module's docstring. Used in the loop of whoever runs the queue."""

    patience: float | None = None
    """Seconds after which what nobody renews or uses expires; None: never."""
    clock: Callable[[], float] = time.monotonic
    _wanted: dict[int, float] = field(default_factory=dict)
    """When jobs that hold something were last known to be wanted, by number."""

    def begin(self, queue_host: QueueHost) -> None:
        """A term begins: whoever wants something still has time to say so."""
        self._wanted.clear()
        for job in queue_host.scheduler.jobs.values():
            self.follow(job, queue_host)

    def take(self, changes: Changes, queue_host: QueueHost) -> None:
        """Something was decided and written down."""
        for job in changes.jobs.values():
            self.follow(job, queue_host)
        for id in changes.allocations.keys() & self._wanted.keys():
            self._lend(id, queue_host)  # it may have lost a part

    def follow(self, job: QueueJob, queue_host: QueueHost) -> None:
        """A job may have been given something."""
        if is_called(job) and job.state in HOLDING and job.id not in self._wanted:
            self._wanted[job.id] = self.clock()
            self._lend(job.id, queue_host)

    def _lend(self, id: int, queue_host: QueueHost) -> None:
        job = queue_host.scheduler.jobs.get(id)
        given = () if job is None else shares_of(job, queue_host.matcher)
        queue_host.lend(id, {share.node: share.amounts for share in given} if given else None)

    def tend(self, queue_host: QueueHost) -> None:
        """Look after all of them."""
        jobs = queue_host.scheduler.jobs
        for id in list(self._wanted):
            job = jobs.get(id)
            if job is None or job.state not in HOLDING:
                self._forget(id, queue_host)
            elif job.state is JobState.ENDING:
                self._see_off(job, queue_host)
            elif queue_host.borrowers(id):
                self._wanted[id] = self.clock()
            elif self.patience is not None and self._unwanted_for(id) > self.patience:
                reason = Reason.of(Message.LEASE_EXPIRED, seconds=f"{self.patience:g}")
                self.call_off(job, reason, queue_host)

    def _unwanted_for(self, id: int) -> float:
        return self.clock() - self._wanted[id]

    def _see_off(self, job: QueueJob, queue_host: QueueHost) -> None:
        """It was told to go. Who called it off itself needs no time for that."""
        is_over = job.expected is not None and queue_host.now >= job.expected
        if is_over or job.cause is EndCause.CANCELLED:
            self.end(job, ok=False, reason=job.reason, queue_host=queue_host)

    def _forget(self, id: int, queue_host: QueueHost) -> None:
        self._wanted.pop(id, None)
        queue_host.lend(id, None)

    def renew(self, id: int) -> float | None:
        """It is wanted; returns when it expires otherwise, in seconds since the epoch."""
        self._wanted[id] = self.clock()
        return None if self.patience is None else time.time() + self.patience

    # -- ends ----------------------------------------------------------------------------------

    def call_off(self, job: QueueJob, reason: Reason, queue_host: QueueHost) -> None:
        """A job is not wanted any more: what it holds is free at once."""
        if job.state is not JobState.ENDING:
            queue_host.put(Cancel(job.id, reason))
        if job.state not in ENDED:
            self.end(job, ok=False, reason=reason, queue_host=queue_host)

    def end(self, job: QueueJob, *, ok: bool, reason: Reason | None, queue_host: QueueHost) -> None:
        """A job is gone. Raises QueueError if it holds nothing."""
        queue_host.put(Ended(job.id, ok, reason))
        # At once: pods that are still there are others' from now on, before anybody decides.
        self._forget(job.id, queue_host)


def is_called(job: QueueJob) -> bool:
    """Whether a job is that of a caller."""
    return job.submission.origin in CALLERS
