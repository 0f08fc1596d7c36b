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

from fluxnetes.queue.changes import Changes
from fluxnetes.queue.events import Cancel, Ended
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, HOLDING, EndCause, JobState
from fluxnetes.service.mailbox import CALLED, QueueHost
from fluxnetes.service.views.jobs import shares_of


@dataclass(slots=True, eq=False)
class CallerLeases:
    """See the module's docstring. Used in the loop of whoever runs the queue."""

    patience: float | None = None
    """Seconds after which what nobody renews or uses expires; None: never."""
    clock: Callable[[], float] = time.monotonic
    _wanted: dict[int, float] = field(default_factory=dict)
    """When jobs that hold something were last known to be wanted, by number."""

    def begin(self, office: QueueHost) -> None:
        """A term begins: whoever wants something still has time to say so."""
        self._wanted.clear()
        for job in office.scheduler.jobs.values():
            self.follow(job, office)

    def take(self, changes: Changes, office: QueueHost) -> None:
        """Something was decided and written down."""
        for job in changes.jobs.values():
            self.follow(job, office)
        for id in changes.allocations.keys() & self._wanted.keys():
            self._lend(id, office)  # it may have lost a part

    def follow(self, job: QueueJob, office: QueueHost) -> None:
        """A job may have been given something."""
        if is_called(job) and job.state in HOLDING and job.id not in self._wanted:
            self._wanted[job.id] = self.clock()
            self._lend(job.id, office)

    def _lend(self, id: int, office: QueueHost) -> None:
        job = office.scheduler.jobs.get(id)
        given = () if job is None else shares_of(job, office.matcher)
        office.lend(id, {share.node: share.amounts for share in given} if given else None)

    def tend(self, office: QueueHost) -> None:
        """Look after all of them."""
        jobs = office.scheduler.jobs
        for id in list(self._wanted):
            job = jobs.get(id)
            if job is None or job.state not in HOLDING:
                self._forget(id, office)
            elif job.state is JobState.ENDING:
                self._see_off(job, office)
            elif office.borrowers(id):
                self._wanted[id] = self.clock()
            elif self.patience is not None and self._unwanted_for(id) > self.patience:
                self.call_off(job, f"nobody renewed or used it for {self.patience:g} s", office)

    def _unwanted_for(self, id: int) -> float:
        return self.clock() - self._wanted[id]

    def _see_off(self, job: QueueJob, office: QueueHost) -> None:
        """It was told to go. Who called it off itself needs no time for that."""
        is_over = job.expected is not None and office.now >= job.expected
        if is_over or job.cause is EndCause.CANCELLED:
            self.end(job, ok=False, reason=job.reason, office=office)

    def _forget(self, id: int, office: QueueHost) -> None:
        self._wanted.pop(id, None)
        office.lend(id, None)

    def renew(self, id: int) -> float | None:
        """It is wanted; returns when it expires otherwise, in seconds since the epoch."""
        self._wanted[id] = self.clock()
        return None if self.patience is None else time.time() + self.patience

    # -- ends ----------------------------------------------------------------------------------

    def call_off(self, job: QueueJob, reason: str, office: QueueHost) -> None:
        """A job is not wanted any more: what it holds is free at once."""
        if job.state is not JobState.ENDING:
            office.put(Cancel(job.id, reason))
        if job.state not in ENDED:
            self.end(job, ok=False, reason=reason, office=office)

    def end(self, job: QueueJob, *, ok: bool, reason: str, office: QueueHost) -> None:
        """A job is gone. Raises QueueError if it holds nothing."""
        office.put(Ended(job.id, ok, reason))
        # At once: pods that are still there are others' from now on, before anybody decides.
        self._forget(job.id, office)


def is_called(job: QueueJob) -> bool:
    """Whether a job is that of a caller."""
    return job.submission.workload.startswith(CALLED)
