"""What a search finds below a vertex, how it counts that, and how it takes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.oracle.tree import Vertex


@dataclass(frozen=True)
class Edge:
    """A vertex as part of a group: how much of it, and whether alone."""

    vertex: Vertex
    needs: int
    exclusive: bool


@dataclass(frozen=True)
class Group:
    """Vertices that are taken together or not at all."""

    score: int
    count: int
    edges: tuple[Edge, ...]


@dataclass
class Findings:
    """What was found below one vertex."""

    groups: dict[str, list[Group]] = field(default_factory=dict)
    chosen: dict[str, list[Group]] = field(default_factory=dict)

    def add(self, type: str, group: Group) -> None:
        self.groups.setdefault(type, []).append(group)

    def merge(self, other: Findings) -> None:
        for type, groups in other.groups.items():
            self.groups.setdefault(type, []).extend(groups)

    def total(self, type: str) -> int:
        return sum(group.count for group in self.groups.get(type, ()))


@dataclass
class Progress:
    """How many shares of one type the first-match policies have seen so far.

    What one child brings is one bundle and completes at most one share; the excess is wasted. A
    divisible pool brings as many shares as it can serve.
    """

    per_share: int
    seen: int = 0
    towards_next: int = 0
    shares: int = 0

    def see(self, total: int, divisible: bool) -> None:
        more, self.seen = total - self.seen, total
        if self.per_share == 0 or more == 0:
            return
        if divisible:
            self.shares += more // self.per_share
            return
        self.towards_next += more
        if self.towards_next >= self.per_share:
            self.shares += 1
            self.towards_next = 0

    def shares_enough(self, slots: int) -> bool:
        return self.per_share == 0 or self.shares >= slots


def has_enough(progress: Mapping[str, Progress], type: str, slots: int) -> bool:
    return type in progress and progress[type].shares_enough(slots)


def take(ordered: Sequence[Group], count: int, whole: bool | None) -> list[Group]:
    """The first groups that add up to `count`; only what is missing of the last, if it can be cut.

    What is taken of a pool is held, whether or not it was asked for exclusively.
    """
    taken: list[Group] = []
    for group in ordered:
        if count <= 0:
            break
        taken.append(group if whole else cut_to_size(group, count))
        count -= group.count
    return taken


def cut_to_size(group: Group, count: int) -> Group:
    match group.edges:
        case (Edge(vertex, needs),) if vertex.divisible and group.count == needs:
            return Group(group.score, group.count, (Edge(vertex, min(needs, count), True),))
    return group


def chosen_edges(findings: Findings) -> Iterator[Edge]:
    for groups in findings.chosen.values():
        for group in groups:
            yield from group.edges
