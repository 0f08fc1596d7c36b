"""The operations of a service on one matcher: load, match, cancel, grow, shrink and views.

Everything is synchronous, and must be called from one thread at a time.

As in the reference's service there is no clock: every match is at time 0 unless the caller passes
`now`, and an allocation is held until it is cancelled, however long that takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.writers.whole import write_graph
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.errors import UnknownMatchJob as NoSuchJob
from fluxnetes.match.gang.model import Seats
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.policy import PolicyError, parse_policy
from fluxnetes.queue.jobs import Request
from fluxnetes.service.callers import ADMIN, Caller
from fluxnetes.service.errors import Invalid, NoGraph, UnknownJob, as_invalid
from fluxnetes.service.requests.pods import asked_of, one_pod
from fluxnetes.service.values import (
    AllocationUpdate,
    EqualPods,
    Grant,
    GroupView,
    JobView,
    MatchCall,
)
from fluxnetes.service.views.allocation_text import written
from fluxnetes.service.views.shares import shares
from fluxnetes.service.views.tasks import EqualTasks, TaskCounter, tasks_of

LARGEST_JOB = 2**62
"""Maximum number that a caller may choose for a job, so that there are numbers left above it."""
_LATEST = 2**53
"""Maximum time on a caller's clock: sums of several are exact, and fit every column."""


@dataclass(frozen=True, slots=True)
class JobNotes:
    """What a service knows of a job besides its placement."""

    asked: Request | EqualPods | None = None
    """Its request; None: it was placed elsewhere."""
    name: str = ""
    size: int = 1
    key: str = ""
    since: int = 0
    """Seconds since the epoch."""
    user: str = ""


