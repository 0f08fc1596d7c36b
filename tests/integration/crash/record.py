"""What happened to pods, Jobs and nodes, in the order in which it happened.

One line a change: its version (a moment in the cluster's history), when it was seen by a clock that
all processes share, and what the thing was then like, as far as any check asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from fluxnetes.cluster.labels.names import COMPLETION_INDEX, JOB
from fluxnetes.plane.api import Object
from tests.integration.crash.manifests import WORK

Amounts: TypeAlias = dict[str, int]
"""cpu in millicores, memory in MiB."""


class Node(msgspec.Struct, frozen=True, tag="node"):
    name: str
    allocatable: Amounts


class Pod(msgspec.Struct, frozen=True, tag="pod", omit_defaults=True):
    uid: str
    name: str
    work: str = ""
    is_ours: bool = False
    """Whether it names our scheduler."""
    job: str = ""
    """The number that our bind wrote."""
    node: str = ""
    phase: str = "Pending"
    reason: str = ""
    owner: str = ""
    index: str = ""
    requests: Amounts = {}
    is_gone: bool = False

    @property
    def is_over(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def holds(self) -> bool:
        """Whether it takes capacity of a node."""
        return bool(self.node) and not self.is_over and not self.is_gone


class KubeJob(msgspec.Struct, frozen=True, tag="job", omit_defaults=True):
    uid: str
    name: str
    work: str = ""
    suspended: bool = False
    succeeded: int = 0
    failed: int = 0
    end: str = ""
    """Complete or Failed."""
    reason: str = ""
    is_gone: bool = False


Thing: TypeAlias = Node | Pod | KubeJob


class Seen(msgspec.Struct, frozen=True):
    """One change."""

    version: int
    at: float
    thing: Thing


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Seen).decode


def write(seen: Iterable[Seen]) -> bytes:
    return b"".join(_encode(each) + b"\n" for each in seen)


def read(path: Path) -> list[Seen]:
    """All whole lines: the recorder may be at one."""
    *lines, _ = path.read_bytes().split(b"\n")
    return [_decode(line) for line in lines]


def pods(record: Iterable[Seen]) -> Iterator[tuple[Seen, Pod]]:
    """Changes of pods."""
    for seen in record:
        if isinstance(seen.thing, Pod):
            yield seen, seen.thing


def last(record: Iterable[Seen]) -> dict[str, Seen]:
    """How each pod and each Job was seen last, by its uid."""
    found = {}
    for seen in record:
        if not isinstance(seen.thing, Node):
            found[seen.thing.uid] = seen
    return found


# --- from objects ------------------------------------------------------------------------------


def a_pod(thing: Object) -> Pod:
    metadata, spec, status = thing["metadata"], thing["spec"], thing.get("status", {})
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    owners = metadata.get("ownerReferences", [])
    return Pod(
        uid=metadata["uid"],
        name=metadata["name"],
        work=labels.get(WORK, ""),
        is_ours=spec.get("schedulerName") == "fluxnetes",
        job=annotations.get(JOB, ""),
        node=spec.get("nodeName", ""),
        phase=status.get("phase", "Pending"),
        reason=status.get("reason", ""),
        owner=owners[0]["uid"] if owners else "",
        index=labels.get(COMPLETION_INDEX, ""),
        requests=_amounts(spec["containers"][0].get("resources", {}).get("requests", {})),
    )


def a_node(thing: Object) -> Node:
    return Node(thing["metadata"]["name"], _amounts(thing["status"].get("allocatable", {})))


def a_job(thing: Object) -> KubeJob:
    metadata, status = thing["metadata"], thing.get("status", {})
    ends = [
        each
        for each in status.get("conditions", [])
        if each["type"] in ("Complete", "Failed") and each["status"] == "True"
    ]
    return KubeJob(
        uid=metadata["uid"],
        name=metadata["name"],
        work=metadata.get("labels", {}).get(WORK, ""),
        suspended=thing["spec"].get("suspend", False),
        succeeded=status.get("succeeded", 0),
        failed=status.get("failed", 0),
        end=ends[0]["type"] if ends else "",
        reason=ends[0].get("reason", "") if ends else "",
    )


def _amounts(quantities: dict[str, str]) -> Amounts:
    """Only what the manifests here say; written anew, so that no mistake of ours is repeated."""
    found = {}
    for name, text in quantities.items():
        if name == "cpu":
            found[name] = int(text[:-1]) if text.endswith("m") else 1000 * int(text)
        elif name == "memory":
            found[name] = int(text[:-2]) * {"Mi": 1, "Gi": 1024}[text[-2:]]
    return found
