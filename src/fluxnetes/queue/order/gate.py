"""Decides which pending jobs are eligible to start.

A job with a begin time, an unmet dependency, or a request that nothing in the graph can serve is
*parked* until that is over: it is in no line. A
job that a limit or a budget stops stays in line, since that can change with every job that ends,
and the cycle skips it. Neither is head of its queue, and neither is promised a start.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Protocol

from fluxnetes.common.reasons import JobRef, Message, Moment, Reason
from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import Dependency, DependencyKind, QueueJob
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import HOLDING, WAITING, JobState

_SERVABLE = Reason.of(Message.SERVABLE_AGAIN)


class WaitingTransitions(Protocol):
    """The transitions that the gate needs: a waiting job ends without holding anything."""

    def waiting_to_rejected(self, job: QueueJob, now: int, reason: Reason | None) -> None: ...

    def pending_to_completed(self, job: QueueJob, now: int, reason: Reason | None) -> None: ...

    def pending_to_failed(self, job: QueueJob, now: int, reason: Reason | None) -> None: ...


class EligibilityGate:
    """Parks pending jobs, and adds them to the line of their queue once they are eligible."""

    def __init__(self, core: QueueCore, transitions: WaitingTransitions) -> None:
        self._core = core
        self._transitions = transitions
        self._begins: list[tuple[int, int]] = []
        """Begin times of parked jobs, as a heap."""

    # -- parking -------------------------------------------------------------------------------

    def became_pending(self, job: QueueJob, now: int) -> None:
        """A job became pending and takes its place in the order."""
        job.ranked = self._core.records.step
        self._core.records.touch(job)
        self.park_or_enqueue(job, now)

    def park_or_enqueue(self, job: QueueJob, now: int) -> None:
        """Park a pending job, or add it to the line of its queue."""
        core = self._core
        reason_never = self._never_eligible(job)
        if reason_never:
            self._transitions.waiting_to_rejected(job, now, reason_never)
            return
        reason = self._parked_for(job, now)
        verdict = core.verdicts.of(core.records.requests[job.id])
        if verdict and not _has_started(job):
            self._set_aside(job, verdict, now)
            return
        self._plan_for(job, now)
        if reason:
            core.parked[job.id] = reason
            return
        if job.eligible is None:
            job.eligible = now
            core.records.touch(job)
        if not self._is_array_paused(job):
            core.lines[job.queue].add(job, now)
            core.newcomers.append(job)

    def _set_aside(self, job: QueueJob, verdict: Reason, now: int) -> None:
        """Park a job that nothing can serve, whatever else it waits for; see `review`."""
        core = self._core
        core.set_request_aside(job.id)
        reason = Reason.of(Message.NOTHING_SERVES, reason=verdict).coded(verdict.code)
        core.parked[job.id] = reason
        if not _is_set_aside(job):  # else the record has the reason why it was
            job.reason = reason
            core.records.add_event(JobEvent(job.id, now, "note", reason=reason))

    def _plan_for(self, job: QueueJob, now: int) -> None:
        """Something can serve a job, which may have been set aside."""
        core = self._core
        core.count_request(job.id)
        if _is_set_aside(job):
            job.reason = _SERVABLE
            core.records.add_event(JobEvent(job.id, now, "note", reason=_SERVABLE))

    def _parked_for(self, job: QueueJob, now: int) -> Reason | None:
        """What a job awaits, which is noted: it is checked again when that has come."""
        for dependency in self._unmet(job):
            self._core.records.dependants[dependency.job].add(job.id)
        begin = job.submission.begin
        if begin is not None and begin > now:
            heappush(self._begins, (begin, job.id))
        return self.awaits(job, now)

    def awaits(self, job: QueueJob, now: int) -> Reason | None:
        """What a pending job waits for besides capacity, limits and its turn; None: nothing."""
        begin = job.submission.begin
        if begin is not None and begin > now:
            if job.restarts:
                why = job.reason or Reason.of(Message.FAILED)
                return Reason.of(Message.TRIED_AGAIN, begin=Moment(begin), reason=why)
            return Reason.of(Message.BEGINS, begin=Moment(begin))
        unmet = self._unmet(job)
        if not unmet:
            return None
        kind, after = unmet[0].kind.value, JobRef(unmet[0].job)
        return Reason.of(Message.AFTER_JOB, kind=kind, job=after)

    def wake(self, now: int) -> None:
        """Check parked jobs again whose begin time has come."""
        while self._begins and self._begins[0][0] <= now:
            self.recheck(heappop(self._begins)[1], now)

    def next_begin(self) -> int | None:
        return self._begins[0][0] if self._begins else None

    def recheck(self, id: int, now: int) -> None:
        """Check a parked job again: what it waited for may have happened."""
        job = self._core.records.jobs.get(id)
        if job is not None and self._core.parked.pop(id, None) is not None:
            self.became_pending(job, now)

    # -- dependencies --------------------------------------------------------------------------

    def _outcome(self, id: int) -> JobState | None:
        job = self._core.records.jobs.get(id)
        return job.state if job is not None else self._core.records.outcomes.get(id)

    def is_known(self, id: int) -> bool:
        return self._outcome(id) is not None

    def _unmet(self, job: QueueJob) -> list[Dependency]:
        return [each for each in job.submission.dependencies if not self._is_met(each)]

    def _is_met(self, dependency: Dependency) -> bool:
        state = self._outcome(dependency.job)
        if dependency.kind is DependencyKind.SUCCEEDED:
            return state is JobState.COMPLETED
        ended = dependency.job in self._core.records.outcomes
        if dependency.kind is DependencyKind.ENDED:
            return ended
        return ended or state in HOLDING or self._has_tasks(dependency.job)

    def _has_tasks(self, id: int) -> bool:
        job = self._core.records.jobs.get(id)
        return job is not None and job.tasks_started > 0

    def _never_eligible(self, job: QueueJob) -> Reason | None:
        """Why a job can never become eligible; None if it can."""
        reservation = job.submission.reservation
        if reservation is not None and reservation not in self._core.windows:
            return Reason.of(Message.RESERVATION_OVER, name=reservation)
        for dependency in job.submission.dependencies:
            state = self._core.records.outcomes.get(dependency.job)
            if state is None or dependency.kind is DependencyKind.ENDED:
                continue
            if dependency.kind is DependencyKind.SUCCEEDED and state is not JobState.COMPLETED:
                return Reason.of(
                    Message.DEPENDENCY_FAILED, job=JobRef(dependency.job), state=state.value
                )
        return None

    def job_settled(self, job: QueueJob, now: int) -> None:
        """A job started or ended: check the jobs that depend on it again, and its array."""
        self._recheck_dependants(job.id, now)
        if job.parent is not None:
            self._task_settled(job, now)

    def _recheck_dependants(self, job: int, now: int) -> None:
        for id in sorted(self._core.records.dependants.pop(job, ())):
            self.recheck(id, now)

    def close(self, window: str, now: int) -> None:
        """A window is over or was removed: jobs that wait to run in it never will."""
        for job in list(self._core.records.jobs.values()):
            mine = job.submission.reservation == window and job.state in WAITING
            if mine and not self._core.records.children.get(job.id):
                self._transitions.waiting_to_rejected(job, now, self._never_eligible(job))

    # -- arrays --------------------------------------------------------------------------------

    def _task_settled(self, task: QueueJob, now: int) -> None:
        records = self._core.records
        assert task.parent is not None  # noqa: S101 - the caller checked
        array = records.jobs.get(task.parent)
        if array is None or array.id in records.outcomes:
            return
        if task.id in records.outcomes:
            records.children[array.id].discard(task.id)
            array.tasks_failed += task.state is not JobState.COMPLETED
            records.touch(array)
        elif task.index == 0:
            self._recheck_dependants(array.id, now)
        self._update_array(array, now)

    def _update_array(self, array: QueueJob, now: int) -> None:
        spec = array.submission.array
        assert spec is not None  # noqa: S101 - it has tasks
        left = self._core.records.children[array.id]
        if array.tasks_started >= spec.tasks and not left:
            self._finish_array(array, now)
        elif not left and (reason_never := self._never_eligible(array)):
            self._transitions.waiting_to_rejected(array, now, reason_never)
        elif self._is_array_paused(array):
            self._core.lines[array.queue].discard(array.id)
        elif array.state is JobState.PENDING and array.id not in self._core.parked:
            self._core.lines[array.queue].add(array, now)

    def _finish_array(self, array: QueueJob, now: int) -> None:
        if array.tasks_failed:
            reason = Reason.of(
                Message.ARRAY_TASKS_FAILED, failed=array.tasks_failed, tasks=array.tasks_started
            )
            self._transitions.pending_to_failed(array, now, reason)
        else:
            reason = Reason.of(Message.ARRAY_TASKS_SUCCEEDED, tasks=array.tasks_started)
            self._transitions.pending_to_completed(array, now, reason)

    def _is_array_paused(self, job: QueueJob) -> bool:
        """Whether an array can start no further task at this moment."""
        spec = job.submission.array
        if spec is None:
            return False
        if job.tasks_started >= spec.tasks:
            return True
        return spec.at_once is not None and len(self._core.records.children[job.id]) >= spec.at_once

    # -- limits --------------------------------------------------------------------------------

    def stops(self, job: QueueJob, now: int) -> Reason | None:
        """Which limit or budget keeps a job in line from starting; None if none does."""
        if not self.limits(job.queue):
            return None
        return self._stops(job, self._core.estimate(self._core.records.requests[job.id]), now)

    def limits(self, queue: str) -> bool:
        """Whether any limit or budget can stop a job of a queue."""
        return queue in self._core.limits.any or bool(self._core.budgets)

    def _stops(self, job: QueueJob, amounts: dict[str, int], now: int) -> Reason | None:
        core = self._core
        return core.limits.stops(job, amounts) or core.budgets.stops(
            job, amounts, job.walltime, now
        )

    def largest(self, job: QueueJob, request: PlanRequest, most: int, now: int) -> int:
        """The largest size of an elastic job with which no limit and no budget stops it."""
        if request.elastic is None or not self.limits(job.queue):
            return most
        low, high = request.elastic.min, most
        while low < high:
            middle = (low + high + 1) // 2
            amounts = self._core.estimate(request.sized(middle))
            if not amounts or self._stops(job, amounts, now):
                high = middle - 1
            else:
                low = middle
        return low


def _is_set_aside(job: QueueJob) -> bool:
    """Whether the record of a job says that nothing can serve it."""
    return job.reason is not None and job.reason.message is Message.NOTHING_SERVES


def _has_started(job: QueueJob) -> bool:
    """Whether all tasks of an array have started: it waits only for their ends."""
    array = job.submission.array
    return array is not None and job.tasks_started >= array.tasks
