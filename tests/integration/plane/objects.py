"""Pods and Jobs for the tests, and how to wait for what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fluxnetes.plane.api import Object, PlaneApi

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


def a_pod(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": _a_spec(**spec),
    }


def a_job(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    template = {"metadata": {"annotations": annotations or {}}, "spec": _a_spec()}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def _a_spec(**spec: Any) -> Object:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    main = {"name": "main", "image": "none", "resources": resources}
    return {"restartPolicy": "Never", "containers": [main], **spec}


def wait_for(api: PlaneApi, kind: str, name: str, is_so: Callable[[Object], bool]) -> Object:
    """The object, as soon as it is so."""
    for found in api.follow(f"{kind}?fieldSelector=metadata.name%3D{name}"):
        if name in found and is_so(found[name]):
            return found[name]
    raise AssertionError("unreachable")


def wait_until_gone(api: PlaneApi, kind: str, name: str) -> list[Object]:
    """Until it is gone; all that it was before."""
    seen: list[Object] = []
    for found in api.follow(f"{kind}?fieldSelector=metadata.name%3D{name}"):
        if name not in found:
            return seen
        seen.append(found[name])
    raise AssertionError("unreachable")


def has_ended(pod: Object) -> bool:
    return pod["status"]["phase"] in ("Succeeded", "Failed")


def is_running(pod: Object) -> bool:
    return bool(pod["status"]["phase"] == "Running")


def exit_code(pod: Object) -> int:
    return int(pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"])


def conditions(thing: Object) -> dict[str, str]:
    return {each["type"]: each["status"] for each in thing["status"].get("conditions", [])}
