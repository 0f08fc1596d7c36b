"""`fluxnetes simulate --from-store`: today's queue, run ahead in several scenarios."""

from __future__ import annotations

import asyncio
import time

from fluxnetes.cli.simulate.options import Options
from fluxnetes.cli.simulate.outputs import OUTPUT, write_file
from fluxnetes.cli.simulate.show import print_outlook
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.jobs import Submission
from fluxnetes.simulate.cluster import Cluster
from fluxnetes.simulate.document import write_forecasts
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.forecast import look_ahead, scenarios
from fluxnetes.simulate.policies import parse_policy
from fluxnetes.store.errors import StoreError
from fluxnetes.store.store import open_store


def run_what_if(options: Options, cluster: Cluster) -> None:
    """Read the queue, run it ahead, and write down what changes."""
    policies = {name: parse_policy(name) for name in options.policies}
    snapshot = _load(options.dsn)
    now = int(time.time()) if options.now is None else options.now
    job = _one_more(options.add_job, cluster, snapshot)
    asked = scenarios(cluster, policies, nodes=options.add_nodes, job=job)
    forecasts = [look_ahead(snapshot, scenario, now) for scenario in asked]
    if options.json is not None:
        write_file(options.json, write_forecasts(forecasts))
    if options.json != OUTPUT:
        print_outlook(forecasts)


def _load(dsn: str | None) -> Snapshot:
    async def read() -> Snapshot:
        async with open_store(dsn) as store:
            return await store.load()

    try:
        return asyncio.run(read())
    except StoreError as error:
        raise SimulationError(f"can't read the queue: {error}") from None


def _one_more(
    asked: tuple[int, int] | None, cluster: Cluster, snapshot: Snapshot
) -> Submission | None:
    """A job of so many processors and seconds, that comes last."""
    if asked is None:
        return None
    size, walltime = asked
    id = 1 + max((job.id for job in snapshot.jobs), default=0)
    return Submission(id, cluster.request(size), walltime, name="one more")
