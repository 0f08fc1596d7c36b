"""Decides what happens to Jobs, services and pods on their creation.

    Job      suspended, and its template names the scheduler, which cannot be changed later. The
             annotation `fluxnetes.io/queued` marks that Fluxnetes suspended it. A Job that its user
             suspended is held as well, by `fluxnetes.io/hold`, until the user removes that.
    Pod      names the scheduler and has the scheduling gate, unless its user named the scheduler.
    service  so does its pod template (a Deployment, a ReplicaSet, a StatefulSet). Users can change
             the template later, so that is a case for the webhook, too. A service that is there
             already when its namespace opts in is left alone until then: to change its template
             replaces its pods.

Objects that other components manage stay unchanged: pods and ReplicaSets that a controller creates
for a workload, Jobs that another controller manages, mirror pods of a kubelet. An owner reference
that is only a claim does not count (`requester`). To change the ReplicaSet of a Deployment would
make it create others without end, since none is what its template says.

Refused are objects that would bypass the queue (a node that the user chose), and invalid labels of
Fluxnetes, since this is the earliest point at which a user can see the error.

The registration already limits the requests to objects that opted in. What can be decided from the
request is checked here once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.adapters.services import ServiceWorkload
from fluxnetes.cluster.labels.names import GATE, GATES, HOLD, HOSTNAME, QUEUED, SCHEDULER_NAMES
from fluxnetes.cluster.labels.parse import InvalidLabel, read_options
from fluxnetes.kube.objects.base import Metadata, Object
from fluxnetes.kube.objects.jobs import JOBS, Job
from fluxnetes.kube.objects.pods import PODS, Pod, PodSpec
from fluxnetes.webhook.requester import is_mirror, trusted_owner
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

T = TypeVar("T", bound=Object)

SERVICES: dict[tuple[str, str], type[ServiceWorkload]] = {
    (adapter.resource.group, adapter.resource.plural): adapter.resource.type
    for adapter in ADAPTERS.values()
    if issubclass(adapter.resource.type, ServiceWorkload)
}
"""The services whose pods are gated, by group and plural."""

SYSTEM_NAMESPACES = ("kube-system", "kube-node-lease", "kube-public")
BUILT_IN = "kubernetes.io/job-controller"
"""The value of `managedBy` that means the default, the built-in controller."""

_HELD = (
    "spec.suspend is true, so the job is held; "
    f"remove the annotation {HOLD} to release it into the queue"
)


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """The namespace and the scheduler names of Fluxnetes."""

    namespace: str = "fluxnetes-system"
    """The webhook's own namespace, in which nothing is changed."""
    schedulers: tuple[str, ...] = SCHEDULER_NAMES
    """Scheduler names of Fluxnetes; the first is written into pods."""

    @property
    def exempt(self) -> tuple[str, ...]:
        """Namespaces in which nothing is changed."""
        return (*SYSTEM_NAMESPACES, self.namespace)


def decide(request: AdmissionRequest, policy: AdmissionPolicy) -> AdmissionDecision:
    """The decision on a request. Raises InvalidReview if its object cannot be decoded."""
    resource = (request.resource.group, request.resource.resource)
    service = SERVICES.get(resource)
    may_be = ("CREATE",) if service is None else ("CREATE", "UPDATE")
    if request.operation not in may_be or request.sub_resource:
        return AdmissionDecision("neither a CREATE of an object nor an UPDATE of a service")
    if request.namespace in policy.exempt:
        return AdmissionDecision("in an exempt namespace")
    if service is not None:
        return _decide_service(request, service, policy)
    if resource == (JOBS.group, JOBS.plural):
        return _decide_job(_read(request, Job), request.user_info, policy)
    if resource == (PODS.group, PODS.plural):
        return _decide_pod(_read(request, Pod), request.user_info, policy)
    return AdmissionDecision("neither a Job, a service nor a Pod")


def _decide_job(job: Job, user: AdmissionUser, policy: AdmissionPolicy) -> AdmissionDecision:
    owner = trusted_owner(job.metadata, user)
    if owner is not None and owner.kind in ADAPTERS:
        return AdmissionDecision(f"belongs to {owner.kind} {owner.name}")
    if job.spec.managed_by not in ("", BUILT_IN):
        return AdmissionDecision(f"managed by {job.spec.managed_by}")
    template = job.spec.template
    refusal = (
        _chosen_node(template.spec, "spec.template.spec")
        or _invalid_label(job.metadata, "metadata")
        or _invalid_label(template.metadata, "spec.template.metadata")
    )
    if refusal:
        return AdmissionDecision("refused", refusal=refusal)
    return _queue_job(job, policy)


