"""Small clusters in one line, and what a placement holds as plain values.

    cluster(*nodes(2, *cores(4), *gpus(1)))

Vertices are numbered among the siblings of their type, nodes are ranked as they are met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.placement import Placement
from fluxnetes.match.answers import Answer
from fluxnetes.match.matcher import Matcher


@dataclass(frozen=True)
class Branch:
    """A vertex to be, with all below it."""

    type: str
    below: tuple[Branch, ...] = ()
    size: int = 1
    divisible: bool = False
    id: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


def a(type: str, *below: Branch, size: int = 1, id: int | None = None, **properties: str) -> Branch:
    return Branch(type, below, size, id=id, properties=properties)


def pool(type: str, amount: int) -> Branch:
    return Branch(type, size=amount, divisible=True)


def cores(count: int) -> list[Branch]:
    return [a("core") for _ in range(count)]


def gpus(count: int) -> list[Branch]:
    return [a("gpu") for _ in range(count)]


def memory(*sizes: int) -> list[Branch]:
    return [a("memory", size=size) for size in sizes]


def nodes(count: int, *below: Branch) -> list[Branch]:
    return [a("node", *below) for _ in range(count)]


def racks(count: int, *below: Branch) -> list[Branch]:
    return [a("rack", *below) for _ in range(count)]


def cluster(*below: Branch) -> ResourceGraph:
    return grow(a("cluster", *below))


def grow(root: Branch) -> ResourceGraph:
    """The graph of a branch; its rows are in depth-first order."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    _grow(patch, root, 0, Counter())
    graph.apply(patch)
    return graph


def _grow(patch: GraphPatch, branch: Branch, number: int, met: Counter[str]) -> int:
    rank = -1
    if branch.type == "node":
        rank = met["node"]
        met["node"] += 1
    row = patch.vertex(
        branch.type,
        id=number if branch.id is None else branch.id,
        size=branch.size,
        divisible=branch.divisible,
        rank=rank,
        properties=branch.properties,
    )
    siblings: Counter[str] = Counter()
    for child in branch.below:
        patch.edge(row, _grow(patch, child, siblings[child.type], met))
        siblings[child.type] += 1
    return row


def row_at(graph: ResourceGraph, path: str) -> int:
    (row,) = graph.find_path(path)
    return row


# -- placements as plain values --------------------------------------------------------------------


def held(graph: ResourceGraph, placement: Placement | None) -> dict[str, int]:
    """What a placement holds exclusively: the amount by path."""
    return {path: needs for path, needs, exclusive in _rows(graph, placement) if exclusive}


def shared(graph: ResourceGraph, placement: Placement | None) -> set[str]:
    return {path for path, _, exclusive in _rows(graph, placement) if not exclusive}


def _rows(graph: ResourceGraph, placement: Placement | None) -> Iterator[tuple[str, int, bool]]:
    assert placement is not None, "there is no placement"
    columns = (placement.vertex, placement.needs, placement.exclusive)
    for row, needs, exclusive in zip(*(c.tolist() for c in columns), strict=True):
        yield graph.path(row) or "?", needs, exclusive


def given_to(matcher: Matcher, answer: Answer) -> dict[str, int]:
    """What a job was given: the amount by path; it must have been given something."""
    assert answer, f"{answer.outcome}: {answer.reason}"
    return held(matcher.graph, answer.placement)


def names_given(matcher: Matcher, answer: Answer, type: str) -> list[str]:
    """The names of the vertices of a type that a placement names, in order of rows."""
    assert answer.placement is not None, f"{answer.outcome}: {answer.reason}"
    graph = matcher.graph
    rows = sorted(answer.placement.vertex.tolist())
    return [graph.name(row) for row in rows if graph.type_name(row) == type]


# -- random shapes ---------------------------------------------------------------------------------


@st.composite
def parent_lists(draw: st.DrawFn, most: int = 30) -> list[int]:
    """A random tree: for each vertex but the first, a vertex before it that holds it."""
    count = draw(st.integers(0, most))
    return [draw(st.integers(0, vertex)) for vertex in range(count)]
