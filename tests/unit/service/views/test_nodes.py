"""The free, held and reserved amounts of nodes, against counting vertex by vertex."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import core, jobspec, memory, node, slot, socket
from fluxnetes.match.answers import Operation
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.jobs import Request
from fluxnetes.service.values import NodeView
from fluxnetes.service.views.nodes import node_names, node_views, positions_of, totals
from tests.property.profile import examples
from tests.unit.match.clusters import a, cluster, cores, nodes
from tests.unit.match.clusters import memory as pieces

COUNTED = ("core", "memory", "socket", "cpu", "pods")


def views(matcher: Matcher) -> list[NodeView]:
    return list(node_views(matcher, matcher.engine.nodes.tolist()))


# -- counted slowly --------------------------------------------------------------------------------


@dataclass
class Slow:
    """All vertices of a graph one by one, and all jobs."""

    matcher: Matcher
    held: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for job in self.matcher.jobs.values():
            if not job.cancelled and not job.reserved:
                rows = job.placement
                for vertex, needs, mine in zip(
                    rows.vertex, rows.needs, rows.exclusive, strict=True
                ):
                    self.held[int(vertex)] += int(needs) if mine else 0

    def free(self, path: str, type: str) -> int:
        """What is free of a type below a node."""
        return sum(self._free(v) for v in self._below(path) if self._type(v) == type)

    def total(self, path: str, type: str) -> int:
        graph = self.matcher.graph
        return sum(int(graph.size[v]) for v in self._below(path) if self._type(v) == type)

    def _below(self, path: str) -> list[int]:
        graph = self.matcher.graph
        living = graph.topology().vertex.tolist()
        return [v for v in living if (graph.path(v) or "").startswith(f"{path}/")]

    def _type(self, vertex: int) -> str:
        return self.matcher.graph.type_name(vertex)

    def _free(self, vertex: int) -> int:
        graph = self.matcher.graph
        path = graph.path(vertex) or ""
        way = [graph.find_path(path[:end])[0] for end in _ends(path)]
        if not all(graph.up[v] for v in way):
            return 0
        if any(self.held[v] and not graph.divisible[v] for v in way):
            return 0
        return int(graph.size[vertex]) - self.held[vertex]


def _ends(path: str) -> list[int]:
    return [at for at, letter in enumerate(path) if letter == "/" and at] + [len(path)]


# -- what is done ----------------------------------------------------------------------------------


def machines() -> ResourceGraph:
    return cluster(*nodes(3, a("socket", *cores(2)), a("socket", *cores(2)), *cores(2), *pieces(4)))


def pools() -> ResourceGraph:
    return pool_graph({f"n{n}": {"cpu": 4000, "memory": 8, "pods": 3} for n in range(3)})


_JOBSPECS: list[Request] = [
    jobspec(slot(1, core(1)), duration=60),
    jobspec(slot(2, core(2)), duration=10),
    jobspec(node(1, slot(1, core(1), memory(4))), duration=30),
    jobspec(node(1, slot(1, socket(1, core(2)))), duration=30),
    jobspec(slot(1, socket(1)), duration=20),
    jobspec(slot(1, node(1)), duration=20),
    jobspec(slot(2, node(1, core(1))), duration=20),
]
_GANGS: list[Request] = [
    Gang((Shape.of(2, {"cpu": 900, "pods": 1}),), duration=60),
    Gang((Shape.of(1, {"cpu": 1500, "memory": 4, "pods": 1}),), duration=10),
    Gang((Shape.of(1, {"cpu": 100}), Shape.of(1, {"memory": 1})), duration=30),
]

_steps = st.lists(
    st.tuples(
        st.sampled_from(["match", "match", "reserve", "cancel", "down", "up", "shrink"]),
        st.integers(0, 20),
    ),
    max_size=14,
)


def play(matcher: Matcher, asks: list[Request], steps: list[tuple[str, int]]) -> None:
    for what, number in steps:
        path = f"/cluster0/{node_names(matcher)[number % matcher.engine.node_count]}"
        match what:
            case "match":
                matcher.match(Operation.ALLOCATE, asks[number % len(asks)])
            case "reserve":
                matcher.match(Operation.ALLOCATE_ORELSE_RESERVE, asks[number % len(asks)])
            case "cancel":
                live = [id for id, job in matcher.jobs.items() if not job.cancelled]
                if live:
                    matcher.cancel(live[number % len(live)])
            case "shrink":
                if matcher.engine.node_count > 1:
                    matcher.remove(path)
            case _:
                matcher.set_status(path, what == "up")


@given(st.booleans(), _steps)
@examples(150)
def test_free_is_what_is_there_less_what_is_held(
    of_pools: bool, steps: list[tuple[str, int]]
) -> None:
    graph, asks = (pools(), _GANGS) if of_pools else (machines(), _JOBSPECS)
    matcher = Matcher(graph, policy="lonode")
    play(matcher, asks, steps)
    slow = Slow(matcher)
    found = views(matcher)
    assert [view.name for view in found] == node_names(matcher)
    for view in found:
        for pool in view.pools:
            assert pool.type in COUNTED
            expected = (slow.total(view.path, pool.type), slow.free(view.path, pool.type))
            assert (pool.total, pool.free) == expected, (view.name, pool.type)
    for pool in totals(matcher):
        each = [p for view in found for p in view.pools if p.type == pool.type]
        assert (pool.total, pool.free) == (sum(p.total for p in each), sum(p.free for p in each))


@given(st.booleans(), _steps)
@examples(100)
def test_a_node_lists_all_jobs_that_hold_something_of_it(
    of_pools: bool, steps: list[tuple[str, int]]
) -> None:
    graph, asks = (pools(), _GANGS) if of_pools else (machines(), _JOBSPECS)
    matcher = Matcher(graph, policy="lonode")
    play(matcher, asks, steps)
    expected: dict[tuple[str, int], Counter[str]] = {}
    for id, job in matcher.jobs.items():
        if job.cancelled:
            continue
        rows = job.placement
        for vertex, needs, mine in zip(rows.vertex, rows.needs, rows.exclusive, strict=True):
            parts = (graph.path(int(vertex)) or "").split("/")
            if len(parts) > 2:
                share = expected.setdefault((parts[2], id), Counter())
                share[graph.type_name(int(vertex))] += int(needs) if mine else 0
    found = {
        (view.name, share.job): Counter(share.amounts)
        for view in views(matcher)
        for share in view.shares
    }
    assert found == {key: +share for key, share in expected.items()}


def test_what_is_reserved_is_the_most_at_any_one_time() -> None:
    matcher = Matcher(cluster(*nodes(1, *cores(4))))
    for cores_, duration in ((4, 100), (3, 50), (2, 50), (2, 50)):
        matcher.allocate_orelse_reserve(jobspec(slot(1, core(cores_)), duration=duration))
    # 3 of them from 100 to 150; then twice 2.
    [view] = views(matcher)
    [pool] = view.pools
    assert (pool.free, pool.reserved) == (0, 4)
    assert [share.reserved for share in view.shares] == [False, True, True, True]
    matcher.cancel(3)
    [view] = views(matcher)
    assert [pool.reserved for pool in view.pools] == [3]


def test_nodes_are_found_by_name_and_unknown_names_left_out() -> None:
    matcher = Matcher(cluster(*nodes(3, *cores(1))))
    found = positions_of(matcher, ["node2", "node9", "node0"])
    assert [view.name for view in node_views(matcher, list(found.values()))] == ["node0", "node2"]


def test_a_node_that_is_down_has_nothing_free_and_says_so() -> None:
    matcher = Matcher(cluster(*nodes(2, *cores(1))))
    matcher.set_status("/cluster0/node1", False)
    assert [(view.up, view.pools[0].free) for view in views(matcher)] == [(True, 1), (False, 0)]
