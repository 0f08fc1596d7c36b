"""Allocations, read as the old clients' parsers read them: by keys that must be there."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

KEYS = {"name", "basename", "size", "unit", "exclusive", "type", "id", "paths"}


def vertices(allocation: str) -> list[dict[str, Any]]:
    """What each vertex says of itself. An old parser dies of a key that is left out."""
    found = [node["metadata"] for node in json.loads(allocation)["graph"]["nodes"]]
    for each in found:
        assert set(each) >= KEYS, each
        assert isinstance(each["name"], str) and isinstance(each["basename"], str)
        assert isinstance(each["size"], int) and isinstance(each["unit"], str)
        assert isinstance(each["exclusive"], bool)
    return found


def cores(allocation: str) -> list[str]:
    """The paths of all cores."""
    return [v["paths"]["containment"] for v in vertices(allocation) if v["type"] == "core"]


def cores_by_node(allocation: str) -> Counter[str]:
    """How many cores on which node, by the walk of the old sidecar: up to each node, its cores."""
    found: Counter[str] = Counter()
    met = 0
    for each in vertices(allocation):
        if each["type"] == "core":
            met += each["size"]
        elif each["type"] == "node":
            found[each["name"]], met = met, 0
    return found


def edges_of(allocation: str) -> list[dict[str, Any]]:
    edges: list[dict[str, Any]] = json.loads(allocation)["graph"]["edges"]
    return edges
