"""A queue at work on a small cluster, as a snapshot that a forecast can go on from."""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Changes, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Event, Started, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.simulate.cluster import SimulatedCluster, uniform_cluster
from fluxnetes.simulate.policies import parse_policy
from tests.unit.queue.keeper import Keeper

NOW = 1000
CLUSTER = uniform_cluster(4, 1)


def job(id: int, size: int, walltime: int | None, **more: object) -> Submission:
    return Submission(id, CLUSTER.request(size), walltime, **more)  # type: ignore[arg-type]


# One runs on three of four nodes until 1100; the next needs all of them. The third passes it, on
# the fourth node until 1060; the last would be in its way if it started then.
RUNNING, HEAD, PASSING, LONG = job(1, 3, 100), job(2, 4, 50), job(3, 1, 60), job(4, 1, 90)


def changes_of(
    *submissions: Submission,
    cluster: SimulatedCluster = CLUSTER,
    then: Mapping[int, Event] | None = None,
) -> list[Changes]:
    """What a queue under easy writes down when these jobs come at once, and later more happens."""
    scheduler = Scheduler(
        Matcher(cluster.graph, policy="lonode"),
        SchedulerConfig(queues=(parse_policy("easy"),)),
        now=NOW,
    )
    for submission in submissions:
        scheduler.apply(Submit(submission), NOW)
    scheduler.cycle(NOW)
    found = [scheduler.take_changes()]
    for id in found[0].allocations:
        scheduler.apply(Started(id), NOW)
    for at, event in (then or {}).items():
        scheduler.apply(event, at)
        scheduler.cycle(at)
    return [*found, scheduler.take_changes()]


def snapshot_of(*submissions: Submission) -> Snapshot:
    keeper = Keeper()
    for changes in changes_of(*submissions):
        keeper.fold(changes)
    return keeper.snapshot()
