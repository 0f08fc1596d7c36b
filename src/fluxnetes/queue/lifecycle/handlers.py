"""Handles events: one method for each type of event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.queue import events
from fluxnetes.queue.changes import JobEvent, QueueState
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueRefused, UnknownQueue
from fluxnetes.queue.jobs import OnLoss, QueueJob
from fluxnetes.queue.lifecycle.admission import Admission
from fluxnetes.queue.lifecycle.allocations import AllocationEdits
from fluxnetes.queue.lifecycle.alter import JobAlterations
from fluxnetes.queue.lifecycle.elastic import ElasticGrowth
from fluxnetes.queue.lifecycle.nodes import NodeHandlers
from fluxnetes.queue.lifecycle.reseating import TaskReseating
from fluxnetes.queue.lifecycle.tasks import TaskHandlers
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.plan.builder import PlanBuilder
from fluxnetes.queue.plan.windows import WindowHandlers
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, EndCause, JobState


class EventHandlers:
    """Dispatches events to the modules of the lifecycle."""

    def __init__(
        self, core: QueueCore, transitions: Transitions, plan_builder: PlanBuilder
    ) -> None:
        self._core = core
        self._transitions = transitions
        self.gate = transitions.gate
        self._promises = promises = plan_builder.promises
        self._windows = windows = WindowHandlers(core, plan_builder)
        allocation_edits = AllocationEdits(core)
        self._elastic = ElasticGrowth(core, allocation_edits)
        self._tasks = TaskHandlers(core, allocation_edits)
        self._reseating = TaskReseating(core, self._tasks, allocation_edits)
        self.admission = Admission(core, transitions, windows)
        alterations = JobAlterations(core, transitions, promises, self.admission)
        nodes = NodeHandlers(core, transitions, self._tasks)
        self._handlers: dict[type, Callable[[Any, int], None]] = {
            events.Submit: self.admission.submit,
            events.Gathered: self.admission.gathered,
            events.Hold: self._hold,
            events.Release: self._release,
            events.Cancel: self._cancel,
            events.Alter: alterations.alter,
            events.Reshape: alterations.reshape,
            events.Adopt: self._adopt,
            events.Started: self._started,
            events.Returned: self._returned,
            events.Suspended: self._suspended,
            events.Incomplete: self._incomplete,
            events.Ended: self._ended,
            events.TaskEnded: self._task_ended,
            events.TasksEnded: self._tasks_ended,
            events.Reseat: self._reseat,
            events.Grow: self._grow,
            events.NodesLost: nodes.lost,
            events.PartsLost: nodes.parts_lost,
            events.Note: self._note,
            events.NodesBack: nodes.back,
            events.NodesClosed: nodes.closed,
            events.NodesOpened: nodes.opened,
            events.Occupied: nodes.occupied,
            events.GraphChanged: nodes.graph_changed,
            events.SetQueue: self._set_queue,
            events.Maintain: windows.maintain,
            events.Reserve: windows.reserve,
            events.RemoveWindow: self._remove_window,
        }

    def handle(self, event: events.Event, now: int) -> None:
        self._handlers[type(event)](event, now)

    # -- waiting jobs --------------------------------------------------------------------------

    def _hold(self, event: events.Hold, now: int) -> None:
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

    def _release(self, event: events.Release, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state is JobState.GATHERING:
            job.submission = replace(job.submission, held=False)
            self._core.records.touch(job)
        elif job.state is JobState.HELD:
            self._transitions.held_to_pending(job, now, Reason.of(Message.RELEASED))
        else:
            raise QueueRefused(f"job {job.id} is {job.state.value}, not held")

    def _cancel(self, event: events.Cancel, now: int) -> None:
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

    def _started(self, event: events.Started, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state is JobState.ALLOCATED:
            self._transitions.allocated_to_running(job, now)
        elif job.state not in (JobState.RUNNING, JobState.ENDING):
            raise QueueRefused(f"job {job.id} is {job.state.value}; it has no allocation to run on")

    def _returned(self, event: events.Returned, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state is JobState.ALLOCATED:
            if event.begin is not None:
                job.submission = replace(job.submission, begin=event.begin)
            self._transitions.allocated_to_pending(job, now, event.reason)
        elif job.cause is EndCause.TIMED_OUT and job.state is JobState.ENDING:
            # Its walltime passed while it could not run.
            self._transitions.ending_to_pending(job, now, event.reason)
        else:
            raise QueueRefused(f"job {job.id} is {job.state.value}, not allocated")

    def _suspended(self, event: events.Suspended, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state in HOLDING:
            self._forget_victim(job)
            self._transitions.holding_to_held(job, now, event.reason)
        elif job.state is JobState.PENDING:
            self._transitions.pending_to_held(job, now, event.reason)
        else:
            raise QueueRefused(f"job {job.id} is {job.state.value}; it cannot be suspended")

    def _incomplete(self, event: events.Incomplete, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state in HOLDING:
            self._forget_victim(job)
            self._transitions.holding_to_gathering(job, now, event.reason)
        elif job.state in (JobState.PENDING, JobState.HELD):
            self._transitions.waiting_to_gathering(job, now, event.reason)
        else:
            raise QueueRefused(f"job {job.id} is {job.state.value}; it cannot gather again")

    def _forget_victim(self, job: QueueJob) -> None:
        """A job that others may wait for, because it was preempted for them, holds nothing."""
        for victims in self._core.preempting.values():
            victims.discard(job.id)

    def _ended(self, event: events.Ended, now: int) -> None:
        job = self._core.records.find(event.job)
        if event.outcome is not None and job.state in WAITING:
            self._transitions.waiting_to_outcome(job, event.outcome, now, event.reason)
            return
        if job.state not in HOLDING:
            raise QueueRefused(f"job {job.id} is {job.state.value}; it holds no resources")
        self._forget_victim(job)
        if event.outcome is not None:
            self._transitions.holding_to_outcome(job, event.outcome, now, event.reason)
        elif job.state is JobState.ENDING:
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

    def _task_ended(self, event: events.TaskEnded, now: int) -> None:
        failed = frozenset() if event.ok else frozenset({event.task})
        self._tasks_ended(events.TasksEnded(event.job, (event.task,), failed), now)

    def _tasks_ended(self, event: events.TasksEnded, now: int) -> None:
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
            self._ended(events.Ended(job.id, not job.tasks_failed, failed), now)

    def _reseat(self, event: events.Reseat, now: int) -> None:
        self._reseating.reseat(self._core.records.find(event.job), event.tasks, now)

    def _note(self, event: events.Note, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state not in (JobState.ALLOCATED, JobState.RUNNING):
            raise QueueRefused(f"job {job.id} is {job.state.value}; it does not run")
        if job.reason != event.reason:
            job.reason = event.reason
            self._core.records.add_event(JobEvent(job.id, now, "note", reason=event.reason))
            self._core.records.touch(job)

    def _adopt(self, event: events.Adopt, now: int) -> None:
        self.admission.adopt(event, now)

    def _grow(self, event: events.Grow, now: int) -> None:
        job = self._core.records.find(event.job)
        if job.state not in (JobState.ALLOCATED, JobState.RUNNING):
            raise QueueRefused(f"job {job.id} is {job.state.value}; only a running job can grow")
        self._elastic.grow(job, now)

    def _remove_window(self, event: events.RemoveWindow, now: int) -> None:
        self._windows.remove(event.name)
        self.gate.close(event.name, now)

    # -- queues --------------------------------------------------------------------------------

    def _set_queue(self, event: events.SetQueue, now: int) -> None:
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
