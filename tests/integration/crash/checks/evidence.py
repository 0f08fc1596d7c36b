"""What a run leaves behind to be judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.integration.crash.record import Seen
from tests.integration.crash.works import Work


@dataclass(frozen=True, slots=True)
class Row:
    """A job of the queue, as the tables have it or a FluxJob tells it."""

    id: int
    workload: str
    state: str
    reason: str = ""
    reasons: str = ""
    """All reasons that there ever were for what became of it."""

    @property
    def name(self) -> str:
        """Of the group: `Job/crash/train/uid` -> `train`."""
        return self.workload.split("/")[2]


@dataclass(frozen=True, slots=True)
class Away:
    """When a component was down (monotonic)."""

    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of it."""

    works: tuple[Work, ...]
    record: tuple[Seen, ...]
    rows: tuple[Row, ...] = ()
    """All jobs that the queue ever had."""
    left: Mapping[str, int] = field(default_factory=dict)
    """Rows in tables that have to do with jobs that live."""
    fluxjobs: tuple[Row, ...] = ()
    """The same as users see it."""
    server_away: tuple[Away, ...] = ()
    """When the API server was away."""


def seconds_between(since: float, until: float, away: Iterable[Away]) -> float:
    """How long a change could be observed: without the time in which the API server was down."""
    lost = sum(max(0.0, min(until, each.until) - max(since, each.since)) for each in away)
    return until - since - lost
