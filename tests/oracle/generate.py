"""Hypothesis strategies: small graphs, and jobspecs that make sense for them.

Everything drawn is a frozen value whose `repr` is Python, so that a failing example can be read,
pasted and run again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.jobspec.constraint import And, Constraint, Hostlist, Not, Or, Properties, Ranks
from fluxnetes.jobspec.model import SLOT, UINT_MAX, XOR_SLOT, Count, Jobspec, Resource

POLICIES = (
    "first",
    "firstnodex",
    "high",
    "low",
    "hinode",
    "lonode",
    "hinodex",
    "lonodex",
    "locality",
    "variation",
)
STATIC_POLICIES = tuple(policy for policy in POLICIES if not policy.startswith("first"))
PRUNE_FILTERS = ("ALL:core,ALL:node", "ALL:core", "ALL:core,ALL:node,ALL:memory", "ALL:socket")

# -- graphs ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class V:
    """A vertex of a graph to be built, with all below it."""

    type: str
    id: int
    below: tuple[V, ...] = ()
    size: int = 1
    divisible: bool = False
    rank: int = -1
    uniq: int | None = None
    properties: tuple[tuple[str, str], ...] = ()

    def all(self) -> Iterator[V]:
        yield self
        for vertex in self.below:
            yield from vertex.all()


Link = tuple[int, int]
"""A further parent of a vertex: both by their place in a depth-first walk."""


def build(root: V, links: tuple[Link, ...] = ()) -> ResourceGraph:
    """The graph that a description stands for; rows in depth-first order."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    _build(patch, root)
    for parent, child in links:
        patch.edge(parent, child)
    graph.apply(patch)
    return graph


def _build(patch: GraphPatch, vertex: V) -> int:
    row = patch.vertex(
        vertex.type,
        id=vertex.id,
        size=vertex.size,
        rank=vertex.rank,
        uniq_id=vertex.uniq,
        divisible=vertex.divisible,
        properties=dict(vertex.properties),
    )
    for child in vertex.below:
        patch.edge(row, _build(patch, child))
    return row


@dataclass(frozen=True)
class Blueprint:
    """The shape that all branches of a graph follow."""

    levels: tuple[str, ...]
    """From the root down, without the leaves."""
    leaves: dict[str, tuple[str, ...]]
    """The leaf types that a vertex of each level holds."""
    pools: frozenset[str]
    """The leaf types that are divisible."""

    def inside(self, level: str) -> tuple[str, ...]:
        """The types of a level's direct children."""
        place = self.levels.index(level)
        return self.levels[place + 1 : place + 2] + self.leaves.get(level, ())


@dataclass(frozen=True)
class Cluster:
    """A graph's description together with the shape it follows."""

    root: V
    blueprint: Blueprint = field(repr=False)
    links: tuple[Link, ...] = ()
    """Edges that make the graph more than a tree."""
    second: Blueprint | None = field(default=None, repr=False)
    """The shape of the branches that hold what others hold, too."""


LEAVES = ("core", "gpu", "memory", "ssd")
POOLS = ("cpu", "ram")


@st.composite
def blueprints(draw: st.DrawFn, pools: bool = False) -> Blueprint:
    middle = draw(
        st.sampled_from(
            [("node",), ("rack", "node"), ("node", "socket"), ("rack", "node", "socket")]
        )
    )
    levels = ("cluster", *middle)
    kinds = POOLS if pools else LEAVES
    last = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True))
    leaves = {levels[-1]: tuple(last)}
    if len(levels) > 2 and draw(st.booleans()):
        others = [kind for kind in ("gpu", "memory", "ssd") if kind not in last]
        if others:
            leaves[levels[-2]] = (draw(st.sampled_from(others)),)
    return Blueprint(levels, leaves, frozenset(POOLS))


@st.composite
def clusters(draw: st.DrawFn, pools: bool | None = None) -> Cluster:
    """A small cluster; its branches may differ, its ids may be out of order."""
    with_pools = draw(st.booleans()) if pools is None else pools
    blueprint = draw(blueprints(with_pools))
    ids = draw(st.sampled_from(["local", "global", "scrambled"]))
    grower = Grower(draw, blueprint, ids)
    root = grower.vertex("cluster", 0)
    if draw(st.integers(0, 3)) == 0:
        root = _scramble_uniq_ids(draw, root)
    return Cluster(root, blueprint)


