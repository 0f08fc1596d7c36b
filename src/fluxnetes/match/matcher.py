"""The matcher: where does a request fit, now or at the earliest later time?

    graph = read_graph(text, "jgf")
    matcher = Matcher(graph, policy="lonode")
    answer = matcher.allocate(jobspec(slot(1, core(4)), duration=3600))
    if not answer:
        print(answer.outcome, answer.reason)

Time is whole seconds on the caller's clock; `now` is told with every question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.jobspec.model import SLOT, XOR_SLOT, Jobspec, Resource
from fluxnetes.match.aggregates import add_up
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.engine import Engine, NothingHeld, Plan
from fluxnetes.match.errors import MatchError, UnknownJob, UnknownPath
from fluxnetes.match.filters import DEFAULT_FILTERS, FilterError
from fluxnetes.match.jobs import Job
from fluxnetes.match.place import Held
from fluxnetes.match.policy import PolicyError, parse_policy

__all__ = ["CancelCounts", "MatchError", "Matcher", "UnknownJob", "UnknownPath"]

HORIZON = 3_153_600_000
"""A graph lasts a hundred years unless told otherwise."""


@dataclass(frozen=True, slots=True)
class CancelCounts:
    """How many vertices the reference would visit to cancel a job."""

    preorder: int
    postorder: int


class Matcher:
    """Places jobs on one graph. See the module's docstring."""

    def __init__(
        self,
        graph: ResourceGraph,
        *,
        policy: str = "first",
        subsystems: tuple[str, ...] = ("containment",),
        traverser: str = "simple",
        prune_filters: str = DEFAULT_FILTERS,
        horizon: int = HORIZON,
    ) -> None:
        if traverser not in ("simple", "flexible"):
            raise MatchError(f"unknown traverser {traverser!r}; it is simple or flexible")
        for subsystem in subsystems:
            if subsystem not in graph.subsystems:
                raise MatchError(f"the graph has no subsystem {subsystem!r}")
        self.graph = graph
        self.horizon = horizon
        self.next_jobid = 1
        self.jobs: dict[int, Job] = {}
        self._subsystem = subsystems[0]
        self._filters = prune_filters
        self._flexible = traverser == "flexible"
        try:
            self._policy = parse_policy(policy)
            self._engine = self._build()
        except (PolicyError, FilterError) as error:
            raise MatchError(str(error)) from error

    def _build(self) -> Engine:
        return Engine(
            self.graph,
            policy=self._policy,
            subsystem=self._subsystem,
            filters=self._filters,
            flexible=self._flexible,
        )

    @property
    def engine(self) -> Engine:
        """The engine for the graph's present shape."""
        if self._engine.version != self.graph.version:
            self._engine = self._build()
            for job in self.jobs.values():
                if not job.cancelled:
                    held = self._engine.held(job.placement)
                    self._engine.enter(job.jobid, held, job.at, job.end, reserved=job.reserved)
        return self._engine

    # -- matching ------------------------------------------------------------------------------

    def allocate(self, jobspec: Jobspec, *, now: int = 0) -> Answer:
        """Place a job now, or say that the graph is too busy."""
        return self.match(Operation.ALLOCATE, jobspec, now=now)

    def allocate_orelse_reserve(self, jobspec: Jobspec, *, now: int = 0) -> Answer:
        """Place a job now or at the earliest time at which it fits."""
        return self.match(Operation.ALLOCATE_ORELSE_RESERVE, jobspec, now=now)

    def satisfiable(self, jobspec: Jobspec) -> Answer:
        """Whether a job would fit if the graph were empty and all of it up."""
        return self.match(Operation.SATISFIABILITY, jobspec)

    def match(self, operation: Operation, jobspec: Jobspec, *, now: int = 0) -> Answer:
        """Do one of the match operations for a job."""
        problem = self._problem(jobspec)
        if problem:
            return Answer(Outcome.INVALID, self.next_jobid, reason=problem)
        jobid = self.next_jobid
        records = operation in (
            Operation.ALLOCATE,
            Operation.ALLOCATE_WITH_SATISFIABILITY,
            Operation.ALLOCATE_ORELSE_RESERVE,
        )
        if records:
            self.next_jobid += 1
        return _Attempt(self, operation, jobspec, jobid, now, records).run()

    def _problem(self, jobspec: Jobspec) -> str:
        if not jobspec.resources:
            return "the jobspec asks for no resources"
        unknown = _unknown_type(jobspec.resources, self.graph)
        if unknown:
            known = ", ".join(sorted(set(self._types_present())))
            return f"no resource of type {unknown!r} is known here; the graph has {known}"
        if not 0 <= jobspec.duration <= self.horizon:
            return f"duration {jobspec.duration} is not between 0 and {self.horizon} seconds"
        return ""

    def _types_present(self) -> list[str]:
        return [self.graph.types.names[t] for t in np.unique(self.graph.type_id).tolist()]

    # -- what is held --------------------------------------------------------------------------

    def cancel(self, jobid: int) -> CancelCounts:
        """Give back all that a job holds."""
        job = self._held_job(jobid)
        counts = self._cancel_counts(job)
        self.engine.leave(jobid)
        job.cancelled = True
        return counts

    def _held_job(self, jobid: int) -> Job:
        job = self.jobs.get(jobid)
        if job is None or job.cancelled:
            raise UnknownJob(f"no job {jobid} holds resources")
        return job

    def _cancel_counts(self, job: Job) -> CancelCounts:
        tree = self.engine.tree
        position = tree.position[job.placement.vertex]
        position = position[position >= 0]
        degree = tree.first_child[position + 1] - tree.first_child[position]
        return CancelCounts(1 + int(degree.sum()), len(position))

    # -- vertices ------------------------------------------------------------------------------

    def _at(self, path: str) -> list[int]:
        found = self.graph.find_path(path)
        if not found:
            raise UnknownPath(f"no vertex has the path {path}")
        return found

    def set_status(self, path: str, up: bool) -> None:
        """Mark the vertices at a path up or down."""
        engine = self.engine
        for vertex in self._at(path):
            self.graph.set_status(vertex, up)
            position = int(engine.tree.position[vertex])
            if position >= 0:
                engine.ledger.mark(position, up)

    def set_property(self, path: str, key: str, value: str) -> None:
        """Give the vertices at a path a property."""
        for vertex in self._at(path):
            self.graph.set_property(vertex, key, value)
        self.engine.relabelled()

    def remove_property(self, path: str, key: str) -> None:
        for vertex in self._at(path):
            self.graph.remove_property(vertex, key)
        self.engine.relabelled()


