"""The store's part of `bench/queue`: how many transitions a second are decided and written.

A queue is driven as a controller would: jobs come, are decided on, written in one transaction,
started, ended. Each batch of jobs makes four transitions a job (submitted, allocated, running,
completed) in four commits. The Postgres is our own, embedded, and syncs to disk as always.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store, open_store

TRANSITIONS = 4_000
ONE_NODE = jobspec(slot(1, node(1)))


class Writer:
    """A queue, its store and a clock."""

    def __init__(self, store: Store, lease: StoreLease, nodes: int) -> None:
        graph = pool_graph({f"n{i}": {"cpu": 1000} for i in range(nodes)})
        self.queue = Scheduler(Matcher(graph, policy="lonode"))
        self.store, self.lease = store, lease
        self.ids = itertools.count(1)
        self.now = 0

    async def batch(self, size: int) -> None:
        """So many jobs from their coming to their end."""
        ids = [next(self.ids) for _ in range(size)]
        submissions = (Submission(id, ONE_NODE, walltime=60) for id in ids)
        for events in (map(Submit, submissions), (), map(Started, ids), map(Ended, ids)):
            self.now += 1
            for event in events:
                self.queue.apply(event, self.now)
            if not isinstance(events, map):
                self.queue.cycle(self.now)
            await self.store.commit(self.queue.take_changes(), self.lease.fence)

    async def run(self, size: int) -> None:
        for _ in range(TRANSITIONS // 4 // size):
            await self.batch(size)


Steps = Iterator[tuple[str, Callable[[], object], float | None]]


def store_steps() -> Steps:
    folder = Path(tempfile.mkdtemp(prefix="fluxnetes-bench-"))
    folder.chmod(0o711)  # when run as root, the server runs as another user
    server = EmbeddedServer(folder / "data")
    server.start()
    try:
        with asyncio.Runner() as runner:
            yield from _steps(runner, server.dsn)
    finally:
        server.stop()
        shutil.rmtree(folder)


def _steps(
    runner: asyncio.Runner, dsn: str
) -> Iterator[tuple[str, Callable[[], object], float | None]]:
    opened = open_store(dsn)
    store = runner.run(opened.__aenter__())
    lease = runner.run(store.take("bench", seconds=60))
    assert lease is not None
    first = 1
    for size in (1, 10, 100):
        writer = Writer(store, lease, 100)
        writer.ids = itertools.count(first)
        first += TRANSITIONS
        name = f"{TRANSITIONS:,} transitions, {size} a commit"

        def run(writer: Writer = writer, size: int = size) -> None:
            runner.run(writer.run(size))

        # A thousand a second is promised for a cycle's changes in one transaction, not one by one.
        yield name, run, TRANSITIONS if size > 1 else None
    runner.run(opened.__aexit__(None, None, None))
