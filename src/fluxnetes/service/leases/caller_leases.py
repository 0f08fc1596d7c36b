"""Leases of callers' jobs: renewed by their caller or by pods that use them, otherwise expired.

A job that a caller matched or submitted has no object on the cluster but the pods that the caller
creates. So its caller reports that it started, that it ended and that it is still needed. A job
that is neither renewed nor used by a pod for some time is cancelled. A job that is ending has ended
when its grace period is over, whatever its caller does.

While such a job holds nodes, the host knows its shares (`QueueHost.lend`), so that pods that name
the job are counted as part of it and not a second time.
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
    """See the module's docstring. Used in the event loop of the queue."""

    renew_within: float | None = None
    """Seconds after which a job that is neither renewed nor used expires; None: never."""
    clock: Callable[[], float] = time.monotonic
    _renewed: dict[int, float] = field(default_factory=dict)
    """When each job that holds something was last renewed or used, by number."""

    def begin(self, queue_host: QueueHost) -> None:
        """A term begins: every lease begins anew, so callers have time to renew it."""
        self._renewed.clear()
        for job in queue_host.scheduler.jobs.values():
            self._add(job, queue_host)

    def follow(self, changes: Changes, queue_host: QueueHost) -> None:
        """The queue's changes were committed."""
        for job in changes.jobs.values():
            self._add(job, queue_host)
        for id in changes.allocations.keys() & self._renewed.keys():
            self._lend(id, queue_host)  # it may have lost a part

    def _add(self, job: QueueJob, queue_host: QueueHost) -> None:
        """Begin the lease of a caller's job that now holds something."""
        if is_callers_job(job) and job.state in HOLDING and job.id not in self._renewed:
            self._renewed[job.id] = self.clock()
            self._lend(job.id, queue_host)

    def _lend(self, id: int, queue_host: QueueHost) -> None:
        job = queue_host.scheduler.jobs.get(id)
        held = () if job is None else shares_of(job, queue_host.matcher)
        queue_host.lend(id, {share.node: share.amounts for share in held} if held else None)

    def tend(self, queue_host: QueueHost) -> None:
        """Renew jobs that pods use, cancel expired ones, end those whose grace period is over."""
        jobs = queue_host.scheduler.jobs
        for id in list(self._renewed):
            job = jobs.get(id)
            if job is None or job.state not in HOLDING:
                self._forget(id, queue_host)
            elif job.state is JobState.ENDING:
                self._end_if_due(job, queue_host)
            elif queue_host.borrowers(id):
                self._renewed[id] = self.clock()
            elif self.renew_within is not None and self._idle(id) > self.renew_within:
                reason = Reason.of(Message.LEASE_EXPIRED, seconds=f"{self.renew_within:g}")
                self.cancel(job, reason, queue_host)

    def _idle(self, id: int) -> float:
        return self.clock() - self._renewed[id]

    def _end_if_due(self, job: QueueJob, queue_host: QueueHost) -> None:
        """Its caller has a grace period to release it, unless the job was cancelled."""
        is_over = job.expected is not None and queue_host.now >= job.expected
        if is_over or job.cause is EndCause.CANCELLED:
            self.end(job, ok=False, reason=job.reason, queue_host=queue_host)

    def _forget(self, id: int, queue_host: QueueHost) -> None:
        self._renewed.pop(id, None)
        queue_host.lend(id, None)

    def renew(self, id: int) -> float | None:
        """Renew a lease; returns when it expires, in seconds since the epoch; None: never."""
        self._renewed[id] = self.clock()
        return None if self.renew_within is None else time.time() + self.renew_within

    # -- ends ----------------------------------------------------------------------------------

    def cancel(self, job: QueueJob, reason: Reason, queue_host: QueueHost) -> None:
        """Cancel a job, and release what it holds at once, without a grace period."""
        if job.state is not JobState.ENDING:
            queue_host.put(Cancel(job.id, reason))
        if job.state not in ENDED:
            self.end(job, ok=False, reason=reason, queue_host=queue_host)

    def end(self, job: QueueJob, *, ok: bool, reason: Reason | None, queue_host: QueueHost) -> None:
        """Record that a job ended. Raises QueueError if it holds nothing."""
        queue_host.put(Ended(job.id, ok, reason))
        # At once: its remaining pods must count as foreign usage before the next decision.
        self._forget(job.id, queue_host)


def is_callers_job(job: QueueJob) -> bool:
    """Whether a caller matched or submitted a job."""
    return job.submission.origin in CALLERS
