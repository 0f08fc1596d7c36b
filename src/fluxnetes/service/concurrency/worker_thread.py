"""Executes work one at a time in a thread of its own, so that the event loop is not blocked.

    loop      call ──▶ inbox ──┐                  ┌──▶ future done ──▶ call answered
                               │                  │
    thread                     └──▶ do it ──▶ outbox

Work is done in the order of arrival. Work whose caller leaves before its turn is not done at all;
if the caller leaves later, `undo` gets the result and reverts it.

The loop is woken once for all results that are ready; a wake-up for each would cost more than a
match.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Work:
    do: Callable[[], Any]
    future: asyncio.Future[Any]
    undo: Callable[[Any], None] | None
    given_up: bool = False


class WorkerThread:
    """The thread and its inbox. Made and used in a running event loop."""

    def __init__(self, name: str = "engine") -> None:
        self._loop = asyncio.get_running_loop()
        self._inbox: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._outbox: deque[tuple[_Work, Any, BaseException | None]] = deque()
        self._is_waking = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def do(self, do: Callable[[], T], undo: Callable[[T], None] | None = None) -> T:
        """Do something in the thread, and return its result.

        If the caller leaves while it is being done, `undo` is called in the thread with the result.
        """
        call = _Work(do, self._loop.create_future(), undo)
        self._inbox.put(call)
        try:
            result: T = await call.future
        except asyncio.CancelledError:
            self._give_up(call)
            raise
        return result

    def _give_up(self, call: _Work) -> None:
        call.given_up = True
        done = call.future
        if not done.cancelled() and done.exception() is None:  # done, but not read yet
            self._undo(call, done.result())

    def _undo(self, call: _Work, result: Any) -> None:
        if call.undo is not None:
            self._inbox.put(_Work(partial(call.undo, result), self._ignored(), None))

    async def close(self) -> None:
        """Finish the work in the inbox, and end."""
        self._inbox.put(None)
        await asyncio.to_thread(self._thread.join)

    # -- in the thread -------------------------------------------------------------------------

    def _run(self) -> None:
        while (call := self._inbox.get()) is not None:
            if call.given_up:
                continue
            try:
                result, error = call.do(), None
            except Exception as raised:
                result, error = None, raised
            self._outbox.append((call, result, error))
            if not self._is_waking:
                self._is_waking = True
                with suppress(RuntimeError):  # the loop is closed already
                    self._loop.call_soon_threadsafe(self._deliver)

    # -- in the loop ---------------------------------------------------------------------------

    def _deliver(self) -> None:
        self._is_waking = False
        while self._outbox:
            call, result, error = self._outbox.popleft()
            if not call.future.done():
                if error is not None:
                    call.future.set_exception(error)
                else:
                    call.future.set_result(result)
            elif error is None:
                self._undo(call, result)

    def _ignored(self) -> asyncio.Future[Any]:
        """A future whose result is not read."""
        future = self._loop.create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        return future