class _Attempt:
    """One match of one job: now, then later if asked, then never if asked."""

    def __init__(
        self,
        matcher: Matcher,
        operation: Operation,
        jobspec: Jobspec,
        jobid: int,
        now: int,
        records: bool,
    ) -> None:
        self.matcher = matcher
        self.engine = matcher.engine
        self.operation = operation
        self.jobspec = jobspec
        self.jobid = jobid
        self.now = now
        self.records = records
        self.duration = math.ceil(jobspec.duration) or matcher.horizon
        self.plan = self.engine.plan(jobspec.resources, jobspec.constraint)
        self.needs = add_up(
            jobspec.resources, self.engine.filters.tracked, flexible=self.engine.flexible
        )

    def run(self) -> Answer:
        try:
            return self._run()
        except NothingHeld:
            reason = "nothing in the request is exclusive, so the job would hold nothing"
            return Answer(Outcome.BUSY, self.jobid, reason=reason)

    def _run(self) -> Answer:
        if self.operation is Operation.SATISFIABILITY:
            return self._satisfiable()
        infeasible = self._infeasible()
        if infeasible is not None:
            return infeasible
        held = self.engine.select(
            self.plan, self.engine.ledger.during(self.now, self.now + self.duration)
        )
        if held is not None:
            return self._accept(held, self.now)
        if self._may_wait():
            later = self._later()
            if later is not None:
                return later
        if self.operation in (Operation.ALLOCATE, Operation.WITHOUT_ALLOCATING):
            return self._busy()
        return self._busy() if self._satisfiable() else self._never()

    def _may_wait(self) -> bool:
        return self.operation in (
            Operation.ALLOCATE_ORELSE_RESERVE,
            Operation.WITHOUT_ALLOCATING_FUTURE,
        )

    def _later(self) -> Answer | None:
        engine = self.engine
        names = [engine.graph.types.names[t] for t in engine._root_types]
        needs = np.array([self.needs.get(name, 0) for name in names], np.int64)
        for at in engine.profile.times(self.now + 1, self.duration, needs).tolist():
            held = engine.select(self.plan, engine.ledger.later(at, at + self.duration))
            if held is not None:
                return self._accept(held, at)
        return None

    def _satisfiable(self) -> Answer:
        held = self.engine.select(self.plan, self.engine.ledger.everything())
        return Answer(Outcome.SATISFIABLE, self.jobid) if held is not None else self._never()

    def _accept(self, held: Held, at: int) -> Answer:
        matcher = self.matcher
        if at >= matcher.horizon:
            return self._busy()
        end = min(at + self.duration, matcher.horizon)
        placement = self.engine.placement(held, at, end, self.jobspec.queue)
        later = at > self.now
        if not self.records:
            return Answer(Outcome.MATCHED, self.jobid, at, placement)
        self.engine.enter(self.jobid, held, at, end, reserved=later)
        matcher.jobs[self.jobid] = Job(self.jobid, at, end, later, placement)
        outcome = Outcome.RESERVED if later else Outcome.ALLOCATED
        return Answer(outcome, self.jobid, at, placement)

    def _infeasible(self) -> Answer | None:
        return None

    def _busy(self) -> Answer:
        return Answer(Outcome.BUSY, self.jobid, reason="busy")

    def _never(self) -> Answer:
        return Answer(Outcome.UNSATISFIABLE, self.jobid, reason="never")


def _unknown_type(resources: tuple[Resource, ...], graph: ResourceGraph) -> str | None:
    for resource in resources:
        if resource.type not in (SLOT, XOR_SLOT) and resource.type not in graph.types:
            return resource.type
        below = _unknown_type(resource.children, graph)
        if below:
            return below
    return None


__all__ += ["Plan"]
