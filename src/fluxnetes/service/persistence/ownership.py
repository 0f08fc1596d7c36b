"""Checks which component owns a store: a controller, a standalone queue, or a matcher.

Each would treat the jobs of another owner as leftovers of its own, so none opens another's store.
"""

from __future__ import annotations

from collections.abc import Iterable

from fluxnetes.cluster.node_graph import cluster_of
from fluxnetes.queue.jobs import Origin, QueueJob
from fluxnetes.queue.states import ENDED
from fluxnetes.store.system import StoredSystem

_ANOTHER = "use another with --dsn or --store-folder"


class StoreOwnedElsewhere(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """The store belongs to another component."""


def check_owner(
    stored: StoredSystem | None, jobs: Iterable[QueueJob], origins: frozenset[Origin]
) -> None:
    """Raise StoreOwnedElsewhere unless all live jobs have one of these origins."""
    if stored is not None and cluster_of(stored.graph):
        raise StoreOwnedElsewhere(f"the store belongs to the controller of a cluster; {_ANOTHER}")
    for job in jobs:
        if job.state not in ENDED and job.submission.origin not in origins:
            raise StoreOwnedElsewhere(
                f"the store has job {job.id} of another component; {_ANOTHER}, or serve it as "
                "before, with --queue or without"
            )
