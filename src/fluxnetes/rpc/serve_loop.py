"""Serves a backend over gRPC until it is stopped, and reports its health."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from typing import Any

from fluxnetes.rpc.dialects.choice import services
from fluxnetes.rpc.listener import ListenerOptions
from fluxnetes.rpc.server import GrpcServer, serving
from fluxnetes.service.backend import Backend
from fluxnetes.service.health import HealthSignal

READY = "serving"
"""Printed on standard output, with the address, once the server accepts calls."""


def _nothing() -> None:
    pass


async def serve(
    backend: Backend,
    listener: ListenerOptions,
    stop: asyncio.Event,
    failure: asyncio.Future[None] | None = None,
    up: Callable[[], object] = _nothing,
) -> None:
    """Serve until `stop` is set or `failure` is done, and raise its error. `up` is called once the
    server accepts calls."""
    # Modules and graphs stay for good; the garbage collector need not visit them again.
    gc.freeze()
    async with serving(services(backend, listener.spoken), listener.settings()) as server:
        await server.set_healthy(backend.health.is_healthy)
        health = asyncio.create_task(_report_health(backend.health, server))
        sys.stdout.write(f"{READY} {listener.host}:{server.port}\n")
        sys.stdout.flush()
        up()
        stopped = asyncio.create_task(stop.wait())
        ends: list[asyncio.Future[Any]] = [stopped] if failure is None else [stopped, failure]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            health.cancel()
            backend.jobs.close()  # else streams would last for the whole grace period
            backend.nodes.close()
    if failure is not None and failure.done():
        failure.result()


async def _report_health(health: HealthSignal, server: GrpcServer) -> None:
    """Pass every change of a backend's health on to the health service."""
    reported = health.is_healthy
    while True:
        reported = await health.change_from(reported)
        await server.set_healthy(reported)
