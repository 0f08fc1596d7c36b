"""Jobspecs that the tests start from."""

from __future__ import annotations

import copy
from typing import Any

RFC14 = """
version: 999
resources:
  - type: node
    count: 4
    with:
      - type: slot
        count: 1
        label: default
        with:
          - type: core
            count: 2
tasks:
  - command: [ "app" ]
    slot: default
    count:
      per_slot: 1
attributes:
  system:
    duration: 3600.
"""

RFC25 = """{
  "resources": [{"type": "slot", "count": 10, "label": "task",
                 "with": [{"type": "core", "count": 2}, {"type": "gpu", "count": 1}]}],
  "tasks": [{"command": ["myapp", "-v"], "slot": "task", "count": {"total": 10}}],
  "attributes": {"system": {"duration": 3600, "cwd": "/home/flux", "queue": "batch",
                            "environment": {"HOME": "/home/flux"},
                            "dependencies": [{"scheme": "afterok", "value": "1"}],
                            "shell": {"options": {"verbose": 1}}},
                 "user": {"project": "x"}},
  "version": 1
}"""

_FULL: dict[str, Any] = {
    "version": 1,
    "resources": [
        {
            "type": "node",
            "count": {"min": 2, "max": 8, "operator": "*", "operand": 2},
            "exclusive": True,
            "id": "nodes",
            "with": [
                {
                    "type": "slot",
                    "count": 1,
                    "label": "default",
                    "with": [
                        {"type": "core", "count": {"min": 4}},
                        {"type": "memory", "count": 4, "unit": "GB", "exclusive": False},
                    ],
                }
            ],
        }
    ],
    "tasks": [
        {
            "command": ["app", "--fast"],
            "slot": "default",
            "count": {"per_slot": 1},
            "distribution": "cyclic",
            "attributes": {"color": "red"},
        }
    ],
    "attributes": {
        "user": {"anything": [1, {"goes": None}]},
        "system": {
            "duration": 3600.0,
            "queue": "batch",
            "cwd": "/home/flux",
            "environment": {"HOME": "/home/flux"},
            "constraints": {"properties": ["gpu", "^old"]},
            "shell": {"options": {}},
        },
    },
}


def full_document() -> dict[str, Any]:
    """A fresh document in which every key that is known occurs."""
    return copy.deepcopy(_FULL)


def with_value(document: Any, keys: tuple[str | int, ...], value: object) -> Any:
    """The document with another value at `keys`, or with that key added."""
    if not keys:
        return value
    changed = copy.deepcopy(document)
    inner = changed
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return changed


def without(document: Any, keys: tuple[str | int, ...]) -> Any:
    """The document without the entry at `keys`."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return changed


def path_of(keys: tuple[str | int, ...]) -> str:
    """The path that an error names for an entry; only for keys that need no quotes."""
    written = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return written.removeprefix(".")
