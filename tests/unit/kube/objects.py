"""Objects as JSON, with little in them."""

from __future__ import annotations

from typing import Any

import msgspec

from fluxnetes.kube.decoding import decoding
from fluxnetes.kube.objects.pods import PODS, Pod


def a_pod(name: str, version: int = 1, *, uid: str = "", node: str = "") -> dict[str, Any]:
    """A pod of namespace `default`."""
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": uid or f"uid-of-{name}",
        "resourceVersion": str(version),
        "creationTimestamp": "2026-01-02T03:04:05Z",
    }
    spec: dict[str, Any] = {"containers": [{"name": "app"}], "schedulerName": "fluxnetes"}
    if node:
        spec["nodeName"] = node
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def as_pod(content: dict[str, Any]) -> Pod:
    """The struct."""
    return decoding(PODS).object(msgspec.json.encode(content))


def as_line(kind: str, content: dict[str, Any]) -> bytes:
    """A line of a watch."""
    return msgspec.json.encode({"type": kind, "object": content}) + b"\n"


def bookmark(version: int) -> bytes:
    """A line that says only how far we have come, as the server writes it for pods."""
    empty = {"resourceVersion": str(version), "creationTimestamp": None}
    return as_line("BOOKMARK", {"metadata": empty, "spec": {"containers": None}, "status": {}})


def as_page(*items: dict[str, Any], version: int = 1, more: str = "") -> bytes:
    """A list."""
    metadata = {"resourceVersion": str(version), **({"continue": more} if more else {})}
    return msgspec.json.encode({"kind": "PodList", "metadata": metadata, "items": items})
