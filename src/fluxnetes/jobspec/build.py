"""Functions that build a jobspec in one Python expression.

    jobspec(node(8, slot(1, core(8), memory(4))), duration=3600)

A count is a number or a `Count`. Nothing is validated here: an invalid jobspec can be built, and
the matcher then answers that it is invalid.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.jobspec.model import SLOT, XOR_SLOT, Count, Jobspec, Resource


def res(
    type: str,
    count: int | Count = 1,
    *children: Resource,
    exclusive: bool | None = None,
    label: str | None = None,
    unit: str | None = None,
) -> Resource:
    """A request for `count` of any type, each with its children."""
    number = count if isinstance(count, Count) else Count(count, count)
    return Resource(type, number, children, exclusive, label, unit)


cluster = partial(res, "cluster")
rack = partial(res, "rack")
node = partial(res, "node")
socket = partial(res, "socket")
core = partial(res, "core")
gpu = partial(res, "gpu")
memory = partial(res, "memory")
slot = partial(res, SLOT, label="default")
xor_slot = partial(res, XOR_SLOT, label="default")

for _builder in (cluster, rack, node, socket, core, gpu, memory):
    _builder.__doc__ = f"A request for `count` of type {_builder.args[0]}, each with its children."
slot.__doc__ = "A request for `count` slots: bundles of resources that a task runs in."
xor_slot.__doc__ = "A request for `count` slots, unless a sibling of this type is placed instead."


def jobspec(
    *resources: Resource,
    duration: float = 0,
    queue: str | None = None,
    constraint: Constraint | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Jobspec:
    """A request for these resources, without tasks."""
    return Jobspec(
        resources=resources,
        duration=float(duration),
        queue=queue,
        constraint=constraint,
        attributes=attributes or {},
    )
