"""What callers do with a queue: their petitions.

A match is a job that starts in the very next cycle or not at all. It goes through the queue like
any other: it takes nothing that somebody was promised, and what it is given no pod is given.

What comes twice under one key, from one user, is done once, for as long as the job lives that was
made of it. A match and a submission never share a key.
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
from fluxnetes.service.caller_leases import CallerLeases, is_called
from fluxnetes.service.errors import UnknownJob, WrongState
from fluxnetes.service.mailbox import QueueHost, QueueRequest, looking
from fluxnetes.service.requests.resolve import (
    check_queue,
    queue_of,
    refused_now,
    resolved,
    said_to_callers,
)
from fluxnetes.service.values import EqualPods, Grant, JobExplanation, JobView, MatchCall
from fluxnetes.service.views.allocation_text import written
from fluxnetes.service.views.jobs import explained, job_view, shares_of

_NOT_NOW = Reason.of(Message.PROMISED_NOT_NOW)
_NO_ROOM = Reason.of(Message.NO_ROOM_AT_ONCE)
_NOBODY = "nobody"

Told = Callable[[QueueJob, QueueHost], None]


@dataclass(slots=True)
class _Made:
    """What became of a petition when it was handed in."""

    job: int = 0
    refused: Answer | None = None
    why: Reason | None = None
    began: float = 0.0


@dataclass(slots=True, eq=False)
class QueueOperations:
    """See the module's docstring. Used in the loop of whoever runs the queue."""

    leases: CallerLeases
    _keys: dict[tuple[str, Origin, str], int] = field(default_factory=dict)
    """The job that was made for each user, way of asking and key."""

    def begin(self, queue_host: QueueHost) -> None:
        """A term begins: know the jobs of callers that live."""
        self._keys.clear()
        for job in list(queue_host.scheduler.jobs.values()):
            if job.state in ENDED or not is_called(job):
                continue
            if job.state in WAITING and job.submission.origin is Origin.CALL_MATCH:
                queue_host.put(Cancel(job.id, Reason.of(Message.CALLER_UNANSWERED)))
            else:
                self._remember(job.submission)
        self.leases.begin(queue_host)

    def take(self, changes: Changes, queue_host: QueueHost) -> None:
        """Something was decided and written down."""
        self.leases.take(changes, queue_host)
        for job in changes.jobs.values():
            asked = job.submission
            key = (asked.user, asked.origin, asked.workload)
            if job.state in ENDED and self._keys.get(key) == job.id:
                del self._keys[key]

    def _remember(self, asked: Submission) -> None:
        if asked.workload:
            self._keys[asked.user, asked.origin, asked.workload] = asked.id

    def _made_before(self, user: str, origin: Origin, key: str, queue_host: QueueHost) -> int:
        """The job that was made under a key and still lives; 0: there is none."""
        job = queue_host.scheduler.jobs.get(self._keys.get((user, origin, key), 0))
        return 0 if job is None or job.state in ENDED else job.id

    # -- jobs that are matched -----------------------------------------------------------------

    def match(self, wish: MatchCall) -> QueueRequest[Grant]:
        made = _Made()

        def hand_in(queue_host: QueueHost) -> None:
            made.began = time.perf_counter()
            user = wish.user or _NOBODY
            made.job = self._made_before(user, Origin.CALL_MATCH, wish.key, queue_host)
            if made.job:
                return
            request = resolved(wish.request, queue_host)
            made.refused = refused_now(request, queue_host)
            if made.refused is None:
                asked = Submission(
                    0,
                    request,
                    walltime=ceil(request.duration) or None,
                    queue=queue_of(request, queue_host),
                    user=user,
                    name=wish.name,
                    workload=wish.key,
                    origin=Origin.CALL_MATCH,
                )
                made.job = self._submit(asked, queue_host)

        def settle(queue_host: QueueHost) -> None:
            job = queue_host.scheduler.jobs.get(made.job)
            if job is not None and job.state is JobState.ALLOCATED:
                queue_host.put(Started(job.id))
            elif job is not None and job.state in WAITING:
                made.why = queue_host.scheduler.explain(job.id, queue_host.now).reason or _NOT_NOW
                queue_host.put(Cancel(job.id, _NO_ROOM))

        def answer(queue_host: QueueHost) -> Grant:
            took = time.perf_counter() - made.began
            if made.refused is not None:
                why = _no_pins(made.refused.reason, wish)
                return Grant(made.refused.outcome, 0, reason=why, overhead=took)
            job = queue_host.scheduler.job(made.job)
            if job.state in HOLDING:
                return _granted(job, wish, queue_host, took)
            never = job.state is JobState.REJECTED
            why = job.reason if never else _no_pins(made.why or job.reason, wish)
            outcome = Outcome.UNSATISFIABLE if never else Outcome.BUSY
            return Grant(outcome, job.id, reason=why, overhead=took)

        return QueueRequest(hand_in, answer, settle, None if wish.key else self._undo)

    def _undo(self, queue_host: QueueHost, grant: Grant) -> None:
        self.take_back(grant, queue_host, Reason.of(Message.CALLER_LEFT))

    def take_back(self, grant: Grant, queue_host: QueueHost, reason: Reason) -> None:
        """Nobody has what was granted; if it is gone already, all is well."""
        job = queue_host.scheduler.jobs.get(grant.job)
        if grant and job is not None and job.state not in ENDED:
            self.leases.call_off(job, reason, queue_host)

    # -- jobs that are queued ------------------------------------------------------------------

    def submit(self, submission: Submission, key: str) -> QueueRequest[JobView]:
        made = _Made()

        def hand_in(queue_host: QueueHost) -> None:
            made.job = self._made_before(submission.user, Origin.CALL_SUBMIT, key, queue_host)
            if not made.job:
                check_queue(submission.queue, queue_host)
                request = resolved(submission.request, queue_host)
                asked = replace(
                    submission, request=request, workload=key, origin=Origin.CALL_SUBMIT
                )
                made.job = self._submit(asked, queue_host)

        def answer(queue_host: QueueHost) -> JobView:
            return job_view(queue_host.scheduler.job(made.job), queue_host.matcher)

        return QueueRequest(hand_in, answer)

    def _submit(self, submission: Submission, queue_host: QueueHost) -> int:
        asked = replace(submission, id=queue_host.next_id)
        with said_to_callers():
            queue_host.put(Submit(asked))
        queue_host.next_id += 1
        self._remember(asked)
        return asked.id

    def start(self, id: int) -> QueueRequest[JobView]:
        return _told(id, _putting(Started(id), unless=JobState.RUNNING))

    def hold(self, id: int) -> QueueRequest[JobView]:
        return _told(id, _putting(Hold(id), unless=JobState.HELD))

    def release(self, id: int) -> QueueRequest[JobView]:
        return _told(id, _putting(Release(id), unless=JobState.PENDING))

    def finish(self, id: int, ok: bool, reason: str) -> QueueRequest[JobView]:
        code = ReasonCode.COMPLETED if ok else ReasonCode.FAILED
        why = Reason.from_text(reason, code) if reason else None
        return _told(
            id,
            lambda job, queue_host: self.leases.end(job, ok=ok, reason=why, queue_host=queue_host),
        )

    def cancel(self, id: int, reason: str) -> QueueRequest[JobView]:
        why = Reason.of(Message.CANCELLED_BY_CALLER)
        if reason:
            why = Reason.from_text(reason, ReasonCode.CANCELLED)
        return _told(id, lambda job, queue_host: self.leases.call_off(job, why, queue_host))

    def renew(self, id: int) -> QueueRequest[int | None]:
        def answer(queue_host: QueueHost) -> int | None:
            job = _callers(id, queue_host)
            if job.state not in HOLDING:
                raise WrongState(f"job {id} is {job.state.value}; it holds nothing that expires")
            until = self.leases.renew(id)
            return None if until is None else int(until)

        return looking(answer)

    # -- looking -------------------------------------------------------------------------------

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


