"""The matcher and the oracle, side by side on the same steps.

Each has a graph of its own, built from the same description. A step that they answer differently
ends the duel with a message that holds all there is to know: the graph, the steps so far and both
answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.readers.jgf import attach_jgf
from fluxnetes.jobspec.model import Count, Jobspec, Resource
from fluxnetes.match.answers import Answer, Outcome
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from tests.oracle.generate import V, build
from tests.oracle.jgf import jgf_of_branch, jgf_of_vertices
from tests.oracle.oracle import Held, Oracle, Verdict, held
from tests.oracle.streams import (
    Advance,
    Cancel,
    Grow,
    Match,
    PartialCancel,
    Scenario,
    SetStatus,
    Shrink,
    Step,
)
from tests.oracle.tree import Vertex

T = TypeVar("T")

_WITH_ROWS = (Outcome.ALLOCATED, Outcome.RESERVED, Outcome.MATCHED)


class Disagreement(Exception):  # noqa: N818 - it is one, of two who both may be wrong
    """The matcher and the oracle answer the last step differently."""

    def __repr__(self) -> str:
        return f"They disagree on the last step.\n{self}"


class Duel:
    """One matcher against one oracle."""

    def __init__(
        self,
        scenario: Scenario,
        policy: str,
        traverser: str = "simple",
        prune_filters: str = "ALL:core,ALL:node",
    ) -> None:
        root, links = scenario.cluster.root, scenario.cluster.links
        self.steps = scenario.steps
        self.root = root
        self.links = links
        self.title = f"policy {policy}, traverser {traverser}, filters {prune_filters}"
        self.now = 0
        self.story: list[str] = []
        self.matcher = Matcher(
            build(root, links), policy=policy, traverser=traverser, prune_filters=prune_filters
        )
        self.oracle = Oracle(build(root, links), policy, traverser, prune_filters)

    def run(self, after_each: Callable[[Matcher], None] | None = None) -> None:
        """Do all steps; `after_each` may look at the matcher after every one."""
        for step in self.steps:
            try:
                self.do(step)
                if after_each is not None:
                    after_each(self.matcher)
            except Exception as error:
                raise AssertionError(f"{error!r}\n{self.describe()}") from error

    def do(self, step: Step) -> None:
        match step:
            case Match():
                self._match(step)
            case Cancel(nth):
                self._cancel(nth)
            case PartialCancel(nth, bits):
                self._partial_cancel(nth, bits)
            case SetStatus(nth, up):
                self._set_status(nth, up)
            case Grow():
                self._grow(step)
            case Shrink(nth):
                self._shrink(nth)
            case Advance(seconds):
                self.now += seconds
                self.story.append(f"time passes: it is {self.now} now")

    # -- steps ---------------------------------------------------------------------------------

    def _match(self, step: Match) -> None:
        self.story.append(f"{step.operation.value} {show_jobspec(step.jobspec)}")
        answer = self.matcher.match(step.operation, step.jobspec, now=self.now)
        verdict = self.oracle.match(step.operation, step.jobspec, now=self.now)
        same = (answer.outcome, answer.jobid) == (verdict.outcome, verdict.jobid)
        if same and verdict.outcome in _WITH_ROWS:
            same = answer.at == verdict.at and rows_of(answer) == verdict.rows
            same = same and paths_of(answer) == verdict.edges
        if not same:
            raise Disagreement(self._answers(answer, verdict))
        self.story[-1] += f" -> job {answer.jobid} {answer.outcome.value} at {answer.at}"

    def _cancel(self, nth: int) -> None:
        job = pick(self.live_jobs(), nth)
        if job is not None:
            self.story.append(f"cancel job {job.jobid}")
            self.matcher.cancel(job.jobid)
            self.oracle.cancel(job.jobid)

    def _partial_cancel(self, nth: int, bits: int) -> None:
        job = pick([job for job in self.live_jobs() if not job.reserved], nth)
        if job is None:
            return
        alone = sorted(row for row, _, exclusive in rows_of_placement(job.placement) if exclusive)
        chosen = [row for place, row in enumerate(alone) if bits >> place % 8 & 1]
        if not chosen:
            return
        paths = [str(self.matcher.graph.path(row)) for row in chosen]
        self.story.append(f"job {job.jobid} gives back {', '.join(paths)}")
        ended = self.matcher.partial_cancel(
            job.jobid, jgf_of_vertices(self.matcher.graph, chosen), "jgf"
        )
        assert ended == self.oracle.partial_cancel(job.jobid, chosen), f"ended: {ended}"
        self._compare_jobs()

    def _set_status(self, nth: int, up: bool) -> None:
        row = pick(self._rows_below_root(), nth)
        if row is not None:
            path = str(self.matcher.graph.path(row))
            self.story.append(f"{path} goes {'up' if up else 'down'}")
            self.matcher.set_status(path, up)
            self.oracle.set_status(row, up)

    def _grow(self, step: Grow) -> None:
        graph = self.matcher.graph
        rows = [v.row for v in self.oracle.tree.vertices() if v.type == step.under]
        row = pick(rows, step.nth)
        path = None if row is None else f"{graph.path(row)}/{step.branch.type}{step.branch.id}"
        if row is None or path is None or graph.find_path(path):
            return
        self.story += [f"{path} is attached:", *show_tree(step.branch)]
        text = jgf_of_branch(graph, row, step.branch)
        self.matcher.attach(text)
        attach_jgf(self.oracle.graph, text)
        self._compare_jobs()

    def _shrink(self, nth: int) -> None:
        graph = self.matcher.graph
        row = pick(self._rows_below_root(), nth)
        if row is None or len(self.oracle.tree.root.children) < 2:
            return
        path = str(graph.path(row))
        self.story.append(f"{path} is removed")
        below = [v.row for v in self.oracle.tree.vertices() if self._is_only_below(v, row)]
        self.matcher.remove(path)
        self.oracle.graph.remove(below)
        self._compare_jobs()

    def _is_only_below(self, vertex: Vertex, row: int) -> bool:
        """Does every path to the vertex lead through another one?"""
        paths = self.oracle.tree.on_paths[vertex.row]
        return all(row in (one.row, *one.rows_above()) for one in paths)

    def _rows_below_root(self) -> list[int]:
        _root, *others = self.oracle.tree.vertices()
        return [vertex.row for vertex in others]

    def _compare_jobs(self) -> None:
        """Both must be left with the same jobs holding the same rows."""
        self.oracle.settle()
        mine = {job.jobid: rows_of_placement(job.placement) for job in self.live_jobs()}
        theirs = {jobid: held(job) for jobid, job in self.oracle.calendar.jobs.items()}
        for jobid in sorted(mine.keys() | theirs.keys()):
            if mine.get(jobid) != theirs.get(jobid):
                graph = self.matcher.graph
                lines = [f"job {jobid} is left with", "MATCHER:"]
                lines += show_rows(graph, mine.get(jobid, ()))
                lines += ["ORACLE:", *show_rows(graph, theirs.get(jobid, ()))]
                raise Disagreement("\n".join(lines))

    def live_jobs(self) -> list[MatchedJob]:
        return live_jobs(self.matcher)

    # -- words ---------------------------------------------------------------------------------

    def _answers(self, answer: Answer, verdict: Verdict) -> str:
        graph = self.matcher.graph
        mine = f"{answer.outcome.value} at {answer.at} {answer.reason}".rstrip()
        lines = [
            f"MATCHER: job {answer.jobid} {mine}",
            *show_rows(graph, rows_of(answer)),
            f"ORACLE:  job {verdict.jobid} {verdict.outcome.value} at {verdict.at}",
            *show_rows(graph, verdict.rows),
        ]
        return "\n".join(lines)

    def describe(self) -> str:
        """The graph and the steps so far, for the message of a failure."""
        return "\n".join([self.title, *show_tree(self.root), *self._links(), *self.story])

    def _links(self) -> Iterator[str]:
        every = [f"{vertex.type}{vertex.id}" for vertex in self.root.all()]
        for parent, child in self.links:
            yield f"  {every[parent]} (row {parent}) holds {every[child]} (row {child}), too"


def live_jobs(matcher: Matcher) -> list[MatchedJob]:
    """The jobs that hold something, oldest first."""
    return [job for _, job in sorted(matcher.jobs.items()) if not job.cancelled]


def pick(choices: Sequence[T], nth: int) -> T | None:
    """The n-th of some choices, counted round and round."""
    return choices[nth % len(choices)] if choices else None


def rows_of(answer: Answer) -> frozenset[Held]:
    return frozenset() if answer.placement is None else rows_of_placement(answer.placement)


def paths_of(answer: Answer) -> frozenset[tuple[int, int]]:
    """The edges through which a job came."""
    if answer.placement is None:
        return frozenset()
    columns = (answer.placement.parent.tolist(), answer.placement.vertex.tolist())
    return frozenset(edge for edge in zip(*columns, strict=True) if edge[0] >= 0)


def rows_of_placement(placement: Placement) -> frozenset[Held]:
    columns = zip(
        placement.vertex.tolist(),
        placement.needs.tolist(),
        placement.exclusive.tolist(),
        strict=True,
    )
    return frozenset(columns)


def show_tree(vertex: V, indent: int = 1) -> Iterator[str]:
    notes = [f"size {vertex.size}"] if vertex.size != 1 else []
    notes += ["divisible"] if vertex.divisible else []
    notes += [f"rank {vertex.rank}"] if vertex.rank >= 0 else []
    notes += [f"uniq {vertex.uniq}"] if vertex.uniq is not None else []
    notes += [f"{key}={value}" for key, value in vertex.properties]
    yield "  " * indent + f"{vertex.type}{vertex.id} {', '.join(notes)}".rstrip()
    for child in vertex.below:
        yield from show_tree(child, indent + 1)


def show_rows(graph: ResourceGraph, rows: Iterable[Held]) -> list[str]:
    return [
        f"    {graph.path(row)} [{needs}:{'x' if exclusive else 's'}]"
        for row, needs, exclusive in sorted(rows)
    ]


def show_jobspec(jobspec: Jobspec) -> str:
    asked = ", ".join(map(show_resource, jobspec.resources))
    limits = f" where {jobspec.constraint}" if jobspec.constraint is not None else ""
    return f"{asked} for {jobspec.duration:g} s{limits}"


def show_resource(resource: Resource) -> str:
    flag = {None: "", True: "!", False: "~"}[resource.exclusive]
    inside = ", ".join(map(show_resource, resource.children))
    return f"{resource.type}{flag}[{show_count(resource.count)}]" + (
        f"({inside})" if inside else ""
    )


def show_count(count: Count) -> str:
    if count.min == count.max:
        return str(count.min)
    return f"{count.min}..{count.max} {count.operator}{count.operand}"
