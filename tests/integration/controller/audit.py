"""What the API server wrote down of the requests of one user, and what a role lets one do."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from fluxnetes.plane.api import Object


class Right(NamedTuple):
    """A verb on a kind of objects, as RBAC names them: `pods/binding` is a kind of its own."""

    verb: str
    group: str
    resource: str


class Asked(NamedTuple):
    """One request."""

    right: Right
    name: str
    namespace: str
    is_allowed: bool


def arguments(folder: Path, user: str) -> tuple[str, ...]:
    """What to tell an API server, so that it writes down what a user asks for."""
    policy = folder / "audit.json"
    of_user = {"level": "Metadata", "users": [user], "omitStages": ["RequestReceived"]}
    rules = [of_user, {"level": "None"}]
    kind = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy"}
    policy.write_text(json.dumps({**kind, "rules": rules}))
    return f"--audit-policy-file={policy}", f"--audit-log-path={_log(folder)}"


def asked(folder: Path) -> Iterator[Asked]:
    """All requests so far that were about objects."""
    *lines, _ = _log(folder).read_text().split("\n")
    for entry in map(json.loads, lines):
        about = entry.get("objectRef")
        if about is not None:
            code = entry.get("responseStatus", {}).get("code")
            yield Asked(
                Right(entry["verb"], about.get("apiGroup", ""), _kind(about)),
                about.get("name", ""),
                about.get("namespace", ""),
                code != http.client.FORBIDDEN,
            )


def granted(roles: Iterable[Object]) -> set[Right]:
    """All that some roles allow."""
    rules = (rule for role in roles for rule in role["rules"])
    return {
        Right(verb, group, resource)
        for rule in rules
        for verb, group, resource in product(rule["verbs"], rule["apiGroups"], rule["resources"])
    }


def _log(folder: Path) -> Path:
    return folder / "audit.log"


def _kind(about: dict[str, Any]) -> str:
    kind, part = about["resource"], about.get("subresource", "")
    return f"{kind}/{part}" if part else str(kind)
