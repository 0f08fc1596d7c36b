"""A candidate placement for a request, not yet allocated."""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.gang.model import Seats


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the job of a request would hold and, for a gang, the nodes of its pods."""

    held: HeldVertices
    seats: tuple[Seats, ...] = ()
    version: int = -1
    """The graph's version when it was found; in another version positions are other vertices."""
