"""A queue backend whose queue runs by itself, in a thread beside the test's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fluxnetes.graph.readers import read_graph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.service.concurrency.loop_thread import LoopThread
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.service.queue_backend import QueueBackend
from fluxnetes.service.queue_runner import QueueRunner, resume_queue
from tests.integration.rpc.graphs import a_cluster


@dataclass
class RunningBackend:
    """A backend, and the queue that it asks. Several terms may follow one another."""

    backend: QueueBackend
    mailbox: Mailbox
    side: LoopThread
    queue: QueueRunner | None = None
    _running: asyncio.Task[None] | None = None

    async def there(self, do: Callable[[], object]) -> None:
        """Do something in the queue's loop."""

        async def done() -> None:
            do()

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(done(), self.side.loop))

    async def open(self, queue: QueueRunner) -> None:
        self.queue = queue

        def begin() -> None:
            self._running = self.side.loop.create_task(queue.run())

        await self.there(begin)
        await self.there(lambda: None)

    async def close(self) -> None:
        async def end() -> None:
            if self._running is not None:
                self._running.cancel()
                await asyncio.wait([self._running])

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(end(), self.side.loop))


async def a_queue(mailbox: Mailbox, nodes: int = 2, cores: int = 4) -> QueueRunner:
    matcher = Matcher(read_graph(a_cluster(nodes, cores), "jgf"), policy="lonode")
    return await resume_queue(matcher, SchedulerConfig(), mailbox, None, 0)


@asynccontextmanager
async def running_backend(
    nodes: int = 2, cores: int = 4, *, closed: bool = False
) -> AsyncIterator[RunningBackend]:
    """A backend whose queue runs, unless it is closed at first."""
    mailbox, side = Mailbox(), LoopThread("queue")
    backend = QueueBackend(mailbox, side.loop, source="file", durable=False)
    running = RunningBackend(backend, mailbox, side)
    try:
        if not closed:
            await running.open(await a_queue(mailbox, nodes, cores))
        yield running
    finally:
        await running.close()
        await side.stop()
