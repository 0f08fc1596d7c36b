"""The scheduling cycle: decides which jobs start now, and which are promised a start.

Queues are visited by priority, jobs in order. Each job in turn starts if it fits beside all running
jobs and all promises. If not, it is promised the earliest possible start, as long as its queue's
policy promises any; and the policy decides whether jobs behind it are tried, too. A job that starts
behind a waiting one is backfilled.

The cycle skips what cannot have changed: a request that did not fit does not fit for longer either,
until resources are freed; and a promised job is tried only when its time has come or something is
free that the plan did not count on.
"""

from __future__ import annotations

from dataclasses import replace

from fluxnetes.common.reasons import JobRef, Message, Reason
from fluxnetes.match.planning import Candidate
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.lifecycle.review import SatisfiabilityReview
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.plan.builder import PlanBuilder
from fluxnetes.queue.plan.preemption import Preemption
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import EndCause, JobState

_BACKFILLED = Reason.of(Message.BACKFILLED)
_NAMED_OVERDUE = 5
"""Maximum jobs named in the reason of promises that move because of an overrun."""
_ROUNDS = 100
"""Maximum passes over all queues in one cycle, so that it ends whatever happens."""
_NO_LIMIT = 2**62


class SchedulingCycle:
    """One pass over all queues."""

    def __init__(
        self, core: QueueCore, transitions: Transitions, plan_builder: PlanBuilder
    ) -> None:
        self._core = core
        self._transitions = transitions
        self._gate = transitions.gate
        self._promises = plan_builder.promises
        self._builder = plan_builder
        self._preemption = Preemption(core, transitions)
        self._review = SatisfiabilityReview(core, self._gate, self._promises)
        self._refused: dict[PlanRequest, int] = {}
        """The shortest duration for which each request was refused since something was freed."""
        self._requests = core.records.requests
        self._queues = sorted(core.config.queues, key=lambda q: (-q.priority, q.name))
        self._left = _NO_LIMIT
        """How many more jobs may start in this cycle."""
        self.enforces_walltimes = True
        """Whether jobs are asked to end when their walltime is over. False while the caller may not
        know yet which jobs have ended: what happened comes before what a clock says."""

    def run(self, now: int, most: int | None = None) -> bool:
        """Decide; True if the cycle stopped after `most` starts, and there may be more."""
        core, self._left = self._core, _NO_LIMIT if most is None else most
        core.records.next_step()
        self.pass_time(now)
        self._review.run(now)
        self._builder.bring_up_to_date(now)
        for line in core.lines.values():
            line.refresh(now)
        for number in range(_ROUNDS):
            if not self._visit_queues(now, first=not number):
                return True
            # A job that starts may make others eligible, one that loses its promise frees capacity,
            # and one may be promised a start at this very moment.
            came = any(job.id in core.lines[job.queue] for job in core.newcomers)
            if not (core.may_improve or came or self._promises.is_due(now)):
                break
        return False

    def _visit_queues(self, now: int, *, first: bool) -> bool:
        """Visit all queues; False if that stopped early."""
        core = self._core
        if core.take_gained():
            self._promises.move_earlier(now, all=not first)
        self._start_due(now)
        core.newcomers.clear()
        going = (queue for queue in self._queues if not core.is_stopped(queue.name))
        return all(self._visit(queue, now) for queue in going)

    # -- time ----------------------------------------------------------------------------------

    def pass_time(self, now: int) -> None:
        """Apply what time alone changes: begin times, ends of windows, expired walltimes."""
        core = self._core
        core.capacity.advance(now)
        self._gate.wake(now)
        self._close_windows(now)
        overdue = core.capacity.overdue()
        if not overdue:
            return
        for id in overdue:
            self._overrun(core.records.jobs[id], now)
        reason = Reason.of(Message.OVERRAN, jobs=tuple(map(JobRef, overdue[:_NAMED_OVERDUE])))
        if core.needs_relayout:
            # The plan is about to be rebuilt, and promises are put back then.
            core.add_relayout_reason(reason)
        else:
            self._promises.keep_all(now, reason)

    def _overrun(self, job: QueueJob, now: int) -> None:
        """The walltime of a job is over, or the time in which it should have ended."""
        grace = 0
        if self.enforces_walltimes:
            grace = self._core.queues[job.queue].grace
            if job.state is not JobState.ENDING:
                reason = Reason.of(Message.WALLTIME_OVER, walltime=job.walltime or 0)
                self._transitions.holding_to_ending(job, now, EndCause.TIMED_OUT, reason)
        self._transitions.expect(job, now + max(1, grace))

    def _close_windows(self, now: int) -> None:
        core = self._core
        for name in [w.name for w in core.windows.values() if w.end <= now]:
            core.remove_window(name)
            self._gate.close(name, now)
            core.request_relayout(Reason.of(Message.WINDOW_OVER, name=name))

    # -- promises whose time has come ----------------------------------------------------------

    def _start_due(self, now: int) -> None:
        for job in self._promises.due(now):
            if self._core.is_stopped(job.queue):
                self._promises.drop(job, now, Reason.of(Message.QUEUE_STOPPED, queue=job.queue))
                continue
            stopped = self._gate.stops(job, now)
            if stopped:
                self._promises.drop(job, now, stopped)
                continue
            self._start_promised(job, now)

    def _start_promised(self, job: QueueJob, now: int) -> None:
        core = self._core
        booking = core.capacity.unbook(job.id)
        assert booking is not None  # noqa: S101 - it was due
        request = self._best_size(job, booking.request)
        found = core.capacity.find_now(request, core.duration(job))
        if found is None:
            request, found = booking.request, core.capacity.place_kept(booking)
        if found is not None:
            self._start(job, request, found, now, backfilled=self._overtakes(job))
            return
        # Only a wrong plan leads here; the promise is moved, and the reason recorded.
        core.capacity.rebook(job.id, booking)
        self._promises.keep_all(now, Reason.of(Message.NOT_FREE_WHEN_DUE))

    def _overtakes(self, job: QueueJob) -> bool:
        return self._core.lines[job.queue].place(job.id) > 0

    # -- visiting ------------------------------------------------------------------------------

    def _visit(self, queue: QueueConfig, now: int) -> bool:
        """Visit the eligible jobs of one queue in order; False if that stopped early.

        A visit stops early only if all of its jobs have started so far and no job has a booking:
        then the next cycle continues with the next job, and decides as if there had been no stop.
        """
        promised, seen, waiting = 0, 0, False
        limit, depth = queue.promises, queue.depth
        is_fcfs = queue.policy is BackfillPolicy.FCFS
        limited = self._gate.limits(queue.name)
        for job in self._core.lines[queue.name].in_order():
            if seen == depth:
                break
            if self._left <= 0 and not waiting and not self._core.capacity.bookings:
                return False
            if limited and self._is_skipped(job, now):
                continue
            seen += 1
            if job.plan is not None:
                promised += 1
                if queue.preempts and self._preemption.preempt_for(job, now):
                    self._promises.promise_or_improve(job, now)
            elif limit is None or promised < limit:
                if self._start_or_promise(job, now, waiting):
                    continue
                promised += 1
            elif not self._is_refused(job) and self._try_start(job, now, waiting):
                continue
            waiting = True
            if is_fcfs:
                break
        return True

    def _is_skipped(self, job: QueueJob, now: int) -> bool:
        stopped = self._gate.stops(job, now)
        if stopped and job.id in self._core.capacity.bookings:
            self._promises.drop(job, now, stopped)
        return bool(stopped)

    def _start_or_promise(self, job: QueueJob, now: int, waiting: bool) -> bool:
        """Start a job that may be promised a start, or promise it one; True: it started."""
        core = self._core
        withdrawn = self._promises.withdraw_overtaken(job)
        if withdrawn:
            core.resources_freed(unplanned=False)
        started = self._try_start(job, now, waiting)
        if not started and self._preemption.preempt_for(job, now):
            self._promises.retry_unplannable()
            self._promises.promise_or_improve(job, now)
        elif not started and job.id not in core.capacity.bookings:
            self._promises.promise_or_improve(job, now)
        if withdrawn:
            self._promises.put_back(
                withdrawn, now, Reason.of(Message.ORDERED_BEFORE, job=JobRef(job.id))
            )
        return started

    def _try_start(self, job: QueueJob, now: int, waiting: bool) -> bool:
        """Start a job if it fits now; of an array, as many tasks as fit.

        False: it waits for capacity. An array that a limit stops after some tasks does not.
        """
        if job.submission.array is None:
            return self._try_start_one(job, now, waiting)
        line = self._core.lines[job.queue]
        while job.id in line:
            if self._gate.stops(job, now):
                break
            if not self._try_start_one(job, now, waiting):
                return False
        return True

    def _is_refused(self, job: QueueJob) -> bool:
        """Whether the same request was refused for no longer a time and nothing was freed since."""
        if self._core.take_freed():
            self._refused.clear()
            self._promises.retry_unplannable()
        shortest = self._refused.get(self._requests[job.submission.id])
        return shortest is not None and (job.walltime is None or job.walltime >= shortest)

    def _try_start_one(self, job: QueueJob, now: int, waiting: bool) -> bool:
        if self._is_refused(job):
            return False
        core = self._core
        request, duration = core.records.requests[job.id], core.duration(job)
        claim = core.capacity.unbook(job.id)
        found, request = self._find(job, request, duration)
        if found is None:
            # A reservation opens without anything being freed: jobs in one are always tried.
            if request.window is None:
                self._refused[request] = core.capacity.refused_for(request, duration)
            if claim is not None:
                core.capacity.rebook(job.id, claim)
            return False
        self._start(job, request, found, now, backfilled=waiting)
        return True

    def _find(
        self, job: QueueJob, request: PlanRequest, duration: int
    ) -> tuple[Candidate | None, PlanRequest]:
        capacity = self._core.capacity
        if not capacity.could_fit_now(request, duration):
            return None, request
        sized = self._best_size(job, request)
        found = capacity.find_now(sized, duration)
        if found is None and capacity.bookings:
            found = capacity.start_by_moving_bookings(self._next_id(job), sized, duration)
        return found, (sized if found is not None else request)

    def _best_size(self, job: QueueJob, request: PlanRequest) -> PlanRequest:
        """The largest size of an elastic job that fits now; its minimum if none does."""
        if request.elastic is None:
            return request
        capacity, duration = self._core.capacity, self._core.duration(job)
        most = self._gate.largest(job, request, request.elastic.max, capacity.now)
        return request.sized(capacity.largest_now(request, duration, most) or request.elastic.min)

    # -- starting ------------------------------------------------------------------------------

    def _next_id(self, job: QueueJob) -> int:
        """The id under which a job holds resources: tasks of an array have their own."""
        if job.submission.array is None:
            return job.id
        return job.id + 1 + job.tasks_started

    def _start(
        self, job: QueueJob, request: PlanRequest, found: Candidate, now: int, *, backfilled: bool
    ) -> None:
        if job.submission.array is not None:
            job = self._create_task(job, now)
        job.backfilled = backfilled
        self._left -= 1
        reason = _BACKFILLED if backfilled else None
        self._transitions.pending_to_allocated(job, request, found, now, reason)

    def _create_task(self, array: QueueJob, now: int) -> QueueJob:
        """The next task of an array, as a job of its own."""
        core = self._core
        records = core.records
        id, index = self._next_id(array), array.tasks_started
        if array.plan is not None:
            core.set_plan(array, None)
        spec = replace(array.submission, id=id, array=None, dependencies=(), begin=None)
        task = QueueJob(
            spec,
            JobState.PENDING,
            submitted=array.submitted,
            arrival=array.arrival,
            queue=array.queue,
            priority=array.priority,
            walltime=array.walltime,
            ranked=array.ranked,
            eligible=array.eligible,
            parent=array.id,
            index=index,
        )
        array.tasks_started += 1
        records.children[array.id].add(id)
        records.touch(array)
        core.add_request(id, records.requests[array.id])
        self._transitions.nowhere_to_pending(
            task, now, Reason.of(Message.ARRAY_TASK, index=index, array=array.id)
        )
        return task

    # -- when to look again --------------------------------------------------------------------

    def next_wake(self, now: int) -> int | None:
        """The next time at which a decision is due, if no event comes before."""
        core = self._core
        times = [self._promises.next_due(), self._gate.next_begin(), core.capacity.next_end()]
        times += [t for w in core.windows.values() for t in (w.start, w.end)]
        times += self._preemption.next_chances()
        if self._review.is_unfinished:
            times.append(now + 1)
        if core.budgets:
            times.append(core.budgets.next_period(now))
        return min((t for t in times if t is not None and t > now), default=None)
