"""What is to be looked at, and when."""

from __future__ import annotations

import asyncio
import heapq
import time
from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K")


class DelayQueue(Generic[K]):
    """Keys, each with the moment (monotonic) from which on it is to be looked at.

    A key is on it once: of two moments the earlier counts. So a thing that changes ten times before
    its moment is looked at once, and one that never stops changing is not put off for ever.
    """

    def __init__(self) -> None:
        self._moments: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._added = 0
        self._news = asyncio.Event()

    def __len__(self) -> int:
        return len(self._moments)

    def __contains__(self, key: K) -> bool:
        return key in self._moments

    def add(self, key: K, after: float = 0.0) -> None:
        """Look at it so many seconds from now, or earlier if that was said before."""
        moment = time.monotonic() + after
        if moment >= self._moments.get(key, float("inf")):
            return
        self._moments[key] = moment
        self._added += 1  # keys need no order of their own
        heapq.heappush(self._heap, (moment, self._added, key))
        self._news.set()

    def hurry(self) -> None:
        """Everything at once."""
        for key in list(self._moments):
            self.add(key, float("-inf"))

    async def next(self) -> K:
        """The next key, when its moment has come. It is then off the agenda."""
        while True:
            self._news.clear()
            wait = self._seconds_left()
            if wait is not None and wait <= 0:
                _, _, key = heapq.heappop(self._heap)
                del self._moments[key]
                return key
            await self._sleep(wait)

    def _seconds_left(self) -> float | None:
        """Until the first moment; None: there is nothing to do."""
        while self._heap and self._moments.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # an earlier moment was said later
        return self._heap[0][0] - time.monotonic() if self._heap else None

    async def _sleep(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
