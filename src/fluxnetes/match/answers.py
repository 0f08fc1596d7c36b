"""The answers of the matcher, as values; each negative one has a reason.

Three negative outcomes are distinguished: *busy* (the request fits this cluster, but not now),
*unsatisfiable* (it can never fit this cluster) and *invalid* (it is wrong in itself).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from fluxnetes.common.reasons import Reason
from fluxnetes.graph.placement import Placement
from fluxnetes.match.gang.model import Seats


class Operation(enum.Enum):
    """The operations of a match, by their names in Fluxion."""

    ALLOCATE = "allocate"
    ALLOCATE_WITH_SATISFIABILITY = "allocate_with_satisfiability"
    ALLOCATE_ORELSE_RESERVE = "allocate_orelse_reserve"
    SATISFIABILITY = "satisfiability"
    WITHOUT_ALLOCATING = "without_allocating"
    WITHOUT_ALLOCATING_FUTURE = "without_allocating_future"


class Outcome(enum.Enum):
    """How a match ended. The first four are positive."""

    ALLOCATED = "allocated"
    RESERVED = "reserved"
    MATCHED = "matched"
    SATISFIABLE = "satisfiable"
    BUSY = "busy"
    UNSATISFIABLE = "unsatisfiable"
    INVALID = "invalid"


_YES = frozenset({Outcome.ALLOCATED, Outcome.RESERVED, Outcome.MATCHED, Outcome.SATISFIABLE})


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one match. True in a condition when the outcome is positive."""

    outcome: Outcome
    jobid: int
    at: int = 0
    """When the job may start."""
    placement: Placement | None = None
    reason: Reason | None = None
    """Why not; None when it is a yes."""
    seats: tuple[Seats, ...] = ()
    """For a gang: the nodes for the pods of each of its shapes."""

    def __bool__(self) -> bool:
        return self.outcome in _YES
