"""Explains the state of a job.

For a waiting job: what it waits for, until when if that is known, its place in the queue, and each
factor of its order. For every job: its history, event by event.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.common.reasons import JobRef, Message, Moment, Reason
from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.changes import JobEvent, NodeWindow
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob, Request
from fluxnetes.queue.order.gate import EligibilityGate
from fluxnetes.queue.order.growth import GrowthForecast
from fluxnetes.queue.order.order import PriorityFactors
from fluxnetes.queue.states import HOLDING, JobState


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one job."""

    job: int
    state: JobState
    reason: Reason | None
    """Why it is in this state or, while it waits, what it waits for."""
    until: int | None = None
    """While it waits: its promised start. While it holds resources: when its walltime is over."""
    place: int | None = None
    """How many eligible jobs of its queue are before it; None if it is not eligible."""
    factors: PriorityFactors | None = None
    """The factors of its place within its class."""
    story: tuple[JobEvent, ...] = ()
    """Its events, the oldest first."""
    wants_nodes: bool = False
    """Whether it would start if there were more nodes, and its queue may grow."""


class Explainer:
    """Explains jobs from the state of the queue."""

    def __init__(self, core: QueueCore, gate: EligibilityGate) -> None:
        self._core = core
        self._gate = gate
        self._growth = GrowthForecast(core, gate)
        self._lacks: dict[Request, Reason | None] = {}
        """Why requests do not fit now, as of a step of the queue; equal ones are asked once."""
        self._lacks_at = -1

    def explain(self, id: int, now: int) -> Explanation:
        core = self._core
        job = core.records.find(id)
        line = core.lines.get(job.queue)
        in_line = line is not None and job.id in line
        reason = self._reason(job, now)
        return Explanation(
            job.id,
            job.state,
            reason,
            job.plan.start if job.plan is not None else job.deadline,
            line.place(job.id) if line is not None and in_line else None,
            core.order.factors(job, now) if job.state is JobState.PENDING else None,
            tuple(core.records.histories.get(job.id, ())),
            reason is not None and self._growth.wants_nodes(job, reason, now),
        )

    def _reason(self, job: QueueJob, now: int) -> Reason | None:
        if job.state is JobState.PENDING:
            return self._waits_for(job, now)
        if job.state in HOLDING and not job.reason:
            return Reason.of(Message.NO_WALLTIME) if job.deadline is None else None
        return job.reason

    def _waits_for(self, job: QueueJob, now: int) -> Reason:
        core = self._core
        if job.id in core.set_aside:
            return self._nothing_serves(job)
        if job.id in core.parked:
            parked = core.parked[job.id]
            return Reason.of(Message.WAITS, reason=parked).coded(parked.code)
        if core.is_stopped(job.queue):
            return Reason.of(Message.QUEUE_STOPPED, queue=job.queue)
        if job.submission.array is not None and job.id not in core.lines[job.queue]:
            return self._array_paused(job)
        stopped = self._gate.stops(job, now)
        if stopped:
            return stopped
        if job.id in core.preempting:
            victims = tuple(JobRef(victim) for victim in sorted(core.preempting[job.id]))
            return Reason.of(Message.PREEMPTING, jobs=victims)
        return self._waits_for_capacity(job, now)

    def _nothing_serves(self, job: QueueJob) -> Reason:
        """What the graph as it is lacks: it may have changed since the job was set aside."""
        verdict = self._core.verdicts.of(self._core.records.requests[job.id])
        if verdict is None:
            return self._core.parked[job.id]
        return Reason.of(Message.NOTHING_SERVES, reason=verdict).coded(verdict.code)

    def _array_paused(self, job: QueueJob) -> Reason:
        running = len(self._core.records.children[job.id])
        spec = job.submission.array
        assert spec is not None  # noqa: S101 - the caller checked
        if job.tasks_started >= spec.tasks:
            return Reason.of(Message.ARRAY_ALL_STARTED, tasks=spec.tasks, running=running)
        return Reason.of(Message.ARRAY_AT_ONCE, running=running, at_once=spec.at_once or 0)

    def _waits_for_capacity(self, job: QueueJob, now: int) -> Reason:
        core = self._core
        request = core.records.requests[job.id]
        lacks = self._why_not_now(request.spec) or self._window_ahead(job, now)
        if job.plan is None and (claimant := self._claimant(job.queue)) is not None:
            first = claimant == job.id
            message = Message.NO_START_KNOWN_FIRST if first else Message.NO_START_KNOWN
            lacks = lacks or Reason.of(Message.KEPT_FOR, job=JobRef(claimant))
            return Reason.of(message, lacks=lacks).coded(lacks.code)
        if job.plan is not None:
            return _moved(lacks or Reason.of(Message.PROMISED_BEFORE), job.plan.reason)
        return lacks or Reason.of(Message.WOULD_DELAY)

    def _why_not_now(self, request: Request) -> Reason | None:
        if self._lacks_at != self._core.records.step:
            self._lacks_at = self._core.records.step
            self._lacks.clear()
        if request not in self._lacks:
            self._lacks[request] = self._core.planning.why_not_now(request)
        return self._lacks[request]

    def _window_ahead(self, job: QueueJob, now: int) -> Reason | None:
        """Which windows keep a job that would fit from starting now; None if none does."""
        windows = self._core.windows
        own = windows.get(job.submission.reservation or "")
        if own is not None:
            if own.start <= now:
                return None
            start = Moment(own.start)
            return Reason.of(Message.WINDOW_OPENS, kind=_kind(own), name=own.name, start=start)
        until = self._core.until(job, now)
        mine = self._nodes(self._core.records.requests[job.id].spec)
        ahead = tuple(
            Reason.of(
                Message.WINDOW_SPAN,
                kind=_kind(w),
                name=w.name,
                start=Moment(w.start),
                end=Moment(w.end),
            )
            for w in windows.values()
            if w.start < until and not mine.isdisjoint(w.nodes)
        )
        return Reason.of(Message.RUNS_INTO, windows=ahead) if ahead else None

    def _nodes(self, request: Request) -> set[str]:
        """The names of the nodes that a request allows."""
        shapes = request.shapes if isinstance(request, Gang) else [request]
        planning = self._core.planning
        allowed = [planning.nodes.allowed(shape.constraint) for shape in shapes]
        return {name for nodes in allowed for name in planning.nodes.names(nodes)}

    def _claimant(self, queue: str) -> int | None:
        """The job with a claim that leaves a queue without a known start."""
        jobs = self._core.records.jobs
        bookings = self._core.capacity.bookings
        mine = [id for id in bookings if jobs[id].queue == queue]
        # Where no job of a queue has a booking, the claim of another queue is in the way.
        return next((id for id in mine or bookings if bookings[id].claim), None)


def _kind(window: NodeWindow) -> str:
    return "maintenance window" if window.maintenance else "advance reservation"


def _moved(reason: Reason, because: Reason | None) -> Reason:
    """Why a promised job waits, and why its start moved later, if it did."""
    if because is None:
        return reason
    return Reason.of(Message.MOVED_LATER, reason=reason, because=because).coded(reason.code)
