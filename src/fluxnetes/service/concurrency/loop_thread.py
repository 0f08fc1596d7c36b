"""Runs an event loop in a thread of its own, beside the main one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any


class LoopThread:
    """Runs one coroutine, in its own loop and thread, until it ends or is stopped."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._done: Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Future[None]:
        """Begin; the future, of the caller's loop, is done when the work is."""

        async def begin() -> None:
            self._task = asyncio.current_task()
            await work()

        self._done = asyncio.run_coroutine_threadsafe(begin(), self.loop)
        return asyncio.wrap_future(self._done)

    async def stop(self) -> None:
        """Let the work clean up, and end."""
        if self._done is not None:
            # Cancelling the future would end the wait, but not the work.
            self.loop.call_soon_threadsafe(self._cancel)
            with suppress(asyncio.CancelledError, Exception):
                await asyncio.wrap_future(self._done)
        self.loop.call_soon_threadsafe(self.loop.stop)
        await asyncio.to_thread(self._thread.join)
        self.loop.close()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
