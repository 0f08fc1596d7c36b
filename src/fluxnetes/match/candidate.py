"""A place for a request, before anybody has it."""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.gang.model import Seats


@dataclass(frozen=True, slots=True)
class Candidate:
    """Where a request fits: what its job would hold and, for a gang, where its pods go."""

    held: HeldVertices
    seats: tuple[Seats, ...] = ()
    version: int = -1
    """The graph's version when it was found; in another one positions mean other vertices."""
