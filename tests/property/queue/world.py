"""A small cluster with a clock, on which the queue's decisions are carried out.

The queue receives what happens as events and decides; the world carries its decisions out and knows
the truth: which jobs are on which vertices until they are really gone, which nodes are down, and
what others hold. It is read from the decisions of the queue, not from its bookkeeping, and so can
be compared with that.

At one instant jobs leave first, then happens what the script says, then the queue decides once. A
job that starts stays for its run time, or until it was asked to end and had its time to leave. Then
the clock jumps to the next instant at which anything happens, or the queue wants to be woken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from fluxnetes.common.reasons import Reason, ReasonCode
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Changes, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import (
    Cancel,
    Ended,
    Event,
    NodesBack,
    NodesClosed,
    NodesLost,
    NodesOpened,
    Occupied,
    Returned,
    Started,
)
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import ENDED, JobState
from tests.property.queue.story import Fate, Script

MATCH_POLICY = "lonode"
MOST_INSTANTS = 2_000
"""Limit of the instants of a story: one that takes more goes in a circle."""


@dataclass(frozen=True)
class Presence:
    """A job that is on its vertices, and has been since it started."""

    start: int
    placement: Placement


@dataclass
class Step:
    """One instant: what happened, and what the queue made of it."""

    now: int
    happened: list[Event] = field(default_factory=list)
    """Without what the queue refused."""
    changes: list[Changes] = field(default_factory=list)
    started: list[int] = field(default_factory=list)

    def has(self, *kinds: type) -> bool:
        return any(isinstance(event, kinds) for event in self.happened)


class World:
    """A cluster, its queue, and the truth."""

    def __init__(
        self,
        build: Callable[[], ResourceGraph],
        config: SchedulerConfig,
        script: Script,
        *,
        count: bool = True,
        most: int | None = None,
    ) -> None:
        """`most`: no more than so many start at a time, and the queue is asked again at once."""
        self.build = build
        self.most = most
        self.config = config
        self.count = count
        self.fates = script.fates
        self.now = 0
        self.present: dict[int, Presence] = {}
        self.down: set[str] = set()
        self.closed: set[str] = set()
        self.others: dict[str, Mapping[str, int]] = {}
        """What others hold, by node and type."""
        self._acts = sorted(script.acts, key=lambda act: act.at)
        self._leaves: dict[int, int] = {}
        """When the jobs that are there will be gone."""
        self._balked: dict[int, int] = {}
        self.graph = build()
        matcher = Matcher(self.graph, policy=MATCH_POLICY)
        self.scheduler = Scheduler(matcher, config, validate=True, count=count)

    # -- the clock -----------------------------------------------------------------------------

    def steps(self) -> Iterator[Step]:
        """Let time pass until nothing is left to happen."""
        for _ in range(MOST_INSTANTS):
            instant = self._next_instant()
            if instant is None:
                break
            assert instant >= self.now, "time runs backwards"
            self.now = instant
            yield self._live_through()
        if hopeless := self._hopeless():
            yield self._give_up(hopeless)
        alive = [job for job in self.scheduler.jobs.values() if job.state not in ENDED]
        assert not alive, f"waits for ever: {self.scheduler.explain(alive[0].id, self.now)}"

    def run(self) -> None:
        for _ in self.steps():
            pass

    def _hopeless(self) -> list[int]:
        """Jobs that nothing can serve; no nodes will come, and so they are cancelled in the end."""
        found = []
        for job in self.scheduler.jobs.values():
            reason = self.scheduler.explain(job.id, self.now).reason
            if job.state is JobState.PENDING and reason is not None:
                found += [job.id] if reason.code is ReasonCode.UNSATISFIABLE else []
        return found

    def _give_up(self, jobs: list[int]) -> Step:
        step = Step(self.now)
        for job in jobs:
            self._tell(Cancel(job), step)
        return step

    def _next_instant(self) -> int | None:
        times = [*self._leaves.values(), *(act.at for act in self._acts[:1])]
        wake = self.scheduler.next_wake(self.now)
        if wake is not None:
            assert wake > self.now, "the queue asks to be woken at once"
            times.append(wake)
        return min(times, default=None)

    # -- one instant ---------------------------------------------------------------------------

    def _live_through(self) -> Step:
        step = Step(self.now)
        for job in sorted(job for job, at in self._leaves.items() if at == self.now):
            self._leave(job, step)
        while self._acts and self._acts[0].at == self.now:
            self._tell(self._acts.pop(0).event, step)
        while self.scheduler.cycle(self.now, self.most):
            pass
        self._see(step)
        for job in step.started:
            self._carry_out(job, step)
        return step

    def _leave(self, job: int, step: Step) -> None:
        fate = self._fate(job)
        del self._leaves[job], self.present[job]
        if self._balked.get(job, 0) < fate.balks and self.job(job).state is JobState.ALLOCATED:
            self._balked[job] = self._balked.get(job, 0) + 1
            self._tell(Returned(job, Reason.from_text("it could not be bound")), step)
        else:
            self._tell(Ended(job, fate.ok), step)

    def _tell(self, event: Event, step: Step) -> None:
        try:
            self.scheduler.apply(event, self.now)
        except QueueError:
            # The script knows nothing of states, and so asks for what cannot be. Time, and what
            # happened before, may have come into effect by being asked; this event must not.
            self._see(step)
            changes = step.changes[-1]
            assert all(line.kind != "altered" for line in changes.events), f"refused: {event}"
            assert not any(changes.windows.values()), f"refused: {event}"
            return
        step.happened.append(event)
        if isinstance(event, NodesLost):
            self.down |= set(event.nodes)
        elif isinstance(event, NodesBack):
            self.down -= set(event.nodes)
        elif isinstance(event, NodesClosed):
            self.closed |= set(event.nodes)
        elif isinstance(event, NodesOpened):
            self.closed -= set(event.nodes)
        elif isinstance(event, Occupied):
            self.others |= event.nodes
        self._see(step)

    def _see(self, step: Step) -> None:
        """Look at what the queue decided."""
        changes = self.scheduler.take_changes()
        step.changes.append(changes)
        for event in changes.events:
            if event.after is JobState.ALLOCATED:
                step.started.append(event.job)
            elif event.after is JobState.ENDING:
                gone = self.now + self._fate(event.job).leaves
                self._leaves[event.job] = min(gone, self._leaves.get(event.job, gone))
            elif event.after in ENDED and event.job in self.present:
                # Its last task ended, and so did the job.
                del self.present[event.job], self._leaves[event.job]
        for job, allocation in changes.allocations.items():
            if allocation is not None and job in self.present:
                # It grew, or some of its tasks are gone.
                self.present[job] = replace(self.present[job], placement=allocation.placement)

    def _fate(self, job: int) -> Fate:
        """Tasks of an array share its fate."""
        parent = self.job(job).parent
        return self.fates[job if parent is None else parent]

    def _carry_out(self, job: int, step: Step) -> None:
        allocation = next(
            found for changes in step.changes if (found := changes.allocations.get(job)) is not None
        )
        assert job not in self.present, f"job {job} starts and is there already"
        self.present[job] = Presence(self.now, allocation.placement)
        fate = self._fate(job)
        if self._balked.get(job, 0) < fate.balks:
            self._leaves[job] = self.now + 1
            return
        self._leaves[job] = self.now + fate.runtime
        self._tell(Started(job), step)

    # -- looking -------------------------------------------------------------------------------

    def job(self, id: int) -> QueueJob:
        return self.scheduler.job(id)

    @property
    def ids(self) -> list[int]:
        """The jobs that ever come, in order of their numbers; without tasks of arrays."""
        return sorted(self.fates)

    def held_by_others(self) -> dict[int, int]:
        """What others hold of each pool, by row of the graph."""
        graph = self.graph
        edges = zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)
        pools = [(node, pool) for node, pool in edges if graph.divisible[pool]]
        return {
            pool: self.others.get(graph.name(node), {}).get(graph.type_name(pool), 0)
            for node, pool in pools
        }

    # -- starting again ------------------------------------------------------------------------

    def restart(self, snapshot: Snapshot) -> None:
        """The queue is gone; another one goes on from what was written down."""
        self.graph = self.build()
        for row in range(self.graph.vertex_count):
            self.graph.set_status(row, self.graph.name(row) not in self.down)
            self.graph.set_closed(row, self.graph.name(row) in self.closed)
        for row, amount in self.held_by_others().items():
            self.graph.set_occupied(row, amount)
        matcher = Matcher(self.graph, policy=MATCH_POLICY)
        self.scheduler = Scheduler.resume(
            matcher, self.config, snapshot, now=self.now, validate=True, count=self.count
        )
