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

from fluxnetes.match.answers import Answer, Outcome
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.events import Cancel, Event, Hold, Release, Started, Submit
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState
from fluxnetes.service.caller_leases import CallerLeases, is_called
from fluxnetes.service.errors import UnknownJob, WrongState
from fluxnetes.service.mailbox import CALLED, QueueHost, QueueRequest, looking
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

_MATCHED = f"{CALLED}match:"
_SUBMITTED = f"{CALLED}submit:"
"""How the workload of a job begins, before the key of whoever asked."""

_NOT_NOW = "there is room, but others were promised it"
_NO_ROOM = "there was no room for it at once"
_NO_PINS = "; this system promises times, not nodes: Submit the job to its queue instead"
_NOBODY = "nobody"

Told = Callable[[QueueJob, QueueHost], None]


@dataclass(slots=True)
class _Made:
    """What became of a petition when it was handed in."""

    job: int = 0
    refused: Answer | None = None
    why: str = ""
    began: float = 0.0


@dataclass(slots=True, eq=False)
class QueueOperations:
    """See the module's docstring. Used in the loop of whoever runs the queue."""

    custody: CallerLeases
    _keys: dict[tuple[str, str], int] = field(default_factory=dict)
    """The job that was made for each user and workload with a key."""

    def begin(self, office: QueueHost) -> None:
        """A term begins: know the jobs of callers that live."""
        self._keys.clear()
        for job in list(office.scheduler.jobs.values()):
            if job.state in ENDED or not is_called(job):
                continue
            if job.state in WAITING and job.submission.workload.startswith(_MATCHED):
                office.put(Cancel(job.id, "whoever matched it had no answer"))
            else:
                self._remember(job.submission)
        self.custody.begin(office)

    def take(self, changes: Changes, office: QueueHost) -> None:
        """Something was decided and written down."""
        self.custody.take(changes, office)
        for job in changes.jobs.values():
            key = (job.user, job.submission.workload)
            if job.state in ENDED and self._keys.get(key) == job.id:
                del self._keys[key]

    def _remember(self, asked: Submission) -> None:
        if asked.workload not in (_MATCHED, _SUBMITTED):
            self._keys[asked.user, asked.workload] = asked.id

    def _made_before(self, user: str, workload: str, office: QueueHost) -> int:
        """The job that was made under a key and still lives; 0: there is none."""
        job = office.scheduler.jobs.get(self._keys.get((user, workload), 0))
        return 0 if job is None or job.state in ENDED else job.id

    # -- jobs that are matched -----------------------------------------------------------------

    def match(self, wish: MatchCall) -> QueueRequest[Grant]:
        made = _Made()

        def hand_in(office: QueueHost) -> None:
            made.began = time.perf_counter()
            made.job = self._made_before(wish.user or _NOBODY, _MATCHED + wish.key, office)
            if made.job:
                return
            request = resolved(wish.request, office)
            made.refused = refused_now(request, office)
            if made.refused is None:
                asked = Submission(
                    0,
                    request,
                    walltime=ceil(request.duration) or None,
                    queue=queue_of(request, office),
                    user=wish.user or _NOBODY,
                    name=wish.name,
                    workload=_MATCHED + wish.key,
                )
                made.job = self._submit(asked, office)

        def settle(office: QueueHost) -> None:
            job = office.scheduler.jobs.get(made.job)
            if job is not None and job.state is JobState.ALLOCATED:
                office.put(Started(job.id))
            elif job is not None and job.state in WAITING:
                made.why = office.scheduler.explain(job.id, office.now).reason or _NOT_NOW
                office.put(Cancel(job.id, _NO_ROOM))

        def answer(office: QueueHost) -> Grant:
            took = time.perf_counter() - made.began
            no_pins = _NO_PINS if wish.reserve else ""
            if made.refused is not None:
                why = made.refused.reason + no_pins
                return Grant(made.refused.outcome, 0, reason=why, overhead=took)
            job = office.scheduler.job(made.job)
            if job.state in HOLDING:
                return _granted(job, wish, office, took)
            never = job.state is JobState.REJECTED
            why = job.reason if never else (made.why or job.reason) + no_pins
            outcome = Outcome.UNSATISFIABLE if never else Outcome.BUSY
            return Grant(outcome, job.id, reason=why, overhead=took)

        return QueueRequest(hand_in, answer, settle, None if wish.key else self._undo)

    def _undo(self, office: QueueHost, grant: Grant) -> None:
        self.take_back(grant, office, "nobody waited for the answer")

    def take_back(self, grant: Grant, office: QueueHost, reason: str) -> None:
        """Nobody has what was granted; if it is gone already, all is well."""
        job = office.scheduler.jobs.get(grant.job)
        if grant and job is not None and job.state not in ENDED:
            self.custody.call_off(job, reason, office)

    # -- jobs that are queued ------------------------------------------------------------------

    def submit(self, submission: Submission, key: str) -> QueueRequest[JobView]:
        made = _Made()
        workload = _SUBMITTED + key

        def hand_in(office: QueueHost) -> None:
            made.job = self._made_before(submission.user, workload, office)
            if not made.job:
                check_queue(submission.queue, office)
                request = resolved(submission.request, office)
                asked = replace(submission, request=request, workload=workload)
                made.job = self._submit(asked, office)

        def answer(office: QueueHost) -> JobView:
            return job_view(office.scheduler.job(made.job), office.matcher)

        return QueueRequest(hand_in, answer)

    def _submit(self, submission: Submission, office: QueueHost) -> int:
        asked = replace(submission, id=office.next_id)
        with said_to_callers():
            office.put(Submit(asked))
        office.next_id += 1
        self._remember(asked)
        return asked.id

    def start(self, id: int) -> QueueRequest[JobView]:
        return _told(id, _putting(Started(id), unless=JobState.RUNNING))

    def hold(self, id: int) -> QueueRequest[JobView]:
        return _told(id, _putting(Hold(id), unless=JobState.HELD))

    def release(self, id: int) -> QueueRequest[JobView]:
        return _told(id, _putting(Release(id), unless=JobState.PENDING))

    def finish(self, id: int, ok: bool, reason: str) -> QueueRequest[JobView]:
        return _told(
            id, lambda job, office: self.custody.end(job, ok=ok, reason=reason, office=office)
        )

    def cancel(self, id: int, reason: str) -> QueueRequest[JobView]:
        why = reason or "cancelled by its caller"
        return _told(id, lambda job, office: self.custody.call_off(job, why, office))

    def renew(self, id: int) -> QueueRequest[int | None]:
        def answer(office: QueueHost) -> int | None:
            job = _callers(id, office)
            if job.state not in HOLDING:
                raise WrongState(f"job {id} is {job.state.value}; it holds nothing that expires")
            until = self.custody.renew(id)
            return None if until is None else int(until)

        return looking(answer)

    # -- looking -------------------------------------------------------------------------------

    def views(self, ids: Collection[int] | None) -> QueueRequest[list[JobView]]:
        def answer(office: QueueHost) -> list[JobView]:
            jobs = office.scheduler.jobs
            if ids is None:
                found = [job for job in jobs.values() if job.state not in ENDED]
            else:
                found = [jobs[id] for id in ids if id in jobs]
            return [job_view(job, office.matcher) for job in found]

        return looking(answer)

    def explain(self, id: int) -> QueueRequest[JobExplanation]:
        def answer(office: QueueHost) -> JobExplanation:
            job = _known(id, office)
            found = office.scheduler.explain(id, office.now)
            return explained(found, job_view(job, office.matcher))

        return looking(answer)


