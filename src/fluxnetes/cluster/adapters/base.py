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
    timed_out: bool = False
    """Whether it failed because Kubernetes ended it at its deadline."""


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

    def declared_size(self, object: T) -> int:
        """The number of pods that it runs at once, by its spec alone, whatever has ended so far."""
        ...

    def walltime(self, object: T) -> int | None:
        """The seconds after which Kubernetes itself ends it."""
        ...

    def counts_while_waiting(self, object: T) -> bool:
        """Whether Kubernetes counts its deadline from when it came, unless it is suspended."""
        ...

    def counting_since(self, object: T) -> float | None:
        """Since when its deadline counts, in seconds since the epoch; None: it does not yet."""
        ...

    def is_suspended(self, object: T) -> bool: ...

    def is_waiting_for_us(self, object: T) -> bool:
        """Whether it is suspended by us, so that we may release it."""
        ...

    def end(self, object: T) -> WorkloadOutcome | None:
        """How it ended, if it has."""
        ...

    def is_done(self, object: T, succeeded: int, others: int) -> bool:
        """Whether it is sure to end well, though it does not say so yet: so many of its pods have
        succeeded, and so many others live or have failed."""
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

    def note_owner_suspends(self, object: T) -> Content:
        """The patch that notes that its owner suspends it for us; see `owners`."""
        ...

    def is_suspended_by_owner(self, object: T) -> bool:
        """Whether that was noted: then its owner has to be resumed, to release it."""
        ...

    def forget_suspension(self, object: T) -> Content | None:
        """The patch that removes the note of a suspension from one that runs; None: none is
        there."""
        ...

    def fail(self, object: T) -> Content:
        """The patch by which Kubernetes ends it as failed, once a pod of it has failed."""
        ...

    def end_by_deadline(self, object: T) -> Content:
        """The patch by which Kubernetes ends it as one that exceeded its deadline."""
        ...
