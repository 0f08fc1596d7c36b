"""The controller as a user with just the rights that our manifests grant."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import yaml

from fluxnetes.plane.api import Object, PlaneApi
from fluxnetes.plane.certificates import PlaneAuthority, PlaneCertificate
from fluxnetes.plane.kubeconfig import write_kubeconfig
from fluxnetes.plane.plane import ControlPlane

USER = "fluxnetes-controller"

_ROLES = "/apis/rbac.authorization.k8s.io/v1"
_PATHS = {
    "Namespace": "/api/v1/namespaces",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "ClusterRole": f"{_ROLES}/clusterroles",
    "ClusterRoleBinding": f"{_ROLES}/clusterrolebindings",
    "Role": f"{_ROLES}/namespaces/{{}}/roles",
    "RoleBinding": f"{_ROLES}/namespaces/{{}}/rolebindings",
}


def admit_controller(plane: ControlPlane) -> tuple[Path, PlaneCertificate]:
    """Do what an administrator does first; the controller's kubeconfig, and its certificate."""
    with plane.api() as api:
        _create(api, {"kind": "Namespace", "metadata": {"name": "fluxnetes-system"}})
        for manifest in ("fluxjobs.yaml", "role.yaml"):
            for content in yaml.safe_load_all(_read(manifest)):
                _create(api, content)
                if "Role" in content["kind"]:
                    _create(api, _binding(content))
    authority = PlaneAuthority(plane.paths.keys)
    certificate = authority.issue_client(USER, USER)
    kubeconfig = plane.paths.settings / f"{USER}.kubeconfig"
    write_kubeconfig(kubeconfig, plane.server, authority.files.certificate, certificate)
    return kubeconfig, certificate


def _read(manifest: str) -> str:
    return (resources.files("fluxnetes.controller") / "manifests" / manifest).read_text()


def _binding(role: Object) -> Object:
    user = {"kind": "User", "name": USER, "apiGroup": "rbac.authorization.k8s.io"}
    to = {"kind": role["kind"], "name": role["metadata"]["name"]}
    return {
        "kind": f"{role['kind']}Binding",
        "metadata": role["metadata"],
        "subjects": [user],
        "roleRef": {**to, "apiGroup": "rbac.authorization.k8s.io"},
    }


def _create(api: PlaneApi, content: Object) -> None:
    namespace = content["metadata"].get("namespace", "")
    api.create(_PATHS[content["kind"]].format(namespace), content)
