"""The protocol of workload adapters: what each of them can say and do."""

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
    """One kind of workload. All methods are pure: they return patches, and the executor sends
    them."""

    kind: str
    resource: Resource[T]

    def template(self, object: T) -> PodTemplate:
        """What its pods will look like."""
        ...

    def size(self, object: T) -> int:
        """The number of pods that it wants to run at this moment, suspended or not."""
        ...

    def walltime(self, object: T) -> int | None:
        """The seconds after which Kubernetes itself ends it."""
        ...

    def is_suspended(self, object: T) -> bool: ...

    def is_waiting_for_us(self, object: T) -> bool:
        """Whether it is suspended by us, so that we may release it."""
        ...

    def end(self, object: T) -> WorkloadOutcome | None:
        """How it ended, if it has."""
        ...

    def to_come(self, object: T, live: int, succeeded: int) -> int:
        """The number of pods that it will still create, given how many live and have succeeded."""
        ...

    def index(self, pod: Pod) -> int | None:
        """The pod's number, if its workload numbers them."""
        ...

    def release(self, object: T) -> Content:
        """The patch that lets it create its pods."""
        ...

    def suspend(self, object: T) -> Content:
        """The patch that ends its pods until it is released again."""
        ...

    def end_by_deadline(self, object: T) -> Content:
        """The patch by which Kubernetes ends it as one that exceeded its deadline."""
        ...
