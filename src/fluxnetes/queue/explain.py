"""Why a job is where it is, in words that a person can use.

For a job that waits: what it waits for, until when if that is known, its place in the queue, and
each factor of its order. For every job: its story, line by line.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.changes import JobEvent, NodeWindow
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob, Request
from fluxnetes.queue.order.gate import EligibilityGate
from fluxnetes.queue.order.order import PriorityFactors
from fluxnetes.queue.states import HOLDING, JobState


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is to be said of one job."""

    job: int
    state: JobState
    reason: str
    """Why it is in this state or, while it waits, what it waits for."""
    until: int | None = None
    """While it waits: its promised start. While it holds resources: when its walltime is over."""
    place: int | None = None
    """How many jobs of its queue are before it; None if it is not in line."""
    factors: PriorityFactors | None = None
    """What its place in its class is made of."""
    story: tuple[JobEvent, ...] = ()


class Explainer:
    """Looks at the queue and says what is the matter."""

    def __init__(self, core: QueueCore, gate: EligibilityGate) -> None:
        self._core = core
        self._gate = gate

    def explain(self, id: int, now: int) -> Explanation:
        core = self._core
        job = core.records.find(id)
        line = core.lines.get(job.queue)
        in_line = line is not None and job.id in line
        return Explanation(
            job.id,
            job.state,
            self._reason(job, now),
            job.plan.start if job.plan is not None else job.deadline,
            line.place(job.id) if line is not None and in_line else None,
            core.order.factors(job, now) if job.state is JobState.PENDING else None,
            tuple(core.records.stories.get(job.id, ())),
        )

    def _reason(self, job: QueueJob, now: int) -> str:
        if job.state is JobState.PENDING:
            return self._waits_for(job, now)
        if job.state in HOLDING and not job.reason:
            return "its walltime has no end" if job.deadline is None else ""
        return job.reason

    def _waits_for(self, job: QueueJob, now: int) -> str:
        core = self._core
        if job.id in core.parked:
            return f"waits: {core.parked[job.id]}"
        if core.is_stopped(job.queue):
            return f"queue {job.queue} is stopped"
        if job.submission.array is not None and job.id not in core.lines[job.queue]:
            return self._array_rests(job)
        stopped = self._gate.stops(job, now)
        if stopped:
            return stopped
        if job.id in core.preempting:
            victims = ", ".join(str(v) for v in sorted(core.preempting[job.id]))
            return f"waits for preempted jobs to leave: {victims}"
        return self._waits_for_room(job, now)

    def _array_rests(self, job: QueueJob) -> str:
        running = len(self._core.records.children[job.id])
        spec = job.submission.array
        assert spec is not None  # noqa: S101 - the caller looked
        if job.tasks_started >= spec.tasks:
            return f"all {spec.tasks} tasks were started; {running} have not ended"
        return f"{running} tasks are there, and it may have {spec.at_once} at a time"

    def _waits_for_room(self, job: QueueJob, now: int) -> str:
        core = self._core
        ask = core.records.asks[job.id]
        lacks = core.planning.why_not_now(ask.request) or self._window_ahead(job, now)
        if job.plan is None and (claimant := self._claimant(job.queue)) is not None:
            kept = ". Room is kept for it as soon as they end" if claimant == job.id else ""
            lacks = lacks or f"what is free is kept for job {claimant}"
            return f"no start is known: jobs without a walltime are in the way ({lacks}){kept}"
        if job.plan is not None:
            moved = f"; moved later because {job.plan.reason}" if job.plan.reason else ""
            return (lacks or "its room is promised to jobs before it") + moved
        if lacks:
            return lacks
        return "it would delay jobs that were promised a start, or its turn has not come"

    def _window_ahead(self, job: QueueJob, now: int) -> str:
        """Which windows keep a job from starting now that would fit; empty if none does."""
        windows = self._core.windows
        own = windows.get(job.submission.reservation or "")
        if own is not None:
            return f"{_called(own)} opens at {own.start}" if own.start > now else ""
        until = self._core.until(job, now)
        mine = self._nodes(self._core.records.asks[job.id].request)
        ahead = [
            f"{_called(w)} ({w.start} to {w.end})"
            for w in windows.values()
            if w.start < until and not mine.isdisjoint(w.nodes)
        ]
        return f"it would run into {', '.join(ahead)}" if ahead else ""

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
        # Where nobody of a queue is promised anything, the claim of another queue is in the way.
        return next((id for id in mine or bookings if bookings[id].claim), None)


def _called(window: NodeWindow) -> str:
    kind = "maintenance window" if window.maintenance else "advance reservation"
    return f"{kind} {window.name}"
