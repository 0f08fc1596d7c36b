"""What all services have in common: a number of equal pods, which run until they are removed.

Each pod is useful without the others, so a service starts with as many as fit, unless labels say
how many must start together. A service never ends by itself. One whose walltime is over, or that is
cancelled, is scaled to zero: Kubernetes removes its pods, and its user can scale it up again.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from fluxnetes.cluster.adapters.base import Content, WorkloadOutcome
from fluxnetes.kube.objects.base import Object, Part, Resource
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.kube.objects.pods import Pod, PodTemplate


class ServiceSpec(Part, frozen=True):
    """The number of pods, and their template, which its user may change."""

    replicas: int = 1
    template: PodTemplate = PodTemplate()
    pod_management_policy: str = ""
    """Of a StatefulSet."""


class ServiceWorkload(Object, frozen=True):
    """A Deployment, a ReplicaSet or a StatefulSet."""

    spec: ServiceSpec = ServiceSpec()


S = TypeVar("S", bound=ServiceWorkload)

_NO_PODS: Content = {"spec": {"replicas": 0}}


class ServiceAdapter(Generic[S]):
    """See `base.WorkloadAdapter`."""

    is_service = True

    def __init__(self, resource: Resource[S], wrapped: Wrapped) -> None:
        self.kind = resource.kind
        self.resource = resource
        self.wrapped = wrapped

    def template(self, object: S) -> PodTemplate:
        return object.spec.template

    def size(self, object: S) -> int:
        return object.spec.replicas

    def declared_size(self, object: S) -> int:
        return object.spec.replicas

    def to_come(self, object: S, live: int, succeeded: int) -> int:
        """Pods that ended, well or not, are replaced."""
        return max(0, object.spec.replicas - live)

    def creates_in_order(self, object: S) -> bool:
        return False

    def index(self, pod: Pod) -> int | None:
        return None

    def is_suspended(self, object: S) -> bool:
        return False

    def is_waiting_for_us(self, object: S) -> bool:
        return False

    def goes_on(self, object: S) -> bool:
        return object.spec.replicas > 0

    def is_done(self, object: S, succeeded: int) -> bool:
        return False

    def end(self, object: S) -> WorkloadOutcome | None:
        return None

    def walltime(self, object: S) -> int | None:
        return None

    def fail(self, object: S) -> Content:
        return _NO_PODS

    def end_by_deadline(self, object: S) -> Content:
        return _NO_PODS