def _granted(job: QueueJob, wish: MatchCall, office: QueueHost, took: float) -> Grant:
    """What a job was given, as whoever wished for it is told."""
    pods = wish.request if isinstance(wish.request, EqualPods) else None
    given = shares_of(job, office.matcher, pods)
    placement = office.matcher.jobs[job.id].placement
    text = written(office.matcher.graph, placement, wish.format)
    return Grant(Outcome.ALLOCATED, job.id, job.start or office.now, "", given, text, took)


def _putting(event: Event, unless: JobState) -> Told:
    """Tells the queue something, unless it is so already."""

    def tell(job: QueueJob, office: QueueHost) -> None:
        if job.state is not unless:
            office.put(event)

    return tell


def _told(id: int, tell: Told) -> QueueRequest[JobView]:
    """Something is told of a job that lives."""

    def hand_in(office: QueueHost) -> None:
        job = _callers(id, office)
        with said_to_callers():
            tell(job, office)

    def answer(office: QueueHost) -> JobView:
        return job_view(_known(id, office), office.matcher)

    return QueueRequest(hand_in, answer)


def _known(id: int, office: QueueHost) -> QueueJob:
    with said_to_callers():
        return office.scheduler.job(id)


def _callers(id: int, office: QueueHost) -> QueueJob:
    """A job that lives and that callers may change. Others have their owners on the cluster."""
    job = _known(id, office)
    if not is_called(job):
        thing = job.submission.workload or "something else"
        raise WrongState(f"job {id} stands for {thing}; change that instead")
    if job.state in ENDED:
        raise UnknownJob(f"job {id} is over: {job.state.value}")
    return job
