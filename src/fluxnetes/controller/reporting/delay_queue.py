"""A queue of keys, each of which is due at a time of its own."""

from __future__ import annotations

import asyncio
import heapq
import time
from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K")


class DelayQueue(Generic[K]):
    """Keys, each with the time (monotonic seconds) at which it is due.

    A key is in the queue once: of two times the earlier counts. So an object that changes ten times
    before it is due is processed once, and one that never stops changing is not delayed for ever.
    """

    def __init__(self) -> None:
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._added = 0
        self._has_new = asyncio.Event()

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, key: K) -> bool:
        return key in self._due

    def add(self, key: K, after: float = 0.0) -> None:
        """Make a key due in `after` seconds, unless it is due earlier already."""
        moment = time.monotonic() + after
        if moment >= self._due.get(key, float("inf")):
            return
        self._due[key] = moment
        self._added += 1  # breaks ties, so that keys need no order of their own
        heapq.heappush(self._heap, (moment, self._added, key))
        self._has_new.set()

    def hurry(self) -> None:
        """Make all keys due now."""
        for key in list(self._due):
            self.add(key, float("-inf"))

    async def next(self) -> K:
        """Wait for the next key that is due, and remove it from the queue."""
        while True:
            self._has_new.clear()
            wait = self._seconds_left()
            if wait is not None and wait <= 0:
                _, _, key = heapq.heappop(self._heap)
                del self._due[key]
                return key
            await self._sleep(wait)

    def _seconds_left(self) -> float | None:
        """Until the first key is due; None: the queue is empty."""
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # it was made due earlier since
        return self._heap[0][0] - time.monotonic() if self._heap else None

    async def _sleep(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_new.wait()
