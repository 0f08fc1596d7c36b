"""A kubeconfig: where the API server is, whom to trust, and who we are. All in one file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from fluxnetes.plane.certificates import Certificate

NAME = "fluxnetes"
"""Of the cluster, the user and the context: `kubectl --context fluxnetes`."""


def write_kubeconfig(path: Path, server: str, authority: Path, client: Certificate) -> None:
    """Replace the file, so that nobody ever reads half of one."""
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
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.touch(mode=0o600)
    unfinished.write_text(yaml.safe_dump(document, sort_keys=False))
    unfinished.replace(path)


def _encode(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
