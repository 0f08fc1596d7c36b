"""The protocols of workload adapters: what each of them can say and do.

    WorkloadAdapter      every kind: which pods, how many, and how it ended
    SuspendableAdapter   kinds that create no pods while they are suspended

A suspendable workload waits in the queue without pods. The pods of any other kind exist, and wait:
they have a scheduling gate, or name our scheduler. To return such a workload to the queue its pods
are deleted, and it creates new ones, which wait again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from fluxnetes.kube.objects.base import Object, Resource
from fluxnetes.kube.objects.fluxjobs import Wrapped
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


@runtime_checkable
class WorkloadAdapter(Protocol[T]):
    """One kind of workload. All methods are pure: they return patches, and the executor sends
    them."""

    kind: str
    resource: Resource[T]
    wrapped: Wrapped
    """The type of its FluxJobs."""
    is_service: bool
    """Whether its pods run until they are removed, and each is useful without the others. Else they
    do one piece of work together, which ends."""

    # -- which pods ----------------------------------------------------------------------------

    def template(self, object: T) -> PodTemplate:
        """What its pods will look like."""
        ...

    def size(self, object: T) -> int:
        """The number of pods that it wants to run at this moment, suspended or not."""
        ...

    def declared_size(self, object: T) -> int:
        """The number of pods that it runs at once, by its spec alone, whatever has ended so far."""
        ...

    def to_come(self, object: T, live: int, succeeded: int) -> int:
        """The number of pods that it will still create, given how many live and have succeeded."""
        ...

    def creates_in_order(self, object: T) -> bool:
        """Whether it creates some of its pods only once others are ready."""
        ...

    def index(self, pod: Pod) -> int | None:
        """The pod's number, if its workload numbers them."""
        ...

    # -- whether it goes on --------------------------------------------------------------------

    def is_suspended(self, object: T) -> bool:
        """Whether it creates no pods until it is resumed."""
        ...

    def is_waiting_for_us(self, object: T) -> bool:
        """Whether it is suspended by us, so that we may release it."""
        ...

    def goes_on(self, object: T) -> bool:
        """Whether it would create pods, or has yet to say how it ended, if all of its pods ended
        now."""
        ...

    def is_done(self, object: T, succeeded: int) -> bool:
        """Whether it is sure to end well, though it does not say so yet: so many of its pods have
        succeeded, and none lives."""
        ...

    def end(self, object: T) -> WorkloadOutcome | None:
        """How it ended, if it has."""
        ...

    # -- how it is ended -----------------------------------------------------------------------

    def walltime(self, object: T) -> int | None:
        """The seconds after which Kubernetes itself ends it."""
        ...

    def fail(self, object: T) -> Content:
        """The patch by which Kubernetes ends it as failed, once a pod of it has failed; of a
        service, the patch that leaves it without pods."""
        ...

    def end_by_deadline(self, object: T) -> Content:
        """The patch by which Kubernetes ends it as one that exceeded its deadline; of a service,
        the patch that leaves it without pods."""
        ...


@runtime_checkable
class SuspendableAdapter(WorkloadAdapter[T], Protocol[T]):
    """One kind of workload that can be suspended."""

    def counts_while_waiting(self, object: T) -> bool:
        """Whether Kubernetes counts its deadline from when it came, unless it is suspended."""
        ...

    def counting_since(self, object: T) -> float | None:
        """Since when its deadline counts, in seconds since the epoch; None: it does not yet."""
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
