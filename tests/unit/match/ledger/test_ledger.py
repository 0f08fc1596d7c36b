"""The ledger's views, against a plain model that looks at every second of every span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology
from fluxnetes.match.engine.closure import ancestors
from fluxnetes.match.ledger.ledger import JobHolding, Ledger
from fluxnetes.match.ledger.views import LedgerView
from tests.property.profile import examples
from tests.unit.match.clusters import (
    Branch,
    a,
    cluster,
    cores,
    grow,
    nodes,
    parent_lists,
    pool,
    racks,
)

# -- random trees, random holdings -----------------------------------------------------------------


def tree_with_pools(parents: list[int], amounts: list[int]) -> ResourceGraph:
    """A tree; a leaf is a pool if it has an amount above 1."""
    children: dict[int, list[int]] = {}
    for child, above in enumerate(parents):
        children.setdefault(above, []).append(child + 1)

    def branch(vertex: int) -> Branch:
        below = children.get(vertex, [])
        if not below and amounts[vertex] > 1:
            return pool("cpu", amounts[vertex])
        return a("rack", *(branch(child) for child in below))

    return grow(branch(0))


@st.composite
def graphs(draw: st.DrawFn) -> ResourceGraph:
    parents = draw(parent_lists(12))
    count = len(parents) + 1
    amounts = draw(st.lists(st.sampled_from([1, 1, 4, 9]), min_size=count, max_size=count))
    return tree_with_pools(parents, amounts)


def holding_of(
    graph: ResourceGraph, amounts: dict[int, int], start: int, end: int, reserved: bool
) -> JobHolding:
    """Hold amounts of positions alone, and share all above; vertices that are no pools whole."""
    tree = graph.topology()
    mine = np.array(sorted(amounts), np.int64)
    above = ancestors(tree, mine)
    position = np.union1d(mine, above)
    exclusive = np.isin(position, mine)
    size = graph.size[tree.vertex[position]]
    part = graph.divisible[tree.vertex[position]]
    asked = np.array([amounts.get(p, 0) for p in position.tolist()], np.int64)
    needs = np.where(part, np.minimum(asked, size), size)
    return JobHolding(position, needs, exclusive, start, end, reserved)


@dataclass(frozen=True)
class Add:
    places: tuple[tuple[int, int], ...]
    """(position, amount), positions modulo the size of the tree."""
    delay: int
    """0: allocated now; more: reserved for so many seconds from now."""
    length: int


@dataclass(frozen=True)
class Drop:
    nth: int


@dataclass(frozen=True)
class Mark:
    position: int
    up: bool


@dataclass(frozen=True)
class Pass:
    seconds: int


Step = Add | Drop | Mark | Pass
steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(
        Add,
        st.lists(st.tuples(st.integers(0, 12), st.integers(1, 5)), min_size=1, max_size=3).map(
            tuple
        ),
        st.sampled_from([0, 0, 1, 2, 5]),
        st.integers(1, 6),
    ),
    st.builds(Drop, st.integers(0, 9)),
    st.builds(Mark, st.integers(0, 12), st.booleans()),
    st.builds(Pass, st.integers(1, 4)),
)


# -- the model -------------------------------------------------------------------------------------


@dataclass
class Model:
    """What each job holds, and nothing else."""

    graph: ResourceGraph
    jobs: dict[int, JobHolding] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)

    @property
    def tree(self) -> Topology:
        return self.graph.topology()

    def is_up(self, position: int) -> bool:
        return position not in self.down

    def taken(self, position: int, holding: JobHolding) -> int:
        at = np.flatnonzero(holding.position == position)
        return int(holding.needs[at[0]]) if len(at) and holding.exclusive[at[0]] else 0

    def touches(self, position: int, holding: JobHolding) -> bool:
        return bool((holding.position == position).any())

    def now(self) -> Facts:
        there = [j for j in self.jobs.values() if not j.reserved]
        return Facts(self, there, [there])

    def during(self, start: int, end: int) -> Facts:
        """Allocations are there now even past their end; in the seconds after, spans count."""
        there = [j for j in self.jobs.values() if not j.reserved or spans(j, start, end)]
        at_once = [[j for j in there if not j.reserved or j.start <= start < j.end]]
        at_once += [[j for j in there if j.start <= t < j.end] for t in range(start + 1, end)]
        return Facts(self, there, at_once)

    def later(self, start: int, end: int) -> Facts:
        there = [j for j in self.jobs.values() if spans(j, start, end)]
        at_once = [[j for j in there if j.start <= t < j.end] for t in range(start, end)]
        return Facts(self, there, at_once)


def spans(holding: JobHolding, start: int, end: int) -> bool:
    return holding.start < end and start < holding.end


@dataclass
class Facts:
    """What a view must say."""

    model: Model
    there: list[JobHolding]
    """The jobs of the window."""
    at_once: list[list[JobHolding]]
    """The jobs of each second."""

    def peak(self, position: int) -> int:
        return max(sum(self.model.taken(position, j) for j in jobs) for jobs in self.at_once)

    def is_open(self, position: int) -> bool:
        model = self.model
        row = model.tree.vertex[position]
        if model.graph.divisible[row]:
            free = self.peak(position) < model.graph.size[row]
        else:
            free = not any(model.taken(position, j) for j in self.there)
        return model.is_up(position) and bool(free)

    def is_alone(self, position: int) -> bool:
        model = self.model
        return model.is_up(position) and not any(model.touches(position, j) for j in self.there)


def check(view: LedgerView, facts: Facts) -> None:
    """Ask a view about every position, the deepest first, and compare."""
    tree, graph = facts.model.tree, facts.model.graph
    for depth in range(int(tree.depth.max()), -1, -1):
        here = np.flatnonzero(tree.depth == depth)
        assert view.is_open(here, depth).tolist() == [facts.is_open(p) for p in here.tolist()]
        assert view.is_alone(here, depth).tolist() == [facts.is_alone(p) for p in here.tolist()]
        pools = here[graph.divisible[tree.vertex[here]]]
        sizes = graph.size[tree.vertex[pools]].tolist()
        free = [size - facts.peak(p) for size, p in zip(sizes, pools.tolist(), strict=True)]
        assert view.free(pools, depth).tolist() == free


class Play:
    """A ledger and the model of it, side by side."""

    def __init__(self, graph: ResourceGraph) -> None:
        self.graph = graph
        self.ledger = Ledger(graph, graph.topology())
        self.model = Model(graph)
        self.clock = 0
        self.next = 0

    def do(self, step: Step) -> None:
        count = len(self.ledger.size)
        match step:
            case Add(places, delay, length):
                start = self.clock + delay
                amounts = {position % count: amount for position, amount in places}
                self.add(holding_of(self.graph, amounts, start, start + length, delay > 0))
            case Drop(nth):
                jobs = sorted(self.model.jobs)
                if jobs:
                    self.drop(jobs[nth % len(jobs)])
            case Mark(position, up):
                self.ledger.mark(position % count, up)
                (self.model.down.discard if up else self.model.down.add)(position % count)
            case Pass(seconds):
                self.clock += seconds

    def add(self, holding: JobHolding) -> int:
        self.next += 1
        self.ledger.add(self.next, holding)
        self.model.jobs[self.next] = holding
        return self.next

    def drop(self, jobid: int) -> None:
        assert self.ledger.drop(jobid) is self.model.jobs.pop(jobid)


@examples(250)
@given(graphs(), st.lists(steps, max_size=14), st.integers(0, 8), st.integers(1, 8))
def test_every_view_says_what_the_spans_say(
    graph: ResourceGraph, stream: list[Step], ahead: int, length: int
) -> None:
    play = Play(graph)
    for step in stream:
        play.do(step)
    start = play.clock
    check(play.ledger.now(), play.model.now())
    check(play.ledger.during(start, start + length), play.model.during(start, start + length))
    window = (start + ahead, start + ahead + length)
    check(play.ledger.later(*window), play.model.later(*window))


@examples(120)
@given(graphs(), st.lists(steps, max_size=14), st.integers(1, 8))
def test_views_asked_for_between_changes_say_so_too(
    graph: ResourceGraph, stream: list[Step], length: int
) -> None:
    play = Play(graph)
    for step in stream:
        play.do(step)
        window = (play.clock, play.clock + length)
        check(play.ledger.during(*window), play.model.during(*window))
        check(play.ledger.later(*window), play.model.later(*window))


@examples(120)
@given(graphs(), st.lists(steps, max_size=14), st.integers(0, 14))
def test_what_changed_since_is_all_that_is_different_now(
    graph: ResourceGraph, stream: list[Step], since: int
) -> None:
    play = Play(graph)
    ledger = play.ledger
    before, clock = state(ledger), ledger.clock
    for number, step in enumerate(stream):
        if number == since:
            before, clock = state(ledger), ledger.clock
        play.do(step)
    changed = ledger.changed_since(clock)
    assert changed is not None
    assert changed.tolist() == sorted(set(changed.tolist()))
    different = np.flatnonzero((state(ledger) != before).any(axis=0))
    assert set(different.tolist()) <= set(changed.tolist())
    assert set(ancestors(ledger.tree, changed).tolist()) <= set(changed.tolist())


def state(ledger: Ledger) -> NDArray[np.int64]:
    return np.stack((ledger.held, ledger.tags, ledger.up)).astype(np.int64)


# -- by hand ---------------------------------------------------------------------------------------


def rack_of_nodes() -> Play:
    return Play(cluster(*racks(1, *nodes(2, *cores(2)), pool("bandwidth", 10))))


def test_nothing_is_held_or_down_in_the_view_of_everything() -> None:
    play = rack_of_nodes()
    play.add(holding_of(play.graph, {0: 1, 4: 1}, 0, 10, False))
    play.ledger.mark(1, False)
    view = play.ledger.everything()
    all_rows = np.arange(len(play.ledger.size))
    assert view.is_open(all_rows, 0).all()
    assert view.is_alone(all_rows, 0).all()
    assert view.free(all_rows, 0).tolist() == play.ledger.size.tolist()


def test_promises_do_not_change_the_view_of_now() -> None:
    play = rack_of_nodes()
    clock = play.ledger.clock
    play.add(holding_of(play.graph, {2: 1}, 5, 10, True))
    assert play.ledger.clock == clock
    assert play.ledger.now().is_alone(np.array([2]), 2).all()
    assert not play.ledger.during(0, 6).is_alone(np.array([2]), 2).any()
    assert play.ledger.during(0, 5).is_alone(np.array([2]), 2).all()


def test_a_job_that_overruns_is_still_there_now_but_not_later() -> None:
    play = rack_of_nodes()
    play.add(holding_of(play.graph, {2: 1}, 0, 10, False))
    play.add(holding_of(play.graph, {5: 1}, 20, 30, True))
    node = np.array([2])
    assert not play.ledger.during(15, 25).is_open(node, 2).any()
    assert play.ledger.later(15, 25).is_open(node, 2).all()


def test_a_pool_is_judged_by_the_most_held_at_one_instant() -> None:
    play = rack_of_nodes()
    (bandwidth,) = np.flatnonzero(play.ledger.size == 10).tolist()
    for start, end, amount in [(0, 10, 4), (10, 20, 3), (15, 25, 3)]:
        play.add(holding_of(play.graph, {bandwidth: amount}, start, end, True))
    where = np.array([bandwidth])
    free = {w: int(play.ledger.later(*w).free(where, 2)[0]) for w in [(0, 15), (0, 25), (10, 25)]}
    assert free == {(0, 15): 6, (0, 25): 4, (10, 25): 4}


def test_dropping_a_job_that_holds_nothing_is_none() -> None:
    assert rack_of_nodes().ledger.drop(7) is None


def churn(play: Play, rounds: int, ask: Callable[[], object]) -> None:
    """Jobs come and go, a few stay; `ask` is called in between."""
    many = dict.fromkeys(range(1, len(play.ledger.size)), 1)
    for turn in range(rounds):
        jobid = play.add(holding_of(play.graph, many, turn, turn + 3, turn % 2 == 1))
        ask()
        if turn % 40:
            play.drop(jobid)


def test_laying_the_tables_anew_loses_nothing() -> None:
    play = Play(cluster(*racks(2, *nodes(3, *cores(4)), pool("bandwidth", 500))))
    sizes = [0]

    def ask() -> None:
        sizes.append(play.ledger.spans(3).size)

    churn(play, 400, ask)
    assert any(after < before for before, after in pairwise(sizes))
    for window in [(0, 3), (39, 42), (200, 201), (0, 400)]:
        check(play.ledger.later(*window), play.model.later(*window))
        check(play.ledger.during(*window), play.model.during(*window))
    check(play.ledger.now(), play.model.now())


def test_the_log_of_changes_goes_back_some_way_and_no_further() -> None:
    play = rack_of_nodes()
    start = play.ledger.clock
    for turn in range(3000):
        play.ledger.mark(2, turn % 2 == 0)
    assert play.ledger.changed_since(start) is None
    assert play.ledger.changed_since(play.ledger.clock - 1) is not None
    assert play.ledger.changed_since(play.ledger.clock - 100) is not None
    nothing = play.ledger.changed_since(play.ledger.clock)
    assert nothing is not None
    assert not len(nothing)
