"""Requests in the words of cores and gpus, for a graph of Kubernetes' pools.

    core: 2      cpu: 2000 (thousandths)
    gpu: 1       nvidia.com/gpu: 1
    a slot       takes a pod's place on its node, besides

What is asked for in Kubernetes' own words stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.jobspec.build import res
from fluxnetes.jobspec.model import SLOT, Count, Resource
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.jobs import Request
from fluxnetes.service.requests.pods import NVIDIA_GPU, has_pools

_PLACE = ("pods", "tenancy")
"""Every pod takes one of each of these."""


def pooled(request: Request, graph: ResourceGraph) -> Request:
    """The same for this graph."""
    if not has_pools(graph):
        return request
    place = tuple(type for type in _PLACE if type in graph.types)
    if isinstance(request, Gang):
        return replace(request, shapes=tuple(_shape(each, place) for each in request.shapes))
    resources = tuple(_resource(each, place) for each in request.resources)
    return replace(request, resources=resources)


def _shape(shape: Shape, place: tuple[str, ...]) -> Shape:
    known = {type for type, _ in shape.amounts}
    missing = tuple((type, 1) for type in place if type not in known)
    return replace(shape, amounts=shape.amounts + missing)


def _resource(resource: Resource, place: tuple[str, ...]) -> Resource:
    children = tuple(_resource(each, place) for each in resource.children)
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
            children += tuple(res(type, 1) for type in place if type not in known)
    return replace(resource, children=children)
