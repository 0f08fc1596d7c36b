"""Answering callers of a controller, in a thread beside it: neither delays the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fluxnetes.rpc.listener import ListenerOptions
from fluxnetes.rpc.serve_loop import serve
from fluxnetes.service.concurrency.loop_thread import LoopThread
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.service.queue_backend import QueueBackend


@asynccontextmanager
async def answering(
    door: ListenerOptions, mailbox: Mailbox, renew_within: float
) -> AsyncIterator[None]:
    """Answer what is asked of whoever leads here. ValueError if it cannot be served so."""
    if door.token_file is None:
        raise ValueError("callers of a cluster need tokens: --serve-tokens FILE")
    home = asyncio.get_running_loop()
    is_up = asyncio.Event()
    side = LoopThread("grpc")

    async def work() -> None:
        backend = QueueBackend(mailbox, home, source="live", durable=True, patience=renew_within)
        await serve(backend, door, asyncio.Event(), up=lambda: home.call_soon_threadsafe(is_up.set))

    ended = side.start(work)
    try:
        waiting = asyncio.create_task(is_up.wait())
        either: list[asyncio.Future[Any]] = [waiting, ended]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if ended.done():
            ended.result()
        yield
    finally:
        await side.stop()
