"""What callers do with a queue: their petitions, and who looks after their jobs.

A job that a caller matched or submitted stands for nothing on the cluster but what the caller puts
there. So its caller says that it runs, that it is over, that it is still wanted. What nobody
renews, and no pod uses, expires; what is told to go is gone when its grace is over, whatever its
caller does.

A match is a job that starts in the very next cycle or not at all. It goes through the queue like
any other: it takes nothing that somebody was promised, and what it is given no pod is given.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from math import ceil

from fluxnetes.controller.petitions import CALLED, Office, Petition, looking
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.queue.asks import narrowed
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.errors import QueueError, UnknownQueue
from fluxnetes.queue.errors import UnknownJob as NoSuchJob
from fluxnetes.queue.events import Cancel, Ended, Event, Hold, Release, Started, Submit
from fluxnetes.queue.jobs import Job, Request, Submission
from fluxnetes.queue.states import ENDED, HOLDING, Cause, State
from fluxnetes.rpc.podspecs import request_for
from fluxnetes.rpc.pooled import pooled
from fluxnetes.rpc.refusals import Invalid, UnknownJob, WrongState
from fluxnetes.rpc.texts import written
from fluxnetes.rpc.values import Explained, Grant, JobView, Pods, Wish
from fluxnetes.rpc.views import explained, job_view, shares_of

_NOT_NOW = "there is room, but others were promised it"
_NO_PINS = "; this system promises times, not nodes: Submit the job to its queue instead"


@dataclass(slots=True, eq=False)
class Clerk:
    """See the module's docstring. Used in the loop of whoever runs the queue."""

    patience: float | None = None
    """Seconds after which what nobody renews or uses expires; None: never."""
    _keys: dict[str, int] = field(default_factory=dict)
    """The job that was made under each key."""
    _wanted: dict[int, float] = field(default_factory=dict)
    """When callers' jobs that hold something were last known to be wanted, by number."""

    # -- a term begins -------------------------------------------------------------------------

    def begin(self, office: Office) -> None:
        """Know the jobs of callers that live; whoever wants one still has time to say so."""
        self._keys.clear()
        self._wanted.clear()
        for job in office.scheduler.jobs.values():
            if job.state not in ENDED and is_called(job):
                self._know(job, office)

    def _know(self, job: Job, office: Office) -> None:
        key = job.submission.workload.removeprefix(CALLED)
        if key:
            self._keys[key] = job.id
        if job.state in HOLDING:
            self._lend(job, office)

    def _lend(self, job: Job, office: Office) -> None:
        self._wanted[job.id] = time.monotonic()
        given = shares_of(job, office.matcher)
        office.lend(job.id, {share.node: share.amounts for share in given})

    # -- in every round ------------------------------------------------------------------------

    def tend(self, office: Office) -> None:
        """Look after callers' jobs."""
        jobs = office.scheduler.jobs
        for id in list(self._wanted):
            job = jobs.get(id)
            if job is None or job.state not in HOLDING:
                del self._wanted[id]
                office.lend(id, None)
            elif job.state is State.ENDING:
                self._see_off(job, office)
            elif office.borrowers(id):
                self._wanted[id] = time.monotonic()
            elif self._is_expired(id):
                why = f"nobody renewed or used it for {self.patience:.0f} s"
                office.put(Cancel(id, why))

    def _see_off(self, job: Job, office: Office) -> None:
        """It was told to go. Who called it off itself needs no time for that."""
        is_over = job.expected is not None and office.now >= job.expected
        if is_over or job.cause is Cause.CANCELLED:
            office.put(Ended(job.id, ok=False, reason=job.reason))

    def _is_expired(self, id: int) -> bool:
        return self.patience is not None and time.monotonic() - self._wanted[id] > self.patience

    def take(self, changes: Changes, office: Office) -> None:
        """Something was decided and written down."""
        for job in changes.jobs.values():
            self.follow(job, office)
            if job.state in ENDED and is_called(job):
                self._keys.pop(job.submission.workload.removeprefix(CALLED), None)

    def follow(self, job: Job, office: Office) -> None:
        """A job of a caller may have been given something."""
        if is_called(job) and job.state in HOLDING and job.id not in self._wanted:
            self._lend(job, office)

    # -- petitions: jobs that are matched ------------------------------------------------------

    def match(self, wish: Wish) -> Petition[Grant]:
        made = _Made()

        def hand_in(office: Office) -> None:
            made.began = time.perf_counter()
            if wish.key in self._keys:
                made.job = self._keys[wish.key]
                return
            request = resolved(wish.request, office)
            refused = _refused(request, office)
            if refused is not None:
                made.refused = refused
                return
            asked = Submission(0, request, walltime=ceil(request.duration) or None, name=wish.name)
            made.job = self._submit(asked, wish.key, office)

        def answer(office: Office) -> Grant:
            took = time.perf_counter() - made.began
            if made.refused is not None:
                why = made.refused.reason + (_NO_PINS if wish.reserve else "")
                return Grant(made.refused.outcome, 0, reason=why, overhead=took)
            return self._granted(office.scheduler.job(made.job), wish, office, took)

        return Petition(hand_in, answer, self._undo if not wish.key else None)

    def _granted(self, job: Job, wish: Wish, office: Office, took: float) -> Grant:
        if job.state in HOLDING:
            if job.state is State.ALLOCATED:
                office.put(Started(job.id))
            self.follow(job, office)
            given = shares_of(job, office.matcher)
            placement = office.matcher.jobs[job.id].placement
            text = written(office.matcher.graph, placement, wish.format)
            return Grant(Outcome.ALLOCATED, job.id, office.now, "", given, text, took)
        if job.state is State.REJECTED:
            return Grant(Outcome.UNSATISFIABLE, job.id, reason=job.reason, overhead=took)
        why = office.scheduler.explain(job.id, office.now).reason or _NOT_NOW
        if job.state not in ENDED:
            office.put(Cancel(job.id, "there was no room for it at once"))
        return Grant(Outcome.BUSY, job.id, reason=why, overhead=took)

    def _undo(self, office: Office, grant: Grant) -> None:
        job = office.scheduler.jobs.get(grant.job)
        if grant and job is not None and job.state not in ENDED:
            office.put(Cancel(grant.job, "nobody waited for the answer"))

    # -- petitions: jobs that are queued -------------------------------------------------------

    def submit(self, submission: Submission, key: str) -> Petition[JobView]:
        made = _Made()

        def hand_in(office: Office) -> None:
            if key in self._keys:
                made.job = self._keys[key]
                return
            asked = replace(submission, request=resolved(submission.request, office))
            made.job = self._submit(asked, key, office)

        def answer(office: Office) -> JobView:
            job = office.scheduler.job(made.job)
            self.follow(job, office)
            return job_view(job, office.matcher)

        return Petition(hand_in, answer)

    def _submit(self, submission: Submission, key: str, office: Office) -> int:
        id = office.next_id
        _put(Submit(replace(submission, id=id, workload=CALLED + key)), office)
        office.next_id += 1
        if key:
            self._keys[key] = id
        return id

    def start(self, id: int) -> Petition[JobView]:
        return self._told(id, Started(id), again=State.RUNNING)

    def hold(self, id: int) -> Petition[JobView]:
        return self._told(id, Hold(id), again=State.HELD)

    def release(self, id: int) -> Petition[JobView]:
        return self._told(id, Release(id), again=State.PENDING)

    def finish(self, id: int, ok: bool, reason: str) -> Petition[JobView]:
        return self._told(id, Ended(id, ok, reason))

    def cancel(self, id: int, reason: str) -> Petition[JobView]:
        """It may be called off while it is told to go already."""
        return self._told(id, Cancel(id, reason or "cancelled by its caller"), again=State.ENDING)

    def _told(self, id: int, event: Event, again: State | None = None) -> Petition[JobView]:
        """Tell the queue something of a job, unless that is so already."""

        def hand_in(office: Office) -> None:
            job = _callers(id, office)
            if job.state in ENDED:
                raise UnknownJob(f"job {id} is over: {job.state.value}")
            if job.state is not again:
                _put(event, office)

        def answer(office: Office) -> JobView:
            self.tend(office)
            return job_view(office.scheduler.job(id), office.matcher)

        return Petition(hand_in, answer)

    def renew(self, id: int) -> Petition[int | None]:
        def answer(office: Office) -> int | None:
            if id not in self._wanted:
                raise UnknownJob(f"no job {id} of a caller holds anything")
            self._wanted[id] = time.monotonic()
            return None if self.patience is None else int(time.time() + self.patience)

        return looking(answer)

    # -- petitions: looking --------------------------------------------------------------------

    def views(self, ids: Collection[int] | None) -> Petition[list[JobView]]:
        def answer(office: Office) -> list[JobView]:
            jobs = office.scheduler.jobs
            if ids is None:
                found = [job for job in jobs.values() if job.state not in ENDED]
            else:
                found = [jobs[id] for id in ids if id in jobs]
            return [job_view(job, office.matcher) for job in found]

        return looking(answer)

    def explain(self, id: int) -> Petition[Explained]:
        def answer(office: Office) -> Explained:
            job = _known(id, office)
            found = office.scheduler.explain(id, office.now)
            return explained(found, job_view(job, office.matcher))

        return looking(answer)


