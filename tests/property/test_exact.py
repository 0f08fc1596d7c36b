"""Where the exact answer is easy to compute, greedy matching finds it.

For k nodes with c free cores each there is nothing to optimise: a node has them or not. So the
matcher must say yes exactly when k such nodes exist, and promise the earliest time at which they
do. The brute force looks at every second, from the placements of the live jobs alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.jobspec.model import SLOT, Count, Jobspec, Resource
from fluxnetes.match.answers import Operation, Outcome
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from tests.oracle.generate import POLICIES, V, build
from tests.property.duel import live_jobs, rows_of, show_tree
from tests.property.profile import examples

CORES = 3


@dataclass(frozen=True)
class Ask:
    """Some nodes with some cores each, or the nodes as a whole (no cores), for some seconds."""

    nodes: int
    cores: int
    seconds: int
    cancel: int
    """Which of the live jobs ends before the next request; none if there are fewer."""

    def jobspec(self) -> Jobspec:
        if self.cores:
            inside = Resource(SLOT, Count(1, 1), (Resource("core", Count(self.cores, self.cores)),))
            node = Resource("node", Count(self.nodes, self.nodes), (inside,))
        else:
            node = Resource("node", Count(self.nodes, self.nodes), exclusive=True)
        return Jobspec((node,), duration=float(self.seconds))


asks = st.builds(
    Ask,
    nodes=st.integers(1, 5),
    cores=st.integers(0, CORES + 1),
    seconds=st.integers(1, 6),
    cancel=st.integers(0, 12),
)


def node(id: int) -> V:
    return V("node", id, tuple(V("core", n) for n in range(CORES)), rank=id)


@st.composite
def racked_or_flat(draw: st.DrawFn) -> V:
    """A cluster of alike nodes, in racks of any size or without."""
    count = draw(st.integers(1, 5))
    nodes = [node(id) for id in range(count)]
    if draw(st.booleans()):
        return V("cluster", 0, tuple(nodes))
    cut = draw(st.integers(0, count))
    return V("cluster", 0, (V("rack", 0, tuple(nodes[:cut])), V("rack", 1, tuple(nodes[cut:]))))


class Brute:
    """The exact answer, from nothing but the live jobs."""

    def __init__(self, matcher: Matcher) -> None:
        graph = matcher.graph
        self.jobs = live_jobs(matcher)
        self.held = {job.jobid: set(job.placement.vertex.tolist()) for job in self.jobs}
        rows = range(graph.vertex_count)
        self.nodes = [row for row in rows if graph.type_name(row) == "node"]
        self.cores_of = {
            node: [
                int(t)
                for s, t in zip(graph.edge_source, graph.edge_target, strict=True)
                if s == node
            ]
            for node in self.nodes
        }
        self.alone = {
            job.jobid: set(job.placement.vertex[job.placement.exclusive].tolist())
            for job in self.jobs
        }

    def fits(self, ask: Ask, at: int) -> bool:
        jobs = [job for job in self.jobs if job.at < at + ask.seconds and at < job.end]
        good = [node for node in self.nodes if self._serves(node, ask, jobs)]
        return len(good) >= ask.nodes

    def _serves(self, node: int, ask: Ask, jobs: list[MatchedJob]) -> bool:
        if ask.cores == 0:
            return not any(node in self.held[job.jobid] for job in jobs)
        if any(node in self.alone[job.jobid] for job in jobs):
            return False
        free = [c for c in self.cores_of[node] if not any(c in self.held[j.jobid] for j in jobs)]
        return len(free) >= ask.cores

    def earliest(self, ask: Ask) -> int | None:
        last = max([0, *(job.end for job in self.jobs)])
        return next((t for t in range(last + 1) if self.fits(ask, t)), None)


def play(root: V, policy: str, stream: list[Ask], check: Callable[[Matcher, Ask], None]) -> None:
    matcher = Matcher(build(root), policy=policy)
    lines = [f"policy {policy}", *show_tree(root)]
    for ask in stream:
        lines.append(f"{ask}")
        try:
            check(matcher, ask)
        except AssertionError as error:
            raise AssertionError("\\n".join([*lines, str(error)])) from error
        jobs = live_jobs(matcher)
        if ask.cancel < len(jobs):
            matcher.cancel(jobs[ask.cancel].jobid)
            lines.append(f"cancel job {jobs[ask.cancel].jobid}")


@examples(250)
@given(racked_or_flat(), st.sampled_from(POLICIES), st.lists(asks, min_size=1, max_size=12))
def test_a_start_is_promised_for_the_earliest_second_that_fits(
    root: V, policy: str, stream: list[Ask]
) -> None:
    def check(matcher: Matcher, ask: Ask) -> None:
        earliest = exact(matcher, policy, ask)
        answer = matcher.match(Operation.ALLOCATE_ORELSE_RESERVE, ask.jobspec())
        assert bool(answer) == (earliest is not None), f"{answer.outcome}, exact: {earliest}"
        if earliest is not None:
            assert answer.at == earliest
            assert nodes_in(matcher, rows_of(answer)) == ask.nodes

    play(root, policy, stream, check)


@examples(200)
@given(racked_or_flat(), st.sampled_from(POLICIES), st.lists(asks, min_size=1, max_size=12))
def test_busy_and_impossible_are_distinguished(root: V, policy: str, stream: list[Ask]) -> None:
    def check(matcher: Matcher, ask: Ask) -> None:
        now = exact(matcher, policy, ask) == 0
        possible = ask.nodes <= len(Brute(matcher).nodes) and ask.cores <= CORES
        answer = matcher.match(Operation.ALLOCATE_WITH_SATISFIABILITY, ask.jobspec())
        no = Outcome.BUSY if possible else Outcome.UNSATISFIABLE
        assert answer.outcome is (Outcome.ALLOCATED if now else no)

    play(root, policy, stream, check)


def exact(matcher: Matcher, policy: str, ask: Ask) -> int | None:
    """The earliest second; where the policy gives out whole nodes, cores are not shared."""
    if policy.endswith("nodex") and 0 < ask.cores <= CORES:
        ask = Ask(ask.nodes, 0, ask.seconds, ask.cancel)
    return Brute(matcher).earliest(ask)


def nodes_in(matcher: Matcher, rows: frozenset[tuple[int, int, bool]]) -> int:
    return sum(matcher.graph.type_name(row) == "node" for row, _, _ in rows)
