"""Jobspecs on pools, where the exact answer is easy to compute.

For k nodes, each with capacity for s slots of so much of its pools, and so many licences, there is
nothing to optimise: a node has the capacity or not. So the matcher must say yes exactly when k such
nodes and the licences are free, and promise the earliest second at which they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import add_pools, pool_graph
from fluxnetes.jobspec.build import jobspec, node, rack, res, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Operation, Outcome
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from tests.property import invariants
from tests.property.duel import live_jobs, rows_of
from tests.property.profile import examples

POLICIES = ("first", "low", "high", "lonode", "locality")
LICENCES = 5


@dataclass(frozen=True)
class Ask:
    nodes: int
    slots: int
    cpu: int
    memory: int
    """0: none is asked for."""
    licences: int
    """0: none are asked for."""
    seconds: int
    cancel: int
    """Which of the live jobs ends before the next request; none if there are fewer."""

    def jobspec(self) -> Jobspec:
        parts = [res("cpu", self.cpu)] + [res("memory", self.memory)] * bool(self.memory)
        asked = [node(self.nodes, slot(self.slots, *parts))]
        asked += [res("licence", self.licences)] * bool(self.licences)
        return jobspec(*asked, duration=self.seconds)


asks = st.builds(
    Ask,
    nodes=st.integers(1, 3),
    slots=st.integers(1, 2),
    cpu=st.integers(1, 5),
    memory=st.integers(0, 4),
    licences=st.sampled_from([0, 0, 1, 3, 5, 6]),
    seconds=st.integers(1, 6),
    cancel=st.integers(0, 12),
)
farms = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=4)


class Brute:
    """The exact answer, second by second, from nothing but the live jobs."""

    def __init__(self, matcher: Matcher, farm: list[tuple[int, int]]) -> None:
        self.graph = matcher.graph
        self.jobs = live_jobs(matcher)
        self.farm = farm

    def fitting(self, ask: Ask, at: int) -> list[int]:
        """The nodes that have the capacity through a window."""
        return [n for n in range(len(self.farm)) if self._serves(n, ask, at)]

    def _serves(self, number: int, ask: Ask, at: int) -> bool:
        cpu, memory = self.farm[number]
        name = f"/cluster0/n{number}"
        enough_cpu = self.free(f"{name}/cpu0", cpu, at, ask.seconds) >= ask.cpu * ask.slots
        left = self.free(f"{name}/memory0", memory, at, ask.seconds)
        return enough_cpu and left >= ask.memory * ask.slots

    def licences(self, ask: Ask, at: int) -> bool:
        return self.free("/cluster0/licence0", LICENCES, at, ask.seconds) >= ask.licences

    def free(self, path: str, size: int, at: int, seconds: int) -> int:
        (row,) = self.graph.find_path(path)
        return min(size - self._taken(row, second) for second in range(at, at + seconds))

    def _taken(self, row: int, second: int) -> int:
        there = [job for job in self.jobs if job.at <= second < job.end]
        return sum(amount_of(job, row) for job in there)

    def earliest(self, ask: Ask) -> int | None:
        last = max([0, *(job.end for job in self.jobs)])
        fitting = (t for t in range(last + 1) if self.fits(ask, t))
        return next(fitting, None)

    def fits(self, ask: Ask, at: int) -> bool:
        return len(self.fitting(ask, at)) >= ask.nodes and self.licences(ask, at)


def amount_of(job: MatchedJob, row: int) -> int:
    mine = (job.placement.vertex == row) & job.placement.exclusive
    return int(job.placement.needs[mine].sum())


def cluster_of(farm: list[tuple[int, int]]) -> ResourceGraph:
    return pool_graph(
        {f"n{i}": {"cpu": cpu, "memory": memory} for i, (cpu, memory) in enumerate(farm)},
        shared={"licence": LICENCES},
    )


@pytest.mark.parametrize("policy", POLICIES)
@examples(80)
@given(farms, st.lists(asks, min_size=1, max_size=10))
def test_nodes_and_licences_are_given_together_at_the_earliest_second_or_not_at_all(
    policy: str, farm: list[tuple[int, int]], stream: list[Ask]
) -> None:
    matcher = Matcher(cluster_of(farm), policy=policy)
    for ask in stream:
        brute = Brute(matcher, farm)
        earliest = brute.earliest(ask)
        answer = matcher.match(Operation.ALLOCATE_ORELSE_RESERVE, ask.jobspec())
        assert (answer.at if answer else None) == earliest
        if earliest is not None:
            check_given(matcher, ask, rows_of(answer), brute.fitting(ask, earliest), policy)
        invariants.check(matcher)
        jobs = live_jobs(matcher)
        if ask.cancel < len(jobs):
            matcher.cancel(jobs[ask.cancel].jobid)


def check_given(
    matcher: Matcher,
    ask: Ask,
    rows: frozenset[tuple[int, int, bool]],
    fitting: list[int],
    policy: str,
) -> None:
    """Exactly what was asked for was taken, from the nodes that the policy prefers."""
    graph = matcher.graph
    taken: dict[str, list[int]] = {}
    for row, needs, exclusive in rows:
        if exclusive:
            taken.setdefault(graph.type_name(row), []).append(needs)
    wanted = {"cpu": [ask.slots * ask.cpu] * ask.nodes}
    if ask.memory:
        wanted["memory"] = [ask.slots * ask.memory] * ask.nodes
    if ask.licences:
        wanted["licence"] = [ask.licences]
    assert taken == wanted
    nodes = sorted(int(graph.id[row]) for row, _, _ in rows if graph.type_name(row) == "node")
    if policy in ("low", "lonode"):
        assert nodes == fitting[: ask.nodes]
    elif policy == "high":
        assert nodes == fitting[-ask.nodes :]


@examples(60)
@given(farms, st.lists(asks, min_size=1, max_size=10), st.sampled_from(POLICIES))
def test_busy_and_impossible_are_distinguished(
    farm: list[tuple[int, int]], stream: list[Ask], policy: str
) -> None:
    matcher = Matcher(cluster_of(farm), policy=policy)
    for ask in stream:
        empty = Matcher(cluster_of(farm), policy=policy)
        possible = Brute(empty, farm).fits(ask, 0)
        now = Brute(matcher, farm).fits(ask, 0)
        answer = matcher.match(Operation.ALLOCATE_WITH_SATISFIABILITY, ask.jobspec())
        no = Outcome.BUSY if possible else Outcome.UNSATISFIABLE
        assert answer.outcome is (Outcome.ALLOCATED if now else no)
        assert bool(empty.satisfiable(ask.jobspec())) == possible


# -- pools below racks -----------------------------------------------------------------------------


def racks_with_bandwidth(bandwidths: list[int], nodes: int, cpu: int) -> ResourceGraph:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0)
    for number, bandwidth in enumerate(bandwidths):
        above = patch.vertex("rack", id=number)
        patch.edge(root, above)
        for place in range(nodes):
            below = patch.vertex("node", id=place, rank=number * nodes + place)
            patch.edge(above, below)
            add_pools(patch, below, {"cpu": cpu})
        add_pools(patch, above, {"bandwidth": bandwidth})
    graph.apply(patch)
    return graph


@examples(80)
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(1, 2), st.integers(1, 4), st.integers(1, 5)), max_size=8),
    st.sampled_from(["low", "first", "hinode"]),
)
def test_bandwidth_and_nodes_come_from_one_rack(
    bandwidths: list[int], stream: list[tuple[int, int, int]], policy: str
) -> None:
    nodes, cpu = 2, 4
    matcher = Matcher(racks_with_bandwidth(bandwidths, nodes, cpu), policy=policy)
    left = dict(enumerate(bandwidths))
    free = {(number, n): cpu for number in left for n in range(nodes)}
    for count, each, bandwidth in stream:
        asked = rack(1, node(count, slot(1, res("cpu", each))), res("bandwidth", bandwidth))
        possible = [
            number
            for number in left
            if left[number] >= bandwidth
            and sum(free[number, n] >= each for n in range(nodes)) >= count
        ]
        answer = matcher.allocate(jobspec(asked))
        assert bool(answer) == bool(possible)
        invariants.check(matcher)
        for row, needs, exclusive in rows_of(answer):
            names = (matcher.graph.path(row) or "").split("/")[2:]
            if exclusive and names[-1] == "bandwidth0":
                assert needs == bandwidth
                assert int(names[0][4:]) in possible
                left[int(names[0][4:])] -= needs
            elif exclusive:
                assert needs == each
                free[int(names[0][4:]), int(names[1][4:])] -= needs
