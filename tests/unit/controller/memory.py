"""A store in memory, with what the controller asks of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fluxnetes.cluster.groups import GroupKey
from fluxnetes.controller.state import WorkloadName
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Allocation, Changes, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import Origin, QueueJob
from fluxnetes.queue.states import ENDED
from fluxnetes.store.system import StoredSystem
from tests.unit.queue.keeper import Keeper
from tests.unit.store.systems import read_back


class Memory:
    """Keeps what a database would. `before_commit` may fail, or let something happen meanwhile."""

    def __init__(self) -> None:
        self.keeper = Keeper()
        self.before_commit: Callable[[], None] = lambda: None
        self.after_commit: Callable[[], None] = lambda: None
        self._system: StoredSystem | None = None

    async def load(self) -> Snapshot:
        return self.keeper.snapshot()

    async def system(self) -> StoredSystem | None:
        return self._system

    async def ended(self, workloads: Iterable[str]) -> dict[str, QueueJob]:
        wanted = set(workloads)
        jobs = sorted(self.keeper.jobs.values(), key=lambda job: job.id)
        return {
            job.submission.workload: job
            for job in jobs
            if job.state in ENDED and job.submission.workload in wanted
        }

    async def last_jobs(self, names: Iterable[WorkloadName]) -> dict[WorkloadName, int]:
        last: dict[WorkloadName, int] = {}
        for job in sorted(self.keeper.jobs.values(), key=lambda job: job.id):
            if job.submission.origin is Origin.CLUSTER:
                last[GroupKey.of(job.submission.workload)[:3]] = job.id
        return {name: last[name] for name in names if name in last}

    async def commit(self, changes: Changes, fence: int) -> None:
        self.before_commit()
        self.keeper.fold(changes)
        self.after_commit()

    async def keep_system(
        self,
        graph: ResourceGraph,
        config: SchedulerConfig,
        fence: int,
        allocations: Iterable[Allocation] = (),
        stored: StoredSystem | None = None,
    ) -> None:
        self._system = read_back(graph, config)
        self.keeper.fold(Changes(allocations={each.job: each for each in allocations}))
