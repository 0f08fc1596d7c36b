"""Pieces of work as Kubernetes objects, and whether those have ended."""

from __future__ import annotations

from fluxnetes.cluster.labels import names
from fluxnetes.plane.api import Object
from tests.integration.crash.works import Fate, Kind, Work

NAMESPACE = "crash"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
WORK = "crash/work"
"""The label that says which piece of work a pod or a Job is of."""
STAMP = "crash/stamp"
"""The annotation with the number of a user's last action on a Job, written with that action."""


def manifests(work: Work) -> list[tuple[str, Object]]:
    """Where to make what."""
    if work.is_job:
        return [(JOBS, _job(work))]
    return [(PODS, _pod(work, number)) for number in range(work.pods)]


def has_ended(job: Object) -> bool:
    """Whether a Job is complete or failed."""
    conditions = job.get("status", {}).get("conditions", [])
    ended = ("Complete", "Failed")
    return any(each["type"] in ended and each["status"] == "True" for each in conditions)


def is_over(pod: Object) -> bool:
    """Whether all containers of a pod have ended."""
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def _pod(work: Work, number: int) -> Object:
    metadata = {**_metadata(work), "name": f"{work.name}-{number}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _spec(work)}


def _job(work: Work) -> Object:
    metadata: Object = {"name": work.name, "labels": {WORK: work.name}, "annotations": {}}
    if work.kind is Kind.QUEUED:
        metadata["annotations"][names.QUEUED] = "true"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "parallelism": work.pods,
            "completions": work.completions,
            "completionMode": "Indexed" if work.indexed else "NonIndexed",
            "backoffLimit": 0,  # a pod that is failed without need fails the Job
            "suspend": work.kind is Kind.QUEUED,
            "template": {"metadata": _metadata(work), "spec": _spec(work)},
        },
    }


def _metadata(work: Work) -> Object:
    """Of a pod."""
    labels = {WORK: work.name}
    annotations = {"fluxnetes.io/run-time": f"{work.seconds:g}s"}
    if work.fate is Fate.FAILS:
        annotations["fluxnetes.io/exit-code"] = "1"
    if work.is_ours:
        annotations[names.WALLTIME] = str(work.walltime)
    if work.kind is Kind.GANG:
        labels |= {names.GROUP: work.name, names.GROUP_SIZE: str(work.pods)}
    return {"labels": labels, "annotations": annotations}


def _spec(work: Work) -> Object:
    requests = {"cpu": str(work.cores), "memory": f"{work.cores * 256}Mi"}
    return {
        "schedulerName": "fluxnetes" if work.is_ours else "default-scheduler",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "none", "resources": {"requests": requests}}],
    }
