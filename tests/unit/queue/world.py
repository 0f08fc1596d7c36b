"""A queue, a clock, and a cluster that carries out every decision.

    world = World(machine(4))
    head = world.submit(a_job(nodes=4).lasting(60))
    world.go_to(60)
    assert world.state(head) is State.COMPLETED

After everything that happens the queue decides, what changed is written down, and what was
allocated runs at once. A job leaves by itself when its walltime is over, unless it `stays`; one
that was asked to end leaves when the test says so. Time passes only in `go_to`, which wakes the
queue whenever it asked for it. Every promise is watched: one that moves later without a reason, or
is not kept, fails the test.

Whatever a test asks of jobs is read from what was written down, not from the queue's own memory.

Every test runs in several *ways*, which must make no difference: planning by counting, planning by
rows, and with a queue that is killed after every step and goes on from what was written down.
"""

from __future__ import annotations

import enum
from dataclasses import replace

from fluxnetes.common.reasons import ReasonCode
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Changes, JobEvent
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.events import Event as Happening
from fluxnetes.queue.explain import Explanation
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe
from tests.unit.queue.keeper import Keeper
from tests.unit.queue.watch import Watch


class Way(enum.Enum):
    """How the queue is run."""

    COUNTING = "by counting where it can"
    ROWS = "by rows"
    RESTARTED = "restarted at every step"
    RESTARTED_ROWS = "by rows, restarted at every step"

    @property
    def counts(self) -> bool:
        return self in (Way.COUNTING, Way.RESTARTED)

    @property
    def restarts(self) -> bool:
        return self in (Way.RESTARTED, Way.RESTARTED_ROWS)


