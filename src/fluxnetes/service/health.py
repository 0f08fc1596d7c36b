"""Signals whether a backend can answer callers, and each time that changes."""

from __future__ import annotations

import asyncio


class HealthSignal:
    """The health of one backend. Used in one event loop."""

    def __init__(self, is_healthy: bool = True) -> None:
        self.is_healthy = is_healthy
        self._changed = asyncio.Event()

    def set(self, is_healthy: bool) -> None:
        self.is_healthy = is_healthy
        self._changed.set()

    async def change_from(self, known: bool) -> bool:
        """Wait until the health is not as known; returns it. Changes in between are skipped."""
        while self.is_healthy is known:
            self._changed.clear()
            await self._changed.wait()
        return self.is_healthy
