"""What is done to a Job and to a Pod when they are made.

    Job    suspended, and its template names our scheduler; that cannot be changed later. The
           annotation `fluxnetes.io/queued` says that it was we who suspended it. A Job that its
           user suspended is held as well, by `fluxnetes.io/hold`: to be let go by the user.
    Pod    names our scheduler and has our gate, unless it named us by itself.

Left alone is what belongs to somebody else: pods that a controller makes for a workload, Jobs that
another controller manages, what a kubelet tells of its own pods. An owner that is only claimed does
not count (`makers`).

Refused is what would pass by the queue (a node that the user chose), and labels of ours that make
no sense: nowhere else is a user told so soon.

The registration sees to it that we are asked only about what opted in. What can be seen from the
request is decided here once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.labels.names import GATE, GATES, HOLD, HOSTNAME, QUEUED, SCHEDULER_NAMES
from fluxnetes.cluster.labels.parse import InvalidLabel, read_options
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.jobs import JOBS, Job
from fluxnetes.kube.objects.pods import PODS, Pod, PodSpec
from fluxnetes.webhook.requester import believed_owner, is_mirror
from fluxnetes.webhook.review import (
    AdmissionDecision,
    AdmissionRequest,
    AdmissionUser,
    Edit,
    InvalidReview,
    annotate,
    append,
    put,
)

T = TypeVar("T", Job, Pod)

SYSTEM_NAMESPACES = ("kube-system", "kube-node-lease", "kube-public")
BUILT_IN = "kubernetes.io/job-controller"
"""What `managedBy` says if it says what is true without it."""

_HELD = (
    "spec.suspend is true, so the job is held; "
    f"remove the annotation {HOLD} to let it into the queue"
)


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """What is ours."""

    namespace: str = "fluxnetes-system"
    """Where we live ourselves, and so touch nothing."""
    schedulers: tuple[str, ...] = SCHEDULER_NAMES
    """Names of ours; the first is the one that we write."""

    @property
    def exempt(self) -> tuple[str, ...]:
        """Namespaces in which nothing is touched."""
        return (*SYSTEM_NAMESPACES, self.namespace)


def decide(request: AdmissionRequest, policy: AdmissionPolicy) -> AdmissionDecision:
    """What is to become of a request. Raises BadReview if its object cannot be read."""
    if request.operation != "CREATE" or request.sub_resource:
        return AdmissionDecision("not asked for")
    if request.namespace in policy.exempt:
        return AdmissionDecision("of a system namespace")
    resource = (request.resource.group, request.resource.resource)
    if resource == (JOBS.group, JOBS.plural):
        return _decide_job(_read(request, Job), request.user_info, policy)
    if resource == (PODS.group, PODS.plural):
        return _decide_pod(_read(request, Pod), request.user_info, policy)
    return AdmissionDecision("neither a Job nor a Pod")


def _decide_job(job: Job, user: AdmissionUser, policy: AdmissionPolicy) -> AdmissionDecision:
    owner = believed_owner(job.metadata, user)
    if owner is not None and owner.kind in ADAPTERS:
        return AdmissionDecision(f"belongs to {owner.kind} {owner.name}")
    if job.spec.managed_by not in ("", BUILT_IN):
        return AdmissionDecision(f"managed by {job.spec.managed_by}")
    template = job.spec.template
    refusal = (
        _chosen_node(template.spec, "spec.template.spec")
        or _bad_mark(job.metadata, "metadata")
        or _bad_mark(template.metadata, "spec.template.metadata")
    )
    if refusal:
        return AdmissionDecision("refused", refusal=refusal)
    return _queue_job(job, policy)


def _queue_job(job: Job, policy: AdmissionPolicy) -> AdmissionDecision:
    present = job.metadata.annotations
    wanted = {QUEUED: "true"}
    # Asked again after another webhook changed the Job, we must not take our own work for the
    # user's.
    is_held = job.spec.suspend and present.get(QUEUED) != "true"
    if is_held:
        wanted[HOLD] = "true"
    edits = annotate(present, wanted)
    if not job.spec.suspend:
        edits = (*edits, put("/spec/suspend", True))
    edits = (*edits, *_name_us(job.spec.template.spec, "/spec/template/spec", policy))
    return AdmissionDecision(
        "held" if is_held else "queued", edits, warnings=(_HELD,) if is_held else ()
    )


def _decide_pod(pod: Pod, user: AdmissionUser, policy: AdmissionPolicy) -> AdmissionDecision:
    if is_mirror(pod.metadata, user):
        return AdmissionDecision("a kubelet's own")
    owner = believed_owner(pod.metadata, user)
    if owner is not None:
        return AdmissionDecision(f"belongs to {owner.kind} {owner.name}")
    refusal = _chosen_node(pod.spec, "spec") or _bad_mark(pod.metadata, "metadata")
    if refusal:
        return AdmissionDecision("refused", refusal=refusal)
    if pod.spec.scheduler_name in policy.schedulers:
        return AdmissionDecision("names our scheduler")
    return AdmissionDecision("queued", (*_gate(pod.spec), *_name_us(pod.spec, "/spec", policy)))


def _gate(spec: PodSpec) -> tuple[Edit, ...]:
    if any(gate.name in GATES for gate in spec.scheduling_gates):
        return ()
    return (append("/spec/schedulingGates", spec.scheduling_gates, {"name": GATE}),)


def _name_us(spec: PodSpec, path: str, policy: AdmissionPolicy) -> tuple[Edit, ...]:
    if spec.scheduler_name in policy.schedulers:
        return ()
    return (put(f"{path}/schedulerName", policy.schedulers[0]),)


# --- what is refused ---------------------------------------------------------------------------


def _chosen_node(spec: PodSpec, path: str) -> str:
    if not spec.node_name:
        return ""
    return (
        f"{path}.nodeName is {spec.node_name!r}, which would pass by the queue; leave it out, and "
        f"ask for the node by {path}.nodeSelector: {HOSTNAME}"
    )


def _bad_mark(metadata: Metadata, path: str) -> str:
    try:
        read_options(metadata)
    except InvalidLabel as error:
        return f"{path}: {error}"
    return ""


def _read(request: AdmissionRequest, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(request.object, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidReview(
            f"the object is no {kind.__name__} that we understand: {error}"
        ) from None
