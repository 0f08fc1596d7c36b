"""The common part of all objects, and the API path of each kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote

from msgspec import Struct, field

Key: TypeAlias = tuple[str, str]
"""Namespace and name; the namespace of a cluster-scoped object is empty."""

Labels: TypeAlias = dict[str, str]
Quantities: TypeAlias = dict[str, str]
"""Amounts by resource name as Kubernetes writes them: `{"cpu": "250m"}`."""


# Decoded objects hold no cycles, so the garbage collector need not walk over 10,000 pods.
class Part(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A part of an object."""


class Owner(Part, frozen=True):
    """An owner reference. Users can write these, so they are claims, not facts."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False


class Metadata(Part, frozen=True):
    """The metadata of an object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    generate_name: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    owner_references: tuple[Owner, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def controller(self) -> Owner | None:
        """The owner that manages it, if any."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Object(Part, frozen=True):
    """An object of any kind; this class itself stands for one with metadata only."""

    metadata: Metadata = Metadata()

    @property
    def key(self) -> Key:
        return (self.metadata.namespace, self.metadata.name)


class Condition(Part, frozen=True):
    """A condition in a status: true, false or unknown, and why."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


T = TypeVar("T", bound=Object)

_PLAIN = re.compile(r"[a-z0-9.-]+")


def _segment(name: str) -> str:
    """A name as a segment of a path. Nearly all need no quoting, and the check is faster."""
    return name if _PLAIN.fullmatch(name) else quote(name, safe="")


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """A kind of object: its names in the API, and the struct that it is decoded into."""

    group: str
    """Empty for the core group."""
    version: str
    plural: str
    kind: str
    type: type[T]
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path below the server's address.

        >>> Resource("", "v1", "pods", "Pod", Object).path("default", "a", "binding")
        '/api/v1/namespaces/default/pods/a/binding'
        >>> Resource("batch", "v1", "jobs", "Job", Object).path()
        '/apis/batch/v1/jobs'
        """
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        segments = [root]
        if namespace and self.namespaced:
            segments += ["namespaces", _segment(namespace)]
        segments += [self.plural, *(_segment(part) for part in (name, subresource) if part)]
        return "/".join(segments)

    def body(self, content: Mapping[str, Any], name: str = "") -> dict[str, Any]:
        """The content with the apiVersion and kind that a whole object must have."""
        named = {"apiVersion": self.api_version, "kind": self.kind, **content}
        if name:
            named["metadata"] = {**content.get("metadata", {}), "name": name}
        return named
