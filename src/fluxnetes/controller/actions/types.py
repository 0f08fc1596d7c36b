"""What is to be done on the cluster. Everything here may be done twice."""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.adapters.base import Content


@dataclass(frozen=True, slots=True)
class BindPod:
    """A pod gets its node; first our gates are taken off, if it has any."""

    namespace: str
    name: str
    uid: str
    node: str
    job: int
    task: int
    gates: tuple[str, ...] = ()
    """All gates that the pod has, if one of them is ours."""
    scheduler: str = ""


@dataclass(frozen=True, slots=True)
class ChangeWorkload:
    """A workload is let go, taken back, or ended by its deadline."""

    kind: str
    namespace: str
    name: str
    uid: str
    content: Content
    why: str


@dataclass(frozen=True, slots=True)
class EndPod:
    """A pod has to go: by a deadline in the past, which leaves it to be looked at, or deleted."""

    namespace: str
    name: str
    uid: str
    delete: bool
    why: str


Action = BindPod | ChangeWorkload | EndPod
