"""Reads which client wrote what from the audit log of the API server.

etcd shows every change but not which client requested it. The log has requests when they come and
when they are answered, so that one that was done and never answered, because the server was killed,
is there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

USER = "admin"
"""The account of users and administrators here."""
OURS = "fluxnetes-controller"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [
        {
            "level": "Metadata",
            "verbs": ["delete", "deletecollection"],
            "resources": [
                {"group": "", "resources": ["pods", "nodes"]},
                {"group": "batch", "resources": ["jobs"]},
            ],
        },
        {
            "level": "Metadata",
            "verbs": ["create"],
            "resources": [{"group": "", "resources": ["pods/eviction", "pods/binding"]}],
        },
        {
            "level": "Metadata",
            "verbs": ["patch"],
            "resources": [
                {"group": "", "resources": ["pods"]},
                {"group": "batch", "resources": ["jobs"]},
            ],
        },
        {"level": "None"},
    ],
}


@dataclass(frozen=True, slots=True)
class Write:
    """One request that changes something."""

    at: float
    """Seconds since the epoch."""
    client: str
    verb: str
    resource: str
    """With its subresource: pods/eviction."""
    name: str
    code: int
    """Of the answer; 0: it has not been answered."""

    @property
    def is_deletion(self) -> bool:
        return self.verb == "delete" or self.resource == "pods/eviction"


def policy(folder: Path) -> tuple[str, ...]:
    """Write the policy; the arguments for the API server."""
    path = folder / "audit-policy.json"
    path.write_text(json.dumps(POLICY))
    return (f"--audit-policy-file={path}", f"--audit-log-path={log_of(folder)}")


def log_of(folder: Path) -> Path:
    return folder / "audit.log"


def read_log(path: Path) -> list[Write]:
    """All requests, each once: with its answer or, failing that, as it came."""
    found: dict[str, Write] = {}
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:  # half a line: the server was killed while it wrote it
            continue
        of = entry.get("objectRef", {})
        stamp = datetime.fromisoformat(entry["stageTimestamp"].replace("Z", "+00:00"))
        found[entry["auditID"]] = Write(
            at=stamp.timestamp(),
            client=entry["user"].get("username", ""),
            verb=entry["verb"],
            resource="/".join(filter(None, (of.get("resource"), of.get("subresource")))),
            name=of.get("name", ""),
            code=entry.get("responseStatus", {}).get("code", 0),
        )
    return list(found.values())


def pods_deleted_by_users(writes: Iterable[Write]) -> frozenset[str]:
    """Names of pods whose deletion a user requested and no server refused."""
    return frozenset(
        each.name
        for each in writes
        if each.is_deletion
        and each.resource in ("pods", "pods/eviction")
        and each.client == USER
        and each.code < 300
    )
