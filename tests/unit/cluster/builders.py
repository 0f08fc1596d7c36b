"""A small cluster's worth of objects: nodes with something on them, pods, Jobs and their pods.

    a_job("train", pods=4, cpu="2")                      suspended by us, and ours to release
    pod_of(job, "train-0", index=0)                      what the Job controller makes of it
    one_pod("solo", cpu="500m", node="n1")               bound, by any scheduler
    one_pod("a", group="ring", size=3)                   of a label group

`changed` gives an object with other values in its metadata, spec or status, as the watch shows it
after a write.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from fluxnetes.cluster.adapters.services import ServiceWorkload
from fluxnetes.cluster.labels.names import COMPLETION_INDEX, GROUP, GROUP_SIZE, QUEUED
from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.kube.objects.podgroups import NativePodGroup, PodGroup, VolcanoPodGroup
from fluxnetes.kube.objects.pods import Pod, PodTemplate
from tests.unit.cluster.objects import Content, a_container

HERE = "default"
OURS = "fluxnetes"
OTHERS = "default-scheduler"
NOW = "2027-01-31T08:00:00Z"

T = TypeVar("T", bound=Object)


def machine(
    name: str = "n1",
    *,
    cpu: str = "4",
    memory: str = "8Gi",
    pods: str = "110",
    ready: bool = True,
    cordoned: bool = False,
    going: bool = False,
    zone: str = "",
    labels: Content | None = None,
    taints: tuple[Content, ...] = (),
    more: Content | None = None,
) -> Node:
    """A node that takes pods."""
    placed = {"topology.kubernetes.io/zone": zone} if zone else {}
    content = {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": {**placed, **(labels or {})},
            "deletionTimestamp": NOW if going else None,
        },
        "spec": {"unschedulable": cordoned, "taints": taints},
        "status": {
            "allocatable": {"cpu": cpu, "memory": memory, "pods": pods, **(more or {})},
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        },
    }
    return msgspec.convert(content, Node)


def one_pod(
    name: str = "p1",
    *,
    uid: str = "",
    namespace: str = HERE,
    cpu: str = "1",
    group: str = "",
    size: int | None = None,
    scheduler: str = OURS,
    node: str = "",
    phase: str = "Pending",
    going: bool = False,
    labels: Content | None = None,
    annotations: Content | None = None,
    owner: Content | None = None,
    **spec: Any,
) -> Pod:
    """A pod of one container; more of its spec by the API's names."""
    options = {GROUP: group} if group else {}
    options |= {GROUP_SIZE: str(size)} if size is not None else {}
    content = {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid or f"uid-{namespace}-{name}",
            "labels": {**options, **(labels or {})},
            "annotations": annotations or {},
            "ownerReferences": [owner] if owner else [],
            "deletionTimestamp": NOW if going else None,
        },
        "spec": {
            "containers": [a_container(cpu=cpu)],
            "schedulerName": scheduler,
            "nodeName": node,
            **spec,
        },
        "status": {"phase": phase},
    }
    return msgspec.convert(content, Pod)


def a_job(
    name: str = "j1",
    *,
    uid: str = "",
    namespace: str = HERE,
    pods: int = 1,
    completions: int | None = -1,
    cpu: str = "1",
    scheduler: str = OURS,
    suspended: bool = True,
    queued: bool = True,
    labels: Content | None = None,
    annotations: Content | None = None,
    template: Content | None = None,
    pod: Content | None = None,
    status: Content | None = None,
    **spec: Any,
) -> Job:
    """A Job as the webhook leaves it: suspended, and marked as ours to release.

    It wants as many pods to succeed as run side by side, unless `completions` says otherwise. More
    of its template's metadata is in `template`, and of its spec in `pod`.
    """
    queued_by_us = {QUEUED: "true"} if queued else {}
    content = {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid or f"uid-{namespace}-job-{name}",
            "labels": labels or {},
            "annotations": {**queued_by_us, **(annotations or {})},
        },
        "spec": {
            "parallelism": pods,
            "completions": pods if completions == -1 else completions,
            "suspend": suspended,
            "template": {
                "metadata": template or {},
                "spec": {
                    "containers": [a_container(cpu=cpu)],
                    "schedulerName": scheduler,
                    **(pod or {}),
                },
            },
            **spec,
        },
        "status": status or {},
    }
    return msgspec.convert(content, Job)


