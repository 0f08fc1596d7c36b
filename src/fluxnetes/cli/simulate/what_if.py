"""Runs `fluxnetes simulate --from-store`: forecasts of a stored queue in several scenarios.

The store knows the cluster of the queue and the configuration of its queues. Another cluster can be
given; allocations are then mapped to it by the paths of their resources.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from fluxnetes.cli.simulate.job_texts import JobTexts
from fluxnetes.cli.simulate.options import SimulateOptions
from fluxnetes.cli.simulate.outputs import OUTPUT, write_file
from fluxnetes.cli.simulate.show import print_outlook
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.simulate.cluster import SimulatedCluster, survey
from fluxnetes.simulate.document import write_forecasts
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.estimate import free_id
from fluxnetes.simulate.forecast import look_ahead, scenarios, with_policy, with_queues_of
from fluxnetes.simulate.policies import parse_policy
from fluxnetes.store.errors import StoreError
from fluxnetes.store.store import open_store
from fluxnetes.store.system import StoredSystem
from fluxnetes.store.translate import translate

TODAY = "today"
"""The name of the scenario in which nothing is changed."""
_WITHOUT_SYSTEM = "easy"
"""The policy where the store does not know how its queues are configured."""
_NAMED = 5
"""Maximum jobs that an error message names."""


def run_what_if(options: SimulateOptions, cluster: SimulatedCluster | None) -> None:
    """Read the queue, forecast it in each scenario, and write the results."""
    policies = {name: parse_policy(name) for name in options.policies}
    snapshot, system = _load(options.dsn)
    cluster = cluster or _own_cluster(system)
    snapshot = _on(cluster, snapshot, system)
    configs = _configs(policies, snapshot, system)
    now = int(time.time()) if options.now is None else options.now
    job = _one_more(options.add_job, cluster, snapshot, next(iter(configs.values())))
    chosen = scenarios(cluster, configs, nodes=options.add_nodes, job=job)
    forecasts = [look_ahead(snapshot, scenario, now) for scenario in chosen]
    texts = JobTexts(snapshot)
    if options.json is not None:
        write_file(options.json, write_forecasts(forecasts, texts.render))
    if options.json != OUTPUT:
        print_outlook(forecasts, texts)


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
            "the store does not know the cluster of its queue yet: the controller stores it when "
            "it starts. Run the controller once, or give the cluster of the queue with --graph or "
            "--nodes"
        )
    return survey(system.graph)


def _on(cluster: SimulatedCluster, snapshot: Snapshot, system: StoredSystem | None) -> Snapshot:
    """Map the queue to a cluster. Without a system, its rows must be those of the cluster."""
    if system is None:
        return snapshot
    found = translate(snapshot, system, cluster.graph)
    if found.lost:
        named = ", ".join(map(str, found.lost[:_NAMED])) + ", ..." * (len(found.lost) > _NAMED)
        raise SimulationError(
            f"jobs of the queue run on resources that this cluster does not have: {named}; give "
            "a graph with --graph that has them under the same paths, or give no cluster, to use "
            "the queue's own"
        )
    return found.snapshot


def _configs(
    policies: Mapping[str, QueueConfig], snapshot: Snapshot, system: StoredSystem | None
) -> dict[str, SchedulerConfig]:
    """The present configuration, and the same under each policy."""
    today = with_queues_of(system.config if system is not None else SchedulerConfig(), snapshot)
    if system is None:
        policies = policies or {_WITHOUT_SYSTEM: parse_policy(_WITHOUT_SYSTEM)}
    found = {} if system is None else {TODAY: today}
    return found | {name: with_policy(today, policy) for name, policy in policies.items()}


def _one_more(
    wanted: tuple[int, int] | None,
    cluster: SimulatedCluster,
    snapshot: Snapshot,
    config: SchedulerConfig,
) -> Submission | None:
    """A job of this size and walltime, which is submitted last."""
    if wanted is None:
        return None
    size, walltime = wanted
    names = [queue.name for queue in config.queues]
    queue = "default" if "default" in names else names[0]
    return Submission(
        free_id(snapshot), cluster.request(size), walltime, queue=queue, name="one more"
    )