@dataclass(slots=True, eq=False)
class MatcherOperations:
    """See the module's docstring."""

    policy: str = "lonode"
    notes: dict[int, JobNotes] = field(default_factory=dict)
    """By number, of the jobs that are allocated or reserved."""
    _matcher: Matcher | None = None
    _keys: dict[tuple[str, str], int] = field(default_factory=dict)
    """The job of each user and key."""
    _default_policy: str = field(init=False)
    _graphs: int = 0
    """Counts the graphs: on another one, the same number means another job."""

    def __post_init__(self) -> None:
        try:
            parse_policy(self.policy)
        except PolicyError as error:
            raise Invalid(str(error), "policy") from None
        self._default_policy = self.policy

    @property
    def has_graph(self) -> bool:
        return self._matcher is not None

    @property
    def matcher(self) -> Matcher:
        if self._matcher is None:
            raise NoGraph
        return self._matcher

    @property
    def graph(self) -> ResourceGraph:
        return self.matcher.graph

    # -- the graph -----------------------------------------------------------------------------

    def load(self, text: str | bytes, format: str = "jgf", policy: str = "") -> int:
        """Replace the graph and forget all jobs; returns the number of vertices."""
        policy = policy or self._default_policy
        with as_invalid():
            matcher = Matcher(read_graph(text, format), policy=policy)
        self.begin(matcher, policy)
        return matcher.graph.vertex_count

    def begin(self, matcher: Matcher, policy: str) -> None:
        """Replace the matcher, and forget all jobs."""
        self._matcher, self.policy = matcher, policy
        self._graphs += 1
        self.notes.clear()
        self._keys.clear()

    def grow(self, jgf: str | bytes) -> int:
        with as_invalid():
            self.matcher.attach(jgf)
        return self.graph.vertex_count

    def shrink(self, paths: Iterable[str]) -> int:
        """Remove the subtrees at these paths: all of them or, if one does not exist, none."""
        paths = list(paths)
        root = self.graph.topology().vertex[0]
        for path in paths:
            found = self.graph.find_path(path)
            if not found:
                raise Invalid(f"no vertex has the path {path}", "paths")
            if root in found:
                raise Invalid(f"{path} is the root; the whole graph cannot be removed", "paths")
        for path in paths:
            if self.graph.find_path(path):  # not removed yet with a subtree above it
                self.matcher.remove(path)
        self._forget_empty_jobs()
        return self.graph.topology().vertex_count

    def _forget_empty_jobs(self) -> None:
        for job in [j for j in self.matcher.jobs.values() if j.cancelled]:
            self._forget(job.jobid)

    def text(self) -> bytes:
        """The whole graph, as JGF."""
        return write_graph(self.graph)

    # -- jobs ----------------------------------------------------------------------------------

    def match(self, call: MatchCall) -> Grant:
        """Allocate resources, or say why not."""
        _check_time(call.now, "now")
        if (call.user, call.key) in self._keys:
            return self._repeated(call)
        began = time.perf_counter()
        how = Operation.ALLOCATE_ORELSE_RESERVE if call.reserve else Operation.ALLOCATE
        request = self.request(call.request)
        answer = self._classified(request, self.matcher.match(how, request, now=call.now))
        grant = self._grant(answer, call, time.perf_counter() - began)
        if grant:
            since = int(time.time())
            note = JobNotes(call.request, call.name, call.size, call.key, since, call.user)
            self._note(grant.job, note)
        return grant

    def _note(self, job: int, note: JobNotes) -> None:
        self.notes[job] = note
        if note.key:
            self._keys[note.user, note.key] = job

    def _repeated(self, call: MatchCall) -> Grant:
        """The answer to a call that was executed before, under the same key."""
        job = self.matcher.jobs[self._keys[call.user, call.key]]
        outcome = Outcome.RESERVED if job.reserved else Outcome.ALLOCATED
        return self._grant(Answer(outcome, job.jobid, job.at, job.placement), call)

    def readmit(self, job: MatchedJob, note: JobNotes) -> None:
        """Restore a job with the placement that it had before a restart."""
        self.matcher.readmit(job)
        self._note(job.jobid, note)

    def request(self, asked: Request | EqualPods) -> Request:
        """The request in the resource types of this graph."""
        return asked_of(asked, self.graph)

    def _classified(self, request: Request, answer: Answer) -> Answer:
        """The answer, with busy replaced by unsatisfiable if the request can never fit."""
        if answer.outcome is not Outcome.BUSY:
            return answer
        ever = self.matcher.satisfiable(request)
        if ever:
            return answer
        return Answer(ever.outcome, answer.jobid, reason=ever.reason)

    def _grant(self, answer: Answer, call: MatchCall, took: float = 0.0) -> Grant:
        placement = answer.placement
        if placement is None:
            return Grant(answer.outcome, answer.jobid, reason=answer.reason, overhead=took)
        return Grant(
            answer.outcome,
            answer.jobid,
            answer.at,
            shares=shares(self.graph, placement, self._tasks(call.request, answer.seats)),
            text=written(self.graph, placement, call.format),
            overhead=took,
            graph=self._graphs,
        )

    def _tasks(
        self, asked: Request | EqualPods | None, seats: tuple[Seats, ...] = ()
    ) -> TaskCounter:
        if isinstance(asked, EqualPods):
            return EqualTasks(asked.count, one_pod(asked, self.graph))
        return tasks_of(asked, seats)

    def estimate(self, call: MatchCall) -> Grant:
        """Where and when the call would be placed now. Nothing is allocated."""
        began = time.perf_counter()
        how = Operation.WITHOUT_ALLOCATING_FUTURE
        request = self.request(call.request)
        answer = self._classified(request, self.matcher.match(how, request, now=call.now))
        return self._grant(answer, call, time.perf_counter() - began)

    @property
    def next_job(self) -> int:
        """The number of the next job; 1 without a graph."""
        return 1 if self._matcher is None else self._matcher.next_jobid

    def count_from(self, next_job: int) -> None:
        """Number the next job so."""
        self.matcher.next_jobid = next_job

    def update(self, allocation: AllocationUpdate) -> Grant:
        """Record an allocation that was made elsewhere."""
        if not 1 <= allocation.job <= LARGEST_JOB:
            raise Invalid(f"found {allocation.job}, expected 1 to {LARGEST_JOB}", "job")
        for name in ("at", "duration", "now"):
            _check_time(getattr(allocation, name), name)
        following = self.next_job
        try:
            return self._update(allocation)
        finally:  # the reference counts on from the given number, and would use numbers twice
            self.count_from(max(following, self.next_job))

    def _update(self, allocation: AllocationUpdate) -> Grant:
        with as_invalid():
            answer = self.matcher.update(
                allocation.text,
                allocation.format,
                jobid=allocation.job,
                at=allocation.at,
                duration=allocation.duration,
                now=allocation.now,
            )
        if answer:
            note = JobNotes(since=int(time.time()), user=allocation.user)
            self._note(allocation.job, note)
        placed = shares(self.graph, answer.placement) if answer.placement is not None else ()
        return Grant(
            answer.outcome, allocation.job, answer.at, answer.reason, placed, graph=self._graphs
        )

    def is_current(self, grant: Grant) -> bool:
        """Whether a grant is of this graph, and its job still holds it."""
        return grant.graph == self._graphs and grant.job in self.notes

    def cancel(self, job: int) -> None:
        """Release all that a job holds."""
        try:
            self.matcher.cancel(job)
        except NoSuchJob as error:
            raise UnknownJob(str(error)) from None
        self._forget(job)

    def _forget(self, job: int) -> None:
        self.matcher.forget(job)
        note = self.notes.pop(job, None)
        if note is not None and note.key:
            self._keys.pop((note.user, note.key), None)

    # -- views ---------------------------------------------------------------------------------

    def view(self, id: int) -> JobView | None:
        """A job that is allocated or reserved; None if it does not exist any more."""
        job, note = self.matcher.jobs.get(id), self.notes.get(id)
        if job is None or note is None:
            return None
        return JobView(
            id,
            "reserved" if job.reserved else "running",
            name=note.name,
            user=note.user,
            submitted=note.since,
            started=None if job.reserved else note.since,
            shares=shares(self.graph, job.placement, self._tasks(note.asked)),
        )

    def groups(self, caller: Caller = ADMIN) -> Iterator[GroupView]:
        """All jobs of a caller, as the old external service shows them."""
        for job, note in self.notes.items():
            if caller.may_use(note.user):
                yield GroupView(note.name or f"job-{job}", note.size)

    # -- owners --------------------------------------------------------------------------------

    def owner(self, job: int) -> str:
        """The user of a job; empty: unknown."""
        note = self.notes.get(job)
        return "" if note is None else note.user

    def check_owner(self, job: int, caller: Caller) -> None:
        """Raise Denied if a job exists and is not the caller's to change."""
        if job in self.notes:
            caller.check(job, self.owner(job))

    def check_owners(self, caller: Caller) -> None:
        """Raise Denied if a job exists that is not the caller's to change."""
        for job in self.notes:
            self.check_owner(job, caller)

    def check_owners_below(self, paths: Iterable[str], caller: Caller) -> None:
        """Raise Denied if a job below these paths is not the caller's to change."""
        tree = self.graph.topology()
        found = (vertex for path in paths for vertex in self.graph.find_path(path))
        parts = [tree.subtree(int(tree.position[vertex])) for vertex in found]
        below = np.concatenate([tree.vertex[part] for part in parts] or [tree.vertex[:0]])
        for job in self.notes:
            if np.isin(self.matcher.jobs[job].placement.vertex, below).any():
                self.check_owner(job, caller)


def _check_time(seconds: int, field: str) -> None:
    if not 0 <= seconds <= _LATEST:
        raise Invalid(f"found {seconds}, expected 0 to {_LATEST}", field)
