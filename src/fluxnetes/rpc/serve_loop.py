"""Answering calls, until told to stop."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from fluxnetes.rpc.dialects.choice import services
from fluxnetes.rpc.listener import ListenerOptions
from fluxnetes.rpc.server import GrpcServer, serving
from fluxnetes.service.backend import Backend
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.queue_backend import QueueBackend

READY = "serving"
"""What is said on standard output, with the address, once we can be called."""


def _nothing() -> None:
    pass


async def serve(
    backend: Backend,
    door: ListenerOptions,
    stop: asyncio.Event,
    failure: asyncio.Future[None] | None = None,
    up: Callable[[], object] = _nothing,
) -> None:
    """Serve until told to stop, or until something fails for good. `up` hears when we do."""
    # What was imported and loaded stays for good; the collector need not walk over it again.
    gc.freeze()
    async with serving(services(backend, door.spoken), door.settings()) as server:
        if isinstance(backend, QueueBackend):
            backend.tell_health(partial(_tell, server))
        where = f"{door.host}:{server.port}"
        sys.stdout.write(f"{READY} {where}\n")
        sys.stdout.flush()
        up()
        told = asyncio.create_task(stop.wait())
        ends: list[asyncio.Future[Any]] = [told] if failure is None else [told, failure]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            told.cancel()
            backend.jobs.close()  # whoever watches would not go before the others have to
            backend.nodes.close()
    if failure is not None and failure.done():
        failure.result()


def _tell(server: GrpcServer, healthy: bool) -> None:
    keep_task(server.set_healthy(healthy))
