"""Admits jobs to the queue: a job that can never run is rejected at once, with a reason.

A submitted job is recorded as pending, held or gathering; a job that already runs is adopted with
the nodes that it is on. A job that nothing in the cluster can serve now waits, unless its queue
rejects such jobs; see `review`.
"""

from __future__ import annotations

from dataclasses import replace

from fluxnetes.common.reasons import JobRef, Message, Reason, ReasonCode
from fluxnetes.queue.config import UnsatisfiablePolicy
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueError, QueueRefused, UnknownQueue
from fluxnetes.queue.events import Adopt, Gathered, Submit
from fluxnetes.queue.jobs import Origin, QueueJob, Submission
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.plan.requests import PlanRequest, narrowed, plan_request
from fluxnetes.queue.plan.windows import WindowHandlers
from fluxnetes.queue.states import JobState

MOST_TASKS = 1_000_000
"""Maximum tasks of an array, whose ids must all be free."""


class Admission:
    """Admits, rejects and adopts jobs."""

    def __init__(self, core: QueueCore, transitions: Transitions, windows: WindowHandlers) -> None:
        self._core = core
        self._transitions = transitions
        self._gate = transitions.gate
        self._windows = windows

    def submit(self, event: Submit, now: int) -> None:
        core, submission = self._core, event.submission
        self._check_new(submission)
        job = self._record(submission, now, endless=event.endless)
        reason = self._refuses(job)
        request = None
        if not reason and not submission.gathering:
            request = self.plan_request(job)
            reason = self.rejects(job, request)
        if reason:
            self._transitions.nowhere_to_rejected(job, now, reason)
            return
        if request is None:
            self._transitions.nowhere_to_gathering(job, now)
            return
        core.add_request(job.id, request)
        if submission.held:
            self._transitions.nowhere_to_held(job, now)
        else:
            self._transitions.nowhere_to_pending(job, now)

    def gathered(self, event: Gathered, now: int) -> None:
        """A group is complete."""
        id = event.job
        job = self._core.records.find(id)
        if job.state is not JobState.GATHERING:
            raise QueueRefused(f"job {id} is {job.state.value}, not gathering")
        if event.request is not None:
            job.submission = replace(job.submission, request=event.request, size=event.size)
        planned = self.plan_request(job)
        reason = self.rejects(job, planned)
        if reason:
            self._transitions.waiting_to_rejected(job, now, reason)
            return
        self._core.add_request(id, planned)
        if job.submission.held:
            self._transitions.gathering_to_held(job, now, Reason.of(Message.HELD))
        else:
            self._transitions.gathering_to_pending(job, now)

    def adopt(self, event: Adopt, now: int) -> None:
        """A job already runs on these nodes, task by task."""
        submission, start, nodes = event.submission, event.start, event.nodes
        self._check_new(submission)
        if submission.queue not in self._core.queues:
            raise UnknownQueue(f"there is no queue {submission.queue}")
        if submission.array is not None:
            raise QueueRefused(f"job {submission.id} cannot be adopted: it is an array")
        job = self._record(submission, min(start, now), endless=event.endless)
        request = self.plan_request(job)
        if request.elastic is not None:
            request = request.sized(len(nodes))
        found = self._core.planning.found_at(request.spec, nodes)
        if isinstance(found, Reason):
            raise QueueRefused(f"job {submission.id} cannot be adopted: {found}")
        self._core.add_request(job.id, request, holds=True)
        self._transitions.nowhere_to_running(job, request, found, min(start, now), now)

    def _check_new(self, submission: Submission) -> None:
        records = self._core.records
        tasks = submission.array.tasks if submission.array is not None else 0
        if submission.id < 1:
            raise QueueError(f"job id {submission.id} is invalid: ids start at 1")
        if not 0 <= tasks <= MOST_TASKS:
            raise QueueError(
                f"job {submission.id}: an array has 1 to {MOST_TASKS} tasks, not {tasks}"
            )
        for id in range(submission.id, submission.id + tasks + 1):
            if id in records.jobs or id in records.outcomes:
                raise QueueError(f"job id {id} is already in use")
        for array in records.arrays.values():
            assert array.submission.array is not None  # noqa: S101 - only arrays are there
            last = array.id + array.submission.array.tasks
            if submission.id <= last and submission.id + tasks > array.id:
                raise QueueError(f"job ids {array.id} to {last} belong to array {array.id}")

    def _record(self, submission: Submission, now: int, *, endless: bool) -> QueueJob:
        records = self._core.records
        return QueueJob(
            submission,
            JobState.PENDING,
            submitted=now,
            arrival=records.next_arrival(),
            queue=submission.queue,
            priority=submission.priority,
            walltime=self.walltime(submission.queue, submission.walltime, endless=endless),
            ranked=records.step,
        )

    def walltime(self, queue: str, requested: int | None, *, endless: bool = False) -> int | None:
        """The walltime of a job that requests this one, with the defaults of its queue."""
        config = self._core.queues.get(queue)
        if requested is not None or config is None or endless:
            return requested
        return config.default_walltime or config.max_walltime

    # -- reasons to reject ---------------------------------------------------------------------

    def _refuses(self, job: QueueJob) -> Reason | None:
        spec = job.submission
        core = self._core
        if spec.queue not in core.queues:
            return Reason.of(
                Message.NO_SUCH_QUEUE, queue=spec.queue, queues=tuple(sorted(core.queues))
            )
        if core.is_drained(spec.queue):
            return Reason.of(Message.QUEUE_DRAINED, queue=spec.queue)
        unknown = [d.job for d in spec.dependencies if not self._gate.is_known(d.job)]
        if unknown:
            return Reason.of(Message.UNKNOWN_DEPENDENCY, job=JobRef(unknown[0]))
        return (
            self.refuses_endless(job.queue, job.walltime)
            or self.refuses_walltime(job.queue, job.walltime)
            or contradiction(spec)
            or self._windows.refuses(job)
            or core.limits.refuses(job)
        )

    def refuses_change(self, job: QueueJob) -> Reason | None:
        """Why a waiting job may not be changed to this; None if it may."""
        return self.refuses_walltime(job.queue, job.walltime) or self._windows.refuses(job)

    def refuses_endless(self, queue: str, walltime: int | None) -> Reason | None:
        """A queue with a maximum takes no job without a walltime: not even one that has asked for
        none, to which no default applies."""
        most = self._core.queues[queue].max_walltime
        if most is None or walltime is not None:
            return None
        return Reason.of(Message.WALLTIME_MISSING, queue=queue, most=most)

    def refuses_walltime(self, queue: str, walltime: int | None) -> Reason | None:
        most = self._core.queues[queue].max_walltime
        if walltime is not None and walltime < 1:
            return Reason.of(Message.WALLTIME_TOO_SHORT, walltime=walltime)
        if most is not None and walltime is not None and walltime > most:
            return Reason.of(Message.WALLTIME_TOO_LONG, walltime=walltime, queue=queue, most=most)
        return None

    def plan_request(self, job: QueueJob) -> PlanRequest:
        """What a job requests of the planner, narrowed down to the nodes of its queue."""
        spec = job.submission
        wanted = spec.request
        reserved = self._windows.constraint(spec)
        if reserved is not None:
            wanted = narrowed(wanted, reserved)
        constraint = self._core.queues[job.queue].constraint
        return plan_request(wanted, constraint=constraint, size=spec.size, window=spec.reservation)

    def rejects(self, job: QueueJob, request: PlanRequest) -> Reason | None:
        """Why a job with this request is rejected; None: it may wait."""
        return self._rejects_unsatisfiable(job, request) or self.exceeds_budget(job, request)

    def exceeds_budget(self, job: QueueJob, request: PlanRequest) -> Reason | None:
        """Which budget could never pay for a job; None if there is none."""
        core = self._core
        if not core.budgets:
            return None
        # What nothing can serve now has no placement to estimate by, but asks for something.
        amounts = core.estimate(request) or core.planning.least(request.spec)
        return core.budgets.exceeds(job, amounts)

    def _rejects_unsatisfiable(self, job: QueueJob, request: PlanRequest) -> Reason | None:
        verdict = self._core.verdicts.of(request)
        if verdict is None or verdict.code is not ReasonCode.UNSATISFIABLE:
            return verdict
        if job.submission.origin is Origin.CALL_MATCH or request.window is not None:
            return verdict  # it starts at once or not at all; the nodes of a window do not change
        waits = self._core.queues[job.queue].unsatisfiable is UnsatisfiablePolicy.WAIT
        return None if waits else verdict


def contradiction(spec: Submission) -> Reason | None:
    """Why the values of a submission contradict each other; None if they do not."""
    size, array = spec.size, spec.array
    if size is not None and not 1 <= size.min <= size.max:
        return Reason.of(Message.ELASTIC_RANGE, min=size.min, max=size.max)
    if array is not None and array.tasks < 1:
        return Reason.of(Message.ARRAY_TASKS, tasks=array.tasks)
    if array is not None and array.at_once is not None and array.at_once < 1:
        return Reason.of(Message.ARRAY_AT_ONCE_RANGE, tasks=array.at_once)
    if array is not None and (size is not None or spec.gathering):
        return Reason.of(Message.ARRAY_ELASTIC)
    return None
