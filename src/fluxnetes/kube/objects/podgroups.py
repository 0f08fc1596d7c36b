"""PodGroups of scheduler-plugins and of Kubernetes itself: how many pods must start together."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from fluxnetes.kube.objects.base import Object, Part, Resource

LooseQuantities: TypeAlias = dict[str, str | int]
"""As users wrote them: the server does not normalise quantities in custom resources, so `cpu: 4`
stays a number."""


class PodGroupSpec(Part, frozen=True):
    """Minimum number of pods, and how long to wait for them."""

    min_member: int = 0
    min_resources: LooseQuantities = field(default_factory=dict)
    schedule_timeout_seconds: int | None = None


class PodGroupStatus(Part, frozen=True):
    """Phase and counts of the group."""

    phase: str = ""
    occupied_by: str = ""
    running: int = 0
    succeeded: int = 0
    failed: int = 0


class PodGroup(Object, frozen=True):
    """A PodGroup of scheduler-plugins."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class Gang(Part, frozen=True):
    """All-or-nothing start of at least this many pods."""

    min_count: int


class SchedulingPolicy(Part, frozen=True):
    """A gang, or pods that are scheduled one by one."""

    gang: Gang | None = None


class TopologyConstraint(Part, frozen=True):
    """All pods on nodes with one value of a label."""

    key: str


class SchedulingConstraints(Part, frozen=True):
    """Where the pods of a group may be, together."""

    topology: tuple[TopologyConstraint, ...] = ()


class NativePodGroupSpec(Part, frozen=True):
    """How the pods that name the group are scheduled."""

    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    scheduling_constraints: SchedulingConstraints = SchedulingConstraints()
    priority: int | None = None
    priority_class_name: str = ""


class NativePodGroup(Object, frozen=True):
    """A PodGroup of Kubernetes itself, which few clusters serve yet."""

    spec: NativePodGroupSpec = NativePodGroupSpec()


class NetworkTopology(Part, frozen=True):
    """In a PodGroup of Volcano: how far apart in the network its pods may be."""

    mode: str = "hard"
    highest_tier_allowed: int | None = None


POD_GROUPS = Resource("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", PodGroup)
NATIVE_POD_GROUPS = Resource(
    "scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", NativePodGroup
)
