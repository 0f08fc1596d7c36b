"""The workload of the demo.

On eight nodes of 16 cpu:

    ocean      a Job of 6 pods, 12 cpu each: runs on six nodes for 10 s of its walltime of 20
    climate    a group of 8 pods by label, 12 cpu each: needs all nodes; planned for ocean's end
    marathon   a pod of 8 cpu for an hour: fits now, but would delay climate
    sweep-1..6 pods of 8 cpu for 6 s: fit beside ocean, and end before climate can start
    colossus   a pod of 64 cpu: larger than any node, waits without a place in line

The namespace has opted in, so plain Jobs are queued; climate's pods name the scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fluxnetes.cluster.labels.names import GROUP, GROUP_SIZE, MANAGED, SCHEDULER_NAMES, WALLTIME
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.kube.objects.jobs import JOBS
from fluxnetes.kube.objects.pods import PODS

NAMESPACE = "fluxnetes-demo"
LABELS = {MANAGED: "true"}
"""Of the namespace."""

RUN_TIME = "fluxnetes.io/run-time"
"""The annotation that tells the simulated kubelet how long a pod runs."""

Content = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DemoEntry:
    """One job of the demo."""

    name: str
    kind: Wrapped
    resource: Resource[Any]
    objects: tuple[Content, ...]
    ends: str = "completed"
    """The state in which it is expected to be at the end of the demo."""


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """What each pod of an entry asks for."""

    cpu: int
    walltime: str
    runs: str
    """How long it really runs."""


def waves(nodes: int) -> tuple[tuple[DemoEntry, ...], ...]:
    """The entries in waves; each is submitted when the queue knows the one before."""
    sweeps = (job(f"sweep-{number}", 1, DemoRequest(8, "6s", "3s")) for number in range(1, 7))
    return (
        (job("ocean", most_nodes(nodes), DemoRequest(12, "20s", "10s")),),
        (group("climate", nodes, DemoRequest(12, "20s", "6s")),),
        (job("marathon", 1, DemoRequest(8, "1h", "3s")),),
        (*sweeps, job("colossus", 1, DemoRequest(64, "1m", "5s"), ends="pending")),
    )


def most_nodes(nodes: int) -> int:
    """The nodes that ocean takes; the others are left for jobs that backfill."""
    return max(1, nodes * 3 // 4)


def job(name: str, pods: int, ask: DemoRequest, ends: str = "completed") -> DemoEntry:
    """A plain Job, with a walltime."""
    content = {
        "metadata": {"name": name, "annotations": {WALLTIME: ask.walltime}},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "completionMode": "Indexed",
            "template": {"metadata": {"annotations": {RUN_TIME: ask.runs}}, "spec": _spec(ask.cpu)},
        },
    }
    return DemoEntry(name, Wrapped.JOB, JOBS, (content,), ends)


def group(name: str, pods: int, ask: DemoRequest) -> DemoEntry:
    """Bare pods that form a group by their labels."""
    metadata = {
        "labels": {GROUP: name, GROUP_SIZE: str(pods)},
        "annotations": {WALLTIME: ask.walltime, RUN_TIME: ask.runs},
    }
    spec = {**_spec(ask.cpu), "schedulerName": SCHEDULER_NAMES[0]}
    members = (
        {"metadata": {"name": f"{name}-{number}", **metadata}, "spec": spec}
        for number in range(pods)
    )
    return DemoEntry(name, Wrapped.GROUP, PODS, tuple(members))


def _spec(cpu: int) -> Content:
    # No image is pulled and no container started: the kubelets are simulated.
    container = {
        "name": "main",
        "image": "example.com/demo",
        "resources": {"requests": {"cpu": str(cpu), "memory": "1Gi"}},
    }
    return {"restartPolicy": "Never", "containers": [container]}
