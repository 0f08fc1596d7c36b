"""Pods: what is asked for, where it may go, and how it went."""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from fluxnetes.kube.objects.affinity import Affinity, Spread, Toleration
from fluxnetes.kube.objects.base import (
    Condition,
    Labels,
    Metadata,
    Object,
    Part,
    Quantities,
    Resource,
)

# --- what is asked for -------------------------------------------------------------------------


class Requests(Part, frozen=True):
    """What a container, or a pod as a whole, asks for and may use."""

    requests: Quantities = field(default_factory=dict)
    limits: Quantities = field(default_factory=dict)


class Port(Part, frozen=True):
    """A port; only a host port ties a pod to nodes where it is free."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = "TCP"


class Container(Part, frozen=True):
    """A container. An init container that always restarts is a sidecar."""

    name: str
    resources: Requests = Requests()
    ports: tuple[Port, ...] = ()
    restart_policy: str = ""


class ClaimSource(Part, frozen=True):
    """The claim that a volume is."""

    claim_name: str


class Volume(Part, frozen=True):
    """A volume of a pod: a claim by name, a claim made for this pod, or no claim at all."""

    name: str
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: Part | None = None


class Gate(Part, frozen=True):
    """What keeps a pod from being scheduled."""

    name: str


class ResourceClaim(Part, frozen=True):
    """A claim on a device, which we know only to refuse it."""

    name: str


class SchedulingGroup(Part, frozen=True):
    """The group that a pod is of, by Kubernetes' own rules."""

    pod_group_name: str = ""


class PodSpec(Part, frozen=True):
    """What a pod asks for. All but a few fields are fixed once it is made."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: Requests = Requests()
    overhead: Quantities = field(default_factory=dict)
    node_name: str = ""
    scheduler_name: str = ""
    scheduling_gates: tuple[Gate, ...] = ()
    scheduling_group: SchedulingGroup | None = None
    node_selector: Labels = field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[Spread, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    host_network: bool = False
    restart_policy: str = "Always"
    active_deadline_seconds: int | None = None
    termination_grace_period_seconds: int | None = None
    priority: int | None = None
    priority_class_name: str = ""


# --- how it went -------------------------------------------------------------------------------


class Terminated(Part, frozen=True):
    """How a container ended."""

    exit_code: int
    reason: str = ""
    finished_at: datetime | None = None


class ContainerState(Part, frozen=True):
    """Whether a container has ended."""

    terminated: Terminated | None = None


class ContainerStatus(Part, frozen=True):
    """What the kubelet says about a container."""

    name: str
    state: ContainerState = ContainerState()
    allocated_resources: Quantities = field(default_factory=dict)
    """What the kubelet set aside for it, which is not what it asks for while it is resized."""
    resources: Requests | None = None
    """What it runs with."""


class PodStatus(Part, frozen=True):
    """Where a pod is in its life: Pending, Running, Succeeded, Failed or Unknown."""

    phase: str = "Pending"
    reason: str = ""
    """Why the kubelet refused it or ended it: OutOfcpu, Evicted, DeadlineExceeded..."""
    message: str = ""
    nominated_node_name: str = ""
    start_time: datetime | None = None
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    allocated_resources: Quantities = field(default_factory=dict)
    """Of a pod that asks for resources as a whole; the same as for containers."""
    resources: Requests | None = None


class Pod(Object, frozen=True):
    """A pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_over(self) -> bool:
        """Whether it holds nothing any more."""
        return self.status.phase in ("Succeeded", "Failed")


class PodTemplate(Part, frozen=True):
    """What the pods of a workload will look like, before admission changes them."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


PODS = Resource("", "v1", "pods", "Pod", Pod)
