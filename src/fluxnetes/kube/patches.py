"""The four kinds of patch: changes to an object without sending all of it.

    merge       sets these keys, null removes one; lists are replaced as a whole
    strategic   the same, but lists of built-in kinds are merged by their keys (conditions by type)
    edits       a list of operations at paths, with `test` as a precondition  (JSON Patch)
    apply       the wanted state of the fields that Fluxnetes owns; it gives up those that it no
                longer names (server-side apply: creates the object if it does not exist)

A `resourceVersion` in the metadata of a merge is a precondition: if the object has changed since,
the request fails with `Conflict`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MANAGER = "fluxnetes"
"""The field manager: the name under which the server records the fields that Fluxnetes owns."""


@dataclass(frozen=True, slots=True)
class ObjectPatch:
    """A change to an object."""

    content_type: str
    content: Any
    params: Mapping[str, str] = field(default_factory=dict)
    needs_names: bool = False
    """Whether the content must include apiVersion, kind and name."""


def merge(content: Mapping[str, Any]) -> ObjectPatch:
    """Set these keys; lists are replaced."""
    return ObjectPatch("application/merge-patch+json", content)


def strategic(content: Mapping[str, Any]) -> ObjectPatch:
    """Set these keys; lists are merged. Only for kinds that the server itself defines."""
    return ObjectPatch("application/strategic-merge-patch+json", content)


def edits(operations: Sequence[Mapping[str, Any]]) -> ObjectPatch:
    """Do these operations, all or none."""
    return ObjectPatch("application/json-patch+json", operations)


def apply(content: Mapping[str, Any], *, manager: str = MANAGER, force: bool = True) -> ObjectPatch:
    """Apply this state. `force` takes over fields of other managers; without it: `Conflict`."""
    params = {"fieldManager": manager, "force": "true" if force else "false"}
    return ObjectPatch("application/apply-patch+yaml", content, params, needs_names=True)
