"""Follows a queue in its own event loop, and passes changes on to the loop of the callers.

queue's loop      Mailbox ──▶ QueueEvents ──▶ operations: keys and leases of callers' jobs
                                   │
                                   │ call_soon_threadsafe
callers' loop                      └──▶ change logs of jobs and nodes, health
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from fluxnetes.queue.changes import Changes
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED
from fluxnetes.service.changelog import ChangeLog
from fluxnetes.service.health import HealthSignal
from fluxnetes.service.mailbox import QueueHost
from fluxnetes.service.operations import QueueOperations
from fluxnetes.service.views.jobs import shares_of


class QueueEvents:
    """The `MailboxListener` of a queue backend."""

    def __init__(
        self,
        operations: QueueOperations,
        jobs: ChangeLog,
        nodes: ChangeLog,
        health: HealthSignal,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`jobs`, `nodes` and `health` are used only in `loop`, the loop of the callers."""
        self._operations = operations
        self._jobs = jobs
        self._nodes = nodes
        self._health = health
        self._loop = loop
        self._held: dict[int, list[str]] = {}
        """The nodes of each job that holds some."""

    def opened(self, queue_host: QueueHost) -> None:
        self._operations.begin(queue_host)
        self._held = {
            id: _nodes_of(job, queue_host) for id, job in queue_host.scheduler.jobs.items()
        }
        self._send(self._jobs.reset)
        self._send(self._nodes.reset)
        self._send(self._health.set, True)

    def closed(self) -> None:
        self._send(self._health.set, False)
        self._send(self._jobs.reset)  # so that watchers look again, and find that this replica
        self._send(self._nodes.reset)  # does not lead

    def tend(self, queue_host: QueueHost) -> None:
        self._operations.leases.tend(queue_host)

    def changed(self, changes: Changes, queue_host: QueueHost) -> None:
        self._operations.follow(changes, queue_host)
        self._send(self._jobs.note, [str(id) for id in changes.jobs])
        names: set[str] = set()
        for id in changes.allocations:
            names.update(self._held.pop(id, ()))
            job = queue_host.scheduler.jobs.get(id)
            if job is not None and job.state not in ENDED:
                self._held[id] = _nodes_of(job, queue_host)
                names.update(self._held[id])
        self.nodes_changed(names)

    def nodes_changed(self, names: Iterable[str]) -> None:
        names = list(names)
        if names:
            self._send(self._nodes.note, names)

    def _send(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Have something called in the callers' loop."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *arguments)


def _nodes_of(job: QueueJob, queue_host: QueueHost) -> list[str]:
    return [share.node for share in shares_of(job, queue_host.matcher)]
