"""Jobs: a number of pods that run to completion. StatefulSets: only how they create their pods."""

from __future__ import annotations

from datetime import datetime

from fluxnetes.kube.objects.base import Condition, Object, Part, Resource
from fluxnetes.kube.objects.podgroups import SchedulingConstraints
from fluxnetes.kube.objects.pods import PodTemplate


class JobGang(Part, frozen=True):
    """All-or-nothing start of a Job."""

    min_count: int | None = None
    """None: of all pods that the Job runs at once."""


class JobSchedulingPolicy(Part, frozen=True):
    """A gang, or pods that are scheduled one by one."""

    gang: JobGang | None = None


class JobScheduling(Part, frozen=True):
    """How the pods of a Job are scheduled; from Kubernetes 1.37 on."""

    scheduling_policy: JobSchedulingPolicy | None = None
    scheduling_constraints: SchedulingConstraints = SchedulingConstraints()


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
    scheduling: JobScheduling | None = None
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

PARALLEL = "Parallel"
"""The policy by which all pods are created at once; otherwise each waits for the one before it."""


class StatefulSetSpec(Part, frozen=True):
    """How many pods, and in which order they are created."""

    replicas: int = 1
    pod_management_policy: str = "OrderedReady"


class StatefulSet(Object, frozen=True):
    """A StatefulSet."""

    spec: StatefulSetSpec = StatefulSetSpec()


STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet", StatefulSet)
