"""Handles events: one method for each type of event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.queue.changes import QueueState
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueRefused, UnknownQueue
from fluxnetes.queue.events import (
    Adopt,
    Alter,
    Cancel,
    Ended,
    Event,
    Gathered,
    GraphChanged,
    Grow,
    Hold,
    Maintain,
    NodesBack,
    NodesClosed,
    NodesLost,
    NodesOpened,
    Occupied,
    PartsLost,
    Release,
    RemoveWindow,
    Reseat,
    Reserve,
    Reshape,
    Returned,
    SetQueue,
    Started,
    Submit,
    TaskEnded,
    TasksEnded,
)
from fluxnetes.queue.jobs import OnLoss, QueueJob
from fluxnetes.queue.lifecycle.admission import Admission
from fluxnetes.queue.lifecycle.allocations import AllocationEdits
from fluxnetes.queue.lifecycle.alter import JobAlterations
from fluxnetes.queue.lifecycle.elastic import ElasticGrowth
from fluxnetes.queue.lifecycle.nodes import NodeHandlers
from fluxnetes.queue.lifecycle.reseating import TaskReseating
from fluxnetes.queue.lifecycle.tasks import TaskHandlers
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.order.gate import EligibilityGate
from fluxnetes.queue.plan.promises import PromiseKeeper
from fluxnetes.queue.plan.windows import WindowHandlers
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, EndCause, JobState


class EventHandlers:
    """Dispatches events to the modules of the lifecycle."""

    def __init__(
        self,
        core: QueueCore,
        transitions: Transitions,
        gate: EligibilityGate,
        promises: PromiseKeeper,
        windows: WindowHandlers,
    ) -> None:
        self._core = core
        self._transitions = transitions
        self.gate = gate
        self._promises = promises
        self._windows = windows
        allocation_edits = AllocationEdits(core)
        self._elastic = ElasticGrowth(core, allocation_edits)
        self._tasks = TaskHandlers(core, allocation_edits)
        self._reseating = TaskReseating(core, self._tasks, allocation_edits)
        self.admission = Admission(core, transitions, gate, windows)
        alterations = JobAlterations(core, transitions, gate, promises, self.admission)
        nodes = NodeHandlers(core, transitions, self.admission, self._tasks)
        self._handlers: dict[type, Callable[[Any, int], None]] = {
            Submit: lambda e, now: self.admission.submit(e.submission, now),
            Gathered: lambda e, now: self.admission.gathered(e.job, e.request, now),
            Hold: self._hold,
            Release: self._release,
            Cancel: self._cancel,
            Alter: alterations.alter,
            Reshape: alterations.reshape,
            Adopt: self._adopt,
            Started: self._started,
            Returned: self._returned,
            Ended: self._ended,
            TaskEnded: self._task_ended,
            TasksEnded: self._tasks_ended,
            Reseat: self._reseat,
            Grow: self._grow,
            NodesLost: nodes.lost,
            PartsLost: nodes.parts_lost,
            NodesBack: nodes.back,
            NodesClosed: nodes.closed,
            NodesOpened: nodes.opened,
            Occupied: nodes.occupied,
            GraphChanged: nodes.graph_changed,
            SetQueue: self._set_queue,
            Maintain: windows.maintain,
            Reserve: windows.reserve,
            RemoveWindow: self._remove_window,
        }

    def handle(self, event: Event, now: int) -> None:
        self._handlers[type(event)](event, now)

    # -- waiting jobs --------------------------------------------------------------------------

    def _hold(self, event: Hold, now: int) -> None:
        job = self._core.records.find(event.job)
        reason = Reason.of(Message.HELD)
        array = job.submission.array
        if array is not None and job.tasks_started >= array.tasks:
            raise QueueRefused(f"job {job.id} cannot be held: all of its tasks have started")
        if job.state is JobState.PENDING:
            self._transitions.pending_to_held(job, now, reason)
        elif job.state is JobState.GATHERING:
            job.submission = replace(job.submission, held=True)
            self._core.records.touch(job)
        elif job.state is not JobState.HELD:
            raise QueueRefused(f"job {job.id} is {job.state.value}; only a waiting job can be held")

    def _release(self, event: Release, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state is JobState.GATHERING:
            job.submission = replace(job.submission, held=False)
            self._core.records.touch(job)
        elif job.state is JobState.HELD:
            self._transitions.held_to_pending(job, now, Reason.of(Message.RELEASED))
        else:
            raise QueueRefused(f"job {job.id} is {job.state.value}, not held")

    def _cancel(self, event: Cancel, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state in ENDED:
            raise QueueRefused(f"job {job.id} has already ended: {job.state.value}")
        tasks = sorted(self._core.records.children.get(job.id, ()))
        # The array first, or it would end as failed with the last of its tasks.
        for id in (job.id, *tasks):
            self._cancel_one(self._core.records.jobs[id], now, event.reason)

    def _cancel_one(self, job: QueueJob, now: int, reason: Reason) -> None:
        if job.state in WAITING:
            self._transitions.waiting_to_cancelled(job, now, reason)
        elif job.state is JobState.ENDING:
            job.cause, job.reason = EndCause.CANCELLED, reason
            self._core.records.touch(job)
        else:
            self._transitions.start_ending(job, now, EndCause.CANCELLED, reason)

    # -- jobs that hold resources --------------------------------------------------------------

    def _started(self, event: Started, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state is JobState.ALLOCATED:
            self._transitions.allocated_to_running(job, now)
        elif job.state not in (JobState.RUNNING, JobState.ENDING):
            raise QueueRefused(f"job {job.id} is {job.state.value}; it has no allocation to run on")

    def _returned(self, event: Returned, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state is JobState.ALLOCATED:
            if event.begin is not None:
                job.submission = replace(job.submission, begin=event.begin)
            self._transitions.allocated_to_pending(job, now, event.reason)
        elif (
            job.cause is EndCause.TIMED_OUT and job.running is None and job.state is JobState.ENDING
        ):
            # Its walltime passed before any of it ran.
            self._transitions.ending_to_pending(job, now, event.reason)
        else:
            raise QueueRefused(f"job {job.id} is {job.state.value}, not allocated")

    def _ended(self, event: Ended, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state not in HOLDING:
            raise QueueRefused(f"job {job.id} is {job.state.value}; it holds no resources")
        for victims in self._core.preempting.values():
            victims.discard(job.id)
        if job.state is JobState.ENDING:
            self._gone(job, now)
        elif event.ok:
            self._transitions.holding_to_completed(job, now, event.reason)
        else:
            self._transitions.holding_to_failed(job, now, event.reason or Reason.of(Message.FAILED))

    def _gone(self, job: QueueJob, now: int) -> None:
        """A job in `ending` has ended: it goes back to the queue, or reaches its final state."""
        again = (job.cause is EndCause.PREEMPTED and job.submission.requeue) or (
            job.cause is EndCause.LOST_NODES and job.submission.on_loss is OnLoss.REQUEUE
        )
        if again:
            self._transitions.ending_to_pending(job, now, _requeued(job))
        else:
            self._transitions.ending_to_outcome(job, now)

    def _task_ended(self, event: TaskEnded, now: int) -> None:
        failed = frozenset() if event.ok else frozenset({event.task})
        self._tasks_ended(TasksEnded(event.job, (event.task,), failed), now)

    def _tasks_ended(self, event: TasksEnded, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state not in HOLDING:
            raise QueueRefused(f"job {job.id} is {job.state.value}; none of its tasks is placed")
        known = self._core.allocations[job.id].ended_tasks
        last = self._tasks.end(job, event.tasks, now)
        job.tasks_failed += len(event.failed.intersection(event.tasks) - known)
        if last:
            failed = None
            if job.tasks_failed:
                failed = Reason.of(Message.TASKS_FAILED, failed=job.tasks_failed)
            self._ended(Ended(job.id, not job.tasks_failed, failed), now)

    def _reseat(self, event: Reseat, now: int) -> None:
        self._reseating.reseat(self._core.records.find(event.job), event.tasks, now)

    def _adopt(self, event: Adopt, now: int) -> None:
        self.admission.adopt(event.submission, event.start, event.nodes, now)

    def _grow(self, event: Grow, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state not in (JobState.ALLOCATED, JobState.RUNNING):
            raise QueueRefused(f"job {job.id} is {job.state.value}; only a running job can grow")
        self._elastic.grow(job, now)

    def _remove_window(self, event: RemoveWindow, now: int) -> None:
        self._windows.remove(event.name)
        self.gate.close(event.name, now)

    # -- queues --------------------------------------------------------------------------------

    def _set_queue(self, event: SetQueue, now: int) -> None:
        core = self._core
        if event.queue not in core.queues:
            raise UnknownQueue(f"there is no queue {event.queue}")
        state = QueueState(event.queue, event.stopped, event.drained)
        core.set_queue(state)
        if not event.stopped:
            core.resources_freed(unplanned=False)
            return
        for job in list(core.lines[event.queue]):
            if job.id in core.capacity.bookings:
                self._promises.drop(job, now, Reason.of(Message.QUEUE_STOPPED, queue=event.queue))


def _requeued(job: QueueJob) -> Reason | None:
    return None if job.reason is None else Reason.of(Message.REQUEUED, reason=job.reason)
