"""Pieces of work as Kubernetes objects."""

from __future__ import annotations

from fluxnetes.cluster.labels import names
from fluxnetes.plane.api import Object
from fluxnetes.plane.nodes import node_name
from tests.integration.crash.faults.load import Kind, Piece
from tests.integration.crash.manifests import JOBS, PODS, WORK

_REFERENCES = {Kind.JOB: "job", Kind.QUEUED: "job", Kind.GANG: "group", Kind.SINGLE: "pod"}


def manifests(piece: Piece) -> list[tuple[str, Object]]:
    """Where to make what."""
    if piece.is_job:
        return [(JOBS, _job(piece))]
    return [(PODS, _pod(piece, number)) for number in range(piece.pods)]


def pod_names(piece: Piece) -> list[str]:
    """Of the pods that its user makes. A single pod has the name of its piece."""
    if piece.kind is Kind.SINGLE:
        return [piece.name]
    return [f"{piece.name}-{number}" for number in range(piece.pods)]


def _pod(piece: Piece, number: int) -> Object:
    labels = {WORK: piece.name}
    if piece.kind is Kind.GANG:
        labels |= {names.GROUP: piece.name, names.GROUP_SIZE: str(piece.pods)}
    annotations = {**_running(piece, fails=number < piece.failing), **_asked(piece)}
    metadata = {"name": pod_names(piece)[number], "labels": labels, "annotations": annotations}
    spec = _spec(piece)
    if piece.kind is Kind.PINNED:
        spec["nodeName"] = node_name(piece.node)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _job(piece: Piece) -> Object:
    metadata: Object = {
        "name": piece.name,
        "labels": {WORK: piece.name},
        "annotations": _asked(piece),
    }
    if piece.kind is Kind.QUEUED:
        metadata["annotations"][names.QUEUED] = "true"
    template = {
        "labels": {WORK: piece.name},
        "annotations": _running(piece, fails=bool(piece.failing)),
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "parallelism": piece.pods,
            "completions": piece.pods * piece.rounds,
            "completionMode": "Indexed" if piece.indexed else "NonIndexed",
            "backoffLimit": piece.backoff,
            "suspend": piece.kind is Kind.QUEUED,
            "template": {"metadata": template, "spec": _spec(piece)},
        },
    }


def _running(piece: Piece, *, fails: bool) -> dict[str, str]:
    """How its pods are simulated."""
    found = {"fluxnetes.io/run-time": f"{piece.seconds:g}s"}
    return {**found, "fluxnetes.io/exit-code": "1"} if fails else found


def _asked(piece: Piece) -> dict[str, str]:
    """What its user asks of us."""
    if not piece.is_ours:
        return {}
    found = {names.WALLTIME: str(piece.walltime)}
    if piece.after:
        found[names.AFTER_OK] = _reference(piece.after)
    return found


def _reference(name: str) -> str:
    """A piece as other pieces refer to it: its kind is the first word of its name."""
    return f"{_REFERENCES[Kind(name.partition('-')[0])]}/{name}"


def _spec(piece: Piece) -> Object:
    requests = {"cpu": str(piece.cores), "memory": f"{piece.cores * 256}Mi"}
    return {
        "schedulerName": "fluxnetes" if piece.is_ours else "default-scheduler",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "none", "resources": {"requests": requests}}],
    }
