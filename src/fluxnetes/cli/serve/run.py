"""Runs the service as a process: log, store, backend, gRPC server, signals."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from fluxnetes.cli.exit_status import INTERRUPTED
from fluxnetes.cli.logging_setup import set_up_logging
from fluxnetes.cli.serve.options import ServeOptions
from fluxnetes.cli.serve.queue import run_queue
from fluxnetes.cli.serve.setup import opened_store, read_graph_file
from fluxnetes.rpc.serve_loop import serve
from fluxnetes.service.errors import ServiceError
from fluxnetes.service.leases.allocation_leases import AllocationLeases
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.allocations import reopen
from fluxnetes.service.persistence.writer import BatchedWriter
from fluxnetes.store.errors import StoreError

_log = logging.getLogger("fluxnetes.rpc")

USUAL_POLICY = "lonode"
"""Match policy where neither --policy nor a configuration names one."""


def run(options: ServeOptions) -> int:
    """Serve until SIGTERM or Ctrl-C. Returns the exit status."""
    try:
        set_up_logging(options.log_level)
        asyncio.run(_run(options))
    except (ValueError, OSError, StoreError, ServiceError) as error:
        sys.stderr.write(f"fluxnetes serve: {error}\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


async def _run(options: ServeOptions) -> None:
    """Serve until SIGTERM or Ctrl-C. A signal before the server is up cancels the start."""
    stop, up = asyncio.Event(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    run = run_queue if options.queue else _run_matcher
    work = asyncio.create_task(run(options, stop, up.set))
    signalled = asyncio.create_task(stop.wait())
    await asyncio.wait((work, signalled), return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    if not up.is_set():
        work.cancel()  # it may be waiting for a store that another process owns
    try:
        await work
    except asyncio.CancelledError:
        if not stop.is_set():
            raise


async def _run_matcher(options: ServeOptions, stop: asyncio.Event, up: Callable[[], None]) -> None:
    """Serve a matcher without a queue."""
    async with AsyncExitStack() as stack:
        writer = None
        matching = MatcherOperations(options.policy or USUAL_POLICY)
        if options.store or options.dsn:
            writer = await stack.enter_async_context(_writing(options, matching))
        source = "store" if matching.has_graph else "none"
        leases = AllocationLeases(options.renew_within or None)
        backend = MatcherBackend(matching, writer, source, leases)
        stack.push_async_callback(backend.close)
        if options.graph is not None and not matching.has_graph:
            await _load(backend, options)
        failure = None if writer is None else writer.failure
        await serve(backend, options.listener, stop, failure, up)


@asynccontextmanager
async def _writing(
    options: ServeOptions, matching: MatcherOperations
) -> AsyncIterator[BatchedWriter]:
    """The writer to the store, after the matcher was restored from it; renews the store's lease."""
    async with opened_store(options) as (store, lease):
        writer = BatchedWriter(store, lease, await reopen(store, lease.fence, matching))
        tending = asyncio.create_task(writer.tend())
        try:
            yield writer
        finally:
            tending.cancel()
            if not writer.failure.done():
                await writer.flush()
            await store.release(writer.lease)


async def _load(backend: MatcherBackend, options: ServeOptions) -> None:
    text, format = read_graph_file(options)
    try:
        count = await backend.load(text, format, options.policy or USUAL_POLICY, source="file")
    except ServiceError as error:
        raise ValueError(f"{options.graph}: {error}") from error
    _log.info("%s: loaded a graph of %d vertices", options.graph, count)
