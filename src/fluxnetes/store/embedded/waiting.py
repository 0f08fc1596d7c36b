"""Patience with a server that is not there: pauses that grow, and a word about it now and then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeAlias

Say: TypeAlias = Callable[[str], None]

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_SAY_AGAIN = 30.0


class ServerWait:
    """How long to wait next, and whether to say so."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._pause = _FIRST_PAUSE
        self._began: float | None = None
        self._said = 0.0

    async def pause(self, why: str) -> None:
        """Wait a while. The first time, and then twice a minute, it is said why."""
        now = time.monotonic()
        if self._began is None or now - self._said >= _SAY_AGAIN:
            self._say(f"waiting for Postgres: {why}")
            self._said = now
        if self._began is None:
            self._began = now
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def over(self) -> None:
        """It is there."""
        if self._began is not None:
            self._say(f"Postgres is there, after {time.monotonic() - self._began:.1f} s")
        self._began, self._pause = None, _FIRST_PAUSE
