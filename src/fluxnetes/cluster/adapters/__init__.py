"""Workload adapters: one for each kind of object that creates pods.

    base           the protocols: what an adapter says about a workload, and the patches it makes
    jobs           Jobs (batch/v1)
    services       what services have in common: pods that run until they are removed
    deployments    Deployments (apps/v1)
    replica_sets   ReplicaSets (apps/v1)
    stateful_sets  StatefulSets (apps/v1)
    owners         controllers that own workloads, and suspend them

An adapter says what an object means (how many pods, of which template, whether it has ended) and
how it is ended. Only the top owner counts: what a workload creates belongs to it, and is no
workload of its own.

To add a kind, write a module like `deployments` and put its adapter into the table below. Watching,
admission, demand, reconciling and reporting follow from the table. Only permissions are elsewhere:
`controller/manifests/role.yaml`. CONTRIBUTING.md has the whole list.
"""

from __future__ import annotations

from typing import Any

from fluxnetes.cluster.adapters.base import SuspendableAdapter, WorkloadAdapter, WorkloadOutcome
from fluxnetes.cluster.adapters.deployments import DEPLOYMENT_ADAPTER
from fluxnetes.cluster.adapters.jobs import JobAdapter
from fluxnetes.cluster.adapters.replica_sets import REPLICA_SET_ADAPTER
from fluxnetes.cluster.adapters.stateful_sets import STATEFUL_SET_ADAPTER

_ALL: tuple[WorkloadAdapter[Any], ...] = (
    JobAdapter(),
    DEPLOYMENT_ADAPTER,
    REPLICA_SET_ADAPTER,
    STATEFUL_SET_ADAPTER,
)

ADAPTERS: dict[str, WorkloadAdapter[Any]] = {adapter.kind: adapter for adapter in _ALL}
"""By the kind that ownerReferences name."""

SUSPENDABLE: dict[str, SuspendableAdapter[Any]] = {
    adapter.kind: adapter for adapter in _ALL if isinstance(adapter, SuspendableAdapter)
}
"""Those of kinds that can be suspended."""

__all__ = ["ADAPTERS", "SUSPENDABLE", "SuspendableAdapter", "WorkloadAdapter", "WorkloadOutcome"]
