"""What `bench/kube` asks the schedulers to place: the same pods for all of them.

A pod asks for one of a node's 16 cpus. What makes it one of a gang is said in each scheduler's own
words, by labels, by a field of the pod or not at all; see `kube_contestants`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

NAMESPACE = "default"

Object = dict[str, Any]
"""An object of the API, as JSON has it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Pods that start together or not at all."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Mark:
    """How a scheduler knows the pods of a group."""

    labels: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Workload:
    """So many pods, cut into gangs or not."""

    name: str
    gang: int | None
    """How many pods a gang has; None: all of them are one."""

    @property
    def has_gangs(self) -> bool:
        return self.gang != 1

    def title(self, pods: int) -> str:
        groups = self.groups(pods)
        if not groups:
            return f"{pods:,} singles"
        size = f"{groups[0].size:,}"
        return f"{len(groups):,} gangs of {size}" if len(groups) > 1 else f"one gang of {size}"

    def groups(self, pods: int) -> list[Group]:
        """Singles are in no group."""
        if not self.has_gangs:
            return []
        size = min(self.gang or pods, pods)
        if pods % size:
            raise ValueError(f"{pods} pods cannot be cut into gangs of {size}; give a multiple")
        return [Group(f"gang-{number}", size) for number in range(pods // size)]

    def pods(self, count: int) -> Iterator[tuple[str, Group | None]]:
        """Names, and which group each is of; one group after the other."""
        groups = self.groups(count)
        for group in groups:
            yield from ((f"{group.name}-{index}", group) for index in range(group.size))
        if not groups:
            yield from ((f"single-{index}", None) for index in range(count))


GANGS = Workload("gangs", 20)
ONE_GANG = Workload("one-gang", None)
SINGLES = Workload("singles", 1)
WORKLOADS = (GANGS, ONE_GANG, SINGLES)


def a_pod(name: str, scheduler: str, mark: Mark) -> Object:
    """A pod as a user would make it."""
    requests = {"cpu": "1", "memory": "1Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": dict(mark.labels)},
        "spec": {
            "schedulerName": scheduler,
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "none", "resources": {"requests": requests}}],
            **mark.spec,
        },
    }
