"""Scheduling rules of a pod: affinity, topology spread and tolerations.

Kubernetes calls hard rules `requiredDuringSchedulingIgnoredDuringExecution` and soft ones
`preferredDuring...`. Here they are `required` and `preferred`.
"""

from __future__ import annotations

from msgspec import field

from fluxnetes.kube.objects.base import Labels, Part

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Requirement(Part, frozen=True):
    """A condition on one label or field."""

    key: str
    operator: str
    """In, NotIn, Exists, DoesNotExist; for nodes also Gt and Lt."""
    values: tuple[str, ...] = ()


class NodeTerm(Part, frozen=True):
    """All of its requirements must hold; an empty term holds for no node."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(Part, frozen=True):
    """One of its terms must hold."""

    node_selector_terms: tuple[NodeTerm, ...] = ()


class PreferredNodeTerm(Part, frozen=True):
    """A term with a weight."""

    weight: int
    preference: NodeTerm


class NodeAffinity(Part, frozen=True):
    """Which nodes a pod requires or prefers."""

    required: NodeSelector | None = field(default=None, name=_REQUIRED)
    preferred: tuple[PreferredNodeTerm, ...] = field(default=(), name=_PREFERRED)


class LabelSelector(Part, frozen=True):
    """Holds if every label and every expression holds; an empty one always does."""

    match_labels: Labels = field(default_factory=dict)
    match_expressions: tuple[Requirement, ...] = ()


class PodTerm(Part, frozen=True):
    """The pods that a rule selects, and the node label that defines its topology domains."""

    topology_key: str
    label_selector: LabelSelector | None = None
    """None selects no pod at all."""
    namespaces: tuple[str, ...] = ()
    """Without namespaces and without a selector: the pod's own namespace."""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class PreferredPodTerm(Part, frozen=True):
    """A term with a weight."""

    weight: int
    pod_affinity_term: PodTerm


class PodAffinity(Part, frozen=True):
    """Pods to be placed near, or (as anti-affinity) away from."""

    required: tuple[PodTerm, ...] = field(default=(), name=_REQUIRED)
    preferred: tuple[PreferredPodTerm, ...] = field(default=(), name=_PREFERRED)


class Affinity(Part, frozen=True):
    """The affinity and anti-affinity rules of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Spread(Part, frozen=True):
    """A topology spread constraint: how even the pods must be over zones, hosts and so on."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    """DoNotSchedule makes it a hard rule, ScheduleAnyway a soft one."""
    label_selector: LabelSelector | None = None


class Toleration(Part, frozen=True):
    """A taint that a pod tolerates."""

    key: str = ""
    """Empty with Exists: every taint."""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    """Empty: any effect."""
    toleration_seconds: int | None = None
