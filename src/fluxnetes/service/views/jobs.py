"""Views of the jobs of a queue."""

from __future__ import annotations

from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.explain import Explanation
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.service.requests.pods import one_pod
from fluxnetes.service.values import EqualPods, JobExplanation, JobView, Share
from fluxnetes.service.views.reason_text import caller_text
from fluxnetes.service.views.shares import shares
from fluxnetes.service.views.tasks import EqualTasks, tasks_of


def job_view(job: QueueJob, matcher: Matcher) -> JobView:
    """A job as it is now."""
    submission = job.submission
    return JobView(
        job.id,
        job.state.value,
        job.reason,
        submission.name,
        submission.namespace,
        submission.user,
        job.queue,
        job.priority,
        job.walltime,
        job.submitted,
        job.start,
        job.deadline,
        job.end,
        None if job.plan is None else job.plan.start,
        shares_of(job, matcher),
    )


def shares_of(job: QueueJob, matcher: Matcher, pods: EqualPods | None = None) -> tuple[Share, ...]:
    """What a job holds, node by node. `pods`: its original request, if that was for equal pods."""
    held = matcher.jobs.get(job.id)
    if held is None or held.cancelled:
        return ()
    tasks = tasks_of(job.submission.request)
    if pods is not None:
        tasks = EqualTasks(pods.count, one_pod(pods, matcher.graph))
    return shares(matcher.graph, held.placement, tasks)


def explained(found: Explanation, view: JobView) -> JobExplanation:
    story = tuple((event.at, _line(event)) for event in found.story)
    return JobExplanation(view, found.reason, found.place, story)


def _line(event: JobEvent) -> str:
    """One event of a job's history, as text."""
    if event.kind != "transition":
        what = event.kind if event.start is None else f"{event.kind} to start at {event.start}"
    elif event.before is None:
        what = event.after.value if event.after is not None else ""
    else:
        what = f"{event.before.value} to {event.after.value if event.after is not None else ''}"
    return f"{what}: {caller_text(event.reason)}" if event.reason else what
