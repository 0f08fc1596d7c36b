"""The values of gangs: groups of pods of several shapes, placed all or none on nodes of pools.

A *shape* is a number of equal pods, each of which needs an amount from several pools of one node. A
gang may also need amounts from pools that are in no node, such as licences. `placer` defines how
gangs are placed.

A gang may also say how its pods are placed relative to each other. A *level* is a type of vertices
that hold nodes, such as `rack`, or `node` itself; a *domain* is one vertex of a level with the
nodes below it. `topology_placer` defines how such gangs are placed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.jobspec.constraint import Constraint


@dataclass(frozen=True, slots=True)
class Shape:
    """A number of equal pods, each of which needs these amounts on one node."""

    count: int
    amounts: tuple[tuple[str, int], ...]
    constraint: Constraint | None = None

    @classmethod
    def of(
        cls, count: int, amounts: Mapping[str, int], constraint: Constraint | None = None
    ) -> Shape:
        return cls(count, tuple(sorted(amounts.items())), constraint)


@dataclass(frozen=True, slots=True)
class TopologyRequest:
    """Which pods of a gang are to be in one domain, and how many at most may be.

    A level that is None, or a number that is 0, asks for nothing.
    """

    required: str | None = None
    """Level of which one domain must hold the whole gang."""
    preferred: str | None = None
    """Level of which one domain should hold the whole gang; if none can, one domain of the next
    wider level, and so on."""
    slice_level: str | None = None
    slice_size: int = 0
    """Of each shape, every so many pods must be inside one domain of `slice_level`; the pods that
    are left over, too."""
    spread_level: str | None = None
    spread_most: int = 0
    """Maximum pods of the gang in one domain of `spread_level`."""
    beside: tuple[tuple[str, int], ...] = ()
    """How many other pods of the gang are on which nodes already, by name. The domain that is
    required or preferred is one of theirs, and they count against `spread_most`."""

    @property
    def is_binding(self) -> bool:
        """Whether it can rule out a placement; a preference cannot."""
        return bool(self.required or self.slice_level or self.spread_level)

    def levels(self) -> tuple[str, ...]:
        """The levels that it names, each once."""
        named = (self.required, self.preferred, self.slice_level, self.spread_level)
        return tuple(dict.fromkeys(level for level in named if level))


@dataclass(frozen=True, slots=True)
class Gang:
    """A group of pods, placed all or none, and what it needs from pools outside of nodes."""

    shapes: tuple[Shape, ...]
    shared: tuple[tuple[str, int], ...] = ()
    """Amounts from pools that are in no node."""
    duration: float = 0.0
    queue: str | None = None
    topology: TopologyRequest | None = None

    def tidied(self) -> Gang:
        """The same gang with each type once, and without amounts of 0."""
        return _tidied(self)

    def needs(self) -> dict[str, int]:
        """The sum over the whole gang, by type."""
        sums: dict[str, int] = {}
        for shape in self.shapes:
            for type, amount in shape.amounts:
                sums[type] = sums.get(type, 0) + shape.count * amount
        for type, amount in self.shared:
            sums[type] = sums.get(type, 0) + amount
        return sums


@lru_cache(maxsize=1024)
def _tidied(gang: Gang) -> Gang:
    shapes = (replace(s, amounts=_add_up(s.amounts)) for s in gang.shapes)
    return replace(gang, shapes=tuple(shapes), shared=_add_up(gang.shared))


def _add_up(amounts: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    sums: dict[str, int] = {}
    for type, amount in amounts:
        if amount:
            sums[type] = sums.get(type, 0) + amount
    return tuple(sums.items())


@dataclass(slots=True)
class Seats:
    """The nodes of the pods of one shape, and the number of pods on each."""

    node: Ints
    """Row in the graph."""
    pods: Ints
    """Number of pods on each node."""

    def each(self) -> list[int]:
        """The node of each pod."""
        nodes: list[int] = np.repeat(self.node, self.pods).tolist()
        return nodes
