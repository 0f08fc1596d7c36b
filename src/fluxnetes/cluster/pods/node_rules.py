"""Node predicates: which nodes a pod may use, apart from capacity and whether they are open.

A rule is a pod's node selector, required node affinity, tolerations and volumes in a canonical
form. It has a *name*, made from its content. Every node of the graph that a rule accepts carries
that name as a property, and a shape asks for the property. So the request of a job never changes,
while nodes come, go, and change their labels and taints.

Whether a node can be used *now* (cordoned, not ready, short of memory) is no matter of rules,
though Kubernetes expresses it by taints too, whose keys begin with `node.kubernetes.io/`. Those
taints, and tolerations of them, are ignored: such a node is closed for all pods.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.cluster.labels.names import AVAILABILITY
from fluxnetes.cluster.pods.selectors import (
    Canonical,
    accepts,
    canonical_selector,
    describe,
    digest,
    integer,
    tidy,
)
from fluxnetes.kube.objects.affinity import NodeSelector, Toleration
from fluxnetes.kube.objects.nodes import Node, Taint
from fluxnetes.kube.objects.pods import PodSpec

_HARD = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class NodeRule:
    """A predicate on nodes. `read_rule` creates one in canonical form."""

    labels: tuple[tuple[str, str], ...] = ()
    affinity: NodeSelector | None = None
    tolerations: tuple[Toleration, ...] = ()
    volumes: tuple[NodeSelector, ...] = ()
    """The nodes from which each volume can be reached."""
    name: str = field(init=False, compare=False)
    """`rule-` and twelve hex digits."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"rule-{digest(self._canonical())}")

    def _canonical(self) -> Canonical:
        return [
            [[key, value] for key, value in self.labels],
            [] if self.affinity is None else [canonical_selector(self.affinity)],
            [[t.key, t.operator, t.value, t.effect] for t in self.tolerations],
            [canonical_selector(volume) for volume in self.volumes],
        ]

    def accepts(self, node: Node) -> bool:
        """Whether a pod with this rule may use a node."""
        labels = node.metadata.labels
        return (
            all(labels.get(key) == value for key, value in self.labels)
            and (self.affinity is None or accepts(self.affinity, node))
            and self._refusing_taint(node) is None
            and all(accepts(volume, node) for volume in self.volumes)
        )

    def why_not(self, node: Node) -> str:
        """Why a pod may not use a node, in words; empty if it may."""
        labels = node.metadata.labels
        for key, value in self.labels:
            if labels.get(key) != value:
                return f"asks for the label {key}={value}; the node has {_label(labels, key)}"
        if self.affinity is not None and not accepts(self.affinity, node):
            return f"asks for {describe(self.affinity)}; the node is none of these"
        taint = self._refusing_taint(node)
        if taint is not None:
            return f"does not tolerate the node's taint {_taint(taint)}"
        for volume in self.volumes:
            if not accepts(volume, node):
                return f"has a volume that can be reached only from {describe(volume)}"
        return ""

    def _refusing_taint(self, node: Node) -> Taint | None:
        for taint in node.spec.taints:
            if _is_hard(taint) and not any(_tolerates(each, taint) for each in self.tolerations):
                return taint
        return None


ANYWHERE = NodeRule()
"""The rule of most pods: every node without taints, but for those on its availability."""


def _label(labels: dict[str, str], key: str) -> str:
    return f"{key}={labels[key]}" if key in labels else "no such label"


def _taint(taint: Taint) -> str:
    """As kubectl writes it."""
    return (
        f"{taint.key}={taint.value}:{taint.effect}"
        if taint.value
        else f"{taint.key}:{taint.effect}"
    )


# --- tolerations -------------------------------------------------------------------------------


def _is_hard(taint: Taint) -> bool:
    return taint.effect in _HARD and not taint.key.startswith(AVAILABILITY)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt":
            there, bound = integer(taint.value), integer(toleration.value)
            if there is None or bound is None:
                return False
            return there > bound if toleration.operator == "Gt" else there < bound
    return False


def _tidy_tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """The tolerations that have an effect, sorted and without duplicates."""
    kept = {_plain(t) for t in tolerations if _matters(t)}
    everything = Toleration(operator="Exists")
    if everything in kept:
        return (everything,)
    return tuple(sorted(kept, key=lambda t: (t.key, t.operator, t.value, t.effect)))


def _matters(toleration: Toleration) -> bool:
    if toleration.effect and toleration.effect not in _HARD:
        return False
    return not toleration.key.startswith(AVAILABILITY)


def _plain(toleration: Toleration) -> Toleration:
    operator = toleration.operator or "Equal"
    value = "" if operator == "Exists" else toleration.value
    return Toleration(toleration.key, operator, value, toleration.effect)


# --- from a pod --------------------------------------------------------------------------------


def read_rule(spec: PodSpec, volumes: tuple[NodeSelector, ...] = ()) -> NodeRule:
    """The rule of a pod, with what its volumes add to it (see `volumes`)."""
    affinity = None
    if spec.affinity is not None and spec.affinity.node_affinity is not None:
        affinity = spec.affinity.node_affinity.required
    # The API server gives nearly all pods two tolerations, neither of which has an effect here.
    tolerant = spec.tolerations and any(map(_matters, spec.tolerations))
    if not (spec.node_selector or affinity is not None or tolerant or volumes):
        return ANYWHERE
    return NodeRule(
        tuple(sorted(spec.node_selector.items())),
        None if affinity is None else tidy(affinity),
        _tidy_tolerations(spec.tolerations),
        tuple(sorted({tidy(volume) for volume in volumes}, key=canonical_selector)),
    )