class Grower:
    """Draws the vertices of one graph, level by level."""

    def __init__(self, draw: st.DrawFn, blueprint: Blueprint, ids: str) -> None:
        self.draw = draw
        self.blueprint = blueprint
        self.ids = ids
        self.met: dict[str, int] = {}
        self.uneven = draw(st.booleans())
        self.usual: dict[tuple[str, str], int] = {}

    def vertex(self, type: str, id: int) -> V:
        if type not in self.blueprint.levels:
            return self._leaf(type, id)
        rank = self._next("rank") if type == "node" else -1
        properties = self._properties() if type == "node" else ()
        below: list[V] = []
        for inside in self.blueprint.inside(type):
            numbers = self._ids(inside, self._count(type, inside))
            below += [self.vertex(inside, number) for number in numbers]
        return V(type, id, tuple(below), rank=rank, properties=properties)

    def _leaf(self, type: str, id: int) -> V:
        divisible = type in self.blueprint.pools
        if divisible:
            return V(type, id, size=self.draw(st.integers(1, 8)), divisible=True)
        size = self.draw(st.integers(1, 4)) if type in ("memory", "ssd") else 1
        return V(type, id, size=size)

    def _next(self, counter: str) -> int:
        self.met[counter] = self.met.get(counter, -1) + 1
        return self.met[counter]

    def _properties(self) -> tuple[tuple[str, str], ...]:
        chosen = self.draw(st.sets(st.sampled_from(["fast", "big", "perf_class"]), max_size=2))
        return tuple((key, str(self.draw(st.integers(0, 3)))) for key in sorted(chosen))

    def _count(self, parent: str, type: str) -> int:
        most = 2 if type in self.blueprint.levels[2:] or type in self.blueprint.pools else 4
        if (parent, type) not in self.usual:
            self.usual[parent, type] = self.draw(st.sampled_from([1, 2, 3, most]))
        usual = min(self.usual[parent, type], most)
        if self.uneven and self.draw(st.integers(0, 3)) == 0:
            return self.draw(st.integers(0, most))
        return usual

    def _ids(self, type: str, count: int) -> list[int]:
        if self.ids == "global" and type in self.blueprint.levels:
            return [self._next(type) for _ in range(count)]
        if self.ids == "scrambled":
            return self.draw(st.permutations(range(count)))
        return list(range(count))


@st.composite
def shared_clusters(draw: st.DrawFn, pools: bool = False) -> Cluster:
    """A cluster in which vertices have several parents.

    Siblings of a parent hold some of its children, too; and switches, beside the usual branches,
    hold vertices of one type from all over the cluster.
    """
    cluster = draw(clusters(pools))
    blueprint = cluster.blueprint
    kinds = [*blueprint.levels[1:], *(t for types in blueprint.leaves.values() for t in types)]
    shared = draw(st.sampled_from(sorted(set(kinds))))
    switches = tuple(V("switch", number) for number in range(draw(st.integers(0, 2))))
    first = draw(st.booleans())
    old = cluster.root.below
    root = _with_own_ids(draw, V("cluster", 0, switches + old if first else old + switches))
    if cluster.root.uniq is not None:
        root = _scramble_uniq_ids(draw, root)
    links: list[Link] = []
    for parent, child in possible_links(root, blueprint, shared):
        if draw(st.integers(0, 2)) == 0:
            links.append((parent, child))
    return Cluster(root, blueprint, tuple(draw(st.permutations(links))), behind(blueprint, shared))


def _with_own_ids(draw: st.DrawFn, root: V) -> V:
    """The same with ids that no two vertices of a type share: each path leads to one vertex."""
    types = sorted({vertex.type for vertex in root.all()})
    counts = {type: sum(vertex.type == type for vertex in root.all()) for type in types}
    shuffled = draw(st.booleans())
    ids = {
        type: iter(draw(st.permutations(range(count))) if shuffled else range(count))
        for type, count in counts.items()
    }

    def renumber(vertex: V) -> V:
        id = next(ids[vertex.type])
        return replace(vertex, id=id, below=tuple(renumber(child) for child in vertex.below))

    return renumber(root)


def behind(blueprint: Blueprint, shared: str) -> Blueprint:
    """The shape of a cluster as its switches see it."""
    levels = ("cluster", "switch")
    if shared in blueprint.levels:
        place = blueprint.levels.index(shared)
        return Blueprint(levels + blueprint.levels[place:], blueprint.leaves, blueprint.pools)
    return Blueprint(levels, {"switch": (shared,)}, blueprint.pools)


def possible_links(root: V, blueprint: Blueprint, shared: str) -> list[Link]:
    """What a vertex could hold beside its own: children of its own kind, or what switches hold."""
    row: dict[int, int] = {}
    for vertex in root.all():
        row[id(vertex)] = len(row)
    every = list(root.all())
    holder = {id(child): parent for parent in every for child in parent.below}
    found = []
    for parent in every:
        wanted = (shared,) if parent.type == "switch" else blueprint.leaves.get(parent.type, ())
        for child in every:
            mine = id(child) in holder and holder[id(child)] is parent
            if child.type in wanted and not mine:
                found.append((row[id(parent)], row[id(child)]))
    return found


