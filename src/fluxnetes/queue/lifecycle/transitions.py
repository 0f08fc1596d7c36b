"""The transitions of a job, each named for where it leaves and where it arrives.

A transition changes the record, keeps everything that counts jobs in step with it (lines, limits,
budgets, usage, the room), and tells the job's story. It decides nothing: whether and when it
happens is for the cycle and for whoever tells the queue what happened.
"""

from __future__ import annotations

from collections.abc import Callable

from fluxnetes.common.reasons import JobRef, Message, Reason
from fluxnetes.graph.placement import Placement
from fluxnetes.match.planning import Candidate
from fluxnetes.queue.changes import Allocation, JobEvent
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import WAITING, EndCause, JobState, check_transition

_SUBMITTED = Reason.of(Message.SUBMITTED)

OUTCOMES = {
    EndCause.CANCELLED: JobState.CANCELLED,
    EndCause.TIMED_OUT: JobState.TIMED_OUT,
    EndCause.PREEMPTED: JobState.CANCELLED,
    EndCause.LOST_NODES: JobState.FAILED,
}
"""Where a job that was told to go arrives, unless it goes back to the queue."""


class Transitions:
    """Moves jobs from state to state."""

    def __init__(self, core: QueueCore) -> None:
        self._core = core
        self.became_eligible: Callable[[QueueJob, int], None] = lambda job, now: None
        """Told of every job that became pending; puts it in line or parks it."""
        self.settled: Callable[[QueueJob, int], None] = lambda job, now: None
        """Told of every job that started or ended; others may depend on it."""

    # -- coming --------------------------------------------------------------------------------

    def nowhere_to_gathering(self, job: QueueJob, now: int) -> None:
        self._arrive(job, JobState.GATHERING, now, Reason.of(Message.GROUP_INCOMPLETE))

    def nowhere_to_held(self, job: QueueJob, now: int) -> None:
        self._arrive(job, JobState.HELD, now, Reason.of(Message.SUBMITTED_HELD))

    def nowhere_to_pending(self, job: QueueJob, now: int, reason: Reason = _SUBMITTED) -> None:
        self._arrive(job, JobState.PENDING, now, reason)
        self.became_eligible(job, now)

    def nowhere_to_rejected(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._core.records.jobs[job.id] = job
        self._end(job, JobState.REJECTED, now, reason, new=True)

    def nowhere_to_running(
        self, job: QueueJob, request: PlanRequest, found: Candidate, start: int, now: int
    ) -> None:
        """It was found running, and has what it has."""
        core = self._core
        core.records.jobs[job.id] = job
        self._register_owner(job, now)
        # It may be of a kind that was not counted so far, hold what is not free, or be astray.
        core.jobs_may_be_misplaced()
        core.request_relayout(Reason.of(Message.ADOPTED_JOB, job=JobRef(job.id)))
        until = core.until(job, start)
        core.capacity.remember(job.id, request, until)
        amounts = core.planning.amounts(found)
        self._give(job, request, found, amounts, (start, until), now)
        job.eligible = job.running = start
        self._move(job, JobState.RUNNING, now, Reason.of(Message.FOUND_RUNNING), new=True)
        self.settled(job, now)

    def _arrive(self, job: QueueJob, state: JobState, now: int, reason: Reason | None) -> None:
        self._core.records.jobs[job.id] = job
        if job.submission.array is not None:
            self._core.records.arrays[job.id] = job
        self._core.limits.waits(job, +1)
        self._register_owner(job, now)
        self._move(job, state, now, reason, new=True)

    def _register_owner(self, job: QueueJob, now: int) -> None:
        account = (job.namespace, job.user)
        usage = self._core.usage.register(account, now)
        if usage is not None:
            self._core.records.changes.usage[account] = usage

    # -- waiting -------------------------------------------------------------------------------

    def gathering_to_pending(self, job: QueueJob, now: int) -> None:
        self._move(job, JobState.PENDING, now, Reason.of(Message.GROUP_COMPLETE))
        self.became_eligible(job, now)

    def gathering_to_held(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._move(job, JobState.HELD, now, reason)

    def pending_to_held(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._leave_line(job)
        self._move(job, JobState.HELD, now, reason)

    def held_to_pending(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._move(job, JobState.PENDING, now, reason)
        self.became_eligible(job, now)

    def waiting_to_cancelled(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._stop_waiting(job)
        self._end(job, JobState.CANCELLED, now, reason)

    def waiting_to_rejected(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._stop_waiting(job)
        self._end(job, JobState.REJECTED, now, reason)

    def pending_to_completed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """An array: all of its tasks ended well."""
        self._stop_waiting(job)
        self._end(job, JobState.COMPLETED, now, reason)

    def pending_to_failed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """An array: all of its tasks ended, and not all of them well."""
        self._stop_waiting(job)
        self._end(job, JobState.FAILED, now, reason)

    def _stop_waiting(self, job: QueueJob) -> None:
        assert job.state in WAITING  # noqa: S101 - the caller looked
        self._leave_line(job)
        self._core.limits.waits(job, -1)

    def _leave_line(self, job: QueueJob) -> None:
        """Whatever it was promised is free for others."""
        core = self._core
        core.lines[job.queue].discard(job.id)
        core.parked.pop(job.id, None)
        core.preempting.pop(job.id, None)
        if core.capacity.unbook(job.id) is not None:
            core.resources_freed()
        core.set_plan(job, None)

    # -- holding -------------------------------------------------------------------------------

    def pending_to_allocated(
        self, job: QueueJob, request: PlanRequest, found: Candidate, now: int, reason: Reason | None
    ) -> None:
        """The job has what was found for it. The matcher may have it already."""
        core = self._core
        self._stop_waiting(job)
        until = core.until(job, now)
        amounts = core.planning.amounts(found)
        core.capacity.enter(job.id, request, until, amounts)
        self._give(job, request, found, amounts, (now, until), now)
        self._move(job, JobState.ALLOCATED, now, reason)
        self.settled(job, now)

    def _give(
        self,
        job: QueueJob,
        request: PlanRequest,
        found: Candidate,
        amounts: dict[str, int],
        span: tuple[int, int],
        now: int,
    ) -> None:
        """A job holds what was found for it; the room knows that already."""
        core, (start, until) = self._core, span
        placement = self._allocate(job, found, start, until)
        job.start, job.running, job.cause = start, None, None
        job.deadline = job.expected = None if job.walltime is None else until
        job.size = request.count if request.elastic is not None else 0
        self._hold(job, amounts, now)
        allocation = Allocation(job.id, start, job.deadline, placement, found.seats)
        core.allocations[job.id] = allocation
        core.records.changes.allocations[job.id] = allocation

    def _allocate(self, job: QueueJob, found: Candidate, now: int, until: int) -> Placement:
        planning = self._core.planning
        known = planning.matcher.jobs.get(job.id)
        if known is not None:
            return known.placement
        return planning.allocate(job.id, found, now, min(until, planning.matcher.horizon))

    def _hold(self, job: QueueJob, amounts: dict[str, int], now: int) -> None:
        core = self._core
        core.records.holding[job.id] = job
        core.records.amounts[job.id] = amounts
        core.limits.holds(job, amounts, +1)
        core.commit(job, amounts, 0 if job.deadline is None else max(0, job.deadline - now), now)
        self._use(job, core.rate(amounts), now)

    def _use(self, job: QueueJob, by: float, now: int) -> None:
        usage = self._core.usage.change((job.namespace, job.user), by, now)
        self._core.records.changes.usage[job.namespace, job.user] = usage

    def allocated_to_running(self, job: QueueJob, now: int) -> None:
        job.running = now
        self._move(job, JobState.RUNNING, now, None)

    def holding_to_ending(
        self, job: QueueJob, now: int, cause: EndCause, reason: Reason | None
    ) -> None:
        """Told to go; until it is gone its nodes are busy."""
        job.cause = cause
        self._move(job, JobState.ENDING, now, reason)

    def start_ending(self, job: QueueJob, now: int, cause: EndCause, reason: Reason | None) -> None:
        """Tell a job to go. It is expected to be gone once its grace time is over."""
        core = self._core
        self.holding_to_ending(job, now, cause, reason)
        gone = now + max(1, core.queues[job.queue].grace)
        if job.expected is None or gone < job.expected:
            self.expect(job, gone)
            core.plan_may_improve()

    def expect(self, job: QueueJob, until: int) -> None:
        """The planner counts on a job to be gone by then."""
        job.expected = until
        self._core.capacity.prolong(job.id, until)
        self._core.records.touch(job)

    def allocated_to_pending(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """What was decided could not be carried out."""
        self._requeue(job, now, reason)

    def holding_to_completed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._release_resources(job, now)
        self._end(job, JobState.COMPLETED, now, reason)

    def holding_to_failed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._release_resources(job, now)
        self._end(job, JobState.FAILED, now, reason)

    def ending_to_outcome(self, job: QueueJob, now: int) -> None:
        """Gone at last: cancelled, timed out or failed, as its cause says."""
        assert job.cause is not None  # noqa: S101 - set on the way into `ending`
        self._release_resources(job, now)
        self._end(job, OUTCOMES[job.cause], now, job.reason)

    def ending_to_pending(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """Preempted, or robbed of its nodes, and back in the queue with its age."""
        self._requeue(job, now, reason)

    def _requeue(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._release_resources(job, now)
        job.start = job.running = job.deadline = job.expected = job.cause = None
        job.size, job.restarts, job.backfilled = 0, job.restarts + 1, False
        job.tasks_failed = 0
        self._core.limits.waits(job, +1)
        self._move(job, JobState.PENDING, now, reason)
        self.became_eligible(job, now)

    def _release_resources(self, job: QueueJob, now: int) -> None:
        """Give back all that a job holds."""
        core = self._core
        core.planning.free(job.id)
        core.resources_freed(unplanned=core.capacity.leave(job.id))
        amounts = core.records.amounts.pop(job.id)
        del core.records.holding[job.id]
        core.limits.holds(job, amounts, -1)
        core.settle(job, amounts, now)
        self._use(job, -core.rate(amounts), now)
        del core.allocations[job.id]
        core.records.changes.allocations[job.id] = None

    # -- every one of them ---------------------------------------------------------------------

    def _end(
        self, job: QueueJob, state: JobState, now: int, reason: Reason | None, new: bool = False
    ) -> None:
        job.end = now
        job.deadline = job.expected = None
        self._move(job, state, now, reason, new)
        self._core.remove_request(job.id)
        self._core.records.retire(job)
        self.settled(job, now)

    def _move(
        self, job: QueueJob, state: JobState, now: int, reason: Reason | None, new: bool = False
    ) -> None:
        came_from = None if new else job.state
        check_transition(job.id, came_from, state)
        job.state, job.reason = state, reason
        event = JobEvent(job.id, now, "transition", came_from, state, reason=reason)
        self._core.records.add_event(event)
