"""A matcher on one graph, as a service needs it: load, match, cancel, grow, shrink, look.

Nothing here waits or knows of a wire. Whoever calls does so from one thread at a time.

As for the reference's service, time stands still: every match is at 0 unless the caller says
otherwise, and what was allocated is held until it is cancelled, however long that takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

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
from fluxnetes.service.errors import Invalid, NoGraph, UnknownJob, said_as_invalid
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
"""Callers choose numbers, too; ours must have room above them."""


@dataclass(frozen=True, slots=True)
class JobNotes:
    """What is known of a job besides what it holds."""

    asked: Request | EqualPods | None = None
    """What it asked for; None: it was placed elsewhere."""
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
    """By job; of those that hold something, or will."""
    _matcher: Matcher | None = None
    _keys: dict[tuple[str, str], int] = field(default_factory=dict)
    """The job that was granted to each user and under each key."""
    _usual_policy: str = field(init=False)
    _graphs: int = 0
    """How many there were; on another one, numbers of jobs mean other jobs."""

    def __post_init__(self) -> None:
        try:
            parse_policy(self.policy)
        except PolicyError as error:
            raise Invalid(str(error), "policy") from None
        self._usual_policy = self.policy

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
        """Begin anew on another graph; returns how many vertices it has."""
        policy = policy or self._usual_policy
        with said_as_invalid():
            matcher = Matcher(read_graph(text, format), policy=policy)
        self.begin(matcher, policy)
        return matcher.graph.vertex_count

    def begin(self, matcher: Matcher, policy: str) -> None:
        self._matcher, self.policy = matcher, policy
        self._graphs += 1
        self.notes.clear()
        self._keys.clear()

    def grow(self, jgf: str | bytes) -> int:
        with said_as_invalid():
            self.matcher.attach(jgf)
        return self.graph.vertex_count

    def shrink(self, paths: Iterable[str]) -> int:
        """Take out what is at some paths: all of it or, if one of them leads nowhere, nothing."""
        paths = list(paths)
        root = self.graph.topology().vertex[0]
        for path in paths:
            found = self.graph.find_path(path)
            if not found:
                raise Invalid(f"no vertex has the path {path}", "paths")
            if root in found:
                raise Invalid(f"{path} is the root; the whole graph cannot be removed", "paths")
        for path in paths:
            if self.graph.find_path(path):  # not yet gone with one that is above it
                self.matcher.remove(path)
        self._forget_the_empty()
        return len(self.graph.topology())

    def _forget_the_empty(self) -> None:
        for job in [j for j in self.matcher.jobs.values() if j.cancelled]:
            self._forget(job.jobid)

    def text(self) -> bytes:
        """The whole graph, as JGF."""
        return write_graph(self.graph)

    # -- jobs ----------------------------------------------------------------------------------

    def match(self, wish: MatchCall) -> Grant:
        """Grant a wish, or say why not."""
        if (wish.user, wish.key) in self._keys:
            return self._again(wish)
        began = time.perf_counter()
        how = Operation.ALLOCATE_ORELSE_RESERVE if wish.reserve else Operation.ALLOCATE
        request = self.request(wish.request)
        answer = self._judged(request, self.matcher.match(how, request, now=wish.now))
        grant = self._grant(answer, wish, time.perf_counter() - began)
        if grant:
            since, asked = int(time.time()), wish.request
            note = JobNotes(asked, wish.name, wish.size, wish.key, since, wish.user)
            self._note(grant.job, note)
        return grant

    def _note(self, job: int, note: JobNotes) -> None:
        self.notes[job] = note
        if note.key:
            self._keys[note.user, note.key] = job

    def _again(self, wish: MatchCall) -> Grant:
        """The answer got lost, and the wish came again."""
        job = self.matcher.jobs[self._keys[wish.user, wish.key]]
        outcome = Outcome.RESERVED if job.reserved else Outcome.ALLOCATED
        return self._grant(Answer(outcome, job.jobid, job.at, job.placement), wish)

    def readmit(self, job: MatchedJob, note: JobNotes) -> None:
        """A job has what it had before we were restarted."""
        self.matcher.readmit(job)
        self._note(job.jobid, note)

    def request(self, asked: Request | EqualPods) -> Request:
        """What is asked for, as this graph can be asked for it."""
        return asked_of(asked, self.graph)

    def _judged(self, request: Request, answer: Answer) -> Answer:
        """Busy is no answer to what could never be: that is told apart."""
        if answer.outcome is not Outcome.BUSY:
            return answer
        ever = self.matcher.satisfiable(request)
        if ever:
            return answer
        return Answer(ever.outcome, answer.jobid, reason=ever.reason)

    def _grant(self, answer: Answer, wish: MatchCall, took: float = 0.0) -> Grant:
        placement = answer.placement
        if placement is None:
            return Grant(answer.outcome, answer.jobid, reason=answer.reason, overhead=took)
        return Grant(
            answer.outcome,
            answer.jobid,
            answer.at,
            shares=shares(self.graph, placement, self._tasks(wish.request, answer.seats)),
            text=written(self.graph, placement, wish.format),
            overhead=took,
            graph=self._graphs,
        )

    def _tasks(
        self, asked: Request | EqualPods | None, seats: tuple[Seats, ...] = ()
    ) -> TaskCounter:
        if isinstance(asked, EqualPods):
            return EqualTasks(asked.count, one_pod(asked, self.graph))
        return tasks_of(asked, seats)

    def estimate(self, wish: MatchCall) -> Grant:
        """Where and when it would be, if it were wished for now."""
        began = time.perf_counter()
        how = Operation.WITHOUT_ALLOCATING_FUTURE
        request = self.request(wish.request)
        answer = self._judged(request, self.matcher.match(how, request, now=wish.now))
        return self._grant(answer, wish, time.perf_counter() - began)

    def update(self, note: AllocationUpdate) -> Grant:
        """Take note of an allocation that was made elsewhere."""
        if not 1 <= note.job <= LARGEST_JOB:
            raise Invalid(f"found {note.job}, expected 1 to {LARGEST_JOB}", "job")
        following = self.matcher.next_jobid
        try:
            return self._update(note)
        finally:  # the reference counts on from here, and would give numbers twice
            self.matcher.next_jobid = max(following, self.matcher.next_jobid)

    def _update(self, note: AllocationUpdate) -> Grant:
        with said_as_invalid():
            answer = self.matcher.update(
                note.text,
                note.format,
                jobid=note.job,
                at=note.at,
                duration=note.duration,
                now=note.now,
            )
        if answer:
            self._note(note.job, JobNotes(since=int(time.time())))
        placed = shares(self.graph, answer.placement) if answer.placement is not None else ()
        return Grant(answer.outcome, note.job, answer.at, answer.reason, placed)

    def is_current(self, grant: Grant) -> bool:
        """Whether a grant is of this graph, and its job still has it."""
        return grant.graph == self._graphs and grant.job in self.notes

    def cancel(self, job: int) -> None:
        """Give back all that a job holds."""
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

    # -- looking -------------------------------------------------------------------------------

    def view(self, id: int) -> JobView | None:
        """A job that holds something, or will; None if it is no more."""
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

    def groups(self) -> Iterator[GroupView]:
        """All jobs, as the old external service tells of them."""
        for job, note in self.notes.items():
            yield GroupView(note.name or f"job-{job}", note.size)
