"""Claims and volumes for the tests."""

from __future__ import annotations

from tests.integration.controller.objects import Content, Maker
from tests.integration.controller.space import Space

VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
SIZE = {"storage": "1Gi"}


def make_volume(space: Space, name: str, node: str) -> None:
    """A volume that one node has, for the claim of the same name."""
    host = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    term = {"matchExpressions": [host]}
    spec = {
        "capacity": SIZE,
        "accessModes": ["ReadWriteOnce"],
        "local": {"path": "/none"},
        "claimRef": {"namespace": space.namespace, "name": name},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    full = f"{space.namespace}-{name}"
    space.api.create(VOLUMES, {"metadata": {"name": full}, "spec": spec})
    # A claim that is seen before its volume is looked at again after a quarter of a minute.
    for volumes in space.api.follow(VOLUMES):
        if volumes[full].get("status", {}).get("phase") == "Available":
            return


def make_claim(space: Space, name: str, class_name: str = "") -> None:
    """A claim for the volume of the same name, or else for one of a class."""
    spec: Content = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": class_name,
        "resources": {"requests": SIZE},
    }
    if not class_name:
        spec["volumeName"] = f"{space.namespace}-{name}"
    path = f"/api/v1/namespaces/{space.namespace}/persistentvolumeclaims"
    space.api.create(path, {"metadata": {"name": name}, "spec": spec})


def make_class(space: Space) -> str:
    """A class whose claims are bound when the first pod has its node."""
    name = f"late-{space.namespace}"
    content = {"metadata": {"name": name}, "provisioner": "none"}
    space.api.create(CLASSES, content | {"volumeBindingMode": "WaitForFirstConsumer"})
    return name


def with_claim(maker: Maker, name: str) -> Maker:
    return maker.with_spec(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}])
