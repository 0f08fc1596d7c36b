"""PodGroups, of scheduler-plugins, of Kubernetes itself and of Volcano."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fluxnetes.plane.api import Object, PlaneApi
from fluxnetes.plane.errors import RequestRefused
from tests.integration.controller.space import Space, condition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OF_PLUGINS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{}/podgroups"
NATIVE = "/apis/scheduling.k8s.io/{}/namespaces/{}/podgroups"
OF_VOLCANO = "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups"


def install_definitions(api: PlaneApi) -> None:
    """What scheduler-plugins and Volcano bring along: kinds PodGroup, the first with the fields of
    its release, and of the other one field of which we read."""
    _install(api, _definition("scheduling.x-k8s.io", "v1alpha1", _FIELDS))
    _install(api, _definition("scheduling.volcano.sh", "v1beta1", None))


def _install(api: PlaneApi, definition: dict[str, Any]) -> None:
    with suppress(RequestRefused):
        api.create(DEFINITIONS, definition)
    name = definition["metadata"]["name"]
    for definitions in api.follow(DEFINITIONS):
        if condition(definitions[name], "Established")["status"] == "True":
            return


def make_pod_group(space: Space, name: str, least: int) -> str:
    """One of scheduler-plugins; the path of all of them."""
    path = OF_PLUGINS.format(space.namespace)
    content = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": least},
    }
    space.api.create(path, content)
    return path


def make_volcano_pod_group(space: Space, name: str, least: int) -> None:
    """One of Volcano."""
    content = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": least},
    }
    space.api.create(OF_VOLCANO.format(space.namespace), content)


def change_pod_group(space: Space, name: str, least: int) -> None:
    """One of scheduler-plugins says something else from now on."""
    path = f"{OF_PLUGINS.format(space.namespace)}/{name}"
    space.api.patch(path, {"spec": {"minMember": least}})


def delete_pod_group(space: Space, name: str) -> None:
    """One of scheduler-plugins is deleted."""
    space.api.delete(f"{OF_PLUGINS.format(space.namespace)}/{name}")


def make_native_pod_group(space: Space, name: str, least: int) -> str:
    """One of Kubernetes itself, in the version that is served; the path of all of them."""
    version = native_version(space.api)
    path = NATIVE.format(version, space.namespace)
    content = {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": least}}},
    }
    space.api.create(path, content)
    return path


def native_version(api: PlaneApi) -> str:
    """In which version the server has its own PodGroups."""
    versions = (str(each["version"]) for each in api.get("/apis/scheduling.k8s.io")["versions"])
    return next(each for each in versions if each in ("v1alpha2", "v1beta1"))


def status_of(space: Space, path: str, name: str) -> Object:
    """The status of a PodGroup."""
    status: Object = space.get(path, name).get("status", {})
    return status


def until_phase(space: Space, path: str, name: str, phase: str) -> Object:
    """The status of a PodGroup of scheduler-plugins, once it is in a phase."""
    found = space.until_one(
        path, name, lambda group: bool(group.get("status", {}).get("phase") == phase)
    )
    status: Object = found["status"]
    return status


def until_condition(space: Space, path: str, name: str, status: str, words: str = "") -> Object:
    """The one condition of a native PodGroup, once it has this status and these words."""

    def is_so(group: Object) -> bool:
        found = group.get("status", {}).get("conditions", [])
        return any(each["status"] == status and words in each["message"] for each in found)

    (found,) = space.until_one(path, name, is_so)["status"]["conditions"]
    return dict(found)


_FIELDS: dict[str, Any] = {
    "spec": {
        "type": "object",
        "properties": {
            "minMember": {"type": "integer", "format": "int32", "minimum": 1},
            "minResources": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "scheduleTimeoutSeconds": {"type": "integer", "format": "int32"},
        },
    },
    "status": {
        "type": "object",
        "properties": {
            "failed": {"type": "integer", "format": "int32"},
            "occupiedBy": {"type": "string"},
            "phase": {"type": "string"},
            "running": {"type": "integer", "format": "int32"},
            "scheduleStartTime": {"type": "string", "format": "date-time"},
            "succeeded": {"type": "integer", "format": "int32"},
        },
    },
}
"""As scheduler-plugins v0.34 has them; releases before had `scheduled` too."""


def _definition(group: str, version: str, fields: dict[str, Any] | None) -> dict[str, Any]:
    """A kind PodGroup with these fields and a status that is written apart; None: any fields."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": fields} if fields is not None else anything
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"podgroups.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": group,
            "names": {"kind": "PodGroup", "plural": "podgroups", "listKind": "PodGroupList"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }
