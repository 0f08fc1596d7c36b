"""From options to a service that answers until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fluxnetes.cli.serve.options import Options
from fluxnetes.rpc.alone import Alone
from fluxnetes.rpc.credentials import Files, Own
from fluxnetes.rpc.dialects.choice import USUAL, services
from fluxnetes.rpc.guard import Guard
from fluxnetes.rpc.host import Host
from fluxnetes.rpc.keeping import reopen
from fluxnetes.rpc.matching import Matching
from fluxnetes.rpc.refusals import Refusal
from fluxnetes.rpc.server import Settings, serving
from fluxnetes.rpc.writing import Writer
from fluxnetes.store.connect import Database
from fluxnetes.store.embedded import EmbeddedServer
from fluxnetes.store.errors import StoreError
from fluxnetes.store.places import default_folder
from fluxnetes.store.store import Store

_log = logging.getLogger("fluxnetes.rpc")

READY = "serving"
"""What is said on standard output, with the address, once we can be called."""
_LOG_LEVELS = ("debug", "info", "warning", "error")
_FORMATS = {"jgf": "jgf", "grug": "grug", "rv1": "rv1exec", "hwloc": "hwloc"}
_NONE = "none"


def run(options: Options) -> int:
    """Serve until SIGTERM or Ctrl-C. Returns the exit status."""
    try:
        _set_up_log(options.log_level)
        asyncio.run(_run(options))
    except (ValueError, OSError, StoreError, Refusal) as error:
        sys.stderr.write(f"fluxnetes serve: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _set_up_log(level: str) -> None:
    if level.lower() not in _LOG_LEVELS:
        raise ValueError(f"--log-level {level}: expected one of {', '.join(_LOG_LEVELS)}")
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level.upper(), format=form, stream=sys.stderr)


async def _run(options: Options) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    settings = _settings(options)
    async with AsyncExitStack() as stack:
        writer = None
        matching = Matching(options.policy)
        if options.store or options.dsn:
            writer = await stack.enter_async_context(_writing(options, matching))
        source = "store" if matching.has_graph else _NONE
        host = Alone(matching, writer, source)
        stack.push_async_callback(host.close)
        if options.graph is not None and not matching.has_graph:
            await _load(host, options)
        await _serve(host, options, settings, stop, writer)


async def _serve(
    host: Host, options: Options, settings: Settings, stop: asyncio.Event, writer: Writer | None
) -> None:
    chosen = [name for name in options.dialects or USUAL if name != _NONE]
    # What was imported and loaded stays for good; the collector need not walk over it again.
    gc.freeze()
    async with serving(services(host, chosen), settings) as server:
        where = f"{options.host}:{server.port}"
        sys.stdout.write(f"{READY} {where}\n")
        sys.stdout.flush()
        told = asyncio.create_task(stop.wait())
        ends: list[asyncio.Future[Any]] = [told] if writer is None else [told, writer.failure]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
    if writer is not None and writer.failure.done():
        writer.failure.result()


# -- the graph -------------------------------------------------------------------------------------


async def _load(host: Alone, options: Options) -> None:
    assert options.graph is not None  # noqa: S101 - the caller looked
    text = options.graph.read_text()
    format = _FORMATS.get(options.format or "", options.format) or looks_like(text)
    count = await host.load(text, format, options.policy, source="file")
    _log.info("%s: a graph of %d vertices", options.graph, count)


def looks_like(text: str) -> str:
    """The format of a graph, by how it begins.

    >>> looks_like('{"graph": {"nodes": []}}'), looks_like('{"version": 1, "execution": {}}')
    ('jgf', 'rv1exec')
    """
    begin = text.lstrip()[:4096]
    if begin.startswith("<"):
        return "grug" if "graphml" in begin else "hwloc"
    return "rv1exec" if '"execution"' in begin else "jgf"


# -- the store -------------------------------------------------------------------------------------


@asynccontextmanager
async def _writing(options: Options, matching: Matching) -> AsyncIterator[Writer]:
    """A writer on the store that options name, with what it has; as long as we hold its lease."""
    server = EmbeddedServer(options.store_folder) if options.dsn is None else None
    store = Store(Database(options.dsn, server=server))
    try:
        await store.open()
        lease = await store.take(f"{socket.gethostname()}-{os.getpid()}")
        if lease is None:
            holder = (await store.holder()).name
            raise ValueError(f"another, {holder}, has the store; stop it, or wait until it is gone")
        writer = Writer(store, lease.fence, await reopen(store, matching))
        tending = asyncio.create_task(writer.tend(lease))
        try:
            yield writer
        finally:
            tending.cancel()
            await store.release(writer.lease or lease)
    finally:
        await store.close()


# -- who may call ----------------------------------------------------------------------------------


def _settings(options: Options) -> Settings:
    host = options.host.strip("[]")
    address = f"[{host}]:{options.port}" if ":" in host else f"{host}:{options.port}"
    return Settings(
        address,
        _credentials(options, host),
        None if options.token_file is None else Guard(options.token_file),
        options.max_message << 20,
    )


def _credentials(options: Options, host: str) -> Files | None:
    if (options.tls_cert is None) != (options.tls_key is None):
        raise ValueError("--tls-cert and --tls-key belong together")
    if options.tls_cert is not None and options.tls_key is not None:
        return Files(options.tls_cert, options.tls_key, options.client_ca)
    if options.plaintext or (is_loopback(host) and options.client_ca is None):
        return None
    own = Own(default_folder() / "service", options.tls_name)
    _log.info("clients trust us by %s", own.authority)
    return own.files(options.client_ca)


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
