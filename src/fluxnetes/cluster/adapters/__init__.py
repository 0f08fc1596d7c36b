"""Workload adapters: one for each kind of object that creates pods.

    base        the protocol: what an adapter says about a workload, and the patches it makes
    jobs        Jobs (batch/v1)
    owners      controllers that own workloads, and suspend them
    scheduling  what a workload says in `spec.scheduling`

An adapter says what an object means (how many pods, of which template, whether it has ended) and
how it is released, suspended and ended. Only the top owner counts: what a workload creates belongs
to it, and is no workload of its own.

To add a kind, write a module like `jobs` and put its adapter into the table below. Watching,
demand, reconciling and reporting follow from the table. A few places besides name kinds, because
they say something that no adapter knows:

- `kube.objects` has the object's type;
- `webhook.mutate` and `webhook.registration` suspend new workloads and have to name what they get;
- `controller.reporting.reporter` maps kinds to the type numbers of FluxJobs;
- `controller/manifests/role.yaml` grants permissions for each kind.
"""

from __future__ import annotations

from typing import Any

from fluxnetes.cluster.adapters.base import WorkloadAdapter, WorkloadOutcome
from fluxnetes.cluster.adapters.jobs import JobAdapter

ADAPTERS: dict[str, WorkloadAdapter[Any]] = {adapter.kind: adapter for adapter in (JobAdapter(),)}
"""By the kind that ownerReferences name."""

__all__ = ["ADAPTERS", "WorkloadAdapter", "WorkloadOutcome"]
