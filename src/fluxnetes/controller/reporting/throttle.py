"""Reports give way to binds.

A bind is what users wait for; an event, a condition or a FluxJob only tells about it. All of them
need the same API server, so whoever reports asks for a turn first. It comes at once while no binds
are on their way. While there are, it comes when the report has become stale enough, so that a busy
hour still shows what happened in it.

Nothing is reported by someone who may not write: a controller that is not sure to lead keeps still.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

STALE = 10.0
"""Seconds after which a report is made, binds or not."""

_LOOK_AGAIN = 0.05


def always() -> bool:
    """The default: there is no reason to wait."""
    return True


class WriteThrottle:
    """Who may write now, other than the binder."""

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
        self.in_haste = False
        """Set before the end: what is left is written without giving way."""

    async def turn(self, since: float) -> None:
        """Wait for a turn with something that there is to tell since then (monotonic time)."""
        while not self._is_due(since):
            await asyncio.sleep(_LOOK_AGAIN)

    def _is_due(self, since: float) -> bool:
        if not self._may_write():
            return False
        return self.in_haste or self._idle() or time.monotonic() - since > self._stale
