"""Runs the controller as a process: log, store, gRPC server, leadership, signals."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager

from fluxnetes.cli.controller.cluster_config import read_topology
from fluxnetes.cli.controller.config import read_cluster_config
from fluxnetes.cli.controller.options import ControllerOptions
from fluxnetes.cli.controller.timeouts import read_timeouts
from fluxnetes.cli.exit_status import INTERRUPTED
from fluxnetes.cli.logging_setup import set_up_logging
from fluxnetes.cluster.labels.names import SCHEDULER_NAMES
from fluxnetes.controller.leadership.terms import CandidateOptions
from fluxnetes.controller.leadership.terms import run as run_terms
from fluxnetes.kube.auth.access import find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import KubeError
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.store.database import Database
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.errors import StoreError
from fluxnetes.store.store import Store

READY = "leading"
"""Written to standard output whenever a term of leadership begins."""

_NEW_OBJECTS = 100_000
"""New objects after which the garbage collector examines the youngest generation."""


class CannotServe(Exception):  # noqa: N818 - reads better where it is raised and caught
    """The gRPC server cannot be started as the options say."""


_EXPECTED = (KubeError, StoreError, OSError, CannotServe)
"""Errors of the environment; anything else is a bug and keeps its traceback."""


def run(options: ControllerOptions) -> int:
    """Run until SIGTERM or Ctrl-C. Returns the exit status."""
    try:
        set_up_logging(options.log_level)
        candidate = _candidate(options)
    except (ValueError, OSError) as error:
        return _complain(error)
    # Imported modules are never garbage; without this each full collection walks over them, for a
    # twentieth of a second. What a term lists is not frozen: it is garbage when the term ends.
    gc.freeze()
    # Pods and jobs are created by the thousand and live for a while; a collection after every 700
    # new objects, Python's default, would be a twentieth of the work.
    gc.set_threshold(_NEW_OBJECTS)
    try:
        asyncio.run(_run(options, candidate))
    except _EXPECTED as error:
        return _complain(error)
    except ExceptionGroup as group:
        # A term runs many tasks, and ends when the first of them fails.
        expected, unexpected = group.split(_EXPECTED)
        if unexpected is not None or expected is None:
            raise
        return _complain(_first(expected))
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


def _complain(error: BaseException) -> int:
    sys.stderr.write(f"fluxnetes controller: {error}\n")
    return 1


def _candidate(options: ControllerOptions) -> CandidateOptions:
    config = read_cluster_config(options.config)
    return CandidateOptions(
        identity=options.identity or f"{socket.gethostname()}-{os.getpid()}",
        namespace=options.namespace,
        config=config.scheduler,
        scheduler_names=options.scheduler_names or SCHEDULER_NAMES,
        control_plane=options.control_plane,
        scope=config.scope,
        topology=read_topology(options.config),
        settings=read_timeouts(options.timeouts),
        lease=options.lease,
        mailbox=None if options.listener is None else Mailbox(),
    )


async def _run(options: ControllerOptions, candidate: CandidateOptions) -> None:
    access = find_access(options.kubeconfig, options.context)
    server = EmbeddedServer(options.store_folder) if options.dsn is None else None
    store = Store(Database(options.dsn, server=server))
    async with KubeClient(access) as client:
        try:
            await store.open()
            async with _serving(options, candidate):
                await _until_signal(run_terms(client, store, candidate, _say_ready))
        finally:
            await store.close()


@asynccontextmanager
async def _serving(options: ControllerOptions, candidate: CandidateOptions) -> AsyncIterator[None]:
    """Serve gRPC callers in a thread of its own while the block lasts, if the options say so."""
    if options.listener is None or candidate.mailbox is None:
        yield
        return
    from fluxnetes.rpc.embedded import serve_embedded

    async with AsyncExitStack() as stack:
        server = serve_embedded(options.listener, candidate.mailbox, options.renew_within)
        try:
            await stack.enter_async_context(server)
        except ValueError as error:
            raise CannotServe(f"--serve: {error}") from error
        yield


def _say_ready() -> None:
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()


async def _until_signal(work: Coroutine[None, None, None]) -> None:
    """Run until SIGTERM or Ctrl-C, then cancel the work and wait until it has cleaned up."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not stopped:
            raise