def _no_pins(reason: Reason | None, wish: MatchCall) -> Reason | None:
    """Why a match got nothing; to a caller who asked to reserve, also what to do instead."""
    if reason is None or not wish.reserve:
        return reason
    return Reason.of(Message.NO_PINS, reason=reason).coded(reason.code)


def _granted(job: QueueJob, wish: MatchCall, queue_host: QueueHost, took: float) -> Grant:
    """What a job was given, as whoever wished for it is told."""
    pods = wish.request if isinstance(wish.request, EqualPods) else None
    given = shares_of(job, queue_host.matcher, pods)
    placement = queue_host.matcher.jobs[job.id].placement
    text = written(queue_host.matcher.graph, placement, wish.format)
    return Grant(Outcome.ALLOCATED, job.id, job.start or queue_host.now, None, given, text, took)


def _putting(event: Event, unless: JobState) -> Told:
    """Tells the queue something, unless it is so already."""

    def tell(job: QueueJob, queue_host: QueueHost) -> None:
        if job.state is not unless:
            queue_host.put(event)

    return tell


def _told(id: int, tell: Told) -> QueueRequest[JobView]:
    """Something is told of a job that lives."""

    def hand_in(queue_host: QueueHost) -> None:
        job = _callers(id, queue_host)
        with said_to_callers():
            tell(job, queue_host)

    def answer(queue_host: QueueHost) -> JobView:
        return job_view(_known(id, queue_host), queue_host.matcher)

    return QueueRequest(hand_in, answer)


def _known(id: int, queue_host: QueueHost) -> QueueJob:
    with said_to_callers():
        return queue_host.scheduler.job(id)


def _callers(id: int, queue_host: QueueHost) -> QueueJob:
    """A job that lives and that callers may change. Others have their owners on the cluster."""
    job = _known(id, queue_host)
    if not is_called(job):
        thing = job.submission.workload or "something else"
        raise WrongState(f"job {id} stands for {thing}; change that instead")
    if job.state in ENDED:
        raise UnknownJob(f"job {id} is over: {job.state.value}")
    return job
