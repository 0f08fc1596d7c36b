"""StatefulSets (apps/v1): their pods have numbers, and most are created one after the other."""

from __future__ import annotations

from fluxnetes.cluster.adapters.services import ServiceAdapter, ServiceWorkload
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.kube.objects.pods import Pod

PARALLEL = "Parallel"
"""The policy by which all pods are created at once; otherwise each waits for the one before it."""

_LONGEST_NUMBER = 9


class StatefulSet(ServiceWorkload, frozen=True):
    """A StatefulSet."""


STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet", StatefulSet)


class StatefulSetAdapter(ServiceAdapter[StatefulSet]):
    """See `base.WorkloadAdapter`."""

    def creates_in_order(self, object: StatefulSet) -> bool:
        return object.spec.pod_management_policy != PARALLEL

    def index(self, pod: Pod) -> int | None:
        """The end of its name: the label that says the same is younger."""
        number = pod.metadata.name.rpartition("-")[2]
        # Any user can create a pod of any name.
        is_number = number.isascii() and number.isdecimal() and len(number) <= _LONGEST_NUMBER
        return int(number) if is_number else None


STATEFUL_SET_ADAPTER = StatefulSetAdapter(STATEFUL_SETS, Wrapped.STATEFUL_SET)
