"""Estimates when and where a job would start, by running a copy of the queue ahead in a thread."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.service.mailbox import QueueHost
from fluxnetes.service.requests.resolve import as_service_errors, check_queue, resolved
from fluxnetes.service.values import StartEstimate
from fluxnetes.service.views.shares import shares
from fluxnetes.service.views.tasks import tasks_of
from fluxnetes.simulate.estimate import estimate

_ROUGH = Reason.of(Message.ROUGH_ESTIMATE)


@dataclass(frozen=True, slots=True)
class QueueEstimate:
    """Copies of a queue and its graph, and the job to estimate: a thread may change them freely."""

    snapshot: Snapshot
    graph: ResourceGraph
    config: SchedulerConfig
    submission: Submission
    now: int


def prepare_estimate(submission: Submission, queue_host: QueueHost) -> QueueEstimate:
    """Copy what an estimate needs; in the event loop of the queue, between two steps of it."""
    scheduler, graph = queue_host.scheduler, queue_host.matcher.graph
    check_queue(submission.queue, queue_host)
    resolved_submission = replace(submission, request=resolved(submission.request, queue_host))
    return QueueEstimate(
        scheduler.snapshot(), graph.copy(), scheduler.config, resolved_submission, queue_host.now
    )


def run_estimate(queue: QueueEstimate) -> StartEstimate:
    """Run the copy ahead. May take seconds: not for an event loop."""
    with as_service_errors():
        found = estimate(queue.snapshot, queue.graph, queue.config, queue.submission, queue.now)
    if found.start is None or found.allocation is None:
        return StartEstimate(False, reason=found.reason)
    placed = found.allocation
    tasks = tasks_of(queue.submission.request, placed.seats)
    reason = _ROUGH if found.rough else None
    return StartEstimate(True, found.start, shares(queue.graph, placed.placement, tasks), reason)
