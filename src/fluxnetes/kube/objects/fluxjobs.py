"""FluxJobs: what we know about a group, for users to read.

The spec and `submitStatus` are those of Fluxqueue, whose users have them in manifests and scripts.
The rest of the status is ours.
"""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum

from fluxnetes.kube.objects.base import Condition, Object, Part, Resource


class Wrapped(IntEnum):
    """The kind of workload that a FluxJob stands for."""

    POD = 0
    JOB = 1
    DEPLOYMENT = 2
    REPLICA_SET = 3
    STATEFUL_SET = 4


class FluxJobResources(Part, frozen=True):
    """The nodes that a job was given."""

    nodes: tuple[str, ...] = ()


class FluxJobSpec(Part, frozen=True):
    """What was asked for."""

    jobspec: str = ""
    type: int = Wrapped.POD
    name: str = ""
    object: str = ""
    """The workload itself, in base64; kept for the old readers' sake."""
    duration: int = 0
    reservation: bool = False
    nodes: int = 0
    resources: FluxJobResources = FluxJobResources()


class FluxJobStatus(Part, frozen=True):
    """What has become of it."""

    submit_status: str = ""
    state: str = ""
    reason: str = ""
    queue: str = ""
    position: int | None = None
    eta: datetime | None = None
    start: datetime | None = None
    nodes: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


class FluxJob(Object, frozen=True):
    """A FluxJob."""

    spec: FluxJobSpec = FluxJobSpec()
    status: FluxJobStatus = FluxJobStatus()


FLUX_JOBS = Resource("jobs.converged-computing.org", "v1alpha1", "fluxjobs", "FluxJob", FluxJob)
