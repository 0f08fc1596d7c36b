"""Hypothesis strategies: streams of operations on the graphs of `generate`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from hypothesis import strategies as st

from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Operation
from tests.oracle.generate import (
    Blueprint,
    Cluster,
    Grower,
    V,
    clusters,
    jobspecs,
    shared_clusters,
)

SMALL = st.integers(0, 40)


@dataclass(frozen=True)
class Match:
    operation: Operation
    jobspec: Jobspec


@dataclass(frozen=True)
class Cancel:
    """End the n-th live job (modulo how many there are)."""

    nth: int


@dataclass(frozen=True)
class PartialCancel:
    """Give back those exclusive rows of the n-th live job whose place has a bit set."""

    nth: int
    bits: int


@dataclass(frozen=True)
class SetStatus:
    """Mark the n-th vertex below the root up or down."""

    nth: int
    up: bool


@dataclass(frozen=True)
class Advance:
    """Let time pass; jobs whose walltime ends keep running until they are cancelled."""

    seconds: int


@dataclass(frozen=True)
class Grow:
    """Attach a branch to the n-th vertex of a type."""

    nth: int
    under: str
    branch: V


@dataclass(frozen=True)
class Shrink:
    """Remove the n-th vertex below the root, with all that hangs on it."""

    nth: int


Step = Match | Cancel | PartialCancel | SetStatus | Advance | Grow | Shrink

OPERATIONS = (
    *[Operation.ALLOCATE] * 3,
    *[Operation.ALLOCATE_ORELSE_RESERVE] * 6,
    *[Operation.ALLOCATE_WITH_SATISFIABILITY] * 2,
    Operation.SATISFIABILITY,
    Operation.WITHOUT_ALLOCATING,
    Operation.WITHOUT_ALLOCATING_FUTURE,
)


def steps(requests: list[Jobspec]) -> st.SearchStrategy[Step]:
    """One operation that leaves the shape of the graph as it is; requests come back often."""
    return weighted(
        (2, st.builds(Cancel, SMALL)),
        (2, st.builds(Advance, st.sampled_from([1, 2, 5]))),
        (1, st.builds(SetStatus, SMALL, st.sampled_from([True, False]))),
        (9, st.builds(Match, st.sampled_from(OPERATIONS), st.sampled_from(requests))),
    )


def changes(blueprint: Blueprint) -> st.SearchStrategy[Step]:
    """One operation that changes what a job holds, or the shape of the graph."""
    partial = st.builds(PartialCancel, SMALL, st.integers(1, 255))
    return weighted((3, partial), (1, growths(blueprint)), (1, st.builds(Shrink, SMALL)))


def weighted(*choices: tuple[int, st.SearchStrategy[Step]]) -> st.SearchStrategy[Step]:
    """One of several strategies, each so often; `st.one_of` would take all for equal."""
    tickets = [place for place, (weight, _) in enumerate(choices) for _ in range(weight)]
    return st.sampled_from(tickets).flatmap(lambda place: choices[place][1])


@st.composite
def growths(draw: st.DrawFn, blueprint: Blueprint) -> Grow:
    level = draw(st.sampled_from(blueprint.levels))
    type = draw(st.sampled_from(blueprint.inside(level)))
    grower = Grower(draw, blueprint, "local")
    return Grow(draw(SMALL), level, grower.vertex(type, draw(st.integers(50, 99))))


@st.composite
def streams(
    draw: st.DrawFn,
    blueprint: Blueprint,
    flexible: bool = False,
    changing: bool = False,
) -> list[Step]:
    """Operations on a graph of one shape, with a few requests asked again and again."""
    requests = draw(st.lists(jobspecs(blueprint, flexible), min_size=1, max_size=4))
    return draw(stream_of(requests, blueprint, changing))


@st.composite
def stream_of(
    draw: st.DrawFn, requests: list[Jobspec], blueprint: Blueprint, changing: bool
) -> list[Step]:
    """Operations with some requests, asked again and again."""
    step = steps(requests)
    if changing:
        step = weighted((3, step), (1, changes(blueprint)))
    # Three short lists make a longer one than one long list would.
    few = st.lists(step, min_size=3, max_size=10)
    return [step for _ in range(3) for step in draw(few)]


# -- whole scenarios -------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Scenario:
    """A cluster and what happens on it. A failure tells it in words, so it is shown briefly."""

    cluster: Cluster
    steps: tuple[Step, ...]

    def _repr_pretty_(self, printer: PrettyPrinter, cycle: bool) -> None:
        printer.text("<the graph and the steps shown above>")


class PrettyPrinter(Protocol):
    """What hypothesis shows examples with."""

    def text(self, text: str) -> None: ...


@st.composite
def scenarios(
    draw: st.DrawFn, pools: bool = False, flexible: bool = False, changing: bool = False
) -> Scenario:
    """A random cluster, and a stream of operations on it; `changing` ones change its shape."""
    cluster = draw(clusters(pools))
    return Scenario(cluster, tuple(draw(streams(cluster.blueprint, flexible, changing))))


@st.composite
def shared_scenarios(
    draw: st.DrawFn, pools: bool = False, flexible: bool = False, changing: bool = False
) -> Scenario:
    """The same where vertices have several parents, with requests through all of them."""
    cluster = draw(shared_clusters(pools))
    shapes = [cluster.blueprint, cluster.second or cluster.blueprint]
    requests = [draw(jobspecs(shape, flexible)) for shape in shapes * 2]
    if not flexible:
        one, other = draw(st.sampled_from(requests)), draw(st.sampled_from(requests))
        requests.append(replace(one, resources=one.resources + other.resources))
    return Scenario(cluster, tuple(draw(stream_of(requests, shapes[0], changing))))
