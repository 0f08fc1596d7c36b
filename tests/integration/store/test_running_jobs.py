"""Jobs that run are written down as they are, wherever they came from and wherever they went."""

from __future__ import annotations

import numpy as np

from fluxnetes.graph.pools import pool_graph
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Adopt, Event, NodesClosed, Reseat, Submit, TasksEnded
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from fluxnetes.store.store import open_store


def gang(count: int, cpu: int) -> Gang:
    return Gang((Shape.of(count, {"cpu": cpu}),))


async def test_jobs_that_were_found_moved_or_shrank_go_on_as_they_are(dsn: str) -> None:
    graph = pool_graph({f"n{number}": {"cpu": 8} for number in range(5)})
    queue = Scheduler(Matcher(graph, policy="low"), validate=True)
    found = Submission(7, gang(2, 6), walltime=60, workload="Job/lab/sweep/1")
    moved = Submission(8, gang(3, 8), walltime=60)
    stories: list[tuple[Event, ...]] = [
        (Adopt(found, 3, ("n0", "n0")),),
        (Submit(moved),),
        (NodesClosed(("n1",)), TasksEnded(8, (2,)), Reseat(8, (0,))),
    ]
    async with open_store(dsn) as store:
        lease = await store.take("test")
        assert lease is not None
        await store.load()
        await store.keep_system(graph, SchedulerConfig(), lease.fence)
        for events in stories:
            for event in events:
                queue.apply(event, 10)
            queue.cycle(10)
            await store.commit(queue.take_changes(), lease.fence)
        snapshot = await store.load()
    first, second = snapshot.allocations
    assert [graph.name(row) for row in first.task_nodes(graph)] == ["n0", "n0"]
    assert [graph.name(row) for row in second.task_nodes(graph)] == ["n3", "n2", "n3"]
    assert second.ended_tasks == {2}
    assert (first.start, first.end) == (3, 63)
    resumed = Scheduler.resume(Matcher(graph, policy="low"), None, snapshot, now=20, validate=True)
    assert [resumed.job(id).state for id in (7, 8)] == [JobState.RUNNING, JobState.ALLOCATED]
    resumed.apply(Reseat(7, (1,)), 20)
    moved_again = resumed.take_changes().allocations[7]
    assert moved_again is not None
    assert graph.names(np.array(moved_again.tasks)) == ["n0", "n4"]
