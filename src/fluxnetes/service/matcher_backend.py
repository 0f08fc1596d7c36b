"""The backend with a matcher on a graph of its own, and no queue.

    callers' loop    call ──▶ WorkerThread ──┐          ┌──▶ flush the journal ──▶ answer
    worker thread                            └──▶ do ───┘

With a store, nothing is answered before it is committed: every answer survives a crash.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import NoReturn, TypeVar

from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.queue.jobs import Submission
from fluxnetes.service import values
from fluxnetes.service.changelog import ChangeLog
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.concurrency.worker_thread import WorkerThread
from fluxnetes.service.errors import NoQueue, UnknownJob
from fluxnetes.service.health import HealthSignal
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.writer import BatchedWriter
from fluxnetes.service.views.nodes import node_views, positions_of, totals

T = TypeVar("T")

_UNANSWERED = Reason.of(Message.CALLER_LEFT)
_ENDED_KEPT = 10_000
"""Maximum ended jobs that can still be asked about, so that memory is bounded."""


class MatcherBackend:
    """See the module's docstring. Made in a running event loop."""

    def __init__(
        self,
        operations: MatcherOperations,
        writer: BatchedWriter | None = None,
        source: str = "none",
    ) -> None:
        self.jobs = ChangeLog()
        self.nodes = ChangeLog()
        self.health = HealthSignal()
        self._operations = operations
        self._writer = writer
        self._source = source
        self._worker = WorkerThread("matcher")
        self._loop = asyncio.get_running_loop()
        self._ended: OrderedDict[int, values.JobView] = OrderedDict()

    async def close(self) -> None:
        await self._worker.close()

    # -- jobs ----------------------------------------------------------------------------------

    async def match(self, call: values.MatchCall) -> values.Grant:
        # With a key, a caller that got no answer repeats the call.
        undo = None if call.key else self._undo_in_worker
        grant = await self._worker.do(lambda: self._match(call), undo)
        if grant:
            if self._writer is not None:
                await self._write_or_undo(self._writer, call, grant)
            self._publish(grant.job, (share.node for share in grant.shares))
        return grant

    def _match(self, call: values.MatchCall) -> values.Grant:
        grant = self._operations.match(call)
        if grant:
            self._record(grant.job)
        return grant

    def _record(self, job: int) -> None:
        writer = self._writer
        if writer is not None and job not in writer.journal.jobs:
            writer.journal.enter(self._operations.matcher.jobs[job], self._operations)
            writer.note()

    def _undo_in_worker(self, grant: values.Grant) -> None:
        nodes = self._undo(grant)
        self._loop.call_soon_threadsafe(self._publish, grant.job, nodes)

    def _undo(self, grant: values.Grant) -> list[str]:
        if grant and self._operations.is_current(grant):
            return self._cancel(grant.job, _UNANSWERED)
        return []

    async def _write_or_undo(
        self, writer: BatchedWriter, call: values.MatchCall, grant: values.Grant
    ) -> None:
        try:
            await asyncio.shield(keep_task(writer.flush()))
        except asyncio.CancelledError:
            if not call.key:
                keep_task(self.withdraw(grant))
            raise

    async def withdraw(self, grant: values.Grant) -> None:
        nodes = await self._do_and_flush(lambda: self._undo(grant))
        self._publish(grant.job, nodes)

    async def update(self, allocation: values.AllocationUpdate) -> values.Grant:
        def do() -> values.Grant:
            grant = self._operations.update(allocation)
            if grant:
                self._record(grant.job)
            return grant

        grant = await self._do_and_flush(do)
        if grant:
            self._publish(grant.job, (share.node for share in grant.shares))
        return grant

    async def renew(self, job: int) -> int | None:
        """Without a queue there are no leases: a job holds its allocation until it is cancelled."""
        if not any(view.ended is None for view in await self.job_views([job])):
            raise UnknownJob(f"no job {job} holds resources")
        return None

    async def cancel(self, job: int, reason: str = "") -> None:
        why = Reason.of(Message.CANCELLED_BY_CALLER)
        if reason:
            why = Reason.from_text(reason, ReasonCode.CANCELLED)
        await self._end(job, why)

    async def _end(self, job: int, reason: Reason) -> None:
        nodes = await self._do_and_flush(lambda: self._cancel(job, reason))
        self._publish(job, nodes)

    def _cancel(self, job: int, reason: Reason) -> list[str]:
        view = self._operations.view(job) if self._operations.has_graph else None
        self._operations.cancel(job)
        if self._writer is not None:
            self._writer.journal.end(job, _now(), reason)
            self._writer.note()
        if view is None:
            return []
        self._remember(replace(view, state="cancelled", reason=reason, ended=_now(), shares=()))
        return [share.node for share in view.shares]

    def _remember(self, view: values.JobView) -> None:
        self._ended[view.id] = view
        if len(self._ended) > _ENDED_KEPT:
            self._ended.popitem(last=False)

    def _publish(self, job: int, nodes: Iterable[str]) -> None:
        self.jobs.note([str(job)])
        self.nodes.note(nodes)

    # -- jobs that are queued ------------------------------------------------------------------

    async def submit(self, submission: Submission, key: str) -> NoReturn:
        raise NoQueue

    async def start(self, job: int) -> NoReturn:
        raise NoQueue

    async def finish(self, job: int, ok: bool, reason: str) -> None:
        """To a matcher, a job that ended and one that was cancelled are the same."""
        message = Message.FINISHED_BY_CALLER if ok else Message.FAILED_BY_CALLER
        why = Reason.from_text(reason, message.code) if reason else Reason.of(message)
        await self._end(job, why)

    async def hold(self, job: int) -> NoReturn:
        raise NoQueue

    async def release(self, job: int) -> NoReturn:
        raise NoQueue

    async def explain(self, job: int) -> values.JobExplanation:
        found = await self.job_views([job])
        if not found:
            raise UnknownJob(f"there is no job {job}")
        return values.JobExplanation(found[0], found[0].reason)

    async def estimate(self, submission: Submission, now: int) -> values.StartEstimate:
        request = replace(submission.request, duration=float(submission.walltime or 0))
        call = values.MatchCall(request, now=now)
        found = await self._worker.do(lambda: self._operations.estimate(call))
        return values.StartEstimate(
            found.reason is None, found.at, found.shares, found.reason, still=True
        )

    # -- the graph -----------------------------------------------------------------------------

    async def load(self, text: str, format: str, policy: str, *, source: str = "init") -> int:
        count = await self._reshape(
            lambda: self._load(text, format, policy), Reason.of(Message.GRAPH_REPLACED)
        )
        self._source = source
        return count

    def _load(self, text: str, format: str, policy: str) -> int:
        operations = self._operations
        next_job = operations.next_job
        count = operations.load(text, format, policy)
        if self._writer is not None:  # the store keeps ended jobs, so numbers are never reused
            operations.count_from(next_job)
        return count

    async def grow(self, jgf: str) -> int:
        return await self._reshape(
            lambda: self._operations.grow(jgf), Reason.of(Message.GRAPH_CHANGED)
        )

    async def shrink(self, paths: Sequence[str]) -> int:
        return await self._reshape(
            lambda: self._operations.shrink(paths), Reason.of(Message.GRAPH_CHANGED)
        )

    async def _reshape(self, do: Callable[[], int], reason: Reason) -> int:
        def reshape() -> int:
            count = do()
            if self._writer is not None:
                self._writer.journal.follow(self._operations, _now(), reason)
                self._writer.note_graph(self._operations)
            return count

        count = await self._do_and_flush(reshape)
        self.jobs.reset()
        self.nodes.reset()
        return count

    async def text(self) -> str:
        return await self._worker.do(lambda: self._operations.text().decode())

    async def _do_and_flush(self, do: Callable[[], T]) -> T:
        """Do something in the worker, and commit the changes."""
        result = await self._worker.do(do)
        if self._writer is not None:
            await asyncio.shield(keep_task(self._writer.flush()))
        return result

    # -- views ---------------------------------------------------------------------------------

    async def groups(self) -> list[values.GroupView]:
        return await self._worker.do(lambda: list(self._operations.groups()))

    async def job_views(self, jobs: Collection[int] | None) -> list[values.JobView]:
        return await self._worker.do(lambda: self._job_views(jobs))

    def _job_views(self, jobs: Collection[int] | None) -> list[values.JobView]:
        if not self._operations.has_graph:
            return []
        ids = self._operations.notes if jobs is None else jobs
        found = (self._operations.view(id) or self._ended.get(id) for id in list(ids))
        return [view for view in found if view is not None]

    async def node_views(self, names: Collection[str] | None) -> list[values.NodeView]:
        return await self._worker.do(lambda: self._node_views(names))

    def _node_views(self, names: Collection[str] | None) -> list[values.NodeView]:
        matcher = self._operations.matcher
        if names is None:
            return list(node_views(matcher, matcher.engine.nodes.tolist()))
        return list(node_views(matcher, list(positions_of(matcher, names).values())))

    async def node_page(self, first: int, count: int) -> list[values.NodeView]:
        def do() -> list[values.NodeView]:
            matcher = self._operations.matcher
            return list(node_views(matcher, matcher.engine.nodes[first : first + count].tolist()))

        return await self._worker.do(do)

    async def status(self) -> values.BackendStatus:
        return await self._worker.do(self._status)

    def _status(self) -> values.BackendStatus:
        operations, durable = self._operations, self._writer is not None
        if not operations.has_graph:
            return values.BackendStatus("none", operations.policy, queue=False, durable=durable)
        engine = operations.matcher.engine
        states = Counter(
            "reserved" if job.reserved else "running" for job in operations.matcher.jobs.values()
        )
        return values.BackendStatus(
            self._source,
            operations.policy,
            queue=False,
            durable=durable,
            vertices=len(engine.tree),
            nodes=engine.node_count,
            nodes_up=engine.nodes_up(),
            totals=totals(operations.matcher),
            jobs=states,
        )


def _now() -> int:
    return int(time.time())
