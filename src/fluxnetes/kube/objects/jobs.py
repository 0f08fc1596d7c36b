"""Jobs: a number of pods that run to completion."""

from __future__ import annotations

from datetime import datetime

from fluxnetes.kube.objects.base import Condition, Object, Part, Resource
from fluxnetes.kube.objects.pods import PodTemplate


class JobSpec(Part, frozen=True):
    """Number of pods, their template, and limits."""

    parallelism: int = 1
    completions: int | None = None
    """None: a work queue, done when any pod has succeeded and all have ended."""
    completion_mode: str = "NonIndexed"
    suspend: bool = False
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    active_deadline_seconds: int | None = None
    pod_replacement_policy: str = ""
    managed_by: str = ""
    """Empty, or the controller that manages the Job in place of the built-in one."""
    template: PodTemplate = PodTemplate()


class JobStatus(Part, frozen=True):
    """Counts of pods, and how the Job ended."""

    active: int = 0
    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int = 0
    completed_indexes: str = ""
    failed_indexes: str = ""
    start_time: datetime | None = None
    completion_time: datetime | None = None
    conditions: tuple[Condition, ...] = ()


class Job(Object, frozen=True):
    """A Job."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def end(self) -> Condition | None:
        """How it ended (Complete or Failed), if it has."""
        ends = (c for c in self.status.conditions if c.type in ("Complete", "Failed"))
        return next((c for c in ends if c.status == "True"), None)

    @property
    def is_failing(self) -> bool:
        """Whether the Job controller has decided that it fails, and waits for its pods to end."""
        conditions = self.status.conditions
        return any(c.type == "FailureTarget" and c.status == "True" for c in conditions)


JOBS = Resource("batch", "v1", "jobs", "Job", Job)
