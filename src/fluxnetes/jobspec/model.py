"""The values of a jobspec: a job's resources, tasks and attributes (RFC 14 and RFC 25)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fluxnetes.jobspec.constraint import Constraint

UINT_MAX = 2**32 - 1
"""Largest count: the reference keeps counts in unsigned integers of 32 bits."""

MAX_RESOURCES = 4096
"""Maximum number of requests in one jobspec, at all levels: the matcher compares each of them with
each kind of vertex."""
MAX_LEVELS = 64
"""Maximum nesting of requests, because the matcher's walks over them recurse."""

SLOT = "slot"
"""The type of a bundle of resources that a task runs in; it is not a vertex of the graph."""
XOR_SLOT = "xor_slot"
"""The type of slots of which one among the siblings is placed, the others are not."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number (min equals max), or a range whose steps an operator and an operand define."""

    min: int
    max: int
    operator: str = "+"
    operand: int = 1

    def fit(self, available: int) -> int:
        """The largest count of the range that `available` can serve; 0 if none.

        >>> Count(2, 10, "*", 2).fit(9)
        8
        >>> Count(4, 4).fit(3)
        0
        """
        if self.min > self.max or self.min > available:
            return 0
        most = min(available, self.max)
        if self.operator == "+":
            return most - (most - self.min) % self.operand
        count = self.min
        if self.operand < 2 or count <= (1 if self.operator == "^" else 0):
            return count
        while True:
            # No power above the 64th of a number above 1 fits: do not compute it.
            by = count * self.operand if self.operator == "*" else count ** min(self.operand, 64)
            if by > most:
                return count
            count = by

    @property
    def largest(self) -> int:
        """The largest count of the range, whatever is available."""
        return self.fit(UINT_MAX)


@dataclass(frozen=True, slots=True)
class Resource:
    """One request of a jobspec's resource section; `children` is its `with`."""

    type: str
    count: Count
    children: tuple[Resource, ...] = ()
    exclusive: bool | None = None
    label: str | None = None
    unit: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """How many copies of a command run in which slot."""

    command: tuple[str, ...]
    slot: str
    count: Mapping[str, int]
    distribution: str | None = None
    attributes: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Jobspec:
    """A job's whole request."""

    resources: tuple[Resource, ...]
    tasks: tuple[Task, ...] = field(default=(), hash=False)
    duration: float = 0.0
    """Walltime in seconds; 0 means as long as the graph lasts."""
    queue: str | None = None
    constraint: Constraint | None = None
    version: int = 1
    attributes: Mapping[str, Any] = field(default_factory=dict, hash=False)
