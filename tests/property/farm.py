"""Small clusters of pools, what happens on them, and a plain greedy loop that places gangs there.

The loop goes pod by pod, node by node, second by second. It knows the sizes of the pools and what
each live job was given, and nothing else of the matcher. Where a gang says how its pods are to be
placed relative to each other, `tests.oracle.topology` looks at all placements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.constraint import Constraint, Hostlist, Not, Properties
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.planning import Planning
from tests.oracle.topology import has_placement
from tests.property.duel import live_jobs, pick

TYPES = ("cpu", "memory", "gpu")
LICENCES = 6

# -- clusters and streams --------------------------------------------------------------------------


@dataclass(frozen=True)
class Farm:
    """Nodes with pools, perhaps in zones; some are fast, each is of a class."""

    amounts: tuple[tuple[tuple[str, int], ...], ...]
    zones: tuple[str, ...] | None
    fast: frozenset[int]
    classes: tuple[int, ...]
    places: tuple[tuple[str | None, str | None], ...] | None = None
    """The block and the rack of each node; a rack of the same name in another block is another."""

    def graph(self) -> ResourceGraph:
        names = [f"n{number}" for number in range(len(self.amounts))]
        return pool_graph(
            {name: dict(amounts) for name, amounts in zip(names, self.amounts, strict=True)},
            zones=None if self.zones is None else dict(zip(names, self.zones, strict=True)),
            levels=self._levels(),
            shared={"licence": LICENCES},
            properties={
                name: {"perf_class": str(number)} | ({"fast": ""} if i in self.fast else {})
                for i, (name, number) in enumerate(zip(names, self.classes, strict=True))
            },
        )

    def _levels(self) -> dict[str, dict[str, str]] | None:
        if self.places is None:
            return None
        found: dict[str, dict[str, str]] = {"block": {}, "rack": {}}
        for number, (block, rack) in enumerate(self.places):
            if block is not None:
                found["block"][f"n{number}"] = block
            if rack is not None:
                found["rack"][f"n{number}"] = rack
        return found

    def domains(self) -> dict[str, dict[str, str]]:
        """By node and level, the domain of the node."""
        found: dict[str, dict[str, str]] = {}
        for number, (block, rack) in enumerate(self.places or [(None, None)] * len(self.amounts)):
            mine = found[f"n{number}"] = {"node": f"n{number}"}
            if block is not None:
                mine["block"] = block
            if rack is not None:
                mine["rack"] = f"{block}/{rack}"
        return found


@st.composite
def farms(draw: st.DrawFn, most: int = 5) -> Farm:
    count = draw(st.integers(1, most))
    amounts = []
    for number in range(count):
        types = draw(st.sets(st.sampled_from(TYPES), min_size=1)) if number else set(TYPES)
        amounts.append(tuple((type, draw(st.integers(1, 8))) for type in sorted(types)))
    zones = draw(st.none() | st.tuples(*[st.sampled_from(["west", "east"])] * count))
    fast = draw(st.frozensets(st.integers(0, count - 1)))
    return Farm(tuple(amounts), zones, fast, draw(st.tuples(*[st.integers(0, 2)] * count)))


@st.composite
def tiered_farms(draw: st.DrawFn) -> Farm:
    """The same with blocks and racks; nodes of some need not be in one."""
    farm = draw(farms(6))
    block = st.sampled_from(["b0", "b1", "b1", None])
    rack = st.sampled_from(["r0", "r0", "r1", None])
    places = draw(st.tuples(*[st.tuples(block, rack)] * len(farm.amounts)))
    return replace(farm, zones=None, places=places)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True))
    amounts = {type: draw(st.integers(1, 4)) for type in types}
    choices: list[Constraint | None] = [None] * 4
    choices += [
        Properties(("fast",)),
        Not((Properties(("fast",)),)),
        Hostlist(frozenset({"n0", "n2"})),
    ]
    return Shape.of(draw(st.integers(1, 4)), amounts, draw(st.sampled_from(choices)))


gangs = st.builds(
    Gang,
    st.lists(shapes(), min_size=1, max_size=3).map(tuple),
    st.sampled_from([(), (), (("licence", 1),), (("licence", 4),), (("licence", 9),)]),
    st.sampled_from([1.0, 3.0, 7.5]),
)

LEVELS = ("node", "rack", "block")


@st.composite
def topology_requests(draw: st.DrawFn) -> TopologyRequest:
    """One to three of what a request can ask for."""
    level, parts = st.sampled_from(LEVELS), st.sampled_from(["one", "near", "slices", "spread"])
    chosen = draw(st.sets(parts, min_size=1, max_size=3))
    return TopologyRequest(
        required=draw(level) if "one" in chosen else None,
        preferred=draw(level) if "near" in chosen else None,
        slice_level=draw(level) if "slices" in chosen else None,
        slice_size=draw(st.integers(1, 4)) if "slices" in chosen else 0,
        spread_level=draw(level) if "spread" in chosen else None,
        spread_most=draw(st.integers(1, 4)) if "spread" in chosen else 0,
    )


@st.composite
def equal_pods(draw: st.DrawFn) -> Gang:
    """A gang of one shape under a topology request."""
    shape = replace(draw(shapes()), count=draw(st.integers(1, 8)))
    duration = draw(st.sampled_from([1.0, 3.0]))
    return Gang((shape,), duration=duration, topology=draw(topology_requests()))


near_gangs = st.builds(
    lambda gang, request: replace(gang, topology=request), gangs, topology_requests()
)
"""Gangs of several shapes under a topology request."""


@dataclass(frozen=True)
class Ask:
    operation: Operation
    gang: Gang


@dataclass(frozen=True)
class Same:
    """What was asked last, so many times more."""

    times: int


@dataclass(frozen=True)
class Cancel:
    nth: int


@dataclass(frozen=True)
class Turn:
    """A node or a zone goes down or up."""

    nth: int
    up: bool


@dataclass(frozen=True)
class Others:
    """Others hold this much of a node now."""

    nth: int
    held: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Wait:
    seconds: int


Step = Ask | Same | Cancel | Turn | Others | Wait
OPERATIONS = (
    *[Operation.ALLOCATE] * 3,
    *[Operation.ALLOCATE_ORELSE_RESERVE] * 4,
    Operation.ALLOCATE_WITH_SATISFIABILITY,
    Operation.SATISFIABILITY,
    Operation.WITHOUT_ALLOCATING_FUTURE,
)
again = st.builds(Same, st.integers(1, 5))
cancels = st.builds(Cancel, st.integers(0, 9))
turns = st.builds(Turn, st.integers(0, 9), st.booleans())
held = st.dictionaries(st.sampled_from(TYPES), st.integers(0, 9), max_size=2)
others = st.builds(Others, st.integers(0, 9), held.map(lambda found: tuple(found.items())))
waits = st.builds(Wait, st.integers(1, 4))


def streams_of(gangs: st.SearchStrategy[Gang]) -> st.SearchStrategy[list[Step]]:
    """What happens on a cluster to which such gangs come."""
    asks = st.builds(Ask, st.sampled_from(OPERATIONS), gangs)
    return st.lists(
        st.one_of(asks, asks, asks, again, again, cancels, turns, others, waits),
        min_size=1,
        max_size=14,
    )


streams = streams_of(gangs)


# -- the plain loop --------------------------------------------------------------------------------

Seats = list[list[tuple[str, int]]]
"""For each shape the nodes that its pods go to, and how many to each."""


class Plain:
    """The pools of a farm and the jobs on them."""

    def __init__(
        self,
        matcher: Matcher,
        farm: Farm,
        policy: str,
        down: set[str],
        others: Mapping[str, Mapping[str, int]],
    ) -> None:
        self.graph = matcher.graph
        self.domains = farm.domains()
        self.others = others
        self.jobs = live_jobs(matcher)
        self.down = down
        self.whole_nodes = policy.endswith("nodex")
        names = [f"n{number}" for number in range(len(farm.amounts))]
        self.sizes = {n: dict(its) for n, its in zip(names, farm.amounts, strict=True)}
        self.sizes["licences"] = {"licence": LICENCES}
        self.path = {self.graph.name(v): self.graph.path(v) or "" for v in self._nodes()}
        self.fast = {f"n{number}" for number in farm.fast}
        self.order = sorted(names, key=self._place(policy, farm))

    def _nodes(self) -> Iterator[int]:
        for vertex in range(self.graph.vertex_count):
            if self.graph.type_name(vertex) == "node":
                yield vertex

    def _place(self, policy: str, farm: Farm) -> Callable[[str], tuple[int, int]]:
        met = list(self.graph.topology().vertex)
        row = {self.graph.name(v): met.index(v) for v in self._nodes()}
        if policy == "variation":
            return lambda name: (farm.classes[int(name[1:])], row[name])
        sign = 1 if policy.startswith("lo") and policy != "locality" else -1
        return lambda name: (sign * int(name[1:]), row[name])

    def taken(self, jobs: list[MatchedJob], node: str, type: str) -> int:
        """What some jobs take of a pool together."""
        return sum(self._part(job, node, type) for job in jobs)

    def _part(self, job: MatchedJob, node: str, type: str) -> int:
        above = "" if node == "licences" else node
        placement = job.placement
        total = 0
        for vertex, parent, needs in zip(
            placement.vertex.tolist(), placement.parent.tolist(), placement.needs, strict=True
        ):
            holder = self.graph.name(parent) if parent >= 0 else ""
            mine = holder == above if above else self.graph.type_name(parent) == "cluster"
            if self.graph.type_name(vertex) == type and mine:
                total += int(needs)
        return total

    def seconds_of(self, at: int, duration: int, *, now: bool) -> list[list[MatchedJob]]:
        """The jobs of each second of a window; now, allocations are there even past their end."""
        window = [
            [j for j in self.jobs if j.at <= t < j.end] for t in range(at, at + int(duration))
        ]
        if now:
            window[0] = [j for j in self.jobs if not j.reserved or j.at <= at < j.end]
        return window

    def seats(
        self, gang: Gang, seconds: list[list[MatchedJob]], *, ever: bool = False
    ) -> Seats | None:
        """Place pod by pod; None if one finds no place."""
        usable, free = self._usable(seconds, ever=ever), self._free(seconds, ever=ever)
        seated: Seats = []
        for shape in gang.shapes:
            allowed = [n for n in usable if self._allows(shape.constraint, n)]
            places = self._seat(shape, allowed, free)
            if places is None:
                return None
            seated.append(places)
        for type, amount in gang.shared:
            if free.get(("licences", type), -1) < amount:
                return None
        return seated

    def _usable(self, seconds: list[list[MatchedJob]], *, ever: bool) -> list[str]:
        usable = [n for n in self.order if ever or not self._is_down(n)]
        if self.whole_nodes:
            there = {id(job): job for jobs in seconds for job in jobs}
            usable = [n for n in usable if not self._is_used(n, list(there.values()))]
        return usable

    def _free(self, seconds: list[list[MatchedJob]], *, ever: bool) -> dict[tuple[str, str], int]:
        return {
            (holder, type): (size if ever else self._left(holder, type, size))
            - max([self.taken(jobs, holder, type) for jobs in seconds] + [0])
            for holder, its in self.sizes.items()
            for type, size in its.items()
        }

    def fits(self, gang: Gang, seconds: list[list[MatchedJob]], *, ever: bool = False) -> bool:
        """Whether a gang of equal pods has any placement that its topology request allows."""
        assert gang.topology is not None
        (shape,) = gang.shapes
        capacity = self.capacity(shape, seconds, ever=ever)
        return has_placement(gang.topology, capacity, shape.count, self.domains)

    def capacity(
        self, shape: Shape, seconds: list[list[MatchedJob]], *, ever: bool = False
    ) -> dict[str, int]:
        """The pods of a shape that fit on each node."""
        free = self._free(seconds, ever=ever)
        return {
            node: max(0, min(free.get((node, type), 0) // n for type, n in shape.amounts))
            for node in self._usable(seconds, ever=ever)
            if self._allows(shape.constraint, node)
        }

    def _left(self, node: str, type: str, size: int) -> int:
        """What others leave us of a pool."""
        return max(0, size - self.others.get(node, {}).get(type, 0))

    def _seat(
        self, shape: Shape, nodes: list[str], free: dict[tuple[str, str], int]
    ) -> list[tuple[str, int]] | None:
        left, places = shape.count, []
        for node in nodes:
            pods = 0
            while left and all(free.get((node, t), -1) >= amount for t, amount in shape.amounts):
                for type, amount in shape.amounts:
                    free[node, type] -= amount
                pods, left = pods + 1, left - 1
            if pods:
                places.append((node, pods))
        return places if left == 0 else None

    def _is_used(self, node: str, jobs: list[MatchedJob]) -> bool:
        (vertex,) = [v for v in self._nodes() if self.graph.name(v) == node]
        return any((job.placement.vertex == vertex).any() for job in jobs)

    def _is_down(self, node: str) -> bool:
        return any(self.path[node] == d or self.path[node].startswith(d + "/") for d in self.down)

    def _allows(self, constraint: Constraint | None, node: str) -> bool:
        if constraint is None:
            return True
        return constraint.matches(node, -1, lambda key: key == "fast" and node in self.fast)

    def answer(self, ask: Ask, now: int) -> tuple[Outcome, int, Seats | None]:
        """What the matcher must say."""
        return self._answer(ask, now, self.seats)

    def outcome(self, ask: Ask, now: int) -> tuple[Outcome, int]:
        """The same without seats, for equal pods under a topology request."""

        def seats(
            gang: Gang, seconds: list[list[MatchedJob]], *, ever: bool = False
        ) -> Seats | None:
            return [] if self.fits(gang, seconds, ever=ever) else None

        return self._answer(ask, now, seats)[:2]

    def _answer(
        self, ask: Ask, now: int, place: Callable[..., Seats | None]
    ) -> tuple[Outcome, int, Seats | None]:
        gang, operation = ask.gang, ask.operation
        duration = int(np.ceil(gang.duration))
        ever = place(gang, [], ever=True) is not None
        if operation is Operation.SATISFIABILITY:
            return (Outcome.SATISFIABLE if ever else Outcome.UNSATISFIABLE), 0, None
        recorded = operation is not Operation.WITHOUT_ALLOCATING_FUTURE
        seats = place(gang, self.seconds_of(now, duration, now=True))
        if seats is not None:
            return (Outcome.ALLOCATED if recorded else Outcome.MATCHED), now, seats
        if operation in (Operation.ALLOCATE_ORELSE_RESERVE, Operation.WITHOUT_ALLOCATING_FUTURE):
            times = {t for job in self.jobs for t in (job.at, job.end) if t > now}
            for at in sorted(times):
                seats = place(gang, self.seconds_of(at, duration, now=False))
                if seats is not None:
                    return (Outcome.RESERVED if recorded else Outcome.MATCHED), at, seats
        if operation is Operation.ALLOCATE or ever:
            return Outcome.BUSY, 0, None
        return Outcome.UNSATISFIABLE, 0, None


# -- playing ---------------------------------------------------------------------------------------


class Play:
    """One matcher, and a story of what was done to it."""

    def __init__(self, farm: Farm, policy: str) -> None:
        self.farm = farm
        self.policy = policy
        self.matcher = Matcher(farm.graph(), policy=policy)
        self.now = 0
        self.asked: Ask | None = None
        self.down: set[str] = set()
        self.others: dict[str, Mapping[str, int]] = {}
        self.story: list[object] = []

    def run(self, stream: list[Step], check: Callable[[Ask], None]) -> None:
        for step in stream:
            self.story.append(step)
            try:
                self._do(step, check)
            except AssertionError as error:
                text = "\n".join(map(str, [self.policy, self.farm, *self.story]))
                raise AssertionError(f"{error}\n{text}") from error

    def _do(self, step: Step, check: Callable[[Ask], None]) -> None:
        match step:
            case Ask():
                self.asked = step
                check(step)
            case Same(times):
                for ask in [self.asked] * times:
                    if ask is not None:
                        check(ask)
            case Cancel(nth):
                job = pick(live_jobs(self.matcher), nth)
                if job is not None:
                    self.matcher.cancel(job.jobid)
            case Turn(nth, up):
                path = pick(self._holders(), nth)
                if path is not None:
                    self.matcher.set_status(path, up)
                    (self.down.discard if up else self.down.add)(path)
            case Others(nth, held):
                name = f"n{nth % len(self.farm.amounts)}"
                self.others[name] = dict(held)
                Planning(self.matcher).nodes.occupy({name: self.others[name]})
            case Wait(seconds):
                self.now += seconds

    def _holders(self) -> list[str]:
        graph = self.matcher.graph
        rows = range(graph.vertex_count)
        kinds = ("node", "subnet", "rack", "block")
        return [graph.path(v) or "" for v in rows if graph.type_name(v) in kinds]

    def plain(self) -> Plain:
        return Plain(self.matcher, self.farm, self.policy, self.down, self.others)


def seats_of(matcher: Matcher, answer: Answer) -> Seats | None:
    if answer.placement is None:
        return None
    return [
        [(matcher.graph.name(node), pods) for node, pods in zip(*columns, strict=True)]
        for columns in ((s.node.tolist(), s.pods.tolist()) for s in answer.seats)
    ]
