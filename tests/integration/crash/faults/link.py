"""A connection to the API server that can be cut and reset, as a network can.

Bytes are passed on unread, so TLS is between the two ends. While the link is cut nothing arrives in
either direction and no end is told: connections stay open, and new ones are accepted and stay
silent. What was sent meanwhile arrives once the link is restored, as TCP retransmits it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self

_CHUNK = 65536
_NO_LINGER = struct.pack("ii", 1, 0)


class Link:
    """One link, as long as it is entered. It has an event loop in a thread of its own."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.port = 0
        """Where it listens."""
        self._loop = asyncio.new_event_loop()
        self._passes = asyncio.Event()
        self._over = asyncio.Event()
        self._ready = threading.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._run()])

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    def cut(self) -> None:
        """Pass nothing on until it is restored."""
        self._loop.call_soon_threadsafe(self._passes.clear)

    def restore(self) -> None:
        self._loop.call_soon_threadsafe(self._passes.set)

    def reset(self) -> None:
        """Break all connections off; new ones work."""
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for writer in self._writers:
            _break_off(writer)

    async def _run(self) -> None:
        self._passes.set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        self._abort()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.CancelledError):  # the link is over
            await self._join(reader, writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._passes.wait()
        try:
            answers, requests = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:  # the server is away
            writer.close()
            return
        ends = {writer, requests}
        self._writers |= ends
        try:
            await _first(self._pump(reader, requests), self._pump(answers, writer))
        finally:
            self._writers -= ends
            for each in ends:
                each.close()

    async def _pump(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                await self._passes.wait()
                to.write(data)
                await to.drain()


def _break_off(writer: asyncio.StreamWriter) -> None:
    """With a reset, not with an orderly end."""
    if not writer.transport.is_closing():
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        writer.transport.abort()


async def _first(*pumps: Coroutine[Any, Any, None]) -> None:
    """Until one direction is closed; then the connection is over."""
    tasks = [asyncio.create_task(each) for each in pumps]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
