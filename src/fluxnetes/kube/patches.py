"""Ways to change an object without sending all of it.

    merge       these keys get these values, null removes; lists are replaced as a whole
    strategic   the same, but lists of built-in kinds are merged by their keys (conditions by type)
    edits       a list of operations at paths, with `test` to make sure first  (JSON Patch)
    apply       this is what we want of the object; what we no longer name we no longer own
                (server-side apply: makes the object if it is not there)

A `resourceVersion` in the metadata of a merge makes it a comparison: if the object has changed
since, the answer is `Conflict`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MANAGER = "fluxnetes"
"""The name under which the server remembers our fields."""


@dataclass(frozen=True, slots=True)
class ObjectPatch:
    """A change to an object."""

    content_type: str
    content: Any
    params: Mapping[str, str] = field(default_factory=dict)
    needs_names: bool = False
    """Whether the content must name the kind."""


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
    """Make it so. With `force` we take over what others own; without it that is a `Conflict`."""
    params = {"fieldManager": manager, "force": "true" if force else "false"}
    return ObjectPatch("application/apply-patch+yaml", content, params, needs_names=True)
