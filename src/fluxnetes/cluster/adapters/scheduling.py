"""Reads `spec.scheduling` of a workload: Kubernetes' own words for how its pods start.

    spec:
      scheduling:
        schedulingPolicy:
          gang: {minCount: 4}

Jobs have it from Kubernetes 1.37 on, other kinds may follow. Without it a workload starts as a
whole, which is what a batch queue is for; the default of Kubernetes, one by one, has to be asked
for.
"""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.jobs import Job

MIN_COUNT = "spec.scheduling.schedulingPolicy.gang.minCount"
"""The field that has the number."""


TOPOLOGY_KEY = "spec.scheduling.schedulingConstraints.topology[0].key"
"""The field that has the label of which all nodes of a workload have one value."""


def topology_declared(workload: Object) -> str | None:
    """The label of which all nodes of a workload must have one value, if it says so."""
    scheduling = workload.spec.scheduling if isinstance(workload, Job) else None
    constraints = () if scheduling is None else scheduling.scheduling_constraints.topology
    return constraints[0].key if constraints else None


def least_declared(workload: Object) -> int | None:
    """How many pods of a workload must start together, if it says so."""
    scheduling = workload.spec.scheduling if isinstance(workload, Job) else None
    if scheduling is None or scheduling.scheduling_policy is None:
        return None
    gang = scheduling.scheduling_policy.gang
    return 1 if gang is None else gang.min_count
