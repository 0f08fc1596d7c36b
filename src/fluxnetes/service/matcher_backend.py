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
from fluxnetes.queue.errors import OutOfBounds
from fluxnetes.queue.jobs import Submission
from fluxnetes.service import values
from fluxnetes.service.callers import ADMIN, Caller
from fluxnetes.service.changelog import ChangeLog
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.concurrency.worker_thread import WorkerThread
from fluxnetes.service.errors import Invalid, NoQueue, UnknownJob
from fluxnetes.service.health import HealthSignal
from fluxnetes.service.leases.allocation_leases import AllocationLeases
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.writer import BatchedWriter, PendingWrite
from fluxnetes.service.views.nodes import node_views, positions_of, totals

T = TypeVar("T")

_Recorded = tuple[values.Grant, PendingWrite | None]
"""A grant, and how its job is written; None: it is not, or was before."""

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
        leases: AllocationLeases | None = None,
    ) -> None:
        """Allocations expire by their `leases`; without, they last until they are cancelled."""
        self.jobs = ChangeLog()
        self.nodes = ChangeLog()
        self.health = HealthSignal()
        self._operations = operations
        self._writer = writer
        self._source = source
        self._worker = WorkerThread("matcher")
        self._loop = asyncio.get_running_loop()
        self._ended: OrderedDict[int, values.JobView] = OrderedDict()
        self._leases = leases or AllocationLeases()
        self._leases.begin_all(operations.notes)  # after a restart, callers have time to renew
        self._expiring = keep_task(self._expire()) if self._leases.renew_within else None

    async def close(self) -> None:
        if self._expiring is not None:
            self._expiring.cancel()
        await self._worker.close()

    # -- leases --------------------------------------------------------------------------------

    async def _expire(self) -> None:
        """Release allocations whose lease expired, until cancelled."""
        while True:
            await asyncio.sleep(min(1.0, (self._leases.renew_within or 0.0) / 4))
            await self.release_expired()

    async def release_expired(self) -> None:
        """Release the allocations whose lease expired."""
        reason = Reason.of(Message.LEASE_EXPIRED, seconds=f"{self._leases.renew_within:g}")

        def do() -> dict[int, list[str]]:
            return {job: self._cancel(job, reason) for job in self._leases.expired()}

        for job, nodes in (await self._do_and_flush(do)).items():
            self._publish(job, nodes)

    # -- jobs ----------------------------------------------------------------------------------

    async def match(self, call: values.MatchCall) -> values.Grant:
        # With a key, a caller that got no answer repeats the call.
        undo = None if call.key else self._undo_in_worker
        grant, write = await self._worker.do(lambda: self._match(call), undo)
        if grant:
            if self._writer is not None:
                await self._write_or_undo(self._writer, call, grant)
                await self._check_written(grant, write)
            self._publish(grant.job, (share.node for share in grant.shares))
        return grant

    def _match(self, call: values.MatchCall) -> _Recorded:
        grant = self._operations.match(call)
        return grant, self._record(grant.job) if grant else None

    def _record(self, job: int) -> PendingWrite | None:
        """Have a new job written. Raises Invalid, and leaves no job, if it cannot be stored."""
        self._leases.renew(job)  # also that of a call that is repeated under its key
        writer = self._writer
        if writer is None or job in writer.journal.jobs:
            return None
        try:
            writer.journal.enter(self._operations.matcher.jobs[job], self._operations)
        except OutOfBounds as error:
            self._operations.cancel(job)
            self._leases.forget(job)
            raise Invalid(str(error), error.path) from None
        return writer.note()

    async def _check_written(self, grant: values.Grant, write: PendingWrite | None) -> None:
        """Raise Invalid, and leave no job, if the store refused it."""
        if write is None or write.refused is None:
            return
        await self._worker.do(lambda: self._drop(grant))
        raise Invalid(str(write.refused))

    def _drop(self, grant: values.Grant) -> None:
        if self._operations.is_current(grant):
            self._operations.cancel(grant.job)
            self._leases.forget(grant.job)
        if self._writer is not None:
            self._writer.journal.drop(grant.job)

    def _undo_in_worker(self, recorded: _Recorded) -> None:
        grant, _ = recorded
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
        def do() -> _Recorded:
            grant = self._operations.update(allocation)
            return grant, self._record(grant.job) if grant else None

        grant, write = await self._do_and_flush(do)
        await self._check_written(grant, write)
        if grant:
            self._publish(grant.job, (share.node for share in grant.shares))
        return grant

    async def renew(self, job: int, caller: Caller = ADMIN) -> int | None:
        def do() -> int | None:
            if job not in self._operations.notes:
                raise UnknownJob(f"no job {job} holds resources")
            self._operations.check_owner(job, caller)
            return self._leases.renew(job)

        return await self._worker.do(do)

    async def cancel(self, job: int, reason: str = "", caller: Caller = ADMIN) -> None:
        why = Reason.of(Message.CANCELLED_BY_CALLER)
        if reason:
            why = Reason.from_text(reason, ReasonCode.CANCELLED)
        await self._end(job, why, caller)

    async def _end(self, job: int, reason: Reason, caller: Caller) -> None:
        nodes = await self._do_and_flush(lambda: self._cancel(job, reason, caller))
        self._publish(job, nodes)

    def _cancel(self, job: int, reason: Reason, caller: Caller = ADMIN) -> list[str]:
        self._operations.check_owner(job, caller)
        view = self._operations.view(job) if self._operations.has_graph else None
        self._operations.cancel(job)
        self._leases.forget(job)
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

    async def start(self, job: int, caller: Caller = ADMIN) -> NoReturn:
        raise NoQueue

    async def finish(self, job: int, ok: bool, reason: str, caller: Caller = ADMIN) -> None:
        """To a matcher, a job that ended and one that was cancelled are the same."""
        message = Message.FINISHED_BY_CALLER if ok else Message.FAILED_BY_CALLER
        why = Reason.from_text(reason, message.code) if reason else Reason.of(message)
        await self._end(job, why, caller)

    async def hold(self, job: int, caller: Caller = ADMIN) -> NoReturn:
        raise NoQueue

    async def release(self, job: int, caller: Caller = ADMIN) -> NoReturn:
        raise NoQueue

    async def explain(self, job: int, caller: Caller = ADMIN) -> values.JobExplanation:
        found = await self.job_views([job], caller)
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

    async def load(
        self, text: str, format: str, policy: str, caller: Caller = ADMIN, *, source: str = "init"
    ) -> int:
        def do() -> int:
            self._operations.check_owners(caller)
            return self._load(text, format, policy)

        count = await self._reshape(do, Reason.of(Message.GRAPH_REPLACED))
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

    async def shrink(self, paths: Sequence[str], caller: Caller = ADMIN) -> int:
        def do() -> int:
            self._operations.check_owners_below(paths, caller)
            return self._operations.shrink(paths)

        return await self._reshape(do, Reason.of(Message.GRAPH_CHANGED))

    async def _reshape(self, do: Callable[[], int], reason: Reason) -> int:
        def reshape() -> int:
            count = do()
            for job in self._leases.jobs - self._operations.notes.keys():
                self._leases.forget(job)
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

    async def groups(self, caller: Caller = ADMIN) -> list[values.GroupView]:
        return await self._worker.do(lambda: list(self._operations.groups(caller)))

    async def job_views(
        self, jobs: Collection[int] | None, caller: Caller = ADMIN
    ) -> list[values.JobView]:
        return await self._worker.do(lambda: self._job_views(jobs, caller))

    def _job_views(self, jobs: Collection[int] | None, caller: Caller) -> list[values.JobView]:
        if not self._operations.has_graph:
            return []
        ids = self._operations.notes if jobs is None else jobs
        found = (self._operations.view(id) or self._ended.get(id) for id in list(ids))
        return [view for view in found if view is not None and caller.may_use(view.user)]

    async def node_views(
        self, names: Collection[str] | None, caller: Caller = ADMIN
    ) -> list[values.NodeView]:
        def do() -> list[values.NodeView]:
            matcher = self._operations.matcher
            if names is None:
                return self._nodes_at(matcher.engine.nodes.tolist(), caller)
            return self._nodes_at(list(positions_of(matcher, names).values()), caller)

        return await self._worker.do(do)

    async def node_page(
        self, first: int, count: int, caller: Caller = ADMIN
    ) -> list[values.NodeView]:
        def do() -> list[values.NodeView]:
            nodes = self._operations.matcher.engine.nodes
            return self._nodes_at(nodes[first : first + count].tolist(), caller)

        return await self._worker.do(do)

    def _nodes_at(self, positions: Sequence[int], caller: Caller) -> list[values.NodeView]:
        def shows(job: int) -> bool:
            return caller.may_use(self._operations.owner(job))

        return list(node_views(self._operations.matcher, positions, shows))

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
            vertices=engine.tree.vertex_count,
            nodes=engine.node_count,
            nodes_up=engine.nodes_up(),
            totals=totals(operations.matcher),
            jobs=states,
        )


def _now() -> int:
    return int(time.time())
