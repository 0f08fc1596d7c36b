"""Converts the equal pods of the old dialects to a request for a graph.

On a graph of cores the request is the same jobspec that the old services built: a slot per pod, for
an hour. On a graph of pools, as that of a Kubernetes cluster, it is a gang.
"""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.jobspec.build import core, gpu, jobspec, memory, node, res, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.jobs import Request
from fluxnetes.service.errors import Invalid
from fluxnetes.service.values import EqualPods

NVIDIA_GPU = "nvidia.com/gpu"
HOUR = 3600
MIB = 1 << 20
MAX_PODS = 1_000_000
"""Maximum pods of a request, more than a cluster has."""


def asked_of(asked: Request | EqualPods, graph: ResourceGraph) -> Request:
    """The request in the resource types of a graph. Raises Invalid."""
    if isinstance(asked, Gang) and not graph.divisible.any():
        raise Invalid("a gang needs a graph of pools, and this graph has none; use a jobspec")
    return request_for(asked, graph) if isinstance(asked, EqualPods) else asked


def request_for(pods: EqualPods, graph: ResourceGraph) -> Request:
    """The request that equal pods are on a graph."""
    _check(pods)
    return _gang(pods) if has_pools(graph) else _jobspec(pods)


def has_pools(graph: ResourceGraph) -> bool:
    return "cpu" in graph.types


def _check(pods: EqualPods) -> None:
    if not 1 <= pods.count <= MAX_PODS:
        raise Invalid(f"found {pods.count} pods, expected 1 to {MAX_PODS}", "count")
    if pods.cpu < 1:
        raise Invalid(f"found {pods.cpu} cpus a pod, expected at least 1", "cpu")
    for name in ("memory", "gpu"):
        if getattr(pods, name) < 0:
            raise Invalid(f"found {getattr(pods, name)}, expected at least 0", name)


def _jobspec(pods: EqualPods) -> Jobspec:
    each = [core(pods.cpu)]
    if pods.memory >= MIB:
        each.append(memory(pods.memory // MIB))
    if pods.gpu:
        each.append(gpu(pods.gpu))
    slots = slot(pods.count, *each)
    if pods.together:
        slots = res("subnet", 1, node(1, slots))
    return jobspec(slots, duration=HOUR)


def _gang(pods: EqualPods) -> Gang:
    times = pods.count if pods.together else 1
    amounts = {"cpu": 1000 * pods.cpu * times, "pods": times}
    if pods.memory:
        amounts["memory"] = -(-pods.memory // MIB) * times
    if pods.gpu:
        amounts[NVIDIA_GPU] = pods.gpu * times
    return Gang((Shape.of(pods.count // times, amounts),), duration=HOUR)


def one_pod(pods: EqualPods, graph: ResourceGraph) -> dict[str, int]:
    """The amounts of one pod, by which the pods on a node are counted."""
    return {"cpu": 1000 * pods.cpu} if has_pools(graph) else {"core": pods.cpu}
