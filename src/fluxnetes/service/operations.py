"""The operations of callers on a queue, as requests for its mailbox.

A match is a job that starts in the next cycle or not at all. It goes through the queue like every
job: it takes nothing that another job was promised, and no pod is given what it holds.

A request that a user sends twice under one key is executed once, for as long as its job lives.
Matches and submissions have keys of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from math import ceil

from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.match.answers import Answer, Outcome
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.events import Cancel, Event, Hold, Release, Started, Submit
from fluxnetes.queue.jobs import Origin, QueueJob, Submission
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState
from fluxnetes.service.callers import ADMIN, Caller
from fluxnetes.service.errors import UnknownJob, WrongState
from fluxnetes.service.leases.caller_leases import CallerLeases, is_callers_job
from fluxnetes.service.mailbox import QueueHost, QueueRequest, looking
from fluxnetes.service.requests.resolve import (
    as_service_errors,
    check_queue,
    find_refusal,
    queue_of,
    resolved,
)
from fluxnetes.service.values import EqualPods, Grant, JobExplanation, JobView, MatchCall
from fluxnetes.service.views.allocation_text import written
from fluxnetes.service.views.jobs import explained, job_view, shares_of

_NOT_NOW = Reason.of(Message.PROMISED_NOT_NOW)
_NO_ROOM = Reason.of(Message.NO_ROOM_AT_ONCE)
_UNANSWERED = Reason.of(Message.CALLER_LEFT)
_RESTARTED = Reason.of(Message.CALLER_UNANSWERED)
_NO_USER = "nobody"

_Change = Callable[[QueueJob, QueueHost], None]


@dataclass(slots=True)
class _Progress:
    """What is known of a request between its steps."""

    job: int = 0
    refusal: Answer | None = None
    reason: Reason | None = None
    began: float = 0.0


@dataclass(slots=True, eq=False)
class QueueOperations:
    """See the module's docstring. Used in the event loop of the queue."""

    leases: CallerLeases
    _keys: dict[tuple[str, Origin, str], int] = field(default_factory=dict)
    """The live job of each user, origin and key."""

    def begin(self, queue_host: QueueHost) -> None:
        """A term begins: index the live jobs of callers, and cancel matches left undecided."""
        self._keys.clear()
        for job in list(queue_host.scheduler.jobs.values()):
            if job.state in ENDED or not is_callers_job(job):
                continue
            if job.state in WAITING and job.submission.origin is Origin.CALL_MATCH:
                queue_host.put(Cancel(job.id, _RESTARTED))
            else:
                self._remember(job.submission)
        self.leases.begin(queue_host)

    def follow(self, changes: Changes, queue_host: QueueHost) -> None:
        """The queue's changes were committed."""
        self.leases.follow(changes, queue_host)
        for job in changes.jobs.values():
            asked = job.submission
            key = (asked.user, asked.origin, asked.workload)
            if job.state in ENDED and self._keys.get(key) == job.id:
                del self._keys[key]

    def _remember(self, submission: Submission) -> None:
        if submission.workload:  # else it has no key
            key = (submission.user, submission.origin, submission.workload)
            self._keys[key] = submission.id

    def _find(self, user: str, origin: Origin, key: str, queue_host: QueueHost) -> int:
        """The live job of a user's key; 0: there is none."""
        job = queue_host.scheduler.jobs.get(self._keys.get((user, origin, key), 0))
        return 0 if job is None or job.state in ENDED else job.id

    # -- jobs that are matched -----------------------------------------------------------------

    def match(self, call: MatchCall) -> QueueRequest[Grant]:
        progress = _Progress()

        def apply(queue_host: QueueHost) -> None:
            progress.began = time.perf_counter()
            user = call.user or _NO_USER
            progress.job = self._find(user, Origin.CALL_MATCH, call.key, queue_host)
            if progress.job:
                return
            request = resolved(call.request, queue_host)
            progress.refusal = find_refusal(request, queue_host)
            if progress.refusal is None:
                submission = Submission(
                    0,
                    request,
                    walltime=ceil(request.duration) or None,
                    queue=queue_of(request, queue_host),
                    user=user,
                    name=call.name,
                    workload=call.key,
                    origin=Origin.CALL_MATCH,
                )
                progress.job = self._submit(submission, queue_host)

        def settle(queue_host: QueueHost) -> None:
            job = queue_host.scheduler.jobs.get(progress.job)
            if job is not None and job.state is JobState.ALLOCATED:
                queue_host.put(Started(job.id))
            elif job is not None and job.state in WAITING:
                explanation = queue_host.scheduler.explain(job.id, queue_host.now)
                progress.reason = explanation.reason or _NOT_NOW
                queue_host.put(Cancel(job.id, _NO_ROOM))

        def answer(queue_host: QueueHost) -> Grant:
            took = time.perf_counter() - progress.began
            if progress.refusal is not None:
                reason = _without_pins(progress.refusal.reason, call)
                return Grant(progress.refusal.outcome, 0, reason=reason, overhead=took)
            job = queue_host.scheduler.job(progress.job)
            if job.state in HOLDING:
                return _granted(job, call, queue_host, took)
            never = job.state is JobState.REJECTED
            reason = job.reason
            if not never:
                reason = _without_pins(progress.reason or job.reason, call)
            outcome = Outcome.UNSATISFIABLE if never else Outcome.BUSY
            return Grant(outcome, job.id, reason=reason, overhead=took)

        return QueueRequest(apply, answer, settle, None if call.key else self._undo)

    def _undo(self, queue_host: QueueHost, grant: Grant) -> None:
        self.withdraw(grant, queue_host)

    def withdraw(self, grant: Grant, queue_host: QueueHost) -> None:
        """Release a grant whose caller left before the answer, unless its job ended already."""
        job = queue_host.scheduler.jobs.get(grant.job)
        if grant and job is not None and job.state not in ENDED:
            self.leases.cancel(job, _UNANSWERED, queue_host)

    # -- jobs that are queued ------------------------------------------------------------------

    def submit(self, submission: Submission, key: str) -> QueueRequest[JobView]:
        progress = _Progress()

        def apply(queue_host: QueueHost) -> None:
            progress.job = self._find(submission.user, Origin.CALL_SUBMIT, key, queue_host)
            if not progress.job:
                check_queue(submission.queue, queue_host)
                request = resolved(submission.request, queue_host)
                resolved_submission = replace(
                    submission, request=request, workload=key, origin=Origin.CALL_SUBMIT
                )
                progress.job = self._submit(resolved_submission, queue_host)

        def answer(queue_host: QueueHost) -> JobView:
            return job_view(queue_host.scheduler.job(progress.job), queue_host.matcher)

        return QueueRequest(apply, answer)

    def _submit(self, submission: Submission, queue_host: QueueHost) -> int:
        numbered = replace(submission, id=queue_host.next_id)
        with as_service_errors():
            queue_host.put(Submit(numbered))
        queue_host.next_id_used()
        self._remember(numbered)
        return numbered.id

    def start(self, id: int, caller: Caller = ADMIN) -> QueueRequest[JobView]:
        return _changing(id, caller, _putting(Started(id), unless=JobState.RUNNING))

    def hold(self, id: int, caller: Caller = ADMIN) -> QueueRequest[JobView]:
        return _changing(id, caller, _putting(Hold(id), unless=JobState.HELD))

    def release(self, id: int, caller: Caller = ADMIN) -> QueueRequest[JobView]:
        return _changing(id, caller, _putting(Release(id), unless=JobState.PENDING))

    def finish(
        self, id: int, ok: bool, reason: str, caller: Caller = ADMIN
    ) -> QueueRequest[JobView]:
        code = ReasonCode.COMPLETED if ok else ReasonCode.FAILED
        given = Reason.from_text(reason, code) if reason else None
        return _changing(
            id,
            caller,
            lambda job, queue_host: self.leases.end(
                job, ok=ok, reason=given, queue_host=queue_host
            ),
        )

    def cancel(self, id: int, reason: str, caller: Caller = ADMIN) -> QueueRequest[JobView]:
        given = Reason.of(Message.CANCELLED_BY_CALLER)
        if reason:
            given = Reason.from_text(reason, ReasonCode.CANCELLED)
        return _changing(
            id, caller, lambda job, queue_host: self.leases.cancel(job, given, queue_host)
        )

    def renew(self, id: int, caller: Caller = ADMIN) -> QueueRequest[int | None]:
        def answer(queue_host: QueueHost) -> int | None:
            job = _callers_job(id, caller, queue_host)
            if job.state not in HOLDING:
                raise WrongState(f"job {id} is {job.state.value}; it has no allocation to renew")
            until = self.leases.renew(id)
            return None if until is None else int(until)

        return looking(answer)

    # -- views ---------------------------------------------------------------------------------

    def views(
        self, ids: Collection[int] | None, caller: Caller = ADMIN
    ) -> QueueRequest[list[JobView]]:
        def answer(queue_host: QueueHost) -> list[JobView]:
            jobs = queue_host.scheduler.jobs
            if ids is None:
                found = [job for job in jobs.values() if job.state not in ENDED]
            else:
                found = [jobs[id] for id in ids if id in jobs]
            return [job_view(job, queue_host.matcher) for job in found if is_of_caller(job, caller)]

        return looking(answer)

    def explain(self, id: int, caller: Caller = ADMIN) -> QueueRequest[JobExplanation]:
        def answer(queue_host: QueueHost) -> JobExplanation:
            job = _known(id, queue_host)
            if not is_of_caller(job, caller):
                raise UnknownJob(f"there is no job {id}")
            found = queue_host.scheduler.explain(id, queue_host.now)
            return explained(found, job_view(job, queue_host.matcher))

        return looking(answer)


