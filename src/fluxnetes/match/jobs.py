"""The matcher's record of a job: its span, its placement, and whether it still holds that."""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.graph.placement import Placement


@dataclass(slots=True)
class MatchedJob:
    """A job that was allocated resources, or has them reserved for later."""

    jobid: int
    at: int
    end: int
    reserved: bool
    placement: Placement
    cancelled: bool = False

    @property
    def duration(self) -> int:
        return self.end - self.at

    @property
    def state(self) -> str:
        if self.cancelled:
            return "CANCELED"
        return "RESERVED" if self.reserved else "ALLOCATED"
