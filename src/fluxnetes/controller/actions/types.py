"""Actions on the cluster, as values. Each may be carried out twice with the same effect."""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.adapters.base import Content


@dataclass(frozen=True, slots=True)
class BindPod:
    """Bind a pod to a node, after removing our scheduling gates if it has any."""

    namespace: str
    name: str
    uid: str
    node: str
    job: int
    task: int
    gates: tuple[str, ...] = ()
    """All gates that the pod has; they are all ours."""
    scheduler: str = ""


@dataclass(frozen=True, slots=True)
class ChangeWorkload:
    """Release a workload, suspend it, or end it by its deadline."""

    kind: str
    namespace: str
    name: str
    uid: str
    content: Content
    why: str


@dataclass(frozen=True, slots=True)
class EndPod:
    """End a pod: by a deadline in the past, which leaves the pod to be inspected, or by
    deletion."""

    namespace: str
    name: str
    uid: str
    delete: bool
    why: str


Action = BindPod | ChangeWorkload | EndPod