def _without_pins(reason: Reason | None, call: MatchCall) -> Reason | None:
    """Why a match got nothing; to a caller that asked to reserve, also what to do instead."""
    if reason is None or not call.reserve:
        return reason
    return Reason.of(Message.NO_PINS, reason=reason).coded(reason.code)


def _granted(job: QueueJob, call: MatchCall, queue_host: QueueHost, took: float) -> Grant:
    """What a job holds, as the answer to its match."""
    pods = call.request if isinstance(call.request, EqualPods) else None
    given = shares_of(job, queue_host.matcher, pods)
    placement = queue_host.matcher.jobs[job.id].placement
    text = written(queue_host.matcher.graph, placement, call.format)
    return Grant(Outcome.ALLOCATED, job.id, job.start or queue_host.now, None, given, text, took)


def _putting(event: Event, unless: JobState) -> _Change:
    """Applies an event, unless the job is in this state already."""

    def change(job: QueueJob, queue_host: QueueHost) -> None:
        if job.state is not unless:
            queue_host.put(event)

    return change


def _changing(id: int, caller: Caller, change: _Change) -> QueueRequest[JobView]:
    """A change of a live job of a caller, answered with the job as it is then."""

    def apply(queue_host: QueueHost) -> None:
        job = _callers_job(id, caller, queue_host)
        with as_service_errors():
            change(job, queue_host)

    def answer(queue_host: QueueHost) -> JobView:
        return job_view(_known(id, queue_host), queue_host.matcher)

    return QueueRequest(apply, answer)


def _known(id: int, queue_host: QueueHost) -> QueueJob:
    with as_service_errors():
        return queue_host.scheduler.job(id)


def is_of_caller(job: QueueJob, caller: Caller) -> bool:
    """Whether a caller may see a job: its own, or all."""
    if caller.is_admin:
        return True
    return is_callers_job(job) and caller.may_use(job.submission.user)


def _callers_job(id: int, caller: Caller, queue_host: QueueHost) -> QueueJob:
    """A live job that this caller may change. Others belong to workloads of the cluster."""
    job = _known(id, queue_host)
    if not is_callers_job(job):
        owner = job.submission.workload or "another workload"
        raise WrongState(f"job {id} belongs to {owner}; change that instead")
    caller.check(id, job.submission.user)
    if job.state in ENDED:
        raise UnknownJob(f"job {id} ended: {job.state.value}")
    return job
