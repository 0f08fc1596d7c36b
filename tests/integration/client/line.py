"""A line to a server that can be cut, or be deaf: what is asked gets through, no answer comes back.

    client ──▶ line ──▶ server

It passes on bytes, in a thread of its own, and knows nothing of what they mean.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Line:
    """One line, as long as it is entered."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.address = ""
        self.is_deaf = False
        self.calls = 0
        """How many connections were ever made."""
        self.asked = self.answered = 0
        """How many bytes ever went there, and came back."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._ends: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._connect, "127.0.0.1"))
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        return self

    def __exit__(self, *error: object) -> None:
        self._do(self._close())
        self.cut()
        self._do(self._over())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self) -> None:
        """Break all connections there are. New ones can be made."""

        async def cut() -> None:
            for end in list(self._ends):
                end.transport.abort()

        self._do(cut())

    async def _close(self) -> None:
        """In the thread of the loop, where connections come and go."""
        self._server.close()

    async def _over(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        host, _, port = self.target.rpartition(":")
        try:
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._ends |= ends
        there = asyncio.create_task(self._pass_on(reader, far_writer))
        back = asyncio.create_task(self._pass_on(far_reader, writer, is_answer=True))
        # Whichever side goes first, the other is closed too.
        await asyncio.wait((there, back), return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.transport.abort()
        await asyncio.gather(there, back)
        self._ends -= ends

    def _count(self, size: int, is_answer: bool) -> None:
        if is_answer:
            self.answered += size
        else:
            self.asked += size

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_answer: bool = False
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                self._count(len(data), is_answer)
                if not (is_answer and self.is_deaf):
                    writer.write(data)
                    await writer.drain()