class World:
    """See the module's docstring."""

    way = Way.COUNTING

    def __init__(
        self,
        graph: ResourceGraph,
        *queues: QueueConfig,
        config: SchedulerConfig | None = None,
        way: Way | None = None,
    ) -> None:
        self.now = 0
        self.way = way or self.way
        self.graph = graph
        self.carries_out = True
        """Whether what is allocated runs at once."""
        config = config or SchedulerConfig()
        self._config = replace(config, queues=queues) if queues else config
        self.keeper = Keeper()
        self._watch = Watch()
        self._next_id = 1
        self._staying: set[int] = set()
        self.matcher = Matcher(graph, policy="low")
        counts = self.way.counts
        self.queue = Scheduler(self.matcher, self._config, validate=True, count=counts)

    # -- what happens --------------------------------------------------------------------------

    def submit(self, job: JobToBe) -> int:
        return self.submit_together(job)[0]

    def submit_together(self, *jobs: JobToBe) -> list[int]:
        """Several jobs come before the queue decides."""
        ids = [self._take_id(job) for job in jobs]
        specs = [replace(job.spec, id=id) for job, id in zip(jobs, ids, strict=True)]
        self.tell(*(Submit(spec) for spec in specs))
        return ids

    def _take_id(self, job: JobToBe) -> int:
        array = job.spec.array
        id = self._next_id
        self._next_id += 1 + (array.tasks if array is not None else 0)
        return id

    def tell(self, *events: Happening) -> None:
        """Something happens, and the queue decides."""
        for event in events:
            self.queue.apply(event, self.now)
        self.decide()

    def end(self, *jobs: int, ok: bool = True) -> None:
        """Jobs are gone from their nodes."""
        self.tell(*(Ended(job, ok) for job in jobs))

    def stays(self, *jobs: int) -> None:
        """Jobs do not leave by themselves, whatever their walltime."""
        self._staying.update(jobs)

    def decide(self) -> None:
        self.queue.cycle(self.now)
        self._write_down()
        if self.carries_out:
            self._carry_out()
        if self.way.restarts:
            self.restart()
        else:
            self._check_that_all_is_decided()

    def _check_that_all_is_decided(self) -> None:
        """Deciding again when nothing has happened changes nothing, and writes nothing."""
        self.queue.cycle(self.now)
        changes = self._write_down()
        assert not changes, f"nothing happened, and the queue changed its mind: {changes}"

    def _carry_out(self) -> None:
        for id, job in list(self.queue.jobs.items()):
            if job.state is JobState.ALLOCATED:
                self.queue.apply(Started(id), self.now)
        self._write_down()

    def _write_down(self) -> Changes:
        changes = self.queue.take_changes()
        self.keeper.fold(changes)
        self._watch.see(changes.events, self.keeper.jobs)
        return changes

    def restart(self) -> None:
        """The queue is killed, and another one goes on."""
        self.matcher = Matcher(self.graph, policy="low")
        self.queue = Scheduler.resume(
            self.matcher,
            self._config,
            self.keeper.snapshot(),
            now=self.now,
            validate=True,
            count=self.way.counts,
        )

    # -- time ----------------------------------------------------------------------------------

    def go_to(self, time: int) -> None:
        """Let time pass."""
        while (instant := self._next_instant()) is not None and instant <= time:
            self._arrive_at(instant)
        if time > self.now:
            self._arrive_at(time)

    def _next_instant(self) -> int | None:
        times = [j.deadline for j in self._leaving() if j.deadline is not None]
        wake = self.queue.next_wake(self.now)
        return min([*times, *([wake] if wake is not None else [])], default=None)

    def _arrive_at(self, instant: int) -> None:
        self.now = instant
        over = [j.id for j in self._leaving() if j.deadline is not None and j.deadline <= instant]
        self.tell(*(Ended(job) for job in over))

    def _leaving(self) -> list[QueueJob]:
        """Jobs that will end by themselves."""
        return [
            job
            for job in self.keeper.jobs.values()
            if job.state is JobState.RUNNING and job.id not in self._staying
        ]

    # -- looking -------------------------------------------------------------------------------

    def job(self, id: int) -> QueueJob:
        return self.keeper.jobs[id]

    def state(self, id: int) -> JobState:
        return self.job(id).state

    def states(self, *ids: int) -> list[JobState]:
        return [self.state(id) for id in ids]

    def start(self, id: int) -> int | None:
        """When a job started, the last time; None: it did not."""
        return self.job(id).start

    def starts(self, *ids: int) -> list[int | None]:
        return [self.start(id) for id in ids]

    def plan(self, id: int) -> int | None:
        """When a job that waits is promised to start; None: it is promised nothing."""
        plan = self.job(id).plan
        return None if plan is None else plan.start

    def plans(self, *ids: int) -> list[int | None]:
        return [self.plan(id) for id in ids]

    def explain(self, id: int) -> Explanation:
        self._check_that_all_is_decided()
        return self.queue.explain(id, self.now)

    def is_set_aside(self, id: int) -> bool:
        """Whether a job waits for something that can serve it, in no line and without a promise."""
        explained = self.explain(id)
        code = explained.reason.code if explained.reason is not None else None
        is_waiting = (explained.state, code) == (JobState.PENDING, ReasonCode.UNSATISFIABLE)
        return is_waiting and (explained.place, explained.until) == (None, None)

    def why(self, id: int) -> str:
        return reason_text(self.explain(id).reason)

    def story(self, id: int) -> list[JobEvent]:
        return [event for event in self.keeper.events if event.job == id]

    def promised(self, id: int) -> list[int | None]:
        """Every start that a job was ever promised, in order; None where it lost its promise."""
        kinds = ("planned", "unplanned")
        return [event.start for event in self.story(id) if event.kind in kinds]

    def nodes(self, id: int) -> list[str]:
        """The nodes that a job has something of, in order."""
        allocation = self.keeper.allocation(id)
        rows = [] if allocation is None else allocation.placement.vertex.tolist()
        graph = self.graph
        return sorted(graph.name(row) for row in rows if graph.type_name(row) == "node")

    def holds(self, id: int) -> dict[str, int]:
        """What a job holds for itself, by type."""
        allocation = self.keeper.allocation(id)
        amounts: dict[str, int] = {}
        if allocation is None:
            return amounts
        mine = allocation.placement.exclusive
        rows = allocation.placement.vertex[mine].tolist()
        for row, needs in zip(rows, allocation.placement.needs[mine].tolist(), strict=True):
            type = self.graph.type_name(row)
            amounts[type] = amounts.get(type, 0) + needs
        return amounts
