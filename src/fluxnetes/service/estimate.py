"""When and where a job would start: looked up in a copy of the queue, run ahead in a thread."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.service.mailbox import QueueHost
from fluxnetes.service.requests.resolve import check_queue, resolved, said_to_callers
from fluxnetes.service.values import StartEstimate
from fluxnetes.service.views.shares import shares
from fluxnetes.service.views.tasks import tasks_of
from fluxnetes.simulate.estimate import estimate

_ROUGH = Reason.of(Message.ROUGH_ESTIMATE)


@dataclass(frozen=True, slots=True)
class QueueEstimate:
    """A queue as it was at one moment, and who might join it. Nobody else has any of it."""

    snapshot: Snapshot
    graph: ResourceGraph
    config: SchedulerConfig
    submission: Submission
    now: int


def foresee(submission: Submission, queue_host: QueueHost) -> QueueEstimate:
    """All that it takes to look ahead, copied while the queue stands still."""
    scheduler, graph = queue_host.scheduler, queue_host.matcher.graph
    check_queue(submission.queue, queue_host)
    asked = replace(submission, request=resolved(submission.request, queue_host))
    return QueueEstimate(
        scheduler.snapshot(), graph.copy(), scheduler.config, asked, queue_host.now
    )


def estimated(seen: QueueEstimate) -> StartEstimate:
    """Look ahead. May take a while: not for an event loop."""
    with said_to_callers():
        found = estimate(seen.snapshot, seen.graph, seen.config, seen.submission, seen.now)
    if found.start is None or found.allocation is None:
        return StartEstimate(False, reason=found.reason)
    placed = found.allocation
    tasks = tasks_of(seen.submission.request, placed.seats)
    reason = _ROUGH if found.rough else None
    return StartEstimate(True, found.start, shares(seen.graph, placed.placement, tasks), reason)
