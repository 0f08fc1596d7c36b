"""Jobs (batch/v1)."""

from __future__ import annotations

from fluxnetes.cluster.adapters.base import Content, WorkloadOutcome
from fluxnetes.cluster.labels.names import COMPLETION_INDEX, QUEUED
from fluxnetes.kube.objects.jobs import JOBS, Job
from fluxnetes.kube.objects.pods import Pod, PodTemplate


class JobAdapter:
    """See `Adapter`."""

    kind = "Job"
    resource = JOBS

    def template(self, object: Job) -> PodTemplate:
        return object.spec.template

    def size(self, object: Job) -> int:
        """As many as run side by side, and no more than are still to succeed."""
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
        # Its own count may lag behind what we see.
        succeeded = max(succeeded, object.status.succeeded)
        if spec.completions is None:
            return 0 if succeeded else max(0, spec.parallelism - live)
        return max(0, min(spec.parallelism, spec.completions - succeeded) - live)

    def index(self, pod: Pod) -> int | None:
        text = pod.metadata.labels.get(COMPLETION_INDEX) or pod.metadata.annotations.get(
            COMPLETION_INDEX, ""
        )
        # Whoever can make pods can write it, as long as they like.
        return int(text) if text.isdecimal() and len(text) < 10 else None

    def release(self, object: Job) -> Content:
        return {"metadata": {"annotations": {QUEUED: None}}, "spec": {"suspend": False}}

    def suspend(self, object: Job) -> Content:
        return {"metadata": {"annotations": {QUEUED: "true"}}, "spec": {"suspend": True}}

    def end_by_deadline(self, object: Job) -> Content:
        """From its start time on, so a second is always over."""
        return {"spec": {"activeDeadlineSeconds": 1}}