@dataclass(slots=True)
class _Made:
    """What became of a petition when it was handed in."""

    job: int = 0
    refused: Answer | None = None
    began: float = 0.0


def is_called(job: Job) -> bool:
    """Whether a job is that of a caller."""
    return job.submission.workload.startswith(CALLED)


def _known(id: int, office: Office) -> Job:
    try:
        return office.scheduler.job(id)
    except NoSuchJob as error:
        raise UnknownJob(str(error)) from None


def _callers(id: int, office: Office) -> Job:
    """A job that callers may change. Others have their owners on the cluster."""
    job = _known(id, office)
    if not is_called(job):
        thing = job.submission.workload or "something else"
        raise WrongState(f"job {id} stands for {thing}; change that instead")
    return job


def _put(event: Event, office: Office) -> None:
    try:
        office.put(event)
    except NoSuchJob as error:
        raise UnknownJob(str(error)) from None
    except UnknownQueue as error:
        raise Invalid(str(error), "queue") from None
    except QueueError as error:
        raise WrongState(str(error)) from None


def resolved(asked: Request | Pods, office: Office) -> Request:
    """What is asked for, as the queue's graph can be asked for it."""
    graph = office.matcher.graph
    request = request_for(asked, graph) if isinstance(asked, Pods) else asked
    request = pooled(request, graph)
    where = office.where()
    return request if where is None else narrowed(request, where)


def _refused(request: Request, office: Office) -> Answer | None:
    """Why a request cannot be served now, whatever the queue thinks of it; None: it can."""
    matcher = office.matcher
    answer = matcher.match(Operation.WITHOUT_ALLOCATING, request, now=office.now)
    if answer:
        return None
    if answer.outcome is Outcome.BUSY:
        ever = matcher.satisfiable(request)
        if not ever:
            return ever
    return answer
