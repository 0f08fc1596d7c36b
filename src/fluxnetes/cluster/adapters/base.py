"""What every adapter can say and do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from fluxnetes.kube.objects.base import Object, Resource
from fluxnetes.kube.objects.pods import Pod, PodTemplate

T = TypeVar("T", bound=Object)
Content = dict[str, Any]
"""A merge patch."""


@dataclass(frozen=True, slots=True)
class WorkloadOutcome:
    """How a workload ended."""

    ok: bool
    reason: str = ""


class WorkloadAdapter(Protocol[T]):
    """One kind of workload. All methods are pure; patches are for others to send."""

    kind: str
    resource: Resource[T]

    def template(self, object: T) -> PodTemplate:
        """What its pods will look like."""
        ...

    def size(self, object: T) -> int:
        """How many pods it wants to have at this moment, suspended or not."""
        ...

    def walltime(self, object: T) -> int | None:
        """The seconds that Kubernetes itself gives it."""
        ...

    def is_suspended(self, object: T) -> bool: ...

    def is_waiting_for_us(self, object: T) -> bool:
        """Whether it is suspended by us, so that we may let it go."""
        ...

    def end(self, object: T) -> WorkloadOutcome | None:
        """How it ended, if it has."""
        ...

    def to_come(self, object: T, live: int, succeeded: int) -> int:
        """How many pods it will yet make, now that so many live and so many are seen to be done."""
        ...

    def index(self, pod: Pod) -> int | None:
        """The pod's number, if its workload numbers them."""
        ...

    def release(self, object: T) -> Content: ...

    def suspend(self, object: T) -> Content: ...

    def end_by_deadline(self, object: T) -> Content:
        """Let Kubernetes end it as one whose time is over."""
        ...
