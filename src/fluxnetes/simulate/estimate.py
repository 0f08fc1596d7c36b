"""Estimates when and where a job would start if it were submitted now, without submitting it.

    found = estimate(queue.snapshot(), graph, queue.config, submission, now)

A snapshot of the queue is run ahead with the job in it, until the job starts; see `forecast` for
what is assumed. So the estimate is right if nothing else is submitted, every job uses its whole
walltime, and no node changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fluxnetes.common.reasons import Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.simulate.forecast import Scenario, look_ahead

EFFORT = 4_000
"""Maximum effort of one estimate: about half a second on a thousand nodes; see `run_ahead`."""

_NO_USAGE: Mapping[str, Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Estimate:
    """When and where a job would start, or why no start is known."""

    start: int | None
    allocation: Allocation | None = None
    """Its allocation: rows of the graph, and for a gang the seats of its pods. For an array, that
    of its first task. The job id in it is arbitrary."""
    reason: Reason | None = None
    """Why no start is known; empty if one is."""
    rough: bool = False
    """Whether the limit of effort was reached: then the job may overtake others, and start earlier
    than this."""


def estimate(
    snapshot: Snapshot,
    graph: ResourceGraph,
    config: SchedulerConfig,
    submission: Submission,
    now: int,
    others: Mapping[str, Mapping[str, int]] = _NO_USAGE,
    closed: tuple[str, ...] = (),
    effort: int | None = EFFORT,
) -> Estimate:
    """When and where a submission would start; its id is not used.

    `graph` and `config` are those of the queue of the snapshot. Foreign usage and closed nodes are
    those of the graph, with `others` and `closed` besides; see `Scenario`.

    Raises QueueError where submitting it would.
    """
    mine = replace(submission, id=free_id(snapshot))
    scenario = Scenario("estimate", graph, config, (mine,), others, closed)
    found = look_ahead(snapshot, scenario, now, brief=True, effort=effort)
    allocation = found.where.get(mine.id)
    if allocation is None:
        return Estimate(None, reason=found.never[mine.id], rough=found.rough)
    return Estimate(allocation.start, allocation, rough=found.rough)


def free_id(snapshot: Snapshot) -> int:
    """An id that no job has or will have: the ids after that of an array belong to its tasks."""
    taken = [job.id + (a.tasks if (a := job.submission.array) else 0) for job in snapshot.jobs]
    return 1 + max([*taken, *(id for id, _ in snapshot.outcomes)], default=0)
