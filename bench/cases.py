"""What `bench/match` measures: a graph, a request, a policy, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.graphs import jgf_racks, pool_nodes, rv1
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.build import core, jobspec, memory, node, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Operation
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.policy import NAMED

HOUR = 3600

GRAPHS: dict[str, tuple[str, str, Callable[[], str]]] = {
    "racks": ("JGF, 4,096 nodes x (16 core, 4 memory), racks of 32", "jgf", jgf_racks),
    "flat": ("rv1, 16,384 nodes x (64 core, 4 gpu)", "rv1exec", rv1),
}
LOAD_LIMITS = {"racks": (1.0, 150), "flat": (8.0, 600)}
"""Seconds and megabytes."""

ONE_CORE = jobspec(slot(1, core(1)), duration=HOUR)
EIGHT_NODES = jobspec(node(8, slot(1, core(8), memory(4))), duration=HOUR)
ONE_NODE = jobspec(slot(1, node(1, exclusive=True)), duration=HOUR)
MANY_NODES = jobspec(slot(64, node(1, exclusive=True)), duration=HOUR)

ALL_POLICIES = (*NAMED, "locality", "variation")


TOPOLOGIES = {
    "in 1 rack": TopologyRequest(required="rack"),
    "in 1 block": TopologyRequest(required="block"),
    "rack preferred": TopologyRequest(preferred="rack"),
    "16 in each rack": TopologyRequest(required="block", slice_level="rack", slice_size=16),
    "2 on a node": TopologyRequest(required="zone", spread_level="node", spread_most=2),
}
"""What gangs ask of 5,000 nodes in zones, blocks and racks."""


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table."""

    graph: str
    request: str
    policy: str
    limit: float
    """Milliseconds for the mean."""
    matches: int
    reference: str
    """What the reference needs."""

    @property
    def name(self) -> str:
        return f"{self.graph}/{self.request}/{self.policy}"


CASES = [
    *(Case("racks", "1 core", p, 0.5, 1000, "184 ms") for p in ("lonode", "low", "high", "hinode")),
    Case("racks", "1 core", "first", 0.5, 1000, "0.15 ms"),
    Case("racks", "8 nodes x (8 core, 4 memory)", "lonode", 1.0, 400, "111 ms"),
    Case("racks", "8 nodes x (8 core, 4 memory)", "first", 0.5, 400, "0.7 ms"),
    Case("racks", "64 nodes, reserved", "lonode", 2.0, 60, "72 ms"),
    Case("racks", "64 nodes, reserved", "first", 2.0, 60, "4 ms"),
    *(Case("flat", "1 core", p, 3.0, 400, "3 ms - s") for p in ALL_POLICIES),
    *(Case("flat", "1 node", p, 3.0, 400, "2 ms - s") for p in ALL_POLICIES),
    *(Case("pools", f"gang of 512 pods, {n} shapes", "lonode", 3.0, 60, "-") for n in (1, 4, 16)),
    *(Case("tiers", f"gang of 64 pods, {kind}", "lonode", 2.0, 200, "-") for kind in TOPOLOGIES),
    Case("tiers", "gang of 64 pods, 4 shapes, 1 rack", "lonode", 2.0, 200, "-"),
    Case("racks", "64 nodes, 1,000 change points", "lonode", 5.0, 60, "-"),
    Case("racks", "64 nodes, 1,000 change points", "first", 5.0, 60, "-"),
]


def load(graph: str, text: bytes) -> ResourceGraph:
    return read_graph(text, GRAPHS[graph][1])


def make_pools() -> ResourceGraph:
    return pool_graph(pool_nodes(10_000), shared={"licence": 40})


def make_tiers() -> ResourceGraph:
    """5 zones of 4 blocks of 10 racks of 25 nodes."""
    nodes = pool_nodes(5_000)
    sizes = {"zone": 1000, "block": 250, "rack": 25}
    levels = {
        level: {name: f"{level}-{number // size}" for number, name in enumerate(nodes)}
        for level, size in sizes.items()
    }
    return pool_graph(nodes, levels=levels)


MADE = {"pools": make_pools, "tiers": make_tiers}
"""Graphs of pools, which no text format has."""


def questions(case: Case, matcher: Matcher) -> list[tuple[Operation, Jobspec | Gang]]:
    """Prepare the matcher for a case, and say what to ask it, one question a match."""
    if case.graph == "tiers":
        return [(Operation.ALLOCATE, gang) for gang in _tiered_gangs(case)]
    if case.request.startswith("gang"):
        return [(Operation.ALLOCATE, gang) for gang in _gangs(case)]
    if case.request == "64 nodes, reserved":
        _fill(matcher, [(64, HOUR)] * 64)
        return [(Operation.ALLOCATE_ORELSE_RESERVE, MANY_NODES)] * case.matches
    if case.request == "64 nodes, 1,000 change points":
        _fill(matcher, [(4, 1000 + 7 * i) for i in range(999)] + [(100, 9000)])
        return [(Operation.WITHOUT_ALLOCATING_FUTURE, MANY_NODES)] * case.matches
    asked = {
        "1 core": ONE_CORE,
        "1 node": ONE_NODE,
        "8 nodes x (8 core, 4 memory)": EIGHT_NODES,
    }[case.request]
    return [(Operation.ALLOCATE, asked)] * case.matches


def _fill(matcher: Matcher, jobs: list[tuple[int, int]]) -> None:
    for nodes, duration in jobs:
        answer = matcher.allocate(jobspec(slot(nodes, node(1, exclusive=True)), duration=duration))
        if not answer:
            raise RuntimeError(f"the benchmark cannot fill its machine: {answer.reason}")


def _gangs(case: Case) -> list[Gang]:
    shapes = int(case.request.split()[-2])
    random = np.random.default_rng(512)
    found = []
    for _ in range(case.matches):
        made = []
        for number in range(shapes):
            amounts = {
                "cpu": int(random.integers(1, 16)) * 250,
                "memory": int(random.integers(1, 64)) * 256,
                "pods": 1,
            }
            if number % 8 == 7:
                amounts["nvidia.com/gpu"] = 1
            made.append(Shape.of(512 // shapes, amounts))
        found.append(Gang(tuple(made), duration=HOUR))
    return found


def _tiered_gangs(case: Case) -> list[Gang]:
    kind = case.request.removeprefix("gang of 64 pods, ")
    request = TOPOLOGIES.get(kind, TopologyRequest(required="rack"))
    shapes = 1 if kind in TOPOLOGIES else 4
    random = np.random.default_rng(64)
    found = []
    for _ in range(case.matches):
        cpus = random.integers(2, 8, shapes)
        made = [
            Shape.of(64 // shapes, {"cpu": 250 * cpu, "memory": 1024, "pods": 1})
            for cpu in cpus.tolist()
        ]
        found.append(Gang(tuple(made), duration=HOUR, topology=request))
    return found
