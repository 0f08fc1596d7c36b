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

from fluxnetes.match.answers import Answer, Outcome
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.events import Cancel, Event, Hold, Release, Started, Submit
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState
from fluxnetes.service.caller_leases import CallerLeases, is_callers_job
from fluxnetes.service.errors import UnknownJob, WrongState
from fluxnetes.service.mailbox import CALLED, QueueHost, QueueRequest, looking
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

_MATCHED = f"{CALLED}match:"
_SUBMITTED = f"{CALLED}submit:"
"""Prefixes of the workload of callers' jobs; the key of the request follows."""

_NOT_NOW = "the free resources are promised to other jobs"
_NO_ROOM = "it could not start at once"
_UNANSWERED = "its caller left before the answer"
_NO_PINS = "; this system promises times, not nodes: Submit the job to its queue instead"
_NO_USER = "nobody"

_Change = Callable[[QueueJob, QueueHost], None]


@dataclass(slots=True)
class _Progress:
    """What is known of a request between its steps."""

    job: int = 0
    refusal: Answer | None = None
    reason: str = ""
    began: float = 0.0


@dataclass(slots=True, eq=False)
class QueueOperations:
    """See the module's docstring. Used in the event loop of the queue."""

    leases: CallerLeases
    _keys: dict[tuple[str, str], int] = field(default_factory=dict)
    """The live job of each user and workload, of workloads with a key."""

    def begin(self, queue_host: QueueHost) -> None:
        """A term begins: index the live jobs of callers, and cancel matches left undecided."""
        self._keys.clear()
        for job in list(queue_host.scheduler.jobs.values()):
            if job.state in ENDED or not is_callers_job(job):
                continue
            if job.state in WAITING and job.submission.workload.startswith(_MATCHED):
                queue_host.put(Cancel(job.id, "the scheduler restarted before it was decided"))
            else:
                self._remember(job.submission)
        self.leases.begin(queue_host)

    def follow(self, changes: Changes, queue_host: QueueHost) -> None:
        """The queue's changes were committed."""
        self.leases.follow(changes, queue_host)
        for job in changes.jobs.values():
            key = (job.user, job.submission.workload)
            if job.state in ENDED and self._keys.get(key) == job.id:
                del self._keys[key]

    def _remember(self, submission: Submission) -> None:
        if submission.workload not in (_MATCHED, _SUBMITTED):  # else it has no key
            self._keys[submission.user, submission.workload] = submission.id

    def _find(self, user: str, workload: str, queue_host: QueueHost) -> int:
        """The live job of a user's key; 0: there is none."""
        job = queue_host.scheduler.jobs.get(self._keys.get((user, workload), 0))
        return 0 if job is None or job.state in ENDED else job.id

    # -- jobs that are matched -----------------------------------------------------------------

    def match(self, call: MatchCall) -> QueueRequest[Grant]:
        progress = _Progress()

        def apply(queue_host: QueueHost) -> None:
            progress.began = time.perf_counter()
            progress.job = self._find(call.user or _NO_USER, _MATCHED + call.key, queue_host)
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
                    user=call.user or _NO_USER,
                    name=call.name,
                    workload=_MATCHED + call.key,
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
            no_pins = _NO_PINS if call.reserve else ""
            if progress.refusal is not None:
                reason = progress.refusal.reason + no_pins
                return Grant(progress.refusal.outcome, 0, reason=reason, overhead=took)
            job = queue_host.scheduler.job(progress.job)
            if job.state in HOLDING:
                return _granted(job, call, queue_host, took)
            never = job.state is JobState.REJECTED
            reason = job.reason if never else (progress.reason or job.reason) + no_pins
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
        workload = _SUBMITTED + key

        def apply(queue_host: QueueHost) -> None:
            progress.job = self._find(submission.user, workload, queue_host)
            if not progress.job:
                check_queue(submission.queue, queue_host)
                request = resolved(submission.request, queue_host)
                resolved_submission = replace(submission, request=request, workload=workload)
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

    def start(self, id: int) -> QueueRequest[JobView]:
        return _changing(id, _putting(Started(id), unless=JobState.RUNNING))

    def hold(self, id: int) -> QueueRequest[JobView]:
        return _changing(id, _putting(Hold(id), unless=JobState.HELD))

    def release(self, id: int) -> QueueRequest[JobView]:
        return _changing(id, _putting(Release(id), unless=JobState.PENDING))

    def finish(self, id: int, ok: bool, reason: str) -> QueueRequest[JobView]:
        return _changing(
            id,
            lambda job, queue_host: self.leases.end(
                job, ok=ok, reason=reason, queue_host=queue_host
            ),
        )

    def cancel(self, id: int, reason: str) -> QueueRequest[JobView]:
        given = reason or "cancelled by its caller"
        return _changing(id, lambda job, queue_host: self.leases.cancel(job, given, queue_host))

    def renew(self, id: int) -> QueueRequest[int | None]:
        def answer(queue_host: QueueHost) -> int | None:
            job = _callers_job(id, queue_host)
            if job.state not in HOLDING:
                raise WrongState(f"job {id} is {job.state.value}; it has no allocation to renew")
            until = self.leases.renew(id)
            return None if until is None else int(until)

        return looking(answer)

    # -- views ---------------------------------------------------------------------------------

    def views(self, ids: Collection[int] | None) -> QueueRequest[list[JobView]]:
        def answer(queue_host: QueueHost) -> list[JobView]:
            jobs = queue_host.scheduler.jobs
            if ids is None:
                found = [job for job in jobs.values() if job.state not in ENDED]
            else:
                found = [jobs[id] for id in ids if id in jobs]
            return [job_view(job, queue_host.matcher) for job in found]

        return looking(answer)

    def explain(self, id: int) -> QueueRequest[JobExplanation]:
        def answer(queue_host: QueueHost) -> JobExplanation:
            job = _known(id, queue_host)
            found = queue_host.scheduler.explain(id, queue_host.now)
            return explained(found, job_view(job, queue_host.matcher))

        return looking(answer)


