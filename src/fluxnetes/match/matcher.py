"""The matcher: places requests on one graph, now or at the earliest later time.

    graph = read_graph(text, "jgf")
    matcher = Matcher(graph, policy="lonode")
    answer = matcher.allocate(jobspec(slot(1, core(4)), duration=3600))
    if not answer:
        print(answer.outcome, answer.reason)

Time is whole seconds on the caller's clock; the caller passes `now` with every request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.common.reasons import Reason, ReasonCode
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.readers.jgf import attach_jgf
from fluxnetes.graph.readers.jgf_selection import read_jgf_vertices
from fluxnetes.graph.readers.rv1_document import read_rv1_ranks
from fluxnetes.graph.topology import ragged
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.adopt import find_conflict, read_adopted
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.attempt import RECORDED, Attempt
from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.errors import MatchError, UnknownMatchJob, UnknownPath
from fluxnetes.match.find.facts import TreeFacts
from fluxnetes.match.find.query import emitted, parse_query
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.ledger.ledger import FOREVER
from fluxnetes.match.ledger.prune_filters import DEFAULT_FILTERS, FilterError
from fluxnetes.match.policy import PolicyError, parse_policy
from fluxnetes.match.requests import GangRequest, InvalidRequest, JobspecRequest, MatchRequest

__all__ = ["CancelCounts", "MatchError", "Matcher", "UnknownMatchJob", "UnknownPath"]

HORIZON = 3_153_600_000
"""Default lifetime of a graph in seconds: a hundred years."""


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
            raise MatchError(f"unknown traverser {traverser!r}; known are simple and flexible")
        for subsystem in subsystems:
            if subsystem not in graph.subsystems:
                raise MatchError(f"the graph has no subsystem {subsystem!r}")
        self.graph = graph
        self.horizon = horizon
        self.next_jobid = 1
        self.jobs: dict[int, MatchedJob] = {}
        self._subsystem = subsystems[0]
        self._filters = prune_filters
        self._flexible = traverser == "flexible"
        self._moves = graph.moves
        try:
            self._policy = parse_policy(policy)
            self._engine = self._build()
        except (PolicyError, FilterError) as error:
            raise MatchError(str(error)) from error

    def _build(self, leaf_types: frozenset[str] = frozenset()) -> MatchEngine:
        return MatchEngine(
            self.graph,
            policy=self._policy,
            subsystem=self._subsystem,
            filters=self._filters,
            flexible=self._flexible,
            leaf_types=leaf_types,
        )

    @property
    def engine(self) -> MatchEngine:
        """The engine for the graph's current shape."""
        if self._engine.version != self.graph.version:
            old, has_moved = self._engine, self._moves != self.graph.moves
            self._engine, self._moves = self._build(old.leaf_types), self.graph.moves
            self._engine.inherit(old)
            for job in self.jobs.values():
                if not job.cancelled:
                    held = self._engine.held(job.placement)
                    if has_moved or not old.tree.is_tree:  # what was above it may be no more
                        self._describe(job, held)
                    self._engine.enter(
                        job.jobid, held, job.at, job.end, reserved=job.reserved, moved=True
                    )
        return self._engine

    # -- matching ------------------------------------------------------------------------------

    def allocate(self, asked: Jobspec | Gang, *, now: int = 0) -> Answer:
        """Place a job now; the answer is *busy* where it does not fit."""
        return self.match(Operation.ALLOCATE, asked, now=now)

    def allocate_orelse_reserve(self, asked: Jobspec | Gang, *, now: int = 0) -> Answer:
        """Place a job now or at the earliest time at which it fits."""
        return self.match(Operation.ALLOCATE_ORELSE_RESERVE, asked, now=now)

    def satisfiable(self, asked: Jobspec | Gang) -> Answer:
        """Whether a job would fit if the graph were empty and all of it up."""
        return self.match(Operation.SATISFIABILITY, asked)

    def match(self, operation: Operation, asked: Jobspec | Gang, *, now: int = 0) -> Answer:
        """Run one of the match operations for a job, requested by jobspec or as a gang."""
        try:
            request = self.request(asked)
        except InvalidRequest as error:
            return Answer(Outcome.INVALID, self.next_jobid, reason=error.reason)
        attempt = Attempt(self.engine, request, self.next_jobid, now, self.horizon)
        answer = attempt.run(operation)
        if operation in RECORDED:
            self.next_jobid += 1
            if answer:
                self._record(answer, attempt.held, now)
        return answer

    def request(self, asked: Jobspec | Gang) -> MatchRequest:
        """A jobspec or gang in the form that the engine tries. Raises InvalidRequest."""
        if not 0 <= asked.duration <= self.horizon:
            raise InvalidRequest(
                f"duration {asked.duration} is not between 0 and {self.horizon} seconds"
            )
        if isinstance(asked, Gang):
            return GangRequest(self.engine, asked)
        return JobspecRequest(self.engine, asked)

    def _record(self, answer: Answer, held: HeldVertices, now: int) -> None:
        placement = answer.placement
        assert placement is not None  # noqa: S101 - every recorded answer has one
        reserved = answer.outcome is Outcome.RESERVED
        job = MatchedJob(answer.jobid, answer.at, placement.end, reserved, placement)
        self.engine.enter(job.jobid, held, job.at, job.end, reserved=reserved, now=now)
        self.jobs[job.jobid] = job

    def readmit(self, job: MatchedJob) -> None:
        """Restore a job's allocation or reservation from before a restart."""
        engine = self.engine
        held = engine.held(job.placement)
        engine.enter(job.jobid, held, job.at, job.end, reserved=job.reserved, moved=True)
        self.jobs[job.jobid] = job

    # -- allocations ---------------------------------------------------------------------------

    def cancel(self, jobid: int) -> CancelCounts:
        """Release all that a job holds."""
        job = self._held_job(jobid)
        counts = self._cancel_counts(job)
        self.engine.leave(jobid)
        job.cancelled = True
        return counts

    def forget(self, jobid: int) -> None:
        """Delete the record of a cancelled job; a long-running process does this to save memory."""
        job = self.jobs.get(jobid)
        if job is None or not job.cancelled:
            raise UnknownMatchJob(f"no cancelled job has the id {jobid}")
        del self.jobs[jobid]

    def _held_job(self, jobid: int) -> MatchedJob:
        job = self.jobs.get(jobid)
        if job is None or job.cancelled:
            raise UnknownMatchJob(f"no job {jobid} holds resources")
        return job

    def _cancel_counts(self, job: MatchedJob) -> CancelCounts:
        tree = self.engine.tree
        position = tree.position[job.placement.vertex]
        position = position[position >= 0]
        degree = tree.first_child[position + 1] - tree.first_child[position]
        return CancelCounts(1 + int(degree.sum()), len(position))

    def update(
        self,
        text: str | bytes,
        format: str,
        *,
        jobid: int,
        at: int,
        duration: int,
        now: int = 0,
    ) -> Answer:
        """Adopt an allocation that was made elsewhere; one that starts later is a reservation."""
        if jobid in self.jobs and not self.jobs[jobid].cancelled:
            raise MatchError(f"job {jobid} already holds resources")
        if at < 0 or duration <= 0:
            raise MatchError(f"invalid time: start {at}, duration {duration}")
        if at + duration > FOREVER:
            raise MatchError(f"invalid time: end {at + duration}, expected at most {FOREVER}")
        engine = self.engine
        adopted = read_adopted(engine, text, format)
        self.next_jobid = jobid + 1
        conflict = find_conflict(engine, adopted, at, at + duration)
        if conflict:
            return Answer(Outcome.BUSY, jobid, reason=conflict)
        held = engine.hold_adopted(adopted)
        if held is None:
            reason = Reason.from_text(
                "the allocation holds nothing exclusively", ReasonCode.INVALID
            )
            return Answer(Outcome.INVALID, jobid, reason=reason)
        placement = engine.placement(held, at, at + duration, None)
        later = at > now
        engine.enter(jobid, held, at, at + duration, reserved=later, adopted=True)
        self.jobs[jobid] = MatchedJob(jobid, at, at + duration, later, placement)
        return Answer(Outcome.RESERVED if later else Outcome.ALLOCATED, jobid, at, placement)

    def partial_cancel(self, jobid: int, text: str | bytes, format: str) -> bool:
        """Release the part of an allocation that a document names; True if nothing is left."""
        job = self._held_job(jobid)
        if job.reserved:
            raise MatchError(f"job {jobid} is a reservation; it cannot be released in part")
        return self._keep(job, ~self._named(job, text, format))

    def _named(self, job: MatchedJob, text: str | bytes, format: str) -> Bools:
        """The rows of a job's placement that a document names."""
        rows = job.placement.vertex
        if format == "jgf":
            named = read_jgf_vertices(self.graph, text, with_edges=False).vertex
            mine = rows[job.placement.exclusive]
            foreign = named[~np.isin(named, mine)]
            if len(foreign):
                name = self.graph.name(int(foreign[0]))
                raise MatchError(f"job {job.jobid} does not hold {name} exclusively")
            return np.isin(rows, named)
        if format == "rv1exec":
            return np.isin(self.graph.rank[rows], read_rv1_ranks(text))
        raise MatchError(f"unknown format {format!r}; known are jgf and rv1exec")

    def _keep(self, job: MatchedJob, kept: Bools) -> bool:
        """Reduce a job to some rows of its placement."""
        engine = self.engine
        kept = kept & job.placement.exclusive
        placement = job.placement
        held = engine.hold(placement.vertex[kept], placement.needs[kept], along=placement)
        engine.leave(job.jobid)
        engine.enter(job.jobid, held, job.at, job.end, reserved=job.reserved, moved=True)
        self._describe(job, held)
        job.cancelled = not len(held.position)
        return job.cancelled

    def _describe(self, job: MatchedJob, held: HeldVertices) -> None:
        """Write down what is left of a job's placement."""
        reduced = self._engine.placement(held, job.at, job.end, job.placement.queue)
        left = set(reduced.vertex.tolist())
        labels = {v: label for v, label in job.placement.labels.items() if v in left}
        job.placement = replace(reduced, labels=labels)

    # -- changes of the graph ------------------------------------------------------------------

    def attach(self, text: str | bytes) -> None:
        """Grow: add the vertices of a JGF document that the graph does not have yet."""
        attach_jgf(self.graph, text)

    def remove(self, path: str) -> None:
        """Shrink: remove the vertex at a path and all below it; jobs lose what they hold there."""
        for vertex in self._at(path):
            tree = self.engine.tree
            position = int(tree.position[vertex])
            if position == 0:
                raise MatchError(f"{path} is the root; the whole graph cannot be removed")
            self._remove(np.array([vertex]))

    def remove_ranks(self, ranks: Iterable[int]) -> None:
        """Shrink: remove all vertices of some ranks; jobs lose what they hold there."""
        vertices = np.flatnonzero(np.isin(self.graph.rank, sorted(ranks)))
        vertices = vertices[self.engine.tree.position[vertices] >= 0]
        if not len(vertices):
            raise MatchError("no vertex of the graph has one of these ranks")
        self._remove(vertices)

    def _remove(self, vertices: Ints) -> None:
        vertices = self._with_contents(vertices)
        for job in self.jobs.values():
            if not job.cancelled and np.isin(job.placement.vertex, vertices).any():
                self._keep(job, ~np.isin(job.placement.vertex, vertices))
        was_tree = self._engine.tree.is_tree
        self.graph.remove(vertices)
        if not was_tree:
            self.engine  # noqa: B018 - jobs may have come through what is gone

    def _with_contents(self, vertices: Ints) -> Ints:
        """Vertices and all below them; what other vertices contain, too, is not part of it."""
        tree = self.engine.tree
        position = tree.position[vertices]
        position = position[position >= 0]
        below = tree.vertex[ragged(position, tree.end[position] - position)]
        found = np.union1d(vertices, below)
        return found if tree.is_tree else found[self.graph.contents(vertices)[found]]

    def find(self, expression: str) -> Placement:
        """The vertices that match a query, with their ancestors.

        The language is described in `fluxnetes.match.find.query`.
        """
        query = parse_query(expression)
        engine = self.engine
        facts = TreeFacts(engine, (job for job in self.jobs.values() if not job.cancelled))
        within = None
        if query.agfilter:
            within = facts.filtered()
            if query.jobid is not None:
                within &= facts.jobid_span(query.jobid)
        position = emitted(query.evaluate(facts), engine.tree, within)
        usage = facts.usage(position, query.jobid) if query.agfilter else None
        return engine.shown(position, usage)

    # -- vertices ------------------------------------------------------------------------------

    def is_used(self, vertex: int) -> bool:
        """Whether a job holds a vertex, or something below it."""
        engine = self.engine
        return bool(engine.ledger.tags[engine.tree.position[vertex]])

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
                engine.follow_status(position)

    def set_property(self, path: str, key: str, value: str) -> None:
        """Set a property of the vertices at a path."""
        for vertex in self._at(path):
            self.graph.set_property(vertex, key, value)
        self.engine.relabelled()

    def remove_property(self, path: str, key: str) -> None:
        for vertex in self._at(path):
            self.graph.remove_property(vertex, key)
        self.engine.relabelled()