def _scramble_uniq_ids(draw: st.DrawFn, root: V) -> V:
    numbers = iter(draw(st.permutations(range(len(list(root.all()))))))

    def renumber(vertex: V) -> V:
        mine = next(numbers)
        below = tuple(renumber(child) for child in vertex.below)
        return V(
            vertex.type,
            vertex.id,
            below,
            vertex.size,
            vertex.divisible,
            vertex.rank,
            mine,
            vertex.properties,
        )

    return renumber(root)


# -- jobspecs --------------------------------------------------------------------------------------


@st.composite
def counts(draw: st.DrawFn, most: int = 3) -> Count:
    """Mostly a small number; sometimes a range."""
    least = draw(st.sampled_from([1, 1, 1, 2, 2, most]))
    shape = draw(st.sampled_from(["number"] * 6 + ["+", "*", "^", "open"]))
    if shape == "number":
        return Count(least, least)
    if shape == "open":
        return Count(least, UINT_MAX)
    if shape == "+":
        return Count(least, least + draw(st.integers(0, 6)), "+", draw(st.integers(1, 3)))
    if shape == "*":
        return Count(least, least + draw(st.integers(0, 8)), "*", 2)
    return Count(2, 20, "^", 2)


class _Asker:
    """Draws the resources of one request for graphs of one shape."""

    def __init__(self, draw: st.DrawFn, blueprint: Blueprint, flexible: bool) -> None:
        self.draw = draw
        self.blueprint = blueprint
        self.flexible = flexible

    def request(self) -> tuple[Resource, ...]:
        levels = self.blueprint.levels
        place = self.draw(st.integers(1, len(levels)))
        headless = self.draw(st.integers(0, place))
        above = levels[headless:place]
        request = self._innermost(levels[place - 1])
        for level in reversed(above):
            exclusive = self.draw(st.sampled_from([None] * 6 + [True, False]))
            count = Count(1, 1) if level == "cluster" else self.draw(counts(2))
            request = (Resource(level, count, request, exclusive),)
        return request

    def _innermost(self, level: str) -> tuple[Resource, ...]:
        """What is asked of a vertex of a level: slots mostly, or something exclusive."""
        kind = self.draw(st.sampled_from(["slot"] * 9 + ["exclusive"] * 2 + ["shared"]))
        if kind == "slot":
            return self._slots(level)
        exclusive = True if kind == "exclusive" else None
        return tuple(self._inside(level, exclusive))

    def _slots(self, level: str) -> tuple[Resource, ...]:
        """One slot, or alternatives; the reference defines those only for equal counts."""
        type, alternatives = SLOT, 1
        if self.flexible:
            type = self.draw(st.sampled_from([SLOT, XOR_SLOT]))
            alternatives = self.draw(st.integers(1, 3))
        count = self.draw(counts(3))
        shapes = [tuple(self._inside(level, None)) for _ in range(alternatives)]
        return tuple(Resource(type, count, shape, label="task") for shape in shapes)

    def _inside(self, level: str, exclusive: bool | None) -> list[Resource]:
        """Some of the direct children of a level, each with what is asked of it in turn."""
        kinds = self.blueprint.inside(level)
        chosen = self.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True))
        return [self._part(kind, exclusive) for kind in chosen]

    def _part(self, type: str, exclusive: bool | None) -> Resource:
        if type in self.blueprint.levels:
            below = self._inside(type, None) if self.draw(st.booleans()) else []
            return Resource(type, self.draw(counts(2)), tuple(below), exclusive)
        return Resource(type, self.draw(counts(4)), (), exclusive)


@st.composite
def constraints(draw: st.DrawFn, deep: bool = True) -> Constraint:
    """A constraint over the properties, names and ranks that `clusters` gives to nodes."""
    kind = draw(st.sampled_from(["properties", "ranks", "hostlist"] + ["join"] * deep))
    if kind == "properties":
        require = draw(st.lists(st.sampled_from(["fast", "big"]), max_size=1))
        forbid = draw(st.lists(st.sampled_from(["fast", "big"]), max_size=1))
        return Properties(tuple(require), tuple(forbid))
    few = draw(st.frozensets(st.integers(0, 5), max_size=4))
    if kind == "ranks":
        return Ranks(few)
    if kind == "hostlist":
        return Hostlist(frozenset(f"node{number}" for number in few))
    parts = tuple(draw(st.lists(constraints(deep=False), min_size=1, max_size=2)))
    joined: list[Constraint] = [And(parts), Or(parts), Not(parts)]
    return draw(st.sampled_from(joined))


@st.composite
def jobspecs(draw: st.DrawFn, blueprint: Blueprint, flexible: bool = False) -> Jobspec:
    """A request that fits the shape of a graph, if not always its size."""
    resources = _Asker(draw, blueprint, flexible).request()
    duration = draw(st.sampled_from([1.0, 2.0, 3.0, 4.5, 5.0, 10.0, 10.0, 10.0, 0.0]))
    constraint = draw(constraints()) if draw(st.integers(0, 6)) == 6 else None
    return Jobspec(resources, duration=duration, constraint=constraint)
