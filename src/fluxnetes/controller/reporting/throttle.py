"""Throttles the writes of reports, so that they never delay a bind.

Users wait for binds; an event, a condition or a FluxJob only tells about them. All of them use the
same API server, so every report waits for its turn first. The turn comes at once while no binds are
queued. While there are, it comes once the report is stale, so that reports keep up in a busy hour.

A controller that is not sure to lead may not write, and reports nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

STALE = 10.0
"""Seconds after which a report is written, even while binds are queued."""

_LOOK_AGAIN = 0.05
"""Seconds between two checks whether a turn has come."""


def always() -> bool:
    """The default: there is never a reason to wait."""
    return True


class WriteThrottle:
    """Decides when a report may be written."""

    def __init__(
        self,
        idle: Callable[[], bool] = always,
        may_write: Callable[[], bool] = always,
        *,
        stale: float = STALE,
    ) -> None:
        self._idle = idle
        self._may_write = may_write
        self._stale = stale
        self._is_lifted = False

    def lift(self) -> None:
        """From now on reports do not wait for binds: the term ends, and the rest is written."""
        self._is_lifted = True

    async def turn(self, since: float) -> None:
        """Wait for the turn of a report that is due since then (monotonic seconds)."""
        while not self._is_due(since):
            await asyncio.sleep(_LOOK_AGAIN)

    def _is_due(self, since: float) -> bool:
        if not self._may_write():
            return False
        return self._is_lifted or self._idle() or time.monotonic() - since > self._stale
