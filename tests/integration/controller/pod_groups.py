"""PodGroups, of scheduler-plugins, of Kubernetes itself and of Volcano."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.errors import RequestRefused
from tests.integration.controller.space import Space, condition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OF_PLUGINS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{}/podgroups"
NATIVE = "/apis/scheduling.k8s.io/v1alpha2/namespaces/{}/podgroups"
OF_VOLCANO = "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups"


def install_definitions(api: PlaneApi) -> None:
    """What scheduler-plugins and Volcano bring along: kinds PodGroup, of which we read one
    field."""
    for group, version in (
        ("scheduling.x-k8s.io", "v1alpha1"),
        ("scheduling.volcano.sh", "v1beta1"),
    ):
        _install(api, _definition(group, version))


def _install(api: PlaneApi, definition: dict[str, Any]) -> None:
    with suppress(RequestRefused):
        api.create(DEFINITIONS, definition)
    name = definition["metadata"]["name"]
    for definitions in api.follow(DEFINITIONS):
        if condition(definitions[name], "Established")["status"] == "True":
            return


def make_pod_group(space: Space, name: str, least: int) -> None:
    """One of scheduler-plugins."""
    content = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": least},
    }
    space.api.create(OF_PLUGINS.format(space.namespace), content)


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


def make_native_pod_group(space: Space, name: str, least: int) -> None:
    """One of Kubernetes itself."""
    content = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": least}}},
    }
    space.api.create(NATIVE.format(space.namespace), content)


def _definition(group: str, version: str) -> dict[str, Any]:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True}
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
            "versions": [{**served, "schema": {"openAPIV3Schema": anything}}],
        },
    }
