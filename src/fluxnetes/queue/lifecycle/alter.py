"""Changes submitted jobs: walltime, priority and queue, or the request of a waiting job."""

from __future__ import annotations

from dataclasses import replace

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueRefused, UnknownQueue
from fluxnetes.queue.events import Alter, Reshape
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.lifecycle.admission import Admission, contradiction
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.plan.promises import PromiseKeeper
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import ENDED, WAITING, JobState


class JobAlterations:
    """Alters waiting jobs, and changes the walltime of running ones."""

    def __init__(
        self,
        core: QueueCore,
        transitions: Transitions,
        promises: PromiseKeeper,
        admission: Admission,
    ) -> None:
        self._core = core
        self._transitions = transitions
        self._gate = transitions.gate
        self._promises = promises
        self._admission = admission

    def alter(self, event: Alter, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state in ENDED or job.state is JobState.ENDING:
            raise QueueRefused(f"job {job.id} is {job.state.value} and cannot be changed")
        if job.state in WAITING:
            self._alter_waiting(job, event, now)
        elif event.priority is not None or event.queue is not None:
            raise QueueRefused(
                f"job {job.id} is {job.state.value}; only its walltime can be changed"
            )
        elif event.walltime is not None:
            self._extend(job, event.walltime, now)

    # -- waiting -------------------------------------------------------------------------------

    def _alter_waiting(self, job: QueueJob, event: Alter, now: int) -> None:
        core = self._core
        queue = job.queue if event.queue is None else event.queue
        walltime = job.walltime if event.walltime is None else event.walltime
        if event.queue is not None:
            walltime = self._admission.walltime(queue, walltime, endless=event.endless)
        self._check(job, queue, walltime)
        placed = job.state is JobState.PENDING
        if placed:
            self._promises.drop(job, now, Reason.of(Message.ALTERED_PLAN))
            core.lines[job.queue].discard(job.id)
            core.parked.pop(job.id, None)
        core.limits.waits(job, -1)
        if event.priority is not None:
            job.priority = event.priority
        job.queue, job.walltime = queue, walltime
        core.limits.waits(job, +1)
        if event.queue is not None and job.id in core.records.requests:
            core.remove_request(job.id)
            core.add_request(job.id, self._admission.plan_request(job))
        core.records.add_event(JobEvent(job.id, now, "altered", reason=_altered(event)))
        if placed:
            self._gate.became_pending(job, now)

    def _check(self, job: QueueJob, queue: str, walltime: int | None) -> None:
        core = self._core
        if queue not in core.queues:
            raise UnknownQueue(f"there is no queue {queue}")
        if queue != job.queue and core.is_drained(queue):
            raise QueueRefused(f"queue {queue} is drained: it takes in no more jobs")
        refused = self._admission.refuses_change(replace(job, queue=queue, walltime=walltime))
        if not refused and job.id in core.records.requests:
            altered = replace(job, queue=queue, walltime=walltime)
            refused = self._admission.exceeds_budget(altered, core.records.requests[job.id])
        if not refused and queue != job.queue:
            refused = self._admission.refuses_endless(queue, walltime)
        if refused:
            raise QueueRefused(f"job {job.id}: {refused}")
        if queue != job.queue:
            self._check_moved(replace(job, queue=queue))

    def _check_moved(self, job: QueueJob) -> None:
        """Whether a job could have been submitted to the queue that it is moved to."""
        refused = self._core.limits.refuses(job)
        if not refused and job.id in self._core.records.requests:
            refused = self._admission.rejects(job, self._admission.plan_request(job))
        if refused:
            raise QueueRefused(f"job {job.id} cannot be moved to queue {job.queue}: {refused}")

    def reshape(self, event: Reshape, now: int) -> None:
        """A waiting job requests something else."""
        core, job = self._core, self._core.records.find(event.job)
        if job.state not in WAITING:
            raise QueueRefused(
                f"job {job.id} is {job.state.value}; only the request of a waiting job can change"
            )
        if job.submission.array is not None:
            raise QueueRefused(
                f"job {job.id} is an array; the request of an array cannot be changed"
            )
        before = job.submission
        if (before.request, before.size) == (event.request, event.size):
            return
        job.submission = replace(before, request=event.request, size=event.size)
        core.records.touch(job)
        if job.state is JobState.GATHERING:
            return
        request = self._admission.plan_request(job)
        reason = contradiction(job.submission) or self._admission.rejects(job, request)
        if reason:
            self._transitions.waiting_to_rejected(job, now, reason)
        elif request != core.records.requests[job.id]:
            self._replace_request(job, request, now)

    def _replace_request(self, job: QueueJob, request: PlanRequest, now: int) -> None:
        """Replace the request of a waiting job."""
        core, reason = self._core, Reason.of(Message.ALTERED_REQUEST)
        core.records.add_event(JobEvent(job.id, now, "altered", reason=reason))
        placed = job.state is JobState.PENDING
        if placed:
            self._promises.drop(job, now, reason)
            core.lines[job.queue].discard(job.id)
            core.parked.pop(job.id, None)
        core.remove_request(job.id)
        core.add_request(job.id, request)
        if placed:
            # Like any altered job, it takes its place anew: it may overtake promises behind it.
            self._gate.became_pending(job, now)

    # -- running -------------------------------------------------------------------------------

    def _extend(self, job: QueueJob, walltime: int, now: int) -> None:
        """Give a running job more or less time, if that breaks no promise."""
        refused = self._admission.refuses_walltime(job.queue, walltime)
        if refused:
            raise QueueRefused(f"job {job.id}: {refused}", refused)
        assert job.start is not None  # noqa: S101 - it holds something
        deadline = job.start + walltime
        if deadline <= now:
            raise QueueRefused(
                f"job {job.id} has already run for {now - job.start} s",
                Reason.of(Message.HAS_RUN_LONGER, seconds=now - job.start),
            )
        core = self._core
        more = 0 if job.deadline is None else deadline - job.deadline
        amounts = core.records.amounts[job.id]
        refused = core.budgets.stops(job, amounts, more, now) if more > 0 else None
        if refused:
            raise QueueRefused(f"job {job.id} cannot have more time: {refused}", refused)
        if not core.capacity.prolong_if_free(job.id, deadline):
            raise QueueRefused(
                f"job {job.id} cannot have more time: it would delay promised jobs",
                Reason.of(Message.MORE_TIME_DELAYS),
            )
        core.commit_budgets(job, amounts, more, now)
        if job.deadline is None or deadline < job.deadline:
            core.resources_freed()
        job.walltime, job.deadline, job.expected = walltime, deadline, deadline
        core.records.add_event(
            JobEvent(
                job.id, now, "altered", reason=Reason.of(Message.WALLTIME_SET, walltime=walltime)
            )
        )


def _altered(event: Alter) -> Reason:
    parts = {"walltime": event.walltime, "priority": event.priority, "queue": event.queue}
    changes = tuple(f"{name} {value}" for name, value in parts.items() if value is not None)
    return Reason.of(Message.ALTERED, changes=changes)
