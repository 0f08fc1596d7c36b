"""What happened to pods, Jobs, FluxJobs, nodes and the leader's lease, in order.

One line a change: its version (a moment in the cluster's history), when it was seen by a clock that
all processes share, and what the thing was then like, as far as any check asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from fluxnetes.cluster.labels.names import COMPLETION_INDEX, JOB, QUEUED
from fluxnetes.controller.reporting.fluxjob_writer import WORKLOAD
from fluxnetes.plane.api import Object
from tests.integration.crash.manifests import STAMP, WORK

Amounts: TypeAlias = dict[str, int]
"""cpu in millicores, memory in MiB."""


class Node(msgspec.Struct, frozen=True, tag="node", omit_defaults=True):
    name: str
    allocatable: Amounts
    is_closed: bool = False
    """Cordoned."""
    is_gone: bool = False


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
    told: str = ""
    """What its condition PodScheduled says while it has no node."""
    is_deleting: bool = False
    """Its deletion was requested: an end that follows is not its own."""
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
    completions: int = 1
    is_queued: bool = False
    """Whether an annotation says that it is suspended by us."""
    stamp: str = ""
    """Which action of its user was the last to change it."""
    is_deleting: bool = False
    is_gone: bool = False


class FluxJobSeen(msgspec.Struct, frozen=True, tag="fluxjob", omit_defaults=True):
    uid: str
    name: str
    workload: str = ""
    state: str = ""
    code: str = ""
    reason: str = ""
    job: int = 0
    is_gone: bool = False


class LeaseSeen(msgspec.Struct, frozen=True, tag="lease", omit_defaults=True):
    """The Lease of the leader."""

    uid: str
    holder: str = ""
    is_gone: bool = False


Thing: TypeAlias = Node | Pod | KubeJob | FluxJobSeen | LeaseSeen


class Seen(msgspec.Struct, frozen=True):
    """One change."""

    version: int
    at: float
    thing: Thing


_encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Seen).decode


def write(seen: Iterable[Seen]) -> bytes:
    return b"".join(_encode(each) + b"\n" for each in seen)


def read(path: Path) -> list[Seen]:
    """All whole lines: the recorder may be at one."""
    *lines, _ = path.read_bytes().split(b"\n")
    return [decode(line) for line in lines]


def pods(record: Iterable[Seen]) -> Iterator[tuple[Seen, Pod]]:
    """Changes of pods."""
    for seen in record:
        if isinstance(seen.thing, Pod):
            yield seen, seen.thing


def last(record: Iterable[Seen]) -> dict[str, Seen]:
    """How each pod and each Job was seen last, by its uid."""
    found = {}
    for seen in record:
        if isinstance(seen.thing, Pod | KubeJob):
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
        told=_told(status),
        is_deleting="deletionTimestamp" in metadata,
    )


def _told(status: Object) -> str:
    for each in status.get("conditions", []):
        if each["type"] == "PodScheduled" and each["status"] == "False":
            return str(each.get("message", ""))
    return ""


def a_node(thing: Object) -> Node:
    return Node(
        thing["metadata"]["name"],
        _amounts(thing["status"].get("allocatable", {})),
        is_closed=thing.get("spec", {}).get("unschedulable", False),
    )


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
        completions=thing["spec"].get("completions", 1),
        is_queued=metadata.get("annotations", {}).get(QUEUED) == "true",
        stamp=metadata.get("annotations", {}).get(STAMP, ""),
        is_deleting="deletionTimestamp" in metadata,
    )


def a_fluxjob(thing: Object) -> FluxJobSeen:
    metadata, status = thing["metadata"], thing.get("status", {})
    return FluxJobSeen(
        uid=metadata["uid"],
        name=metadata["name"],
        workload=metadata.get("annotations", {}).get(WORKLOAD, ""),
        state=status.get("state", ""),
        code=status.get("reasonCode", ""),
        reason=status.get("reason", ""),
        job=status.get("jobID", 0),
    )


def a_lease(thing: Object) -> LeaseSeen:
    return LeaseSeen(thing["metadata"]["uid"], thing["spec"].get("holderIdentity", ""))


def _amounts(quantities: dict[str, str]) -> Amounts:
    """Only what the manifests here say; written anew, so that no mistake of ours is repeated."""
    found = {}
    for name, text in quantities.items():
        if name == "cpu":
            found[name] = int(text[:-1]) if text.endswith("m") else 1000 * int(text)
        elif name == "memory":
            found[name] = int(text[:-2]) * {"Mi": 1, "Gi": 1024}[text[-2:]]
    return found
