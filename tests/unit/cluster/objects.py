"""Objects from what a manifest would say, with little in them."""

from __future__ import annotations

from typing import Any

import msgspec

from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.kube.objects.pods import Pod, PodSpec

Content = dict[str, Any]


def a_container(name: str = "app", *, limits: Content | None = None, **requests: str) -> Content:
    """A container; resource names are keywords, `gpu` stands for nvidia.com/gpu."""
    named = {"gpu": "nvidia.com/gpu", "disk": "ephemeral-storage", "huge": "hugepages-2Mi"}
    asked = {named.get(key, key): value for key, value in requests.items()}
    return {"name": name, "resources": {"requests": asked, "limits": limits or {}}}


def a_sidecar(name: str, **requests: str) -> Content:
    return {**a_container(name, limits=None, **requests), "restartPolicy": "Always"}


def a_spec(*containers: Content, **more: Any) -> PodSpec:
    """A pod's spec; other fields by the API's names."""
    return msgspec.convert({"containers": containers, **more}, PodSpec)


def a_pod(spec: Content, *, metadata: Content | None = None, status: Content | None = None) -> Pod:
    content = {"metadata": metadata or {}, "spec": spec, "status": status or {}}
    return msgspec.convert(content, Pod)


def a_node(name: str = "n1", *taints: str, **labels: str) -> Node:
    """A node; a taint is `key=value:effect`, as kubectl writes it."""
    content = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [_taint(text) for text in taints]},
    }
    return msgspec.convert(content, Node)


def _taint(text: str) -> Content:
    key, effect = text.rsplit(":", 1)
    key, _, value = key.partition("=")
    return {"key": key, "value": value, "effect": effect}


def metadata(*, labels: Content | None = None, annotations: Content | None = None) -> Metadata:
    return Metadata(name="a", labels=labels or {}, annotations=annotations or {})
