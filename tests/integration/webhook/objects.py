"""What is made, and as whom."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.certificates import PlaneAuthority
from fluxnetes.plane.plane import ControlPlane

Content = dict[str, Any]

QUEUED, HOLD = "fluxnetes.io/queued", "fluxnetes.io/hold"
MANAGED = {"fluxnetes.io/managed": "true"}
GATES = [{"name": QUEUED}]


def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def jobs(namespace: str) -> str:
    return f"/apis/batch/v1/namespaces/{namespace}/jobs"


def daemon_sets(namespace: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/daemonsets"


def a_pod(name: str = "a", *, metadata: Content | None = None, **spec: Any) -> Content:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name} | (metadata or {}),
        "spec": _SPEC | spec,
    }


def a_job(name: str = "a", *, metadata: Content | None = None, **spec: Any) -> Content:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": _SPEC | {"restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name} | (metadata or {}),
        "spec": {"template": template} | spec,
    }


def a_daemon_set(name: str) -> Content:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _SPEC}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": name}, "spec": spec}


_SPEC: Content = {
    "containers": [{"name": "main", "image": "none", "env": [{"name": "A", "value": "b"}]}],
    "terminationGracePeriodSeconds": 0,
    "tolerations": [{"key": "x", "operator": "Exists"}],
}


def first_pod(api: PlaneApi, namespace: str, labels: str = "") -> Content:
    """Some pod with these labels, once there is one."""
    for found in api.follow(f"{pods(namespace)}?labelSelector={labels}"):
        if found:
            return next(iter(found.values()))
    raise AssertionError("the loop ends with an error")


def comparable(made: Content) -> Content:
    """Without what differs between any two objects."""
    text = json.dumps(made)
    for name in ("uid", "namespace", "resourceVersion", "creationTimestamp"):
        text = text.replace(made["metadata"][name], name)
    found: Content = json.loads(text)
    found["metadata"].pop("managedFields")
    return found


def as_user(plane: ControlPlane, user: str, group: str) -> PlaneApi:
    """A connection as another user."""
    authority = PlaneAuthority(plane.paths.keys)
    certificate = authority.issue_client(user.replace(":", "-"), user, group)
    port = urlsplit(plane.server).port
    assert port is not None
    return PlaneApi(port, authority.files.certificate, certificate)
