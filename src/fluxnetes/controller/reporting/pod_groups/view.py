"""Computes what is known of the pods that name a PodGroup. Pure.

Mostly the pods of one group of the controller name a PodGroup, but several groups may: two Jobs,
each of which is a gang of its own, can carry the same label. Their views are then combined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from typing import NamedTuple

from fluxnetes.cluster.groups import LABELLED, WorkloadGroup, is_live
from fluxnetes.kube.objects.base import Key, Metadata
from fluxnetes.kube.objects.podgroups import NativePodGroup, PodGroup
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.states import HOLDING, JobState


class PodGroupApi(Enum):
    """Whose PodGroup it is."""

    NATIVE = "scheduling.k8s.io"
    PLUGINS = "scheduling.x-k8s.io"


class PodGroupKey(NamedTuple):
    """Identifies a PodGroup."""

    api: PodGroupApi
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class PodGroupObjects:
    """The PodGroups that exist."""

    native: Mapping[Key, NativePodGroup]
    plugins: Mapping[Key, PodGroup]

    def find(self, key: PodGroupKey) -> NativePodGroup | PodGroup | None:
        known = self.native if key.api is PodGroupApi.NATIVE else self.plugins
        return known.get((key.namespace, key.name))


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What the queue says about the job of a group."""

    state: JobState
    submitted: int | None = None
    """When all members were there that it needs to start, in seconds since 1970; None: it has
    ended, and what was said of it stays."""


@dataclass(frozen=True, slots=True)
class PodGroupView:
    """What is known of the pods that name a PodGroup."""

    state: JobState | None = None
    """Of their job; None: they have none, or it ended before this term."""
    pods: int = 0
    bound: int = 0
    """Pods on a node, whatever has become of them."""
    live: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    since: int | None = None
    """Since when their job is in the queue: seconds since 1970."""
    owners: tuple[str, ...] = ()
    """The objects that created them, `namespace/name`."""
    reason: str = ""
    """Why they wait, in words; empty: they do not, or it is not known yet."""
    is_refused: bool = False
    """Whether they wait until their user changes something."""

    @property
    def without_reason(self) -> PodGroupView:
        """The same, without the text that changes all the time while a job waits."""
        return replace(self, reason="")


def keys_of(group: WorkloadGroup) -> tuple[PodGroupKey, ...]:
    """The PodGroups that a group names; they may not exist. Quick: every change asks for it."""
    namespace, keys = group.key.namespace, []
    native = _native_name(group)
    if not native and isinstance(group.pod_group, NativePodGroup):
        native = group.pod_group.metadata.name  # others name it by the label of another dialect
    if native:
        keys.append(PodGroupKey(PodGroupApi.NATIVE, namespace, native))
    named = group.key.name if group.key.kind == LABELLED else group.options.pod_group
    if named:
        keys.append(PodGroupKey(PodGroupApi.PLUGINS, namespace, named))
    return tuple(keys)


def _native_name(group: WorkloadGroup) -> str:
    """By the first pod or template: all of a group name the same."""
    specs = [member.pod.spec for member in islice(group.pods.values(), 1)]
    specs += [group.template(uid).spec for uid in islice(group.workloads, 1)]
    names = (each.scheduling_group.pod_group_name for each in specs if each.scheduling_group)
    return next(names, "")


def view_of(
    group: WorkloadGroup, job: JobFacts | None, reason: str = "", *, is_refused: bool = False
) -> PodGroupView:
    """What is known of the pods of a group."""
    pods = _counted(group)
    phases = [pod.status.phase for pod in pods]
    has_places = job is not None and job.state in HOLDING
    return PodGroupView(
        state=job.state if job is not None else None,
        pods=len(pods),
        bound=sum(bool(pod.spec.node_name) for pod in pods),
        live=sum(map(is_live, pods)),
        running=phases.count("Running"),
        succeeded=phases.count("Succeeded"),
        failed=phases.count("Failed"),
        since=job.submitted if job is not None else None,
        owners=_owners(group, pods),
        reason="" if has_places else reason,
        is_refused=is_refused and not has_places,
    )


def _counted(group: WorkloadGroup) -> list[Pod]:
    """The pods of a group; those of an earlier one of that name only while there are no others."""
    present = [member.pod for uid, member in group.pods.items() if not group.is_closed_to(uid)]
    return present or [member.pod for member in group.pods.values()]


def _owners(group: WorkloadGroup, pods: Sequence[Pod]) -> tuple[str, ...]:
    """The owners of the first pod or, of one that is yet to come, the first workload."""
    metadata: list[Metadata] = [each.metadata for each in group.workloads.values()]
    names = [owner.name for owner in pods[0].metadata.owner_references] if pods else []
    names = names or [each.name for each in metadata[:1]]
    return tuple(sorted(f"{group.key.namespace}/{name}" for name in names))


def combined(views: Sequence[PodGroupView]) -> PodGroupView:
    """What is known of the pods of several groups that name one PodGroup."""
    if len(views) == 1:
        return views[0]
    states = sorted((each.state for each in views if each.state is not None), key=_rank)
    since = (each.since for each in views if each.since is not None)
    return PodGroupView(
        state=states[0] if states else None,
        pods=sum(each.pods for each in views),
        bound=sum(each.bound for each in views),
        live=sum(each.live for each in views),
        running=sum(each.running for each in views),
        succeeded=sum(each.succeeded for each in views),
        failed=sum(each.failed for each in views),
        since=min(since, default=None),
        owners=tuple(sorted({owner for each in views for owner in each.owners})),
        reason=next((each.reason for each in views if each.reason), ""),
        is_refused=any(each.is_refused for each in views),
    )


def _rank(state: JobState) -> int:
    """Which state counts of several: that of a job that runs, else of one that waits."""
    order = (JobState.RUNNING, JobState.ALLOCATED, JobState.ENDING, *JobState)
    return order.index(state)
