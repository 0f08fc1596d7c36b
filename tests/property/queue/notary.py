"""What was promised to whom, and that it was kept.

The notary reads what the queue wrote down, and nothing else: `planned` and `unplanned` lines, and
the starts. A promise may move earlier at any time. It may move later, or be taken back, only for
a reason that is written beside it, is one of four kinds, and is true:

- a job ordered before it came, was let go, was changed, or went back to the queue;
- nodes were lost or closed, or foreign pods took capacity of them;
- a maintenance window was set;
- a job was still there after it should have been gone.

A promise that was not moved is kept: the job starts at its time or before.
"""

from __future__ import annotations

from collections import Counter

from fluxnetes.common.reasons import JobRef, Message, Reason, ReasonCode
from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.events import Maintain, NodesClosed, NodesLost, Occupied
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, JobState
from tests.property.queue.world import Step, World

_NEVER = 2**62


class Notary:
    """Remembers all promises."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.promised: dict[int, int] = {}
        self.moved_later = 0
        self._state: dict[int, JobState | None] = {}
        self._ends: Counter[int] = Counter()

    def check(self, step: Step) -> None:
        for changes in step.changes:
            for event in changes.events:
                self._read(event, step)
        for job in self._world.scheduler.jobs.values():
            self._check_open_promise(job)

    def check_that_all_ended_once(self) -> None:
        assert set(self._world.ids) <= set(self._ends)
        assert set(self._ends.values()) <= {1}, f"ends: {self._ends}"

    def _read(self, event: JobEvent, step: Step) -> None:
        assert event.at == step.now
        match event.kind:
            case "planned":
                self._planned(event, step)
            case "unplanned":
                self._unplanned(event, step)
            case "transition":
                self._transition(event)

    # -- promises ------------------------------------------------------------------------------

    def _planned(self, event: JobEvent, step: Step) -> None:
        assert event.start is not None
        assert event.start >= step.now, f"a promise in the past: {event}"
        before = self.promised.get(event.job, _NEVER)
        assert event.start != before, f"a plan that did not change was written down: {event}"
        if event.start > before:
            self._check_reason(event, step)
            self.moved_later += 1
        self.promised[event.job] = event.start

    def _unplanned(self, event: JobEvent, step: Step) -> None:
        """Nothing is promised any more; at a job's own wish, or for one of the four reasons."""
        assert event.job in self.promised, f"what was not promised was taken back: {event}"
        if event.reason is None or event.reason.code is not ReasonCode.ALTERED:
            self._check_reason(event, step)
        del self.promised[event.job]

    def _check_open_promise(self, job: QueueJob) -> None:
        start = job.plan.start if job.plan is not None else None
        assert start == self.promised.get(job.id), f"job {job.id}: {job.plan} is not written down"
        assert start is None or start > self._world.now, f"job {job.id} was due at {start}"

    # -- lives ---------------------------------------------------------------------------------

    def _transition(self, event: JobEvent) -> None:
        assert event.before == self._state.get(event.job), f"the story has a gap: {event}"
        assert event.after is not None
        self._state[event.job] = event.after
        job = event.job
        if event.before is None:
            # What an array was promised is used up by its next task.
            job = self._world.job(job).parent or job
        promised = self.promised.pop(job, _NEVER)
        if event.after is JobState.ALLOCATED or job != event.job:
            assert event.at <= promised, f"job {event.job} was promised {promised}: {event}"
        self._ends[event.job] += event.after in ENDED

    # -- reasons -------------------------------------------------------------------------------

    def _check_reason(self, event: JobEvent, step: Step) -> None:
        """Several things may have come together; all stated must be true, and one must count."""
        assert event.reason is not None, f"moved later without a reason: {event}"
        counts = [self._counts(part, event, step) for part in _parts(event.reason)]
        assert any(counts), f"moved later without a reason that counts: {event}"

    def _counts(self, reason: Reason, event: JobEvent, step: Step) -> bool:
        """Whether a promise may be moved for this; fails if it is not true."""
        match reason:
            case Reason(Message.ORDERED_BEFORE, ((_, JobRef(job)),)):
                assert self._is_before(job, event.job), event
            case Reason(Message.OVERRAN, ((_, tuple() as jobs),)):
                for job in jobs:
                    assert isinstance(job, JobRef)
                    self._check_overrun(job.id)
            case Reason(Message.NODES_LOST):
                assert step.has(NodesLost), event
            case Reason(Message.NODES_CLOSED):
                assert step.has(NodesClosed), event
            case Reason(Message.FOREIGN_MORE):
                assert step.has(Occupied), event
            case Reason(Message.MAINTENANCE):
                assert step.has(Maintain), event
            case _:
                return False
        return True

    def _is_before(self, one: int, other: int) -> bool:
        return self._place(self._world.job(one)) < self._place(self._world.job(other))

    def _place(self, job: QueueJob) -> tuple[int, str, int, int, int]:
        queue = next(q for q in self._world.config.queues if q.name == job.queue)
        return (-queue.priority, queue.name, -job.submission.job_class, job.arrival, job.id)

    def _check_overrun(self, id: int) -> None:
        """This job is there, and should not be any more."""
        assert id in self._world.present or self._ends[id], f"job {id} is not there"
        assert self._state[id] is JobState.ENDING or self._ends[id], f"job {id} may still be there"


def _parts(reason: Reason) -> list[Reason]:
    """A reason and, if it is made of several, each of them."""
    match reason:
        case Reason(Message.SEVERAL, ((_, tuple() as several),)):
            return [part for each in several if isinstance(each, Reason) for part in _parts(each)]
        case _:
            return [reason]