def pod_of(
    job: Job,
    name: str,
    *,
    index: int | None = None,
    cpu: str = "",
    labels: Content | None = None,
    **more: Any,
) -> Pod:
    """A pod that the Job controller makes for a Job; with another `cpu` if admission changed it."""
    template = msgspec.to_builtins(job.spec.template)
    numbered = {} if index is None else {COMPLETION_INDEX: str(index)}
    written = template.get("metadata", {}).get("labels", {})
    spec = {**template["spec"], **({"containers": [a_container(cpu=cpu)]} if cpu else {})}
    return one_pod(
        name,
        namespace=job.metadata.namespace,
        labels={**written, **numbered, **(labels or {})},
        annotations=template.get("metadata", {}).get("annotations", {}),
        owner=owner_of(job),
        **{**spec, **more},
    )


W = TypeVar("W", bound=ServiceWorkload)


def a_service(
    kind: type[W],
    name: str = "web",
    *,
    uid: str = "",
    namespace: str = HERE,
    replicas: int = 1,
    cpu: str = "1",
    scheduler: str = OURS,
    labels: Content | None = None,
    annotations: Content | None = None,
    template: Content | None = None,
    pod: Content | None = None,
    owner: Content | None = None,
    **spec: Any,
) -> W:
    """A Deployment, a ReplicaSet or a StatefulSet, as the webhook leaves it: its pods have our
    gate. More of its template's metadata is in `template`, and of its spec in `pod`."""
    content = {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid or f"uid-{namespace}-{kind.__name__.lower()}-{name}",
            "labels": labels or {},
            "annotations": annotations or {},
            "ownerReferences": [owner] if owner else [],
        },
        "spec": {
            "replicas": replicas,
            "template": {
                "metadata": {"labels": {"of": name}, **(template or {})},
                "spec": {
                    "containers": [a_container(cpu=cpu)],
                    "schedulerName": scheduler,
                    "schedulingGates": [{"name": QUEUED}],
                    **(pod or {}),
                },
            },
            **spec,
        },
    }
    return msgspec.convert(content, kind)


def owner_of_service(service: ServiceWorkload, **more: Any) -> Content:
    """The owner reference of what a service makes."""
    owner = service.metadata
    named = {"apiVersion": "apps/v1", "kind": type(service).__name__}
    return {**named, "name": owner.name, "uid": owner.uid, "controller": True, **more}


def pod_of_template(
    template: PodTemplate,
    name: str,
    *,
    cpu: str = "",
    labels: Content | None = None,
    **more: Any,
) -> Pod:
    """A pod that a controller makes of a template; with another `cpu` if admission changed it."""
    content = msgspec.to_builtins(template)
    written = content.get("metadata", {})
    spec = {**content["spec"], **({"containers": [a_container(cpu=cpu)]} if cpu else {})}
    return one_pod(
        name,
        labels={**written.get("labels", {}), **(labels or {})},
        annotations=written.get("annotations", {}),
        **{**spec, **more},
    )


def owner_of(job: Job, **more: Any) -> Content:
    """The owner reference of a pod of a Job."""
    owner = job.metadata
    named = {"apiVersion": "batch/v1", "kind": "Job", "name": owner.name, "uid": owner.uid}
    return {**named, "controller": True, **more}


def a_pod_group(name: str, least: int, *, namespace: str = HERE) -> PodGroup:
    """A PodGroup of scheduler-plugins."""
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-podgroup-{name}"}
    return msgspec.convert({"metadata": metadata, "spec": {"minMember": least}}, PodGroup)


def a_volcano_pod_group(name: str, least: int, *, namespace: str = HERE) -> VolcanoPodGroup:
    """A PodGroup of Volcano."""
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-volcano-{name}"}
    return msgspec.convert({"metadata": metadata, "spec": {"minMember": least}}, VolcanoPodGroup)


def a_native_pod_group(name: str, least: int | None, *, namespace: str = HERE) -> NativePodGroup:
    """A PodGroup of Kubernetes itself; without a least size its pods are no gang."""
    policy = {"gang": {"minCount": least}} if least is not None else {}
    content = {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-native-{name}"},
        "spec": {"schedulingPolicy": policy},
    }
    return msgspec.convert(content, NativePodGroup)


def changed(
    object: T,
    *,
    metadata: Content | None = None,
    spec: Content | None = None,
    status: Content | None = None,
) -> T:
    """The same object after a write; None removes a value."""
    content = msgspec.to_builtins(object)
    for part, news in (("metadata", metadata), ("spec", spec), ("status", status)):
        merged = {**content.get(part, {}), **(news or {})}
        content[part] = {key: value for key, value in merged.items() if value is not None}
    return msgspec.convert(content, type(object))
