"""The adapter of Jobs (batch/v1)."""

from __future__ import annotations

from fluxnetes.cluster.adapters.base import Content, WorkloadOutcome
from fluxnetes.cluster.labels.names import COMPLETION_INDEX, QUEUED
from fluxnetes.kube.objects.jobs import JOBS, Job
from fluxnetes.kube.objects.pods import Pod, PodTemplate


class JobAdapter:
    """See `base.WorkloadAdapter`."""

    kind = "Job"
    resource = JOBS

    def template(self, object: Job) -> PodTemplate:
        return object.spec.template

    def size(self, object: Job) -> int:
        """Its parallelism, but no more than have yet to succeed."""
        return self.to_come(object, 0, 0)

    def walltime(self, object: Job) -> int | None:
        spec = object.spec
        known = [spec.active_deadline_seconds, spec.template.spec.active_deadline_seconds]
        return min((seconds for seconds in known if seconds is not None), default=None)

    def is_suspended(self, object: Job) -> bool:
        return object.spec.suspend

    def is_waiting_for_us(self, object: Job) -> bool:
        return object.spec.suspend and object.metadata.annotations.get(QUEUED) == "true"

    def end(self, object: Job) -> WorkloadOutcome | None:
        end = object.end
        if end is None:
            return None
        return WorkloadOutcome(end.type == "Complete", f"{end.reason}: {end.message}".strip(": "))

    def to_come(self, object: Job, live: int, succeeded: int) -> int:
        spec = object.spec
        if object.end is not None:
            return 0
        # Its own count may lag behind the pods.
        succeeded = max(succeeded, object.status.succeeded)
        if spec.completions is None:
            return 0 if succeeded else max(0, spec.parallelism - live)
        return max(0, min(spec.parallelism, spec.completions - succeeded) - live)

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

    def end_by_deadline(self, object: Job) -> Content:
        """The deadline counts from its start, so one second has always passed."""
        return {"spec": {"activeDeadlineSeconds": 1}}
