"""Actions on the cluster, as values. Each may be carried out twice with the same effect.

Two actions are equal if they have the same effect. What only helps to carry an action out, or says
why, is not compared: the bind of a pod is the same one before and after its gates are removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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
    gates: tuple[str, ...] = field(default=(), compare=False)
    """All gates that the pod was seen with; they are all ours."""
    scheduler: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ChangeWorkload:
    """Release a workload or its owner, suspend it, or end it by its deadline."""

    kind: str
    namespace: str
    name: str
    uid: str
    content: Content
    why: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class EndPod:
    """End a pod: by a deadline in the past, which leaves the pod to be inspected, or by deletion.

    Only as it was seen: if it changed since, it may have ended, and the next round looks at it.
    """

    namespace: str
    name: str
    uid: str
    version: str
    delete: bool
    why: str = field(compare=False)


Action = BindPod | ChangeWorkload | EndPod
