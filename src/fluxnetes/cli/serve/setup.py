"""Prepares a service: reads the graph from a file, opens the store and takes its lease."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fluxnetes.cli.serve.options import ServeOptions
from fluxnetes.store.database import Database
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store

_log = logging.getLogger("fluxnetes.rpc")

_FORMATS = {"jgf": "jgf", "grug": "grug", "rv1": "rv1exec", "hwloc": "hwloc"}
_HERE = f"{socket.gethostname()}-"
"""What the names of lease holders on this machine begin with; the process id follows."""
_LEASE = 5.0
"""Seconds after which another process may take the store if this one was killed."""


def read_graph_file(options: ServeOptions) -> tuple[str, str]:
    """The text of the file that --graph names, and its format."""
    assert options.graph is not None  # noqa: S101 - the caller looked
    text = options.graph.read_text()
    return text, _FORMATS.get(options.format or "", options.format) or looks_like(text)


def looks_like(text: str) -> str:
    """The format of a graph, detected from its first characters.

    >>> looks_like('{"graph": {"nodes": []}}'), looks_like('{"version": 1, "execution": {}}')
    ('jgf', 'rv1exec')
    """
    begin = text.lstrip()[:4096]
    if begin.startswith("<"):
        return "grug" if "graphml" in begin else "hwloc"
    return "rv1exec" if '"execution"' in begin else "jgf"


@asynccontextmanager
async def opened_store(options: ServeOptions) -> AsyncIterator[tuple[Store, StoreLease]]:
    """The store that the options name, with its lease."""
    server = EmbeddedServer(options.store_folder) if options.dsn is None else None
    store = Store(Database(options.dsn, server=server))
    try:
        await store.open()
        yield store, await _take(store, embedded=server is not None)
    finally:
        await store.close()


async def _take(store: Store, embedded: bool) -> StoreLease:
    """Take the lease of the store; raises ValueError if its holder renews it.

    A process that was killed holds the lease until it expires. An `embedded` server is used only
    from this machine, where a holder that is gone is recognised; its lease is then taken at once.
    """
    left = math.inf
    while (lease := await store.take(f"{_HERE}{os.getpid()}", _LEASE)) is None:
        holder = await store.holder()
        if holder.seconds > left:  # it was renewed
            raise ValueError(f"the store is in use by {holder.name}; stop it first")
        left = holder.seconds
        if embedded and _is_gone(holder.name):
            await _free(store, holder.name)
            continue
        _log.info("waiting for the lease of the store, last held by %s", holder.name)
        await asyncio.sleep(min(holder.seconds + 0.01, 1.0))
    return lease


def _is_gone(holder: str) -> bool:
    """Whether the holder was a process of this machine that no longer exists."""
    number = holder.removeprefix(_HERE)
    if number == holder or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


async def _free(store: Store, holder: str) -> None:
    """Release the lease of a holder that is gone, by taking it in its name."""
    lease = await store.take(holder, _LEASE)
    if lease is not None:
        await store.release(lease)
