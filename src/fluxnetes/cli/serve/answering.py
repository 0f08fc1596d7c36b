"""Answering calls, until told to stop."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any

from fluxnetes.cli.serve.door import Door
from fluxnetes.rpc.dialects.choice import services
from fluxnetes.rpc.host import Host
from fluxnetes.rpc.server import serving

READY = "serving"
"""What is said on standard output, with the address, once we can be called."""


async def serve(
    host: Host, door: Door, stop: asyncio.Event, failure: asyncio.Future[None] | None
) -> None:
    """Serve until told to stop, or until something fails for good."""
    # What was imported and loaded stays for good; the collector need not walk over it again.
    gc.freeze()
    async with serving(services(host, door.spoken), door.settings()) as server:
        where = f"{door.host}:{server.port}"
        sys.stdout.write(f"{READY} {where}\n")
        sys.stdout.flush()
        told = asyncio.create_task(stop.wait())
        ends: list[asyncio.Future[Any]] = [told] if failure is None else [told, failure]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        host.jobs.close()
        host.nodes.close()
    if failure is not None and failure.done():
        failure.result()
