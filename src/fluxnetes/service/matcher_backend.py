"""A host with a matcher on a graph of its own.

With a store, nothing is answered before it is written: what a client heard of survives us.
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
from fluxnetes.service.changelog import ChangeLog
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.concurrency.worker_thread import WorkerThread
from fluxnetes.service.errors import NoQueue, UnknownJob
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.writer import BatchedWriter
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
from fluxnetes.service.views.nodes import node_views, positions_of, totals

T = TypeVar("T")

_UNHEARD = "nobody waited for the answer"
_ENDED_KEPT = 10_000


class MatcherBackend:
    """See the module's docstring. Made in a running event loop."""

    def __init__(
        self, matching: MatcherOperations, writer: BatchedWriter | None = None, source: str = "none"
    ) -> None:
        self.jobs = ChangeLog()
        self.nodes = ChangeLog()
        self._matching = matching
        self._writer = writer
        self._source = source
        self._engine = WorkerThread("matcher")
        self._loop = asyncio.get_running_loop()
        self._ended: OrderedDict[int, JobView] = OrderedDict()

    async def close(self) -> None:
        await self._engine.close()

    # -- jobs ----------------------------------------------------------------------------------

    async def match(self, wish: MatchCall) -> Grant:
        undo = None if wish.key else self._undo_unheard  # with one, who heard nothing asks again
        grant = await self._engine.do(lambda: self._match(wish), undo)
        if grant:
            if self._writer is not None:
                await self._write_or_undo(self._writer, wish, grant)
            self._tell(grant.job, (share.node for share in grant.shares))
        return grant

    def _match(self, wish: MatchCall) -> Grant:
        grant = self._matching.match(wish)
        if grant:
            self._enter(grant.job)
        return grant

    def _enter(self, job: int) -> None:
        writer = self._writer
        if writer is not None and job not in writer.book.jobs:
            writer.book.enter(self._matching.matcher.jobs[job], self._matching)
            writer.note()

    def _undo_unheard(self, grant: Grant) -> None:
        nodes = self._undo(grant)
        self._loop.call_soon_threadsafe(self._tell, grant.job, nodes)

    def _undo(self, grant: Grant) -> list[str]:
        if grant and self._matching.is_current(grant):
            return self._cancel(grant.job, _UNHEARD)
        return []

    async def _write_or_undo(self, writer: BatchedWriter, wish: MatchCall, grant: Grant) -> None:
        try:
            await asyncio.shield(keep_task(writer.flush()))
        except asyncio.CancelledError:
            if not wish.key:
                keep_task(self.withdraw(grant))
            raise

    async def withdraw(self, grant: Grant) -> None:
        nodes = await self._done(lambda: self._undo(grant))
        self._tell(grant.job, nodes)

    async def update(self, adoption: AllocationUpdate) -> Grant:
        def do() -> Grant:
            grant = self._matching.update(adoption)
            if grant:
                self._enter(grant.job)
            return grant

        grant = await self._done(do)
        if grant:
            self._tell(grant.job, (share.node for share in grant.shares))
        return grant

    async def renew(self, job: int) -> int | None:
        """Whoever has something of a matcher alone has it until it gives it back."""
        if not any(view.ended is None for view in await self.job_views([job])):
            raise UnknownJob(f"no job {job} holds resources")
        return None

    async def cancel(self, job: int, reason: str = "") -> None:
        why = Reason.of(Message.CANCELLED_BY_CALLER)
        if reason:
            why = Reason.from_text(reason, ReasonCode.CANCELLED)
        await self._end(job, why)

    async def _end(self, job: int, reason: Reason) -> None:
        nodes = await self._done(lambda: self._cancel(job, reason))
        self._tell(job, nodes)

    def _cancel(self, job: int, reason: Reason) -> list[str]:
        view = self._matching.view(job) if self._matching.has_graph else None
        self._matching.cancel(job)
        if self._writer is not None:
            self._writer.book.end(job, _now(), reason)
            self._writer.note()
        if view is None:
            return []
        self._remember(replace(view, state="cancelled", reason=reason, ended=_now(), shares=()))
        return [share.node for share in view.shares]

    def _remember(self, view: JobView) -> None:
        self._ended[view.id] = view
        if len(self._ended) > _ENDED_KEPT:
            self._ended.popitem(last=False)

    def _tell(self, job: int, nodes: Iterable[str]) -> None:
        self.jobs.note([str(job)])
        self.nodes.note(nodes)

    # -- jobs that are queued ------------------------------------------------------------------

    async def submit(self, submission: Submission, key: str) -> NoReturn:
        raise NoQueue

    async def start(self, job: int) -> NoReturn:
        raise NoQueue

    async def finish(self, job: int, ok: bool, reason: str) -> None:
        """A job that is over and one that is called off are the same to a matcher."""
        message = Message.FINISHED_BY_CALLER if ok else Message.FAILED_BY_CALLER
        why = Reason.from_text(reason, message.code) if reason else Reason.of(message)
        await self._end(job, why)

    async def hold(self, job: int) -> NoReturn:
        raise NoQueue

    async def release(self, job: int) -> NoReturn:
        raise NoQueue

    async def explain(self, job: int) -> JobExplanation:
        found = await self.job_views([job])
        if not found:
            raise UnknownJob(f"there is no job {job}")
        return JobExplanation(found[0], found[0].reason)

    async def estimate(self, submission: Submission, now: int) -> StartEstimate:
        request = replace(submission.request, duration=float(submission.walltime or 0))
        wish = MatchCall(request, now=now)
        found = await self._engine.do(lambda: self._matching.estimate(wish))
        return StartEstimate(found.reason is None, found.at, found.shares, found.reason, still=True)

    # -- the graph -----------------------------------------------------------------------------

    async def load(self, text: str, format: str, policy: str, *, source: str = "init") -> int:
        count = await self._reshape(lambda: self._load(text, format, policy), "another graph came")
        self._source = source
        return count

    def _load(self, text: str, format: str, policy: str) -> int:
        matching = self._matching
        before = matching.matcher.next_jobid if matching.has_graph else 1
        count = matching.load(text, format, policy)
        if self._writer is not None:  # which remembers numbers for ever
            matching.matcher.next_jobid = before
        return count

    async def grow(self, jgf: str) -> int:
        return await self._reshape(lambda: self._matching.grow(jgf), _text("the graph grew"))

    async def shrink(self, paths: Sequence[str]) -> int:
        return await self._reshape(lambda: self._matching.shrink(paths), _text("the graph shrank"))

    async def _reshape(self, do: Callable[[], int], why: Reason) -> int:
        def reshape() -> int:
            count = do()
            if self._writer is not None:
                self._writer.book.follow(self._matching, _now(), why)
                self._writer.note_graph(self._matching)
            return count

        count = await self._done(reshape)
        self.jobs.reset()
        self.nodes.reset()
        return count

    async def text(self) -> str:
        return await self._engine.do(lambda: self._matching.text().decode())

    async def _done(self, do: Callable[[], T]) -> T:
        """Do something, and have it written."""
        result = await self._engine.do(do)
        if self._writer is not None:
            await asyncio.shield(keep_task(self._writer.flush()))
        return result

    # -- looking -------------------------------------------------------------------------------

    async def groups(self) -> list[GroupView]:
        return await self._engine.do(lambda: list(self._matching.groups()))

    async def job_views(self, jobs: Collection[int] | None) -> list[JobView]:
        return await self._engine.do(lambda: self._job_views(jobs))

    def _job_views(self, jobs: Collection[int] | None) -> list[JobView]:
        if not self._matching.has_graph:
            return []
        ids = self._matching.notes if jobs is None else jobs
        found = (self._matching.view(id) or self._ended.get(id) for id in list(ids))
        return [view for view in found if view is not None]

    async def node_views(self, names: Collection[str] | None) -> list[NodeView]:
        return await self._engine.do(lambda: self._node_views(names))

    def _node_views(self, names: Collection[str] | None) -> list[NodeView]:
        matcher = self._matching.matcher
        if names is None:
            return list(node_views(matcher, matcher.engine.nodes.tolist()))
        return list(node_views(matcher, list(positions_of(matcher, names).values())))

    async def node_page(self, first: int, count: int) -> list[NodeView]:
        def do() -> list[NodeView]:
            matcher = self._matching.matcher
            return list(node_views(matcher, matcher.engine.nodes[first : first + count].tolist()))

        return await self._engine.do(do)

    async def status(self) -> BackendStatus:
        return await self._engine.do(self._status)

    def _status(self) -> BackendStatus:
        matching, durable = self._matching, self._writer is not None
        if not matching.has_graph:
            return BackendStatus("none", matching.policy, queue=False, durable=durable)
        engine = matching.matcher.engine
        states = Counter(
            "reserved" if job.reserved else "running" for job in matching.matcher.jobs.values()
        )
        return BackendStatus(
            self._source,
            matching.policy,
            queue=False,
            durable=durable,
            vertices=len(engine.tree),
            nodes=engine.node_count,
            nodes_up=engine.nodes_up(),
            totals=totals(matching.matcher),
            jobs=states,
        )


def _now() -> int:
    return int(time.time())


def _text(text: str) -> Reason:
    return Reason.from_text(text, ReasonCode.NODES_LOST)
