"""Deployments (apps/v1): one group across all of their ReplicaSets."""

from __future__ import annotations

from fluxnetes.cluster.adapters.services import ServiceAdapter, ServiceWorkload
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.fluxjobs import Wrapped


class Deployment(ServiceWorkload, frozen=True):
    """A Deployment. Each version of its template has a ReplicaSet, which creates the pods."""


DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment", Deployment)

DEPLOYMENT_ADAPTER = ServiceAdapter(DEPLOYMENTS, Wrapped.DEPLOYMENT)
