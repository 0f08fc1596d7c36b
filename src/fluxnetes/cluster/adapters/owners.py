"""Controllers that own workloads: whether a workload is suspended itself, or by way of its owner.

A JobSet keeps its Jobs as its own spec says, and resumes a Job that another component suspends. So
the JobSet has to be suspended, and it suspends its Jobs. A CronJob creates Jobs and then leaves
them alone: its own `suspend` is about Jobs to come. What other owners do is not known; their
workloads are not suspended while they wait.
"""

from __future__ import annotations

from fluxnetes.cluster.adapters.base import Content
from fluxnetes.kube.objects.base import Object, Owner, Resource

JOB_SETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", Object)

OWNERS = {each.kind: each for each in (JOB_SETS,)}
"""Owners that suspend their workloads when they are suspended, by kind."""

_PASSIVE = frozenset((("batch", "CronJob"),))
"""Groups and kinds of owners that leave the workloads that they created alone."""


def active_owner(workload: Object) -> Owner | None:
    """The controller that decides whether a workload is suspended; None: the workload itself."""
    owner = workload.metadata.controller
    return None if owner is None or (_group(owner), owner.kind) in _PASSIVE else owner


def can_suspend(owner: Owner) -> bool:
    """Whether an owner suspends its workloads when it is suspended."""
    resource = OWNERS.get(owner.kind)
    return resource is not None and resource.group == _group(owner)


def suspend_owner(*, suspend: bool) -> Content:
    """The patch that suspends or resumes an owner."""
    return {"spec": {"suspend": suspend}}


def _group(owner: Owner) -> str:
    return owner.api_version.rpartition("/")[0]
