"""A host with a queue: of its own (`lone_queue`), or that of a controller that leads.

The queue lives in an event loop of its own, in another thread, and decides there in its own time.
What callers ask crosses over as a petition, and the answer comes back:

    gRPC's loop      call ──▶ petition ─┐            ┌─▶ answer
    queue's loop                        └─▶ a round ─┘
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, TypeVar

from fluxnetes.graph.writers.whole import write_graph
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.states import ENDED
from fluxnetes.service.caller_leases import CallerLeases
from fluxnetes.service.changelog import ChangeLog
from fluxnetes.service.errors import Denied, Unavailable
from fluxnetes.service.estimate import estimated, foresee
from fluxnetes.service.mailbox import Mailbox, MailboxClosed, QueueHost, QueueRequest, looking
from fluxnetes.service.operations import QueueOperations
from fluxnetes.service.values import (
    AllocationUpdate,
    BackendStatus,
    Grant,
    GroupView,
    JobExplanation,
    JobView,
    MatchCall,
    NodeView,
    StartEstimate,
)
from fluxnetes.service.views.jobs import shares_of
from fluxnetes.service.views.nodes import node_names, node_views, positions_of, totals

T = TypeVar("T")


class QueueBackend:
    """See the module's docstring. Made in gRPC's event loop."""

    def __init__(
        self,
        mailbox: Mailbox,
        loop: asyncio.AbstractEventLoop,
        *,
        source: str,
        durable: bool,
        patience: float | None = None,
    ) -> None:
        """`loop` is the queue's; what nobody renews or uses for `patience` seconds expires."""
        self.jobs = ChangeLog()
        self.nodes = ChangeLog()
        self._petitions = mailbox
        self._loop = loop
        self._here = asyncio.get_running_loop()
        self._source = source
        self._durable = durable
        self._healthy = False
        self._tell_health: Callable[[bool], None] = lambda healthy: None
        leases = CallerLeases(patience)
        self._clerk = QueueOperations(leases)
        self._held: dict[int, list[str]] = {}
        """The nodes of each job that holds some; in the queue's loop."""
        mailbox.tend = leases.tend
        mailbox.changed = self._take
        mailbox.nodes_changed = self._take_nodes
        mailbox.opened = self._opened
        mailbox.closed = self._closed

    def tell_health(self, to: Callable[[bool], None]) -> None:
        """Have somebody told, now and whenever it changes, whether there is a queue to ask."""
        self._tell_health = to
        to(self._healthy)

    def _set_health(self, healthy: bool) -> None:
        self._healthy = healthy
        self._tell_health(healthy)

    # -- across --------------------------------------------------------------------------------

    async def _ask(self, request: QueueRequest[T]) -> T:
        asked = asyncio.run_coroutine_threadsafe(self._petitions.ask(request), self._loop)
        answer = asyncio.wrap_future(asked)
        try:
            # An answer that is on its way is not lost with whoever waits for it.
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            request.given_up = True
            answer.add_done_callback(partial(self._unheard, request))
            raise
        except MailboxClosed as error:
            raise Unavailable(str(error)) from None

    def _unheard(self, request: QueueRequest[T], answer: asyncio.Future[T]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._loop.call_soon_threadsafe(self._petitions.undo, request, answer.result())

    async def _look(self, answer: Callable[[QueueHost], T]) -> T:
        return await self._ask(looking(answer))

    def _over_there(self, do: Callable[..., Any], *arguments: Any) -> None:
        """In gRPC's loop, from the queue's."""
        if not self._here.is_closed():
            self._here.call_soon_threadsafe(do, *arguments)

    # -- in the queue's loop -------------------------------------------------------------------

    def _opened(self, queue_host: QueueHost) -> None:
        self._clerk.begin(queue_host)
        self._held = {
            id: _nodes_of(job, queue_host) for id, job in queue_host.scheduler.jobs.items()
        }
        self._over_there(self.jobs.reset)
        self._over_there(self.nodes.reset)
        self._over_there(self._set_health, True)

    def _closed(self) -> None:
        self._over_there(self._set_health, False)
        self._over_there(self.jobs.reset)  # whoever watches us is told that we do not lead
        self._over_there(self.nodes.reset)

    def _take(self, changes: Changes, queue_host: QueueHost) -> None:
        self._clerk.take(changes, queue_host)
        self._over_there(self.jobs.note, [str(id) for id in changes.jobs])
        names: set[str] = set()
        for id in changes.allocations:
            names.update(self._held.pop(id, ()))
            job = queue_host.scheduler.jobs.get(id)
            if job is not None and job.state not in ENDED:
                self._held[id] = _nodes_of(job, queue_host)
                names.update(self._held[id])
        self._take_nodes(names)

    def _take_nodes(self, names: Iterable[str]) -> None:
        names = list(names)
        if names:
            self._over_there(self.nodes.note, names)

    # -- jobs that are matched -----------------------------------------------------------------

    async def match(self, wish: MatchCall) -> Grant:
        return await self._ask(self._clerk.match(wish))

    async def withdraw(self, grant: Grant) -> None:
        def hand_in(queue_host: QueueHost) -> None:
            self._clerk.take_back(grant, queue_host, "nobody heard the answer")

        with suppress(Unavailable):  # whoever leads next finds it unwanted
            await self._ask(QueueRequest(hand_in, lambda queue_host: None))

    async def update(self, adoption: AllocationUpdate) -> NoReturn:
        raise Denied("what is allocated here is known here; nothing is taken over")

    async def renew(self, job: int) -> int | None:
        return await self._ask(self._clerk.renew(job))

    async def cancel(self, job: int, reason: str = "") -> None:
        await self._ask(self._clerk.cancel(job, reason))

    # -- jobs that are queued ------------------------------------------------------------------

    async def submit(self, submission: Submission, key: str) -> JobView:
        return await self._ask(self._clerk.submit(submission, key))

    async def start(self, job: int) -> JobView:
        return await self._ask(self._clerk.start(job))

    async def finish(self, job: int, ok: bool, reason: str) -> None:
        await self._ask(self._clerk.finish(job, ok, reason))

    async def hold(self, job: int) -> JobView:
        return await self._ask(self._clerk.hold(job))

    async def release(self, job: int) -> JobView:
        return await self._ask(self._clerk.release(job))

    async def explain(self, job: int) -> JobExplanation:
        return await self._ask(self._clerk.explain(job))

    async def estimate(self, submission: Submission, now: int) -> StartEstimate:
        seen = await self._look(lambda queue_host: foresee(submission, queue_host))
        return await asyncio.to_thread(estimated, seen)

    # -- the graph -----------------------------------------------------------------------------

    async def load(self, text: str, format: str, policy: str) -> NoReturn:
        raise Denied(self._fixed())

    async def grow(self, jgf: str) -> NoReturn:
        raise Denied(self._fixed())

    async def shrink(self, paths: Sequence[str]) -> NoReturn:
        raise Denied(self._fixed())

    def _fixed(self) -> str:
        if self._source == "live":
            return "the graph is that of the cluster; add or remove nodes there"
        return "a queue keeps the graph that it was started with"

    async def text(self) -> str:
        return await self._look(lambda queue_host: write_graph(queue_host.matcher.graph).decode())

    # -- looking -------------------------------------------------------------------------------

    async def groups(self) -> list[GroupView]:
        return await self._look(_groups)

    async def job_views(self, jobs: Collection[int] | None) -> list[JobView]:
        return await self._ask(self._clerk.views(jobs))

    async def node_views(self, names: Collection[str] | None) -> list[NodeView]:
        def answer(queue_host: QueueHost) -> list[NodeView]:
            matcher = queue_host.matcher
            if names is None:
                return list(node_views(matcher, matcher.engine.nodes.tolist()))
            return list(node_views(matcher, list(positions_of(matcher, names).values())))

        return await self._look(answer)

    async def node_page(self, first: int, count: int) -> list[NodeView]:
        def answer(queue_host: QueueHost) -> list[NodeView]:
            nodes = queue_host.matcher.engine.nodes[first : first + count].tolist()
            return list(node_views(queue_host.matcher, nodes))

        return await self._look(answer)

    async def status(self) -> BackendStatus:
        return await self._look(self._status)

    def _status(self, queue_host: QueueHost) -> BackendStatus:
        engine = queue_host.matcher.engine
        jobs = queue_host.scheduler.jobs.values()
        return BackendStatus(
            self._source,
            queue_host.scheduler.config.match_policy,
            queue=True,
            durable=self._durable,
            vertices=len(engine.tree),
            nodes=len(node_names(queue_host.matcher)),
            nodes_up=engine.nodes_up(),
            totals=totals(queue_host.matcher),
            jobs=Counter(job.state.value for job in jobs if job.state not in ENDED),
        )


def _nodes_of(job: QueueJob, queue_host: QueueHost) -> list[str]:
    return [share.node for share in shares_of(job, queue_host.matcher)]


def _groups(queue_host: QueueHost) -> list[GroupView]:
    """Every job that lives is a group; of Kubernetes' own, by its name there."""
    living = [job for job in queue_host.scheduler.jobs.values() if job.state not in ENDED]
    return [
        GroupView(job.submission.name or f"job-{job.id}", max(1, _tasks(job.id, queue_host)))
        for job in living
    ]


def _tasks(id: int, queue_host: QueueHost) -> int:
    job = queue_host.scheduler.job(id)
    return sum(share.tasks for share in shares_of(job, queue_host.matcher))
