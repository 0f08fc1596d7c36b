"""Jobspecs as texts, in the forms that the old clients send."""

from __future__ import annotations

import json
from typing import Any


def slots(count: int, cores: int, duration: int = 3600, memory: int = 0) -> str:
    """So many tasks, wherever there is capacity; as the old sidecars wrote it."""
    each = [{"type": "core", "count": cores}]
    each += [{"type": "memory", "count": memory}] if memory else []
    return _jobspec(
        [{"type": "slot", "count": count, "label": "default", "with": each}],
        {"duration": duration},
        version=9999,
    )


def nodes(count: int, cores: int, duration: int = 0) -> str:
    """So many nodes, and so many cores of each; as Fluxqueue writes it."""
    core = {"type": "core", "count": cores}
    slot = {"type": "slot", "count": 1, "label": "default", "with": [core]}
    system = {"duration": duration} if duration else {}
    return _jobspec([{"type": "node", "count": count, "with": [slot]}], system, version=1)


def whole_nodes(count: int, duration: int = 3600) -> str:
    """A number of nodes, exclusively."""
    node = {"type": "node", "count": 1, "exclusive": True}
    slot = {"type": "slot", "count": count, "label": "default", "with": [node]}
    return _jobspec([slot], {"duration": duration}, version=1)


def _jobspec(resources: list[dict[str, Any]], system: dict[str, Any], version: int) -> str:
    task = {"command": ["app"], "slot": "default", "count": {"per_slot": 1}}
    # JSON is YAML, too.
    return json.dumps(
        {
            "version": version,
            "resources": resources,
            "attributes": {"system": system},
            "tasks": [task],
        }
    )