def _granted(job: QueueJob, call: MatchCall, queue_host: QueueHost, took: float) -> Grant:
    """What a job holds, as the answer to its match."""
    pods = call.request if isinstance(call.request, EqualPods) else None
    given = shares_of(job, queue_host.matcher, pods)
    placement = queue_host.matcher.jobs[job.id].placement
    text = written(queue_host.matcher.graph, placement, call.format)
    return Grant(Outcome.ALLOCATED, job.id, job.start or queue_host.now, "", given, text, took)


def _putting(event: Event, unless: JobState) -> _Change:
    """Applies an event, unless the job is in this state already."""

    def change(job: QueueJob, queue_host: QueueHost) -> None:
        if job.state is not unless:
            queue_host.put(event)

    return change


def _changing(id: int, change: _Change) -> QueueRequest[JobView]:
    """A change of a live job of a caller, answered with the job as it is then."""

    def apply(queue_host: QueueHost) -> None:
        job = _callers_job(id, queue_host)
        with as_service_errors():
            change(job, queue_host)

    def answer(queue_host: QueueHost) -> JobView:
        return job_view(_known(id, queue_host), queue_host.matcher)

    return QueueRequest(apply, answer)


def _known(id: int, queue_host: QueueHost) -> QueueJob:
    with as_service_errors():
        return queue_host.scheduler.job(id)


def _callers_job(id: int, queue_host: QueueHost) -> QueueJob:
    """A live job that callers may change. Other jobs belong to workloads of the cluster."""
    job = _known(id, queue_host)
    if not is_callers_job(job):
        owner = job.submission.workload or "another workload"
        raise WrongState(f"job {id} belongs to {owner}; change that instead")
    if job.state in ENDED:
        raise UnknownJob(f"job {id} ended: {job.state.value}")
    return job
