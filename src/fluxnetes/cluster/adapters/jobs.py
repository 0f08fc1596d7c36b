"""The adapter of Jobs (batch/v1)."""

from __future__ import annotations

from fluxnetes.cluster.adapters.base import Content, WorkloadOutcome
from fluxnetes.cluster.labels.names import COMPLETION_INDEX, QUEUED
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.kube.objects.jobs import JOBS, Job
from fluxnetes.kube.objects.pods import Pod, PodTemplate

_BY_OWNER = "owner"
_BY_US = ("true", _BY_OWNER)
"""Values of the annotation on a Job that we suspended: itself, or by way of its owner."""


class JobAdapter:
    """See `base.SuspendableAdapter`."""

    kind = "Job"
    resource = JOBS
    wrapped = Wrapped.JOB
    is_service = False

    def template(self, object: Job) -> PodTemplate:
        return object.spec.template

    def size(self, object: Job) -> int:
        """Its parallelism, but no more than have yet to succeed."""
        return self.to_come(object, 0, 0)

    def declared_size(self, object: Job) -> int:
        spec = object.spec
        return min(
            spec.parallelism, spec.parallelism if spec.completions is None else spec.completions
        )

    def walltime(self, object: Job) -> int | None:
        spec = object.spec
        known = [spec.active_deadline_seconds, spec.template.spec.active_deadline_seconds]
        return min((seconds for seconds in known if seconds is not None), default=None)

    def counts_while_waiting(self, object: Job) -> bool:
        """Its deadline counts from `status.startTime`: when it came, or was last resumed."""
        return object.spec.active_deadline_seconds is not None

    def counting_since(self, object: Job) -> float | None:
        start = object.status.start_time
        return None if start is None else start.timestamp()

    def is_suspended(self, object: Job) -> bool:
        return object.spec.suspend

    def is_waiting_for_us(self, object: Job) -> bool:
        return object.spec.suspend and object.metadata.annotations.get(QUEUED) in _BY_US

    def goes_on(self, object: Job) -> bool:
        return not object.spec.suspend and object.end is None

    def end(self, object: Job) -> WorkloadOutcome | None:
        end = object.end
        if end is None:
            return None
        why = f"{end.reason}: {end.message}".strip(": ")
        return WorkloadOutcome(end.type == "Complete", why, end.reason == "DeadlineExceeded")

    def is_done(self, object: Job, succeeded: int) -> bool:
        spec, succeeded = object.spec, max(succeeded, object.status.succeeded)
        if object.is_failing or object.metadata.deletion_timestamp is not None:
            return False
        if spec.suspend:  # pods that end then may not be counted
            return False
        return succeeded >= (1 if spec.completions is None else spec.completions)

    def to_come(self, object: Job, live: int, succeeded: int) -> int:
        spec = object.spec
        if object.end is not None:
            return 0
        # Its own count may lag behind the pods.
        succeeded = max(succeeded, object.status.succeeded)
        if spec.completions is None:
            return 0 if succeeded else max(0, spec.parallelism - live)
        # Indexes that failed for good are not created again.
        over = succeeded + _count(object.status.failed_indexes)
        return max(0, min(spec.parallelism, spec.completions - over) - live)

    def creates_in_order(self, object: Job) -> bool:
        return False

    def index(self, pod: Pod) -> int | None:
        text = pod.metadata.labels.get(COMPLETION_INDEX) or pod.metadata.annotations.get(
            COMPLETION_INDEX, ""
        )
        # Any user who can create pods can write it, in any length.
        return int(text) if text.isdecimal() and len(text) < 10 else None

    def release(self, object: Job) -> Content:
        return {"metadata": {"annotations": {QUEUED: None}}, "spec": {"suspend": False}}

    def suspend(self, object: Job) -> Content:
        return {"metadata": {"annotations": {QUEUED: "true"}}, "spec": {"suspend": True}}

    def note_owner_suspends(self, object: Job) -> Content:
        return {"metadata": {"annotations": {QUEUED: _BY_OWNER}}}

    def is_suspended_by_owner(self, object: Job) -> bool:
        return object.metadata.annotations.get(QUEUED) == _BY_OWNER

    def forget_suspension(self, object: Job) -> Content | None:
        if object.spec.suspend or QUEUED not in object.metadata.annotations:
            return None
        return {"metadata": {"annotations": {QUEUED: None}}}

    def fail(self, object: Job) -> Content:
        return {"spec": {"backoffLimit": 0}}

    def end_by_deadline(self, object: Job) -> Content:
        """The deadline counts from its start, so one second has always passed."""
        return {"spec": {"activeDeadlineSeconds": 1}}


def _count(indexes: str) -> int:
    """The number of indexes in a text of the Job controller, such as `1,3-5`."""
    ranges = (part.split("-") for part in indexes.split(",") if part)
    return sum(int(each[-1]) - int(each[0]) + 1 for each in ranges)
