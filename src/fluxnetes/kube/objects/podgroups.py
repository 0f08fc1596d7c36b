"""PodGroups of scheduler-plugins, Kubernetes itself and Volcano: how many pods start together.

Those of Kubernetes have been served in several versions, of which a server has one or more. All are
a `NativePodGroup`; the struct of each version adds what only that version says.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, TypeAlias

from msgspec import field

from fluxnetes.kube.objects.base import Condition, Object, Part, Resource

LooseQuantities: TypeAlias = dict[str, str | int]
"""As users wrote them: the server does not normalise quantities in custom resources, so `cpu: 4`
stays a number."""

# --- scheduler-plugins -------------------------------------------------------------------------


class PodGroupSpec(Part, frozen=True):
    """Minimum number of pods, and how long to wait for them."""

    min_member: int = 0
    min_resources: LooseQuantities = field(default_factory=dict)
    schedule_timeout_seconds: int | None = None


class PodGroupStatus(Part, frozen=True):
    """Phase and counts of the group."""

    phase: str = ""
    occupied_by: str = ""
    """The objects that created its pods, `namespace/name`, with commas."""
    scheduled: int = 0
    """Pods on a node. Only the definitions of older releases have it; newer ones drop it."""
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    schedule_start_time: datetime | None = None
    """When all of its pods were there, and it could be scheduled."""


class PodGroup(Object, frozen=True):
    """A PodGroup of scheduler-plugins."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def minimum(self) -> int | None:
        """The number of pods that must start together; None: it does not say."""
        return self.spec.min_member or None


POD_GROUPS = Resource("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", PodGroup)

# --- Kubernetes itself -------------------------------------------------------------------------


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
    """How the pods that name the group are scheduled: what all versions have."""

    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    scheduling_constraints: SchedulingConstraints = SchedulingConstraints()
    priority: int | None = None
    priority_class_name: str = ""


class NativePodGroupStatus(Part, frozen=True):
    """How far the scheduler is."""

    conditions: tuple[Condition, ...] = ()


class NativePodGroup(Object, frozen=True):
    """A PodGroup of Kubernetes itself, in any version."""

    SCHEDULED: ClassVar[str] = "PodGroupScheduled"
    """The type of the condition that says whether the group was scheduled."""

    spec: NativePodGroupSpec = NativePodGroupSpec()
    status: NativePodGroupStatus = NativePodGroupStatus()

    @property
    def scheduled(self) -> Condition | None:
        """The condition that says whether the group was scheduled."""
        conditions = self.status.conditions
        return next((each for each in conditions if each.type == self.SCHEDULED), None)

    @property
    def disrupts_together(self) -> bool:
        """Whether its pods can only be preempted all at once."""
        return False

    @property
    def minimum(self) -> int | None:
        """The number of pods that must start together; 1 if they are no gang."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 1


class V1alpha2PodGroupSpec(NativePodGroupSpec, frozen=True):
    """Kubernetes 1.36."""

    disruption_mode: str = "Pod"
    """`Pod` or `PodGroup`."""


class V1alpha2PodGroup(NativePodGroup, frozen=True):
    """Kubernetes 1.36."""

    spec: V1alpha2PodGroupSpec = V1alpha2PodGroupSpec()

    @property
    def disrupts_together(self) -> bool:
        return self.spec.disruption_mode == "PodGroup"


class DisruptAll(Part, frozen=True):
    """Present: the pods of a group can only be preempted all at once."""


class DisruptionMode(Part, frozen=True):
    """How the pods of a group can be preempted; one by one, unless it says `all`."""

    all: DisruptAll | None = None


class V1beta1PodGroupSpec(NativePodGroupSpec, frozen=True):
    """Kubernetes 1.37."""

    disruption_mode: DisruptionMode = DisruptionMode()


class V1beta1PodGroup(NativePodGroup, frozen=True):
    """Kubernetes 1.37, in which the condition is about the first start, and final once true."""

    SCHEDULED: ClassVar[str] = "PodGroupInitiallyScheduled"

    spec: V1beta1PodGroupSpec = V1beta1PodGroupSpec()

    @property
    def disrupts_together(self) -> bool:
        return self.spec.disruption_mode.all is not None


_GROUP, _PLURAL, _KIND = "scheduling.k8s.io", "podgroups", "PodGroup"

NATIVE_POD_GROUPS: tuple[Resource[NativePodGroup], ...] = (
    Resource(_GROUP, "v1beta1", _PLURAL, _KIND, V1beta1PodGroup),
    Resource(_GROUP, "v1alpha2", _PLURAL, _KIND, V1alpha2PodGroup),
)
"""All versions that are understood, the best first."""

# --- Volcano -----------------------------------------------------------------------------------


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


VOLCANO_POD_GROUPS = Resource(
    "scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", VolcanoPodGroup
)

AnyPodGroup: TypeAlias = PodGroup | NativePodGroup | VolcanoPodGroup
