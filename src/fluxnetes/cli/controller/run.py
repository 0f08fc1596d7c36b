"""From options to a controller that leads whenever it can, until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import fields

from fluxnetes.cli.controller.config import read_config
from fluxnetes.cli.controller.options import ControllerOptions
from fluxnetes.cluster.labels.names import SCHEDULER_NAMES
from fluxnetes.controller.leadership.terms import CandidateOptions
from fluxnetes.controller.leadership.terms import run as run_terms
from fluxnetes.controller.state import ControllerSettings
from fluxnetes.kube.auth.access import find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import KubeError
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.store.database import Database
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.errors import StoreError
from fluxnetes.store.store import Store

READY = "leading"
"""What is said on standard output whenever a term begins."""

_NEW_OBJECTS = 100_000
"""So many, and the collector looks among the young ones."""

_LOG_LEVELS = ("debug", "info", "warning", "error")
_PLAIN_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")


class CannotServe(Exception):  # noqa: N818 - reads better where it is raised and caught
    """Callers cannot be answered as the options say."""


_EXPECTED = (KubeError, StoreError, OSError, CannotServe)
"""What is wrong with the world rather than with us."""


def run(options: ControllerOptions) -> int:
    """Run until SIGTERM or Ctrl-C. Returns the exit status."""
    try:
        _set_up_log(options.log_level)
        term = _term(options)
    except (ValueError, OSError) as error:
        return _complain(error)
    # What was imported stays for good; without this the collector walks over it again and again, a
    # twentieth of a second each time. Not so what a term lists, which is garbage after it.
    gc.freeze()
    # Pods and jobs come by the thousand and stay for a while; looking for garbage among them after
    # every 700 would be a twentieth of the work.
    gc.set_threshold(_NEW_OBJECTS)
    try:
        asyncio.run(_run(options, term))
    except _EXPECTED as error:
        return _complain(error)
    except ExceptionGroup as group:
        # A term is many tasks, and ends with the first of them that fails.
        expected, unexpected = group.split(_EXPECTED)
        if unexpected is not None or expected is None:
            raise
        return _complain(_first(expected))
    except KeyboardInterrupt:
        return 130
    return 0


def _set_up_log(level: str) -> None:
    if level.lower() not in _LOG_LEVELS:
        raise ValueError(f"--log-level {level}: expected one of {', '.join(_LOG_LEVELS)}")
    logging.basicConfig(
        level=level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


def _complain(error: BaseException) -> int:
    sys.stderr.write(f"fluxnetes controller: {error}\n")
    return 1


def _term(options: ControllerOptions) -> CandidateOptions:
    return CandidateOptions(
        identity=options.identity or f"{socket.gethostname()}-{os.getpid()}",
        namespace=options.namespace,
        config=read_config(options.config),
        scheduler_names=options.scheduler_names or SCHEDULER_NAMES,
        control_plane=options.control_plane,
        settings=read_patience(options.patience),
        lease=options.lease,
        mailbox=None if options.door is None else Mailbox(),
    )


def read_patience(given: tuple[str, ...]) -> ControllerSettings:
    """From texts such as `keep-seat=60`."""
    known = {each.name.replace("_", "-"): each.name for each in fields(ControllerSettings)}
    found: dict[str, float] = {}
    for text in given:
        name, _, seconds = text.partition("=")
        if name not in known:
            raise ValueError(
                f"--patience {text}: expected one of {', '.join(known)}, as NAME=SECONDS"
            )
        if not _PLAIN_NUMBER.fullmatch(seconds):
            raise ValueError(f"--patience {text}: expected seconds after the =, as in {name}=60")
        found[known[name]] = float(seconds)
    return ControllerSettings(**found)


async def _run(options: ControllerOptions, term: CandidateOptions) -> None:
    access = find_access(options.kubeconfig, options.context)
    server = EmbeddedServer(options.store_folder) if options.dsn is None else None
    store = Store(Database(options.dsn, server=server))
    async with KubeClient(access) as client:
        try:
            await store.open()
            async with _answering(options, term):
                await _until_told(run_terms(client, store, term, _say_ready))
        finally:
            await store.close()


@asynccontextmanager
async def _answering(options: ControllerOptions, term: CandidateOptions) -> AsyncIterator[None]:
    """Callers are answered in a thread beside, for as long as the block lasts."""
    if options.door is None or term.mailbox is None:
        yield
        return
    from fluxnetes.rpc.embedded import answering

    async with AsyncExitStack() as stack:
        beside = answering(options.door, term.mailbox, options.renew_within)
        try:
            await stack.enter_async_context(beside)
        except ValueError as error:
            raise CannotServe(f"--serve: {error}") from error
        yield


def _say_ready() -> None:
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()


async def _until_told(work: Coroutine[None, None, None]) -> None:
    """Run until SIGTERM or Ctrl-C, then let it clean up."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    told: list[bool] = []

    def stop() -> None:
        told.append(True)
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not told:
            raise
