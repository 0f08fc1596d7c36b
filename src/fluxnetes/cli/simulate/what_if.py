"""`fluxnetes simulate --from-store`: today's queue, run ahead in several scenarios.

The store says which cluster the queue is on and how its queues are set up. Another cluster can be
given: what jobs hold is found on it by path.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from fluxnetes.cli.simulate.options import SimulateOptions
from fluxnetes.cli.simulate.outputs import OUTPUT, write_file
from fluxnetes.cli.simulate.show import print_outlook
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.simulate.cluster import SimulatedCluster, survey
from fluxnetes.simulate.document import write_forecasts
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.forecast import look_ahead, scenarios, with_policy, with_queues_of
from fluxnetes.simulate.policies import parse_policy
from fluxnetes.store.errors import StoreError
from fluxnetes.store.store import open_store
from fluxnetes.store.system import StoredSystem
from fluxnetes.store.translate import translate

TODAY = "today"
_WITHOUT_SYSTEM = "easy"
_NAMED = 5
"""How many jobs a complaint names."""


def run_what_if(options: SimulateOptions, cluster: SimulatedCluster | None) -> None:
    """Read the queue, run it ahead, and write down what changes."""
    policies = {name: parse_policy(name) for name in options.policies}
    snapshot, system = _load(options.dsn)
    cluster = cluster or _own_cluster(system)
    snapshot = _on(cluster, snapshot, system)
    configs = _configs(policies, snapshot, system)
    now = int(time.time()) if options.now is None else options.now
    job = _one_more(options.add_job, cluster, snapshot, next(iter(configs.values())))
    asked = scenarios(cluster, configs, nodes=options.add_nodes, job=job)
    forecasts = [look_ahead(snapshot, scenario, now) for scenario in asked]
    if options.json is not None:
        write_file(options.json, write_forecasts(forecasts))
    if options.json != OUTPUT:
        print_outlook(forecasts)


def _load(dsn: str | None) -> tuple[Snapshot, StoredSystem | None]:
    async def read() -> tuple[Snapshot, StoredSystem | None]:
        async with open_store(dsn) as store:
            return await store.look()

    try:
        return asyncio.run(read())
    except StoreError as error:
        raise SimulationError(f"can't read the queue: {error}") from None


def _own_cluster(system: StoredSystem | None) -> SimulatedCluster:
    if system is None:
        raise SimulationError(
            "the store does not say which cluster its queue is on: nobody who runs the queue has "
            "written it down there yet. Run the controller on it once, or give the queue's own "
            "cluster with --graph, or with --nodes"
        )
    return survey(system.graph)


def _on(cluster: SimulatedCluster, snapshot: Snapshot, system: StoredSystem | None) -> Snapshot:
    """The queue on a cluster. Without a system, rows must be those of the cluster already."""
    if system is None:
        return snapshot
    found = translate(snapshot, system, cluster.graph)
    if found.lost:
        named = ", ".join(map(str, found.lost[:_NAMED])) + ", ..." * (len(found.lost) > _NAMED)
        raise SimulationError(
            f"jobs of the queue run on resources that this cluster does not have: {named}; give "
            "a graph with --graph that has them under the same paths, or leave the cluster out "
            "and take the queue's own"
        )
    return found.snapshot


def _configs(
    policies: Mapping[str, QueueConfig], snapshot: Snapshot, system: StoredSystem | None
) -> dict[str, SchedulerConfig]:
    """Today's configuration, and beside it the same under each policy."""
    today = with_queues_of(system.config if system is not None else SchedulerConfig(), snapshot)
    if system is None:
        policies = policies or {_WITHOUT_SYSTEM: parse_policy(_WITHOUT_SYSTEM)}
    found = {} if system is None else {TODAY: today}
    return found | {name: with_policy(today, policy) for name, policy in policies.items()}


def _one_more(
    asked: tuple[int, int] | None,
    cluster: SimulatedCluster,
    snapshot: Snapshot,
    config: SchedulerConfig,
) -> Submission | None:
    """A job of so many processors and seconds, that comes last."""
    if asked is None:
        return None
    size, walltime = asked
    names = [queue.name for queue in config.queues]
    queue = "default" if "default" in names else names[0]
    return Submission(
        _next_id(snapshot), cluster.request(size), walltime, queue=queue, name="one more"
    )


def _next_id(snapshot: Snapshot) -> int:
    """A number that no job has, nor will have: the ids after an array's are those of its tasks."""
    taken = [job.id + (a.tasks if (a := job.submission.array) else 0) for job in snapshot.jobs]
    return 1 + max([*taken, *(id for id, _ in snapshot.outcomes)], default=0)
