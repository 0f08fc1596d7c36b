"""When and where would this job start? Asked of a queue that lives, which hears nothing of it.

    found = estimate(queue.snapshot(), graph, queue.config, submission, now)

The queue is run ahead with one more job in it, until that job starts; see `forecast` for what is
assumed. So the answer is what will happen if nothing else is submitted, every job runs for just as
long as it said, and nothing happens to nodes.
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
"""What one estimate is worth: about half a second on a thousand nodes; see `ahead`."""

_NOBODY: Mapping[str, Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Estimate:
    """When and where a job would start, or why no start is known."""

    start: int | None
    allocation: Allocation | None = None
    """What it would be given: rows of the graph, and for a gang where its pods go. For an array,
    what its first task would be given. The job's number in it means nothing."""
    reason: Reason | None = None
    """Why no start is known; empty if one is."""
    rough: bool = False
    """The queue was too long to be run ahead as it is: the job may well pass others, and start
    earlier than this."""


def estimate(
    snapshot: Snapshot,
    graph: ResourceGraph,
    config: SchedulerConfig,
    submission: Submission,
    now: int,
    others: Mapping[str, Mapping[str, int]] = _NOBODY,
    closed: tuple[str, ...] = (),
    effort: int | None = EFFORT,
) -> Estimate:
    """What would become of a submission, whatever number it has.

    `graph` and `config` are those of the queue that the snapshot is of. What others hold and which
    nodes are closed or down is taken from the graph; see `Scenario` for what can be said besides.

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
    """A number that no job has, nor will have: the ids after an array's are those of its tasks."""
    taken = [job.id + (a.tasks if (a := job.submission.array) else 0) for job in snapshot.jobs]
    return 1 + max([*taken, *(id for id, _ in snapshot.outcomes)], default=0)
