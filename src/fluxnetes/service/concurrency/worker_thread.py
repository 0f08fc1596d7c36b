"""One at a time, in a thread of its own: what calls ask for, while the event loop goes on.

    loop      call ──▶ inbox ──┐                  ┌──▶ future done ──▶ call answered
                               │                  │
    thread                     └──▶ do it ──▶ outbox

Calls are done in the order in which they came. One that is given up before its turn is not done at
all; of one that is given up later, `undo` hears the result, so that nothing stays behind.

The loop is woken once for as many results as there are; a wake-up for each would cost more than a
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
class _Call:
    do: Callable[[], Any]
    future: asyncio.Future[Any]
    undo: Callable[[Any], None] | None
    given_up: bool = False


class WorkerThread:
    """The thread, and the way to it. Made and used in a running event loop."""

    def __init__(self, name: str = "engine") -> None:
        self._loop = asyncio.get_running_loop()
        self._inbox: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._outbox: deque[tuple[_Call, Any, BaseException | None]] = deque()
        self._is_waking = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def do(self, do: Callable[[], T], undo: Callable[[T], None] | None = None) -> T:
        """Have something done when its turn comes.

        `undo` is done, in the thread, with the result of what was given up while it was being done.
        """
        call = _Call(do, self._loop.create_future(), undo)
        self._inbox.put(call)
        try:
            result: T = await call.future
        except asyncio.CancelledError:
            self._give_up(call)
            raise
        return result

    def _give_up(self, call: _Call) -> None:
        call.given_up = True
        done = call.future
        if not done.cancelled() and done.exception() is None:  # answered in this very moment
            self._undo(call, done.result())

    def _undo(self, call: _Call, result: Any) -> None:
        if call.undo is not None:
            self._inbox.put(_Call(partial(call.undo, result), self._nobody(), None))

    async def close(self) -> None:
        """Let what was asked for be done, and end."""
        self._inbox.put(None)
        await asyncio.to_thread(self._thread.join)

    # -- in the thread -------------------------------------------------------------------------

    def _work(self) -> None:
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
                with suppress(RuntimeError):  # the loop is closed, and nobody listens
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

    def _nobody(self) -> asyncio.Future[Any]:
        """A future that nobody waits for."""
        future = self._loop.create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        return future
