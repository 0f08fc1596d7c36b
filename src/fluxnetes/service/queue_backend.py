"""The backend that asks a queue: a standalone one (`queue_runner`) or that of a leading controller.

The queue runs in an event loop of its own, in another thread than the callers'. A call crosses over
as a `QueueRequest` through the mailbox, and its answer comes back:

    callers' loop    call ──▶ QueueRequest ─┐            ┌─▶ answer
    queue's loop                            └─▶ a round ─┘
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn, TypeVar

from fluxnetes.graph.writers.whole import write_graph
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.states import ENDED
from fluxnetes.service import values
from fluxnetes.service.callers import ADMIN, Caller
from fluxnetes.service.changelog import ChangeLog
from fluxnetes.service.errors import Denied, Unavailable
from fluxnetes.service.estimate import prepare_estimate, run_estimate
from fluxnetes.service.health import HealthSignal
from fluxnetes.service.leases.caller_leases import CallerLeases
from fluxnetes.service.mailbox import Mailbox, MailboxClosed, QueueHost, QueueRequest, looking
from fluxnetes.service.operations import QueueOperations, is_of_caller
from fluxnetes.service.queue_events import QueueEvents
from fluxnetes.service.views.jobs import shares_of
from fluxnetes.service.views.nodes import node_names, node_views, positions_of, totals

T = TypeVar("T")


class QueueBackend:
    """See the module's docstring. Made in the callers' event loop."""

    def __init__(
        self,
        mailbox: Mailbox,
        loop: asyncio.AbstractEventLoop,
        *,
        source: str,
        durable: bool,
        renew_within: float | None = None,
    ) -> None:
        """`loop` is the queue's; an allocation that is neither renewed nor used for `renew_within`
        seconds expires. Attaches itself to the mailbox, which must not be open yet."""
        self.jobs = ChangeLog()
        self.nodes = ChangeLog()
        self.health = HealthSignal(is_healthy=False)
        self._mailbox = mailbox
        self._loop = loop
        self._source = source
        self._durable = durable
        self._operations = QueueOperations(CallerLeases(renew_within))
        mailbox.attach(
            QueueEvents(
                self._operations, self.jobs, self.nodes, self.health, asyncio.get_running_loop()
            )
        )

    # -- to the queue's loop and back ----------------------------------------------------------

    async def _ask(self, request: QueueRequest[T]) -> T:
        pending = asyncio.run_coroutine_threadsafe(self._mailbox.ask(request), self._loop)
        answer = asyncio.wrap_future(pending)
        try:
            # Shielded: if the caller leaves, an answer that is on its way must be undone.
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            request.given_up = True
            answer.add_done_callback(partial(self._undo, request))
            raise
        except MailboxClosed as error:
            raise Unavailable(str(error)) from None

    def _undo(self, request: QueueRequest[T], answer: asyncio.Future[T]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._loop.call_soon_threadsafe(self._mailbox.undo, request, answer.result())

    async def _read(self, answer: Callable[[QueueHost], T]) -> T:
        return await self._ask(looking(answer))

    # -- jobs that are matched -----------------------------------------------------------------

    async def match(self, call: values.MatchCall) -> values.Grant:
        return await self._ask(self._operations.match(call))

    async def withdraw(self, grant: values.Grant) -> None:
        def apply(queue_host: QueueHost) -> None:
            self._operations.withdraw(grant, queue_host)

        with suppress(Unavailable):  # then its lease expires under the next leader
            await self._ask(QueueRequest(apply, lambda queue_host: None))

    async def update(self, allocation: values.AllocationUpdate) -> NoReturn:
        raise Denied("a queue makes its own allocations; Update works only on a server without one")

    async def renew(self, job: int, caller: Caller = ADMIN) -> int | None:
        return await self._ask(self._operations.renew(job, caller))

    async def cancel(self, job: int, reason: str = "", caller: Caller = ADMIN) -> None:
        await self._ask(self._operations.cancel(job, reason, caller))

    # -- jobs that are queued ------------------------------------------------------------------

    async def submit(self, submission: Submission, key: str) -> values.JobView:
        return await self._ask(self._operations.submit(submission, key))

    async def start(self, job: int, caller: Caller = ADMIN) -> values.JobView:
        return await self._ask(self._operations.start(job, caller))

    async def finish(self, job: int, ok: bool, reason: str, caller: Caller = ADMIN) -> None:
        await self._ask(self._operations.finish(job, ok, reason, caller))

    async def hold(self, job: int, caller: Caller = ADMIN) -> values.JobView:
        return await self._ask(self._operations.hold(job, caller))

    async def release(self, job: int, caller: Caller = ADMIN) -> values.JobView:
        return await self._ask(self._operations.release(job, caller))

    async def explain(self, job: int, caller: Caller = ADMIN) -> values.JobExplanation:
        return await self._ask(self._operations.explain(job, caller))

    async def estimate(self, submission: Submission, now: int) -> values.StartEstimate:
        copied = await self._read(lambda queue_host: prepare_estimate(submission, queue_host))
        return await asyncio.to_thread(run_estimate, copied)

    # -- the graph -----------------------------------------------------------------------------

    async def load(self, text: str, format: str, policy: str, caller: Caller = ADMIN) -> NoReturn:
        raise Denied(self._fixed())

    async def grow(self, jgf: str) -> NoReturn:
        raise Denied(self._fixed())

    async def shrink(self, paths: Sequence[str], caller: Caller = ADMIN) -> NoReturn:
        raise Denied(self._fixed())

    def _fixed(self) -> str:
        if self._source == "live":
            return "the graph is that of the cluster; add or remove nodes there"
        return "a queue keeps the graph that it was started with; restart it with another"

    async def text(self) -> str:
        return await self._read(lambda queue_host: write_graph(queue_host.matcher.graph).decode())

    # -- views ---------------------------------------------------------------------------------

    async def groups(self, caller: Caller = ADMIN) -> list[values.GroupView]:
        return await self._read(lambda queue_host: _groups(queue_host, caller))

    async def job_views(
        self, jobs: Collection[int] | None, caller: Caller = ADMIN
    ) -> list[values.JobView]:
        return await self._ask(self._operations.views(jobs, caller))

    async def node_views(
        self, names: Collection[str] | None, caller: Caller = ADMIN
    ) -> list[values.NodeView]:
        def answer(queue_host: QueueHost) -> list[values.NodeView]:
            matcher = queue_host.matcher
            if names is None:
                return _nodes_at(matcher.engine.nodes.tolist(), caller, queue_host)
            return _nodes_at(list(positions_of(matcher, names).values()), caller, queue_host)

        return await self._read(answer)

    async def node_page(
        self, first: int, count: int, caller: Caller = ADMIN
    ) -> list[values.NodeView]:
        def answer(queue_host: QueueHost) -> list[values.NodeView]:
            nodes = queue_host.matcher.engine.nodes[first : first + count].tolist()
            return _nodes_at(nodes, caller, queue_host)

        return await self._read(answer)

    async def status(self) -> values.BackendStatus:
        return await self._read(self._status)

    def _status(self, queue_host: QueueHost) -> values.BackendStatus:
        engine = queue_host.matcher.engine
        jobs = queue_host.scheduler.jobs.values()
        return values.BackendStatus(
            self._source,
            queue_host.scheduler.config.match_policy,
            queue=True,
            durable=self._durable,
            vertices=engine.tree.vertex_count,
            nodes=len(node_names(queue_host.matcher)),
            nodes_up=engine.nodes_up(),
            totals=totals(queue_host.matcher),
            jobs=Counter(job.state.value for job in jobs if job.state not in ENDED),
        )


def _nodes_at(
    positions: Sequence[int], caller: Caller, queue_host: QueueHost
) -> list[values.NodeView]:
    jobs = queue_host.scheduler.jobs

    def shows(id: int) -> bool:
        return id in jobs and is_of_caller(jobs[id], caller)

    return list(node_views(queue_host.matcher, positions, shows))


def _groups(queue_host: QueueHost, caller: Caller) -> list[values.GroupView]:
    """Every live job is a group; to an administrator also those of the cluster's workloads."""
    jobs = queue_host.scheduler.jobs.values()
    live = [job for job in jobs if job.state not in ENDED and is_of_caller(job, caller)]
    return [
        values.GroupView(job.submission.name or f"job-{job.id}", max(1, _tasks(job.id, queue_host)))
        for job in live
    ]


def _tasks(id: int, queue_host: QueueHost) -> int:
    job = queue_host.scheduler.job(id)
    return sum(share.tasks for share in shares_of(job, queue_host.matcher))