def _queue_job(job: Job, policy: AdmissionPolicy) -> AdmissionDecision:
    present = job.metadata.annotations
    wanted = {QUEUED: "true"}
    # When the webhook is called again after another one changed the Job, its own suspension must
    # not be taken for the user's.
    is_held = job.spec.suspend and present.get(QUEUED) != "true"
    if is_held:
        wanted[HOLD] = "true"
    edits = annotate(present, wanted)
    if not job.spec.suspend:
        edits = (*edits, put("/spec/suspend", True))
    edits = (*edits, *_set_scheduler(job.spec.template.spec, "/spec/template/spec", policy))
    return AdmissionDecision(
        "held" if is_held else "queued", edits, warnings=(_HELD,) if is_held else ()
    )


def _decide_service(
    request: AdmissionRequest, kind: type[ServiceWorkload], policy: AdmissionPolicy
) -> AdmissionDecision:
    service = _read(request, kind)
    owner = trusted_owner(service.metadata, request.user_info)
    if owner is not None:
        return AdmissionDecision(f"belongs to {owner.kind} {owner.name}")
    if request.operation == "UPDATE" and _template(request.object) == _template(request.old_object):
        return AdmissionDecision("its template stays as it is")
    template = service.spec.template
    refusal = (
        _chosen_node(template.spec, "spec.template.spec")
        or _invalid_label(service.metadata, "metadata")
        or _invalid_label(template.metadata, "spec.template.metadata")
    )
    if refusal:
        return AdmissionDecision("refused", refusal=refusal)
    if template.spec.scheduler_name in policy.schedulers:
        return AdmissionDecision("names the scheduler already")
    path = "/spec/template/spec"
    edits = (*_gate(template.spec, path), *_set_scheduler(template.spec, path, policy))
    return AdmissionDecision("queued", edits)


def _template(object: msgspec.Raw) -> Any:
    """The template with all of its fields: what counts is whether pods will be replaced."""
    try:
        return msgspec.json.decode(object)["spec"]["template"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        return None


def _decide_pod(pod: Pod, user: AdmissionUser, policy: AdmissionPolicy) -> AdmissionDecision:
    if is_mirror(pod.metadata, user):
        return AdmissionDecision("a mirror pod of a kubelet")
    owner = trusted_owner(pod.metadata, user)
    if owner is not None:
        return AdmissionDecision(f"belongs to {owner.kind} {owner.name}")
    refusal = _chosen_node(pod.spec, "spec") or _invalid_label(pod.metadata, "metadata")
    if refusal:
        return AdmissionDecision("refused", refusal=refusal)
    if pod.spec.scheduler_name in policy.schedulers:
        return AdmissionDecision("names the scheduler already")
    return AdmissionDecision(
        "queued", (*_gate(pod.spec, "/spec"), *_set_scheduler(pod.spec, "/spec", policy))
    )


def _gate(spec: PodSpec, path: str) -> tuple[Edit, ...]:
    if any(gate.name in GATES for gate in spec.scheduling_gates):
        return ()
    return (append(f"{path}/schedulingGates", spec.scheduling_gates, {"name": GATE}),)


def _set_scheduler(spec: PodSpec, path: str, policy: AdmissionPolicy) -> tuple[Edit, ...]:
    if spec.scheduler_name in policy.schedulers:
        return ()
    return (put(f"{path}/schedulerName", policy.schedulers[0]),)


# --- refusals ----------------------------------------------------------------------------------


def _chosen_node(spec: PodSpec, path: str) -> str:
    if not spec.node_name:
        return ""
    return (
        f"{path}.nodeName is {spec.node_name!r}, which would bypass the queue; leave it out, and "
        f"select the node by {path}.nodeSelector: {HOSTNAME}"
    )


def _invalid_label(metadata: Metadata, path: str) -> str:
    try:
        read_options(metadata)
    except InvalidLabel as error:
        return f"{path}: {error}"
    return ""


def _read(request: AdmissionRequest, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(request.object, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidReview(f"the object is not a valid {kind.__name__}: {error}") from None
