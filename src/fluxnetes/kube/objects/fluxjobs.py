"""FluxJobs: the record of a group, for users to read.

The spec and `submitStatus` are those of Fluxqueue, whose users have them in manifests and scripts.
The rest of the status belongs to Fluxnetes.
"""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum

from msgspec import field

from fluxnetes.kube.objects.base import Condition, Object, Part, Resource


class Wrapped(IntEnum):
    """The kind of workload that a FluxJob stands for. 0 to 4 are Fluxqueue's."""

    POD = 0
    JOB = 1
    DEPLOYMENT = 2
    REPLICA_SET = 3
    STATEFUL_SET = 4
    GROUP = 5
    """Pods that labels or a PodGroup, of whichever dialect, make a group."""

    @property
    def suffix(self) -> str:
        """What the name of the FluxJob ends with: `train-job`, `mine-group`."""
        return _SUFFIXES[self]


_SUFFIXES = {
    Wrapped.POD: "pod",
    Wrapped.JOB: "job",
    Wrapped.DEPLOYMENT: "deployment",
    Wrapped.REPLICA_SET: "replicaset",
    Wrapped.STATEFUL_SET: "statefulset",
    Wrapped.GROUP: "group",
}


class FluxJobResources(Part, frozen=True):
    """The nodes allocated to a job."""

    nodes: tuple[str, ...] = ()


class FluxJobSpec(Part, frozen=True):
    """The request of a group."""

    jobspec: str = ""
    type: int = Wrapped.POD
    name: str = ""
    object: str = ""
    """The workload itself, in base64. Fluxqueue never filled it, and Fluxnetes does not either."""
    duration: int = 0
    """Seconds; 0: no limit."""
    reservation: bool = False
    nodes: int = 0
    """Number of pods."""
    resources: FluxJobResources = FluxJobResources()


class Columns(Part, frozen=True):
    """Texts cut to the width of a table, for `kubectl get`."""

    reason: str = ""
    nodes: str = ""


class FluxJobStatus(Part, frozen=True):
    """The state of a group in the queue."""

    submit_status: str = ""
    """Fluxqueue's word for it: statusNew, statusSubmit, statusError or statusCancel."""
    state: str = ""
    """A state of the queue, in words: `pending`, `timed out`."""
    reason: str = ""
    """Why it is in this state or, while it waits, what it waits for."""
    reason_code: str = ""
    """The same as a stable word: `Resources`, `Held`, `TimedOut`."""
    queue: str = ""
    position: int | None = None
    """Its place in the queue; 1 is the next."""
    eta: datetime | None = None
    """When it starts at the latest, as promised."""
    start: datetime | None = None
    end: datetime | None = None
    walltime: int | None = None
    """Seconds; None: no limit."""
    nodes: tuple[str, ...] = ()
    """Each node once."""
    node_list: str = ""
    """The same as one text, a hostlist: `node[0-3,7]`."""
    size: int = 0
    """Number of pods."""
    job_id: int | None = field(default=None, name="jobID")
    """Its number in the queue."""
    columns: Columns = Columns()
    conditions: tuple[Condition, ...] = ()


class FluxJob(Object, frozen=True):
    """A FluxJob."""

    spec: FluxJobSpec = FluxJobSpec()
    status: FluxJobStatus = FluxJobStatus()


FLUX_JOBS = Resource("jobs.converged-computing.org", "v1alpha1", "fluxjobs", "FluxJob", FluxJob)
