"""Pods: requests, scheduling rules and status."""

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

# --- spec --------------------------------------------------------------------------------------


class Requests(Part, frozen=True):
    """Requests and limits of a container, or of a pod as a whole."""

    requests: Quantities = field(default_factory=dict)
    limits: Quantities = field(default_factory=dict)


class Port(Part, frozen=True):
    """A port; only a host port restricts a pod to nodes where it is free."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = "TCP"


class Container(Part, frozen=True):
    """A container. An init container with restartPolicy Always is a sidecar."""

    name: str
    resources: Requests = Requests()
    ports: tuple[Port, ...] = ()
    restart_policy: str = ""


class ClaimSource(Part, frozen=True):
    """The claim behind a volume."""

    claim_name: str


class Volume(Part, frozen=True):
    """A volume of a pod: a claim by name, a claim created for this pod, or no claim."""

    name: str
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: Part | None = None


class Gate(Part, frozen=True):
    """A scheduling gate, which keeps a pod from being scheduled."""

    name: str


class ResourceClaim(Part, frozen=True):
    """A claim on a device. Fluxnetes does not support these, and reads them to refuse the pod."""

    name: str


class SchedulingGroup(Part, frozen=True):
    """The native PodGroup that a pod belongs to."""

    pod_group_name: str = ""


class PodSpec(Part, frozen=True):
    """The spec of a pod. All but a few fields are immutable."""

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


# --- status ------------------------------------------------------------------------------------


class Terminated(Part, frozen=True):
    """How a container ended."""

    exit_code: int
    reason: str = ""
    finished_at: datetime | None = None


class ContainerState(Part, frozen=True):
    """Whether a container has ended."""

    terminated: Terminated | None = None


class ContainerStatus(Part, frozen=True):
    """The kubelet's report about a container."""

    name: str
    state: ContainerState = ContainerState()
    allocated_resources: Quantities = field(default_factory=dict)
    """What the kubelet allocated; differs from the request while the container is resized."""
    resources: Requests | None = None
    """The requests and limits in effect."""


class PodStatus(Part, frozen=True):
    """The status of a pod; the phase is Pending, Running, Succeeded, Failed or Unknown."""

    phase: str = "Pending"
    reason: str = ""
    """Why the kubelet rejected it or ended it: OutOfcpu, Evicted, DeadlineExceeded..."""
    message: str = ""
    nominated_node_name: str = ""
    start_time: datetime | None = None
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    allocated_resources: Quantities = field(default_factory=dict)
    """Of a pod with pod-level resources; the same as for containers."""
    resources: Requests | None = None


class Pod(Object, frozen=True):
    """A pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and uses no resources any more."""
        return self.status.phase in ("Succeeded", "Failed")


class PodTemplate(Part, frozen=True):
    """The template of a workload's pods, before admission changes them."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


PODS = Resource("", "v1", "pods", "Pod", Pod)
