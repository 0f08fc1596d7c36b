"""Decides which events a waiting group gets: why it waits, and what became of its promised start.

    why        the cause is new: the code of its reason or, outside the queue, its message
    planned    it is promised a start
    moved      the promised start is another one
    lost       no start is known any more

Level-triggered: what is so now is compared with what the last events said. So a change that is
held back, because the group or all groups had many events lately, is reported later if it still
holds, and what changed back in between is not reported at all.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import GroupKey
from fluxnetes.common.reasons import Message, ReasonCode


class WaitNews(enum.Enum):
    """An event of a waiting group; the value is the reason of the event."""

    WHY = "FailedScheduling"
    PLANNED = "StartPlanned"
    MOVED = "StartMoved"
    LOST = "StartLost"


@dataclass(frozen=True, slots=True)
class StartEventLimits:
    """Limits on the number of these events."""

    why_again: float = 60.0
    """Minimum seconds between two events of a group that say why it waits."""
    start_again: float = 30.0
    """Minimum seconds between two events of a group about its promised start."""
    a_second: float = 50.0
    """Maximum events per second, of all groups, on average."""
    burst: float = 500.0
    """Maximum events at once."""


@dataclass(slots=True)
class _Reported:
    cause: ReasonCode | Message | None = None
    start: int | None = None
    why_at: float = float("-inf")
    start_at: float = float("-inf")


@dataclass(slots=True)
class StartEvents:
    """Remembers what the last events of each group said."""

    limits: StartEventLimits = field(default_factory=StartEventLimits)
    _reported: dict[GroupKey, _Reported] = field(default_factory=dict)
    _left: float = field(init=False)
    """How many events may be sent at this moment."""
    _counted: float = field(init=False, default=0.0)
    """When `_left` was last brought up to date."""

    def __post_init__(self) -> None:
        self._left = self.limits.burst

    def forget(self, key: GroupKey) -> None:
        """A group waits no longer."""
        self._reported.pop(key, None)

    def news(
        self,
        key: GroupKey,
        cause: ReasonCode | Message,
        start: int | None,
        *,
        clock: float,
        objects: int,
    ) -> Iterator[tuple[WaitNews, int | None]]:
        """The events that are due now, and for a start that moved or is lost, the one reported
        before.

        `objects` is the number of objects that get each event.
        """
        last = self._reported.setdefault(key, _Reported())
        is_new = cause is not last.cause
        if is_new and self._may(last.why_at, self.limits.why_again, clock, objects):
            last.cause, last.why_at = cause, clock
            yield WaitNews.WHY, None
        before = last.start
        if start != before and self._may(last.start_at, self.limits.start_again, clock, objects):
            last.start, last.start_at = start, clock
            if before is None:
                yield WaitNews.PLANNED, None
            else:
                yield (WaitNews.LOST if start is None else WaitNews.MOVED), before

    def _may(self, last: float, again: float, clock: float, objects: int) -> bool:
        """Whether a group may get events now; if so, they count."""
        if clock - last < again:
            return False
        passed = max(0.0, clock - self._counted)
        self._left = min(self.limits.burst, self._left + passed * self.limits.a_second)
        self._counted = clock
        if self._left < objects:
            return False
        self._left -= objects
        return True
