"""Runs `fluxnetes serve --queue`: a scheduler on its own graph, in a thread beside the gRPC server.

gRPC server ──mailbox──▶ queue runner ──▶ scheduler, store
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fluxnetes.cli.controller.config import read_config
from fluxnetes.cli.serve.options import ServeOptions
from fluxnetes.cli.serve.setup import opened_store, read_graph_file
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers import read_graph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.rpc.serve_loop import serve
from fluxnetes.service.concurrency.loop_thread import LoopThread
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.service.queue_backend import QueueBackend
from fluxnetes.service.queue_runner import resume_queue
from fluxnetes.store.errors import StoreError
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store

_log = logging.getLogger("fluxnetes.rpc")


async def run_queue(options: ServeOptions, stop: asyncio.Event, up: Callable[[], None]) -> None:
    """Serve a queue until `stop` is set, or until its thread fails."""
    config = read_config(options.config)
    if options.policy is not None:
        config = replace(config, match_policy=options.policy)
    mailbox, thread = Mailbox(), LoopThread("queue")
    durable = bool(options.store or options.dsn)
    backend = QueueBackend(
        mailbox,
        thread.loop,
        source="file" if options.graph is not None else "store",
        durable=durable,
        renew_within=options.renew_within or None,
    )
    ready = asyncio.Event()
    here = asyncio.get_running_loop()
    work = _QueueThread(options, config, mailbox, lambda: here.call_soon_threadsafe(ready.set))
    ended = thread.start(work.run)
    try:
        waiting = asyncio.create_task(ready.wait())
        either: list[asyncio.Future[Any]] = [waiting, ended]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if ended.done():
            ended.result()
        await serve(backend, options.listener, stop, ended, up)
    finally:
        await thread.stop()


class _QueueThread:
    """What runs in the queue's thread: the store, its lease, the graph, and the queue runner."""

    def __init__(
        self,
        options: ServeOptions,
        config: SchedulerConfig,
        mailbox: Mailbox,
        ready: Callable[[], object],
    ) -> None:
        self._options = options
        self._config = config
        self._mailbox = mailbox
        self._ready = ready

    async def run(self) -> None:
        if not (self._options.store or self._options.dsn):
            await self._run_queue(self._graph(None), None, None)
            return
        async with opened_store(self._options) as (store, lease):
            system = await store.system()
            graph = self._graph(None if system is None else system.graph)
            await self._run_queue(graph, store, lease)

    def _graph(self, stored: ResourceGraph | None) -> ResourceGraph:
        """The graph of the command line or, without one, that of the store."""
        if self._options.graph is not None:
            try:
                return read_graph(*read_graph_file(self._options))
            except GraphError as error:
                raise ValueError(f"{self._options.graph}: {error}") from error
        if stored is None:
            raise ValueError("a queue needs a resource graph: add --graph FILE")
        return stored

    async def _run_queue(
        self, graph: ResourceGraph, store: Store | None, lease: StoreLease | None
    ) -> None:
        matcher = Matcher(graph, policy=self._config.match_policy)
        fence = 0 if lease is None else lease.fence
        queue = await resume_queue(matcher, self._config, self._mailbox, store, fence)
        try:
            async with asyncio.TaskGroup() as tasks:
                if store is not None and lease is not None:
                    tasks.create_task(_renew(store, lease))
                tasks.create_task(queue.run())
                await asyncio.sleep(0)  # lets the queue runner start
                self._ready()
        except ExceptionGroup as group:
            lost = group.subgroup(StoreError)
            raise group if lost is None else _first(lost) from None


def _first(error: BaseException) -> BaseException:
    """The first single error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _renew(store: Store, lease: StoreLease) -> None:
    """Renew the store's lease until cancelled, then release it."""
    try:
        while True:
            await asyncio.sleep(lease.seconds / 3)
            lease = await store.renew(lease)
    finally:
        with suppress(Exception):
            await asyncio.shield(store.release(lease))
