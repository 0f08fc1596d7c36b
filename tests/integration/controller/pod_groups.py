"""PodGroups, of scheduler-plugins and of Kubernetes itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.errors import RequestRefused
from tests.integration.controller.space import Space, condition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OF_PLUGINS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{}/podgroups"
NATIVE = "/apis/scheduling.k8s.io/v1alpha2/namespaces/{}/podgroups"


def install_definition(api: PlaneApi) -> None:
    """What scheduler-plugins brings along: the kind PodGroup, of which we read one field."""
    with suppress(RequestRefused):
        api.create(DEFINITIONS, _DEFINITION)
    name = _DEFINITION["metadata"]["name"]
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


def make_native_pod_group(space: Space, name: str, least: int, *, key: str | None = None) -> None:
    """One of Kubernetes itself; `key` is the label of which its nodes have one value."""
    constraints = {"schedulingConstraints": {"topology": [{"key": key}]}} if key else {}
    content = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": least}}, **constraints},
    }
    space.api.create(NATIVE.format(space.namespace), content)


_DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "podgroups.scheduling.x-k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
    },
    "spec": {
        "group": "scheduling.x-k8s.io",
        "names": {"kind": "PodGroup", "plural": "podgroups", "listKind": "PodGroupList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
