"""PodGroups of scheduler-plugins, Kubernetes itself and Volcano: how many pods start together."""

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

    @property
    def minimum(self) -> int | None:
        """The number of pods that must start together; None: it does not say."""
        return self.spec.min_member or None


class Gang(Part, frozen=True):
    """All-or-nothing start of at least this many pods."""

    min_count: int


class SchedulingPolicy(Part, frozen=True):
    """A gang, or pods that are scheduled one by one."""

    gang: Gang | None = None


class NativePodGroupSpec(Part, frozen=True):
    """How the pods that name the group are scheduled."""

    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    priority: int | None = None
    priority_class_name: str = ""


class NativePodGroup(Object, frozen=True):
    """A PodGroup of Kubernetes itself, which few clusters serve yet."""

    spec: NativePodGroupSpec = NativePodGroupSpec()

    @property
    def minimum(self) -> int | None:
        """The number of pods that must start together; 1 if they are no gang."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 1


class VolcanoPodGroupSpec(Part, frozen=True):
    """Minimum number of pods. Volcano's queue and its minimum of each task are not read."""

    min_member: int = 0


class VolcanoPodGroup(Object, frozen=True):
    """A PodGroup of Volcano."""

    spec: VolcanoPodGroupSpec = VolcanoPodGroupSpec()

    @property
    def minimum(self) -> int | None:
        """The number of pods that must start together; None: it does not say."""
        return self.spec.min_member or None


AnyPodGroup: TypeAlias = PodGroup | NativePodGroup | VolcanoPodGroup

POD_GROUPS = Resource("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", PodGroup)
NATIVE_POD_GROUPS = Resource(
    "scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", NativePodGroup
)
VOLCANO_POD_GROUPS = Resource(
    "scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", VolcanoPodGroup
)
