"""The transitions of a job, each named for the state it leaves and the state it enters.

A transition changes the record, keeps everything that counts jobs in step with it (lines, limits,
budgets, usage, the capacity plan), and adds an event to the job's history. It decides nothing:
the scheduling cycle and the event handlers decide whether and when it happens. The eligibility gate
learns of every job that becomes pending, starts or ends, and may end other waiting jobs in turn.
"""

from __future__ import annotations

from fluxnetes.common.reasons import JobRef, Message, Reason
from fluxnetes.graph.placement import Placement
from fluxnetes.match.planning import Candidate
from fluxnetes.queue.changes import Allocation, JobEvent
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.order.gate import EligibilityGate
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import WAITING, EndCause, JobState, check_transition

_SUBMITTED = Reason.of(Message.SUBMITTED)

OUTCOMES = {
    EndCause.CANCELLED: JobState.CANCELLED,
    EndCause.TIMED_OUT: JobState.TIMED_OUT,
    EndCause.PREEMPTED: JobState.CANCELLED,
    EndCause.LOST_NODES: JobState.FAILED,
}
"""The final state of a job in `ending`, by cause, unless it goes back to the queue."""


class Transitions:
    """Moves jobs from state to state, and owns the eligibility gate that follows the moves."""

    def __init__(self, core: QueueCore) -> None:
        self._core = core
        self.gate = EligibilityGate(core, self)

    # -- submission and adoption ---------------------------------------------------------------

    def nowhere_to_gathering(self, job: QueueJob, now: int) -> None:
        self._arrive(job, JobState.GATHERING, now, Reason.of(Message.GROUP_INCOMPLETE))

    def nowhere_to_held(self, job: QueueJob, now: int) -> None:
        self._arrive(job, JobState.HELD, now, Reason.of(Message.SUBMITTED_HELD))

    def nowhere_to_pending(self, job: QueueJob, now: int, reason: Reason = _SUBMITTED) -> None:
        self._arrive(job, JobState.PENDING, now, reason)
        self.gate.became_pending(job, now)

    def nowhere_to_rejected(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._core.records.add(job)
        self._end(job, JobState.REJECTED, now, reason, new=True)

    def nowhere_to_running(
        self, job: QueueJob, request: PlanRequest, found: Candidate, start: int, now: int
    ) -> None:
        """An adopted job: it runs already, on the nodes where it was found."""
        core = self._core
        core.records.add(job)
        self._register_owner(job, now)
        # It may ask for units not counted so far, hold what is not free, or be misplaced.
        core.jobs_may_be_misplaced()
        core.request_relayout(Reason.of(Message.ADOPTED_JOB, job=JobRef(job.id)))
        until = core.until(job, start)
        core.capacity.remember(job.id, request, until)
        amounts = core.planning.amounts(found)
        self._begin_holding(job, request, found, amounts, (start, until), now)
        job.eligible = job.running = start
        self._move(job, JobState.RUNNING, now, Reason.of(Message.FOUND_RUNNING), new=True)
        self.gate.job_settled(job, now)

    def _arrive(self, job: QueueJob, state: JobState, now: int, reason: Reason | None) -> None:
        self._core.records.add(job)
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
        self.gate.became_pending(job, now)

    def gathering_to_held(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._move(job, JobState.HELD, now, reason)

    def pending_to_held(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._leave_line(job)
        self._move(job, JobState.HELD, now, reason)

    def held_to_pending(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._move(job, JobState.PENDING, now, reason)
        self.gate.became_pending(job, now)

    def waiting_to_gathering(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """The group of a waiting job is not complete any more."""
        self._leave_line(job)
        self._core.remove_request(job.id)
        self._move(job, JobState.GATHERING, now, reason)

    def waiting_to_outcome(
        self, job: QueueJob, state: JobState, now: int, reason: Reason | None
    ) -> None:
        """The job is known to have ended, though for the queue it waited."""
        self._stop_waiting(job)
        self._end(job, state, now, reason)

    def waiting_to_cancelled(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._stop_waiting(job)
        self._end(job, JobState.CANCELLED, now, reason)

    def waiting_to_rejected(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._stop_waiting(job)
        self._end(job, JobState.REJECTED, now, reason)

    def pending_to_completed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """An array: all of its tasks completed."""
        self._stop_waiting(job)
        self._end(job, JobState.COMPLETED, now, reason)

    def pending_to_failed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """An array: all of its tasks ended, and some did not complete."""
        self._stop_waiting(job)
        self._end(job, JobState.FAILED, now, reason)

    def _stop_waiting(self, job: QueueJob) -> None:
        assert job.state in WAITING  # noqa: S101 - the caller checked
        self._leave_line(job)
        self._core.limits.waits(job, -1)

    def _leave_line(self, job: QueueJob) -> None:
        """A job is no longer eligible; its booking is free for others."""
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
        """The job starts on the candidate; the matcher may have allocated that already."""
        core = self._core
        self._stop_waiting(job)
        until = core.until(job, now)
        amounts = core.planning.amounts(found)
        core.capacity.enter(job.id, request, until, amounts)
        self._begin_holding(job, request, found, amounts, (now, until), now)
        self._move(job, JobState.ALLOCATED, now, reason)
        self.gate.job_settled(job, now)

    def _begin_holding(
        self,
        job: QueueJob,
        request: PlanRequest,
        found: Candidate,
        amounts: dict[str, int],
        span: tuple[int, int],
        now: int,
    ) -> None:
        """A job holds the candidate; the capacity plan has it already."""
        start, until = span
        placement = self._allocate(job, found, start, until)
        job.start, job.running, job.cause = start, None, None
        job.deadline = job.expected = None if job.walltime is None else until
        job.size = request.count if request.elastic is not None else 0
        self._account(job, amounts, now)
        allocation = Allocation(job.id, start, job.deadline, placement, found.seats)
        self._core.set_allocation(allocation)

    def _allocate(self, job: QueueJob, found: Candidate, now: int, until: int) -> Placement:
        planning = self._core.planning
        known = planning.matcher.jobs.get(job.id)
        if known is not None:
            return known.placement
        return planning.allocate(job.id, found, now, min(until, planning.matcher.horizon))

    def _account(self, job: QueueJob, amounts: dict[str, int], now: int) -> None:
        core = self._core
        core.records.holding[job.id] = job
        core.records.amounts[job.id] = amounts
        core.limits.holds(job, amounts, +1)
        seconds = 0 if job.deadline is None else max(0, job.deadline - now)
        core.commit_budgets(job, amounts, seconds, now)
        core.charge_usage(job, core.rate(amounts), now)

    def allocated_to_running(self, job: QueueJob, now: int) -> None:
        job.running = now
        self._move(job, JobState.RUNNING, now, None)

    def holding_to_ending(
        self, job: QueueJob, now: int, cause: EndCause, reason: Reason | None
    ) -> None:
        """The job is asked to end; until it has, its nodes are busy."""
        job.cause = cause
        self._move(job, JobState.ENDING, now, reason)

    def start_ending(self, job: QueueJob, now: int, cause: EndCause, reason: Reason | None) -> None:
        """Ask a job to end. The planner expects that once the grace time of its queue is over."""
        core = self._core
        self.holding_to_ending(job, now, cause, reason)
        gone = now + max(1, core.queues[job.queue].grace)
        if job.expected is None or gone < job.expected:
            self.expect(job, gone)
            core.plan_may_improve()

    def expect(self, job: QueueJob, until: int) -> None:
        """The planner expects a job to end by this time."""
        job.expected = until
        self._core.capacity.prolong(job.id, until)
        self._core.records.touch(job)

    def allocated_to_pending(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """The start of the job could not be carried out."""
        self._requeue(job, now, reason)

    def holding_to_completed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._release_resources(job, now)
        self._end(job, JobState.COMPLETED, now, reason)

    def holding_to_failed(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._release_resources(job, now)
        self._end(job, JobState.FAILED, now, reason)

    def holding_to_outcome(
        self, job: QueueJob, state: JobState, now: int, reason: Reason | None
    ) -> None:
        """The job is known to have ended, whatever it was asked."""
        self._release_resources(job, now)
        self._end(job, state, now, reason)

    def holding_to_gathering(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """Nothing of the job runs any more, and its group has to gather again."""
        self._wait_again(job, now)
        self._core.remove_request(job.id)
        self._move(job, JobState.GATHERING, now, reason)

    def holding_to_held(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """Nothing of the job runs any more, because its user suspended it."""
        self._wait_again(job, now)
        self._move(job, JobState.HELD, now, reason)

    def ending_to_outcome(self, job: QueueJob, now: int) -> None:
        """The job has ended: cancelled, timed out or failed, as its cause says."""
        assert job.cause is not None  # noqa: S101 - set on the way into `ending`
        self._release_resources(job, now)
        self._end(job, OUTCOMES[job.cause], now, job.reason)

    def ending_to_pending(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        """The job was preempted or lost nodes, and goes back to the queue with its age."""
        self._requeue(job, now, reason)

    def _requeue(self, job: QueueJob, now: int, reason: Reason | None) -> None:
        self._wait_again(job, now)
        self._move(job, JobState.PENDING, now, reason)
        self.gate.became_pending(job, now)

    def _wait_again(self, job: QueueJob, now: int) -> None:
        """A job that held resources waits again, with its age."""
        self._release_resources(job, now)
        job.start = job.running = job.deadline = job.expected = job.cause = None
        job.size, job.restarts, job.backfilled = 0, job.restarts + 1, False
        job.tasks_failed = 0
        self._core.limits.waits(job, +1)

    def _release_resources(self, job: QueueJob, now: int) -> None:
        """Free everything that a job holds."""
        core = self._core
        core.planning.free(job.id)
        core.resources_freed(unplanned=core.capacity.leave(job.id))
        amounts = core.records.amounts.pop(job.id)
        del core.records.holding[job.id]
        core.limits.holds(job, amounts, -1)
        core.settle_budgets(job, amounts, now)
        core.charge_usage(job, -core.rate(amounts), now)
        core.drop_allocation(job.id)

    # -- common to all transitions -------------------------------------------------------------

    def _end(
        self, job: QueueJob, state: JobState, now: int, reason: Reason | None, new: bool = False
    ) -> None:
        job.end = now
        job.deadline = job.expected = None
        self._move(job, state, now, reason, new)
        self._core.remove_request(job.id)
        self._core.records.retire(job)
        self.gate.job_settled(job, now)

    def _move(
        self, job: QueueJob, state: JobState, now: int, reason: Reason | None, new: bool = False
    ) -> None:
        came_from = None if new else job.state
        check_transition(job.id, came_from, state)
        job.state, job.reason = state, reason
        event = JobEvent(job.id, now, "transition", came_from, state, reason=reason)
        self._core.records.add_event(event)
