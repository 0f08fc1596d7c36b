"""Serves callers of a controller from a thread beside it, so that neither delays the other."""

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
async def serve_embedded(
    listener: ListenerOptions, mailbox: Mailbox, renew_within: float
) -> AsyncIterator[None]:
    """Serve the queue of this controller while it leads. ValueError if the options do not allow it.

    The mailbox must not be open before the block begins.
    """
    if listener.token_file is None:
        raise ValueError("callers of a cluster need tokens: --serve-tokens FILE")
    queue_loop = asyncio.get_running_loop()
    is_up = asyncio.Event()
    thread = LoopThread("grpc")

    async def work() -> None:
        backend = QueueBackend(
            mailbox, queue_loop, source="live", durable=True, renew_within=renew_within
        )

        def report_up() -> None:
            queue_loop.call_soon_threadsafe(is_up.set)

        await serve(backend, listener, asyncio.Event(), up=report_up)

    ended = thread.start(work)
    try:
        waiting = asyncio.create_task(is_up.wait())
        either: list[asyncio.Future[Any]] = [waiting, ended]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if ended.done():
            ended.result()
        yield
    finally:
        await thread.stop()
