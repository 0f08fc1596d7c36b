"""A cluster in memory, for plays: what the API server holds, the Job controller, and the kubelets.

It knows the truth, and tells of every change in `news`, which a play brings to the controller when
it likes. What it does is what was seen of Kubernetes:

- a bind checks neither capacity nor whether the node still exists;
- a bound pod cannot be bound again, and one that is being deleted cannot be bound at all;
- a Job that is suspended loses its pods and its start time, and spends nothing of its backoffLimit;
- a pod that goes while it runs takes a moment, and is counted as failed by its Job;
- a kubelet refuses a pod that does not fit beside those that it has.

Nothing happens by itself: `pass_time` is a second of the kubelets, `control` one look of the
controllers.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from msgspec.structs import replace

from fluxnetes.cluster.adapters.services import ServiceWorkload
from fluxnetes.cluster.labels.names import JOB, SCHEDULER_NAMES, TASK
from fluxnetes.cluster.node_graph import is_closed
from fluxnetes.cluster.pods.requests import held_amounts
from fluxnetes.cluster.quantities import amounts
from fluxnetes.kube.cache import ChangeKind
from fluxnetes.kube.objects.base import Condition, Object
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.kube.objects.podgroups import (
    AnyPodGroup,
    NativePodGroup,
    PodGroup,
    VolcanoPodGroup,
)
from fluxnetes.kube.objects.pods import Pod, PodTemplate
from tests.unit.controller.jobs import JobController
from tests.unit.controller.services import look_at

T = TypeVar("T", bound=Object)


class Refused(Exception):  # noqa: N818 - as the API server says it
    """Not found, or in conflict with what is there."""


@dataclass(frozen=True)
class News:
    """What a watch would show."""

    kind: str
    change: ChangeKind
    object: Object


@dataclass
class Cluster:
    """See the module's docstring."""

    now: int = 1_800_000_000
    nodes: dict[str, Node] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    """Jobs and pods by uid."""
    pod_groups: dict[str, AnyPodGroup] = field(default_factory=dict)
    """By uid."""
    services: dict[str, ServiceWorkload] = field(default_factory=dict)
    """Deployments, ReplicaSets and StatefulSets by uid."""
    unavailable: int = 1
    """How many pods of a Deployment may not run while it is rolled out."""
    news: list[News] = field(default_factory=list)
    run_time: int | None = None
    """Pods that ran for so long end well; None: they run until something ends them."""
    usual: str = ""
    """The cpu that admission gives pods of Jobs from now on, whatever their template says."""
    hesitation: int = 0
    """Seconds after a failure in which a Job makes no pod."""
    stop_time: int = 0
    """Seconds that a running pod needs to go, beyond one."""
    suspended_job_sets: dict[str, bool] = field(default_factory=dict)
    """By uid; one that is not here is not suspended."""
    outlives: int = 0
    """Seconds that pods run on after their node's object is gone, until they are collected."""
    gone: dict[str, int] = field(default_factory=dict)
    """When nodes went, by name."""
    made: int = 0
    """How many pods were ever made by controllers."""
    failures: dict[str, int] = field(default_factory=dict)
    """When a pod of a Job last failed, by the Job's uid."""
    tally: dict[str, dict[str, bool]] = field(default_factory=dict)
    """Whether pods of Jobs ended well, by the Job's uid and the pod's."""
    witness: Callable[[News], None] = lambda news: None
    """Sees everything, at once."""
    _version: int = 0
    sizes: dict[str, list[tuple[int, dict[str, int]]]] = field(default_factory=dict)
    """What each node had, from which version on, in order."""
    bound: dict[str, int] = field(default_factory=dict)
    """The version at which each pod was first on a node, by uid."""

    # -- objects -------------------------------------------------------------------------------

    def put(self, object: T) -> T:
        """An object is new, or changed."""
        self._version += 1
        known, kind = self._of(object)
        key = object.metadata.name if isinstance(object, Node) else object.metadata.uid
        created = object.metadata.creation_timestamp or self.moment
        metadata = replace(
            object.metadata, resource_version=str(self._version), creation_timestamp=created
        )
        object = replace(object, metadata=metadata)
        change = ChangeKind.CHANGED if key in known else ChangeKind.ADDED
        known[key] = object
        self._tell(News(kind, change, object))
        if isinstance(object, Node):
            has = amounts(object.status.allocatable, up=False)
            self.sizes.setdefault(key, []).append((self._version, has))
        elif isinstance(object, Pod) and object.spec.node_name:
            self.bound.setdefault(key, self._version)
        return object

    def drop(self, object: Object) -> None:
        """An object is gone."""
        known, kind = self._of(object)
        key = object.metadata.name if isinstance(object, Node) else object.metadata.uid
        last = known.pop(key, None)
        if isinstance(object, Node):
            self.gone[key] = self.now
        if last is not None:
            self._tell(News(kind, ChangeKind.DELETED, last))

    def _tell(self, news: News) -> None:
        self.news.append(news)
        self.witness(news)

    def _of(self, object: Object) -> tuple[dict[str, Any], str]:
        if isinstance(object, Node):
            return self.nodes, "nodes"
        if isinstance(object, PodGroup | NativePodGroup | VolcanoPodGroup):
            return self.pod_groups, "podgroups"
        if isinstance(object, ServiceWorkload):
            return self.services, f"{type(object).__name__.lower()}s"
        return (self.jobs, "jobs") if isinstance(object, Job) else (self.pods, "pods")

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    def everything(self) -> list[News]:
        """What a list would show."""
        listed = (self.nodes, self.jobs, self.pods, self.pod_groups, self.services)
        found: list[Object] = [each for known in listed for each in known.values()]
        return [News(self._of(each)[1], ChangeKind.ADDED, each) for each in found]

    # -- what users and schedulers do ----------------------------------------------------------

    def bind(self, uid: str, node: str, job: int, task: int) -> None:
        pod = self._pod(uid)
        if pod.spec.node_name or pod.metadata.deletion_timestamp is not None or pod.is_over:
            raise Refused(f"pod {pod.metadata.name} cannot be bound any more")
        annotations = {**pod.metadata.annotations, JOB: str(job), TASK: str(task)}
        scheduled = Condition("PodScheduled", "True", last_transition_time=self.moment)
        self.put(
            replace(
                pod,
                metadata=replace(pod.metadata, annotations=annotations),
                spec=replace(pod.spec, node_name=node, scheduling_gates=()),
                status=replace(pod.status, conditions=(scheduled,)),
            )
        )

    def delete_pod(self, uid: str, *, counts: bool = True) -> None:
        """Delete a pod; it is gone at once if no kubelet has to end it.

        Its Job counts that as a failure, unless the Job controller itself did it.
        """
        pod = self._pod(uid)
        owner = pod.metadata.controller
        if owner is not None and not pod.is_over and counts:
            self.tally.setdefault(owner.uid, {})[uid] = False
        if not pod.spec.node_name or pod.is_over:
            self.drop(pod)
        elif pod.metadata.deletion_timestamp is None:
            metadata = replace(pod.metadata, deletion_timestamp=self.moment)
            self.put(replace(pod, metadata=metadata))

    def end_pod(self, uid: str, phase: str, reason: str = "") -> None:
        pod = self._pod(uid)
        self.put(replace(pod, status=replace(pod.status, phase=phase, reason=reason)))

    def set_deadline(self, uid: str, seconds: int) -> None:
        pod = self._pod(uid)
        self.put(replace(pod, spec=replace(pod.spec, active_deadline_seconds=seconds)))

    def patch_job(self, uid: str, content: dict[str, Any]) -> None:
        """Merge; annotations and some fields of the spec are all that is changed here."""
        job = self.jobs.get(uid)
        if job is None:
            raise Refused("there is no such Job")
        more = content.get("metadata", {}).get("annotations", {})
        merged = {**job.metadata.annotations, **more}
        annotations = {key: value for key, value in merged.items() if value is not None}
        renamed = {
            "activeDeadlineSeconds": "active_deadline_seconds",
            "backoffLimit": "backoff_limit",
        }
        spec = {renamed.get(key, key): value for key, value in content.get("spec", {}).items()}
        self.put(
            replace(
                job,
                metadata=replace(job.metadata, annotations=annotations),
                spec=replace(job.spec, **spec),
            )
        )

    def patch_service(self, uid: str, content: dict[str, Any]) -> None:
        """Merge; annotations, and the number of pods."""
        service = self.services.get(uid)
        if service is None:
            raise Refused("there is no such service")
        more = content.get("metadata", {}).get("annotations", {})
        merged = {**service.metadata.annotations, **more}
        annotations = {key: value for key, value in merged.items() if value is not None}
        metadata = replace(service.metadata, annotations=annotations)
        spec = replace(service.spec, **content.get("spec", {}))
        self.put(replace(service, metadata=metadata, spec=spec))

    def roll_out(self, uid: str, template: PodTemplate) -> None:
        """A user changes the template of a service."""
        service = self.services[uid]
        self.put(replace(service, spec=replace(service.spec, template=template)))

    def patch_job_set(self, uid: str, content: dict[str, Any]) -> None:
        """A JobSet has its Jobs follow when it is suspended or resumed."""
        self.suspended_job_sets[uid] = content["spec"]["suspend"]
        self.keep_job_sets()

    def keep_job_sets(self) -> None:
        """Jobs of JobSets are suspended if and only if their JobSet is."""
        for job in list(self.jobs.values()):
            owner = job.metadata.controller
            if owner is not None and owner.kind == "JobSet" and job.end is None:
                suspend = self.suspended_job_sets.get(owner.uid, False)
                if job.spec.suspend != suspend:
                    self.patch_job(job.metadata.uid, {"spec": {"suspend": suspend}})

    def delete_job(self, uid: str) -> None:
        """In the background: its pods follow."""
        if uid in self.jobs:
            self.drop(self.jobs[uid])

    def _pod(self, uid: str) -> Pod:
        if uid not in self.pods:
            raise Refused("there is no such pod")
        return self.pods[uid]

    # -- what happens by itself ----------------------------------------------------------------

    def control(self) -> None:
        """One look of the Job controller and the garbage collectors."""
        for pod in list(self.pods.values()):
            owner = pod.metadata.controller
            known = self._makers(pod)
            if owner is not None and known is not None and owner.uid not in known:
                self.delete_pod(pod.metadata.uid)
        for service in list(self.services.values()):
            owner = service.metadata.controller
            if owner is not None and owner.uid not in self.services:
                self.drop(service)
        for service in list(self.services.values()):
            look_at(self, service)
        self.keep_job_sets()
        for job in list(self.jobs.values()):
            JobController(self, job).look()

    def pass_time(self) -> None:
        """A second of the kubelets."""
        self.now += 1
        for pod in list(self.pods.values()):
            if pod.is_over and pod.metadata.deletion_timestamp is not None:
                self.drop(pod)
            elif pod.spec.node_name and not pod.is_over:
                self._keep(pod)
        self.control()

    def _makers(self, pod: Pod) -> Container[str] | None:
        """The objects of the kind that a pod says made it; None: it stands for itself."""
        owner = pod.metadata.controller
        if owner is None or owner.kind not in ("Job", "ReplicaSet", "StatefulSet"):
            return None
        return self.jobs if owner.kind == "Job" else self.services

    def _made_by_a_service(self, pod: Pod) -> bool:
        owner = pod.metadata.controller
        return owner is not None and owner.kind in ("ReplicaSet", "StatefulSet")

    def _keep(self, pod: Pod) -> None:
        """What the kubelet of a pod's node does about it."""
        uid, status = pod.metadata.uid, pod.status
        going = pod.metadata.deletion_timestamp
        since = self.gone.get(pod.spec.node_name, 0)
        if pod.spec.node_name not in self.nodes and self.now - since > self.outlives:
            self.drop(pod)
        elif going is not None:
            if self.now - going.timestamp() > self.stop_time:
                # Kubelets write a final phase before they remove a pod.
                self.end_pod(uid, "Failed")
                self.drop(self.pods[uid])
        elif status.phase == "Pending":
            self._admit(pod)
        else:
            ran = self.now - int(status.start_time.timestamp()) if status.start_time else 0
            deadline = pod.spec.active_deadline_seconds
            if deadline is not None and ran > deadline:
                self.end_pod(uid, "Failed", "DeadlineExceeded")
            elif self._made_by_a_service(pod):
                pass  # its containers are started again
            elif self.run_time is not None and ran >= self.run_time:
                self.end_pod(uid, "Succeeded")

    def _admit(self, pod: Pod) -> None:
        if pod.spec.node_name not in self.nodes:
            self.put(
                replace(pod, status=replace(pod.status, phase="Running", start_time=self.moment))
            )
            return
        free = self.free(pod.spec.node_name, admitted=True)
        short = [type for type, amount in held_amounts(pod) if amount > free.get(type, amount)]
        labels = self.nodes[pod.spec.node_name].metadata.labels.items()
        if short:
            self.end_pod(pod.metadata.uid, "Failed", f"OutOf{short[0]}")
        elif not pod.spec.node_selector.items() <= labels:
            self.end_pod(pod.metadata.uid, "Failed", "NodeAffinity")
        else:
            running = replace(pod.status, phase="Running", start_time=self.moment)
            self.put(replace(pod, status=running))

    # -- looking -------------------------------------------------------------------------------

    def on(self, node: str) -> list[Pod]:
        """The pods on a node that are not over."""
        return [p for p in self.pods.values() if p.spec.node_name == node and not p.is_over]

    def free(self, node: str, *, admitted: bool = False) -> dict[str, int]:
        """What the pods on a node leave, of what kubelets count; or those that run there alone."""
        left = amounts(self.nodes[node].status.allocatable, up=False)
        for pod in self.on(node):
            if not admitted or pod.status.phase != "Pending":
                for type, amount in held_amounts(pod):
                    if type in left:
                        left[type] -= amount
        return left

    def crowded(self, node: str) -> set[str]:
        """What the pods on a node hold more of than it had since the youngest of them came."""
        found = set()
        for type in {type for pod in self.on(node) for type, _ in held_amounts(pod)}:
            held = {pod.metadata.uid: dict(held_amounts(pod)).get(type, 0) for pod in self.on(node)}
            youngest = max(self.bound[uid] for uid, amount in held.items() if amount)
            if sum(held.values()) > self._largest(node, type, youngest):
                found.add(type)
        return found

    def _largest(self, node: str, type: str, since: int) -> int:
        history = self.sizes[node]
        ends = [version for version, _ in history[1:]] + [self._version + 1]
        pairs = zip(history, ends, strict=True)
        return max(has.get(type, 0) for (_, has), end in pairs if end > since)

    def is_open(self, node: str) -> bool:
        return node in self.nodes and not is_closed(self.nodes[node])

    @property
    def ours(self) -> list[Pod]:
        return [pod for pod in self.pods.values() if is_ours(pod)]


def is_ours(pod: Pod) -> bool:
    return pod.spec.scheduler_name in SCHEDULER_NAMES
