"""Whose a store is: that of a cluster's controller, of a queue for callers, or of a matcher.

Each would take what it does not know in the others' for leftovers; so none touches another's.
"""

from __future__ import annotations

from collections.abc import Iterable

from fluxnetes.cluster.node_graph import cluster_of
from fluxnetes.queue.jobs import Origin, QueueJob
from fluxnetes.queue.states import ENDED
from fluxnetes.store.system import StoredSystem

_ANOTHER = "use another with --dsn or --store-folder"


class StoreOwnedElsewhere(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """The store is somebody else's."""


def check_ours(
    stored: StoredSystem | None, jobs: Iterable[QueueJob], origins: frozenset[Origin]
) -> None:
    """Raise StoreOwnedElsewhere unless all jobs of a store that live have one of these origins."""
    if stored is not None and cluster_of(stored.graph):
        raise StoreOwnedElsewhere(f"this store belongs to the controller of a cluster; {_ANOTHER}")
    for job in jobs:
        if job.state not in ENDED and job.submission.origin not in origins:
            raise StoreOwnedElsewhere(
                f"this store belongs to somebody else, whose job {job.id} is; {_ANOTHER}, or serve "
                "it as it was served before, with --queue or without"
            )
