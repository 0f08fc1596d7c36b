"""Converts requests for cores and gpus to the pools of a Kubernetes graph.

    core: 2      cpu: 2000 (thousandths)
    gpu: 1       nvidia.com/gpu: 1
    a slot       takes a pod's per_pod on its node, besides

Resource types of Kubernetes stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.jobspec.build import res
from fluxnetes.jobspec.model import SLOT, Count, Resource
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.jobs import Request
from fluxnetes.service.requests.pods import NVIDIA_GPU, has_pools

_PER_POD = ("pods", "tenancy")
"""The types of which every pod takes one."""


def pooled(request: Request, graph: ResourceGraph) -> Request:
    """The same request in the types of this graph."""
    if not has_pools(graph):
        return request
    per_pod = tuple(type for type in _PER_POD if type in graph.types)
    if isinstance(request, Gang):
        return replace(request, shapes=tuple(_shape(each, per_pod) for each in request.shapes))
    resources = tuple(_resource(each, per_pod) for each in request.resources)
    return replace(request, resources=resources)


def _shape(shape: Shape, per_pod: tuple[str, ...]) -> Shape:
    known = {type for type, _ in shape.amounts}
    missing = tuple((type, 1) for type in per_pod if type not in known)
    return replace(shape, amounts=shape.amounts + missing)


def _resource(resource: Resource, per_pod: tuple[str, ...]) -> Resource:
    children = tuple(_resource(each, per_pod) for each in resource.children)
    match resource.type:
        case "core":
            count = resource.count
            thousands = Count(1000 * count.min, 1000 * count.max, count.operator, count.operand)
            if count.operator == "+":
                thousands = replace(thousands, operand=1000 * count.operand)
            return replace(resource, type="cpu", count=thousands, children=children)
        case "gpu":
            return replace(resource, type=NVIDIA_GPU, children=children)
        case _ if resource.type == SLOT:
            known = {child.type for child in children}
            children += tuple(res(type, 1) for type in per_pod if type not in known)
    return replace(resource, children=children)
