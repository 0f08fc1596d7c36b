"""An event loop in a thread of its own, for work that goes on beside the main one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any


class SideLoop:
    """Runs one coroutine, in its own loop and thread, until it ends or is stopped."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._work: Future[None] | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Future[None]:
        """Begin; the future is done, in the loop of the caller, when the work is."""

        async def begin() -> None:
            await work()

        self._work = asyncio.run_coroutine_threadsafe(begin(), self.loop)
        return asyncio.wrap_future(self._work)

    async def stop(self) -> None:
        """Let the work clean up, and end."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_rest(), self.loop))
        self.loop.call_soon_threadsafe(self.loop.stop)
        await asyncio.to_thread(self._thread.join)
        self.loop.close()


async def _rest() -> None:
    """Wait until all else in this loop is done."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
