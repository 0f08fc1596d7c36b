"""Scheduler-plugins' coscheduling, for `bench/kube --coscheduling`.

It is kube-scheduler, an older one, with a plugin that holds the pods of a group back until there
are enough of them. It is built from the Go module `bench/coscheduling` into the cache where the
control plane's programs are, when it is asked for and was not built before.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bench.kube_contestants import COSCHEDULING, KubeScheduler
from bench.kube_work import NAMESPACE, Group, Mark, Object
from fluxnetes.plane.binaries import cache_folder
from fluxnetes.plane.build import build, find_go
from fluxnetes.plane.plane import ControlPlane

MODULE = Path(__file__).parent / "coscheduling"
PROGRAM = "scheduler"

_GROUP = "scheduling.x-k8s.io"
_PLUGIN = "Coscheduling"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Coscheduling(KubeScheduler):
    """Groups by a label, sizes in PodGroups of its own."""

    name = COSCHEDULING

    def mark(self, group: Group) -> Mark:
        return Mark({f"{_GROUP}/pod-group": group.name})

    def objects(self, groups: Sequence[Group]) -> list[tuple[str, Object]]:
        path = f"/apis/{_GROUP}/v1alpha1/namespaces/{NAMESPACE}/podgroups"
        return [(path, self._pod_group(group)) for group in groups]

    def _pod_group(self, group: Group) -> Object:
        return {
            "apiVersion": f"{_GROUP}/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": group.name},
            "spec": {"minMember": group.size, "scheduleTimeoutSeconds": 300},
        }

    def _prepare(self, plane: ControlPlane, folder: Path) -> tuple[str, ...]:
        with plane.api() as api:
            api.create(_DEFINITIONS, _definition())
            for found in api.follow(_DEFINITIONS):
                if all(map(_is_established, found.values())):
                    break
        return super()._prepare(plane, folder)

    def _program(self) -> str:
        return str(built())

    def _settings(self, kubeconfig: Path) -> Object:
        only = {"enabled": [{"name": _PLUGIN}], "disabled": [{"name": "*"}]}
        plugins = {"multiPoint": {"enabled": [{"name": _PLUGIN}]}, "queueSort": only}
        arguments = {"permitWaitingTimeSeconds": 300}
        profile = {
            "schedulerName": self.scheduler_name,
            "plugins": plugins,
            "pluginConfig": [{"name": _PLUGIN, "args": arguments}],
        }
        return {**super()._settings(kubeconfig), "profiles": [profile]}


@cache
def built() -> Path:
    """The program, built if need be."""
    pinned = (MODULE / "go.mod").read_bytes() + (MODULE / "go.sum").read_bytes()
    digest = hashlib.sha256(pinned).hexdigest()[:12]
    folder = cache_folder().parents[1] / COSCHEDULING / digest
    if not (folder / PROGRAM).exists():
        print("building coscheduling, which takes minutes, once", file=sys.stderr)
    build(MODULE, folder, (PROGRAM,))
    return folder / PROGRAM


@cache
def _definition() -> Object:
    """Of its PodGroups, as it comes with the sources."""
    # The program may come from the cache while the sources were never here, or are gone.
    ask = [find_go(MODULE), "mod", "download", "-json", "sigs.k8s.io/scheduler-plugins"]
    said = subprocess.run(ask, cwd=MODULE, capture_output=True, text=True, check=True)
    sources = Path(json.loads(said.stdout)["Dir"])
    manifest = sources / "manifests" / "coscheduling" / "crd.yaml"
    definition: Object = yaml.safe_load(manifest.read_text())
    return definition


def _is_established(definition: Any) -> bool:
    conditions = definition.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
