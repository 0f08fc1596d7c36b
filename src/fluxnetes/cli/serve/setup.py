"""What a service begins with: a graph from a file, a store and the right to write to it."""

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
_LEASE = 5.0
"""Seconds after which the store is another's, if we are gone without a word."""


def read_graph_file(options: ServeOptions) -> tuple[str, str]:
    """The text that --graph names, and its format."""
    assert options.graph is not None  # noqa: S101 - the caller looked
    text = options.graph.read_text()
    return text, _FORMATS.get(options.format or "", options.format) or looks_like(text)


def looks_like(text: str) -> str:
    """The format of a graph, by how it begins.

    >>> looks_like('{"graph": {"nodes": []}}'), looks_like('{"version": 1, "execution": {}}')
    ('jgf', 'rv1exec')
    """
    begin = text.lstrip()[:4096]
    if begin.startswith("<"):
        return "grug" if "graphml" in begin else "hwloc"
    return "rv1exec" if '"execution"' in begin else "jgf"


@asynccontextmanager
async def opened_store(options: ServeOptions) -> AsyncIterator[tuple[Store, StoreLease]]:
    """The store that options name, with the right to write to it."""
    server = EmbeddedServer(options.store_folder) if options.dsn is None else None
    store = Store(Database(options.dsn, server=server))
    try:
        await store.open()
        yield store, await _take(store, alone=server is not None)
    finally:
        await store.close()


async def _take(store: Store, alone: bool) -> StoreLease:
    """The right to write. One of us who was killed has it for some seconds more, unless all who
    use the store are on this machine `alone`: then it can be seen that it is gone."""
    left = math.inf
    while (lease := await store.take(f"{_HERE}{os.getpid()}", _LEASE)) is None:
        holder = await store.holder()
        if holder.seconds > left:  # somebody renews it
            raise ValueError(f"another, {holder.name}, has the store; stop it first")
        left = holder.seconds
        if alone and _is_gone(holder.name):
            await _free(store, holder.name)
            continue
        _log.info("%s has the store, and may be gone; waiting", holder.name)
        await asyncio.sleep(min(holder.seconds + 0.01, 1.0))
    return lease


def _is_gone(holder: str) -> bool:
    """Whether that was a process of this machine, and is no more."""
    number = holder.removeprefix(_HERE)
    if number == holder or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


async def _free(store: Store, holder: str) -> None:
    """Take the store in the name of somebody who is gone, and give it back."""
    lease = await store.take(holder, _LEASE)
    if lease is not None:
        await store.release(lease)
