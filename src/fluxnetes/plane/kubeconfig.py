"""Writes a kubeconfig: server, authority and client certificate in one file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from fluxnetes.plane.certificates import PlaneCertificate
from fluxnetes.plane.paths import write_whole

NAME = "fluxnetes"
"""Name of the cluster, the user and the context: `kubectl --context fluxnetes`."""


def write_kubeconfig(path: Path, server: str, authority: Path, client: PlaneCertificate) -> None:
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": NAME,
                "cluster": {"server": server, "certificate-authority-data": _encode(authority)},
            }
        ],
        "users": [
            {
                "name": NAME,
                "user": {
                    "client-certificate-data": _encode(client.certificate),
                    "client-key-data": _encode(client.key),
                },
            }
        ],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }
    write_whole(path, yaml.safe_dump(document, sort_keys=False).encode())


def _encode(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
