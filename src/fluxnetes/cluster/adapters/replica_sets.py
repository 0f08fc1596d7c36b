"""ReplicaSets (apps/v1) that no Deployment owns; the others belong to their Deployment."""

from __future__ import annotations

from fluxnetes.cluster.adapters.services import ServiceAdapter, ServiceWorkload
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.fluxjobs import Wrapped


class ReplicaSet(ServiceWorkload, frozen=True):
    """A ReplicaSet."""


REPLICA_SETS = Resource("apps", "v1", "replicasets", "ReplicaSet", ReplicaSet)

REPLICA_SET_ADAPTER = ServiceAdapter(REPLICA_SETS, Wrapped.REPLICA_SET)
