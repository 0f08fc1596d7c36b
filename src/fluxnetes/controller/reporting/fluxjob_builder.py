"""Computes what the FluxJob of a group says, from the group and its jobs of the queue. Pure.

A group has a FluxJob from when it is first looked at, complete or not. A single pod has one only
once it has waited for a while: most start at once, and thousands of them may come in a minute.

While pods of a group run or have yet to run, `status.nodes` are the nodes of its pods, and of the
seats that wait for a pod. So they follow the pods: to another node, and as their number changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import yaml

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.demand import least_size, queue_of
from fluxnetes.cluster.groups import LABELLED, POD, NotQueued, WorkloadGroup, is_live
from fluxnetes.cluster.parts import NO_NODE, GroupPart
from fluxnetes.common.reasons import ReasonCode
from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, WAITING, JobState

_WRAPPED = {
    POD: Wrapped.POD,
    LABELLED: Wrapped.GROUP,
    **{kind: adapter.wrapped for kind, adapter in ADAPTERS.items()},
}
_UNQUEUED = {ReasonCode.GATHERING: JobState.GATHERING, ReasonCode.HELD: JobState.HELD}
"""The state of a group that is not in the queue, by the code of its reason; else it is pending."""

_LEFT_OUT = ("tenancy", "pods")
"""Pools of which every pod takes one, so they carry no information."""


@dataclass(frozen=True, slots=True)
class WaitForecast:
    """Why a job is in its state and, while it waits, its position and its promised start."""

    reason: str = ""
    code: str = ""
    position: int | None = None
    eta: int | None = None


@dataclass(frozen=True, slots=True)
class PodPlaces:
    """The pods of a group that run, ran or will run: on which nodes, and how many."""

    nodes: tuple[str, ...]
    """Each once."""
    size: int

    def after(self, before: PodPlaces | None) -> PodPlaces:
        """The same, with the nodes that were there before in their order.

        Pods are bound and end in any order; that alone is no reason to write a FluxJob.
        """
        if before is None:
            return self
        here = set(self.nodes)
        kept = [node for node in before.nodes if node in here]
        return replace(self, nodes=tuple(dict.fromkeys((*kept, *self.nodes))))


def places_of(group: WorkloadGroup) -> PodPlaces:
    """Where the pods of a group are, and where those are to be that have a seat already.

    A pod that failed counts if no workload replaces it; else its seat counts, which is held for
    the replacement or has ended.
    """
    nodes: dict[str, None] = {}
    size = 0
    for uid, member in group.pods.items():
        pod = member.pod
        if pod.spec.node_name and (is_live(pod) or _has_run(group, uid)):
            nodes[pod.spec.node_name] = None
            size += 1
    for part in group.holding:
        for task, node in enumerate(part.nodes):
            uid = part.pods.get(task, "")
            is_counted = uid in group.pods and bool(group.pods[uid].pod.spec.node_name)
            if task not in part.ended and not is_counted:
                size += 1
                if node != NO_NODE:
                    nodes[node] = None
    return PodPlaces(tuple(nodes), min(size, _most_at_once(group, size)))


def _most_at_once(group: WorkloadGroup, otherwise: int) -> int:
    """How many pods a group has at a time: a workload may run many more one after the other."""
    if not group.workloads:
        return otherwise
    declared = (
        ADAPTERS[group.kinds[uid]].declared_size(each) for uid, each in group.workloads.items()
    )
    return sum(declared) + sum(not member.owner for member in group.pods.values()) or otherwise


def _has_run(group: WorkloadGroup, uid: str) -> bool:
    """Whether a pod ended, and is not one that a workload replaces or that a user deleted."""
    pod = group.pods[uid].pod
    if not pod.is_over or pod.metadata.deletion_timestamp is not None:
        return False
    return pod.status.phase == "Succeeded" or not group.pods[uid].owner


def view_of_job(
    group: WorkloadGroup,
    job: QueueJob,
    part: GroupPart | None,
    places: PodPlaces | None,
    forecast: WaitForecast,
) -> FluxJobView:
    """What the FluxJob of a group says whose first part is a job of the queue.

    `places` are those of its pods, once it has started.
    """
    eta = job.plan.start if job.plan is not None and forecast.eta is None else forecast.eta
    size = len(part.footprints) if part is not None else _size(job)
    return FluxJobView(
        namespace=group.key.namespace,
        name=group.key.name,
        kind=_WRAPPED[group.key.kind],
        state=job.state,
        reason=forecast.reason,
        reason_code=forecast.code,
        queue=job.queue,
        position=forecast.position,
        eta=eta,
        start=job.start,
        end=job.end if job.state in ENDED else None,
        walltime=job.walltime,
        nodes=places.nodes if places is not None and job.state not in WAITING else (),
        size=places.size if places is not None and places.size else size,
        job_id=job.id,
        owner=owner_of(group),
        jobspec=_jobspec(job),
    )


def view_of_unqueued(
    group: WorkloadGroup, not_queued: NotQueued, forecast: WaitForecast
) -> FluxJobView:
    """What the FluxJob of a group says that is not in the queue yet."""
    state = _UNQUEUED.get(not_queued.reason.code, JobState.PENDING)
    return FluxJobView(
        namespace=group.key.namespace,
        name=group.key.name,
        kind=_WRAPPED[group.key.kind],
        state=JobState.REJECTED if not_queued.is_refused else state,
        reason=forecast.reason,
        reason_code=forecast.code,
        queue=queue_of(group),
        walltime=group.options.walltime,
        size=least_size(group),
        owner=owner_of(group),
    )


def owner_of(group: WorkloadGroup) -> Owner | None:
    """The object with which a group's FluxJob is deleted: its workload or its pod, if it is one."""
    if group.key.kind == POD:
        return Owner(PODS.api_version, PODS.kind, group.key.name, group.key.uid)
    if group.key.kind == LABELLED or len(group.workloads) != 1:
        return None  # a label group may gather more objects than it has now
    ((uid, workload),) = group.workloads.items()
    resource = ADAPTERS[group.kinds[uid]].resource
    return Owner(resource.api_version, resource.kind, workload.metadata.name, uid)


def _size(job: QueueJob) -> int:
    """The number of pods that a job asked for."""
    request = job.submission.request
    return sum(shape.count for shape in request.shapes) if isinstance(request, Gang) else 1


# --- the request as a Flux jobspec --------------------------------------------------------------


def _jobspec(job: QueueJob) -> str:
    """The request of a job as YAML; empty if it is no gang, and so has no pods."""
    request = job.submission.request
    if not isinstance(request, Gang):
        return ""
    return _jobspec_text(request.shapes, job.walltime or 0)


@lru_cache(maxsize=1024)
def _jobspec_text(shapes: tuple[Shape, ...], duration: int) -> str:
    resources = [_slot(shape, f"pod{number}") for number, shape in enumerate(shapes)]
    document: dict[str, Any] = {
        "version": 9999,
        "resources": resources,
        "tasks": [
            {"command": ["pod"], "slot": slot["label"], "count": {"per_slot": 1}}
            for slot in resources
        ],
        "attributes": {"system": {"duration": duration}},
    }
    return yaml.safe_dump(document, sort_keys=False)


def _slot(shape: Shape, label: str) -> dict[str, Any]:
    inside = [
        {"type": type, "count": amount} for type, amount in shape.amounts if type not in _LEFT_OUT
    ]
    return {"type": "slot", "count": shape.count, "label": label, "with": inside}
