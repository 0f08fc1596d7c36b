"""Encodes requests as JSON, and decodes them without loss, including the types of numbers.

    {"jobspec": {"resources": [{"type": "node", "count": [1, 1, "+", 1]}], "duration": 60.0}}
    {"gang": {"shapes": [{"count": 4, "amounts": [["cpu", 250]]}],
              "topology": {"required": "rack"}}}

Defaults are left out. This is the store's own form, not that of RFC 14, which cannot express all
values, and whose parser may refuse a request that an earlier version accepted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from fluxnetes.jobspec.constraint import And, Constraint, Hostlist, Not, Or, Properties, Ranks
from fluxnetes.jobspec.model import Count, Jobspec, Resource, Task
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.queue.jobs import Request

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_COMBINE: dict[str, type[And | Or | Not]] = {"and": And, "or": Or, "not": Not}


_TEXTS: dict[int, tuple[Request, str]] = {}
"""Recently encoded requests, by identity: equal ones may differ in the types of numbers."""
_MAX_TEXTS = 1024
"""Maximum entries of that cache; it is emptied when it is full."""


def encode_request(request: Request) -> str:
    """The request as JSON text; one that many jobs share is encoded once."""
    known = _TEXTS.get(id(request))
    if known is not None and known[0] is request:
        return known[1]
    if len(_TEXTS) >= _MAX_TEXTS:
        _TEXTS.clear()
    text = to_json(_document(request))
    _TEXTS[id(request)] = (request, text)
    return text


def _document(request: Request) -> dict[str, Any]:
    if isinstance(request, Gang):
        return {"gang": _write_gang(request)}
    return {"jobspec": _write_jobspec(request)}


def decode_request(text: str) -> Request:
    """The request that `encode_request` wrote."""
    document = json.loads(text)
    if "gang" in document:
        return _read_gang(document["gang"])
    return _read_jobspec(document["jobspec"])


def to_json(document: object) -> str:
    """JSON text. Numbers that JSON cannot express are refused here, not by the server later."""
    return _ENCODER.encode(document)


def encode_constraint(constraint: Constraint | None) -> str:
    return to_json(None if constraint is None else write_constraint(constraint))


def decode_constraint(text: str) -> Constraint | None:
    document = json.loads(text)
    return None if document is None else read_constraint(document)


def _non_default(value: Any) -> dict[str, Any]:
    """The fields of a value that are not at their defaults."""
    kind, found = type(value), {}
    if kind not in _DEFAULTS:
        _DEFAULTS[kind] = _defaults(kind)
    for name, default in _DEFAULTS[kind]:
        content = getattr(value, name)
        # 0 and 0.0 are equal, but not the same.
        if content != default or type(content) is not type(default):
            found[name] = content
    return found


_DEFAULTS: dict[type, tuple[tuple[str, Any], ...]] = {}
"""For each data class its fields and their defaults."""


def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (each.name, each.default if each.default_factory is MISSING else each.default_factory())
        for each in fields(kind)
    )


def _write_jobspec(jobspec: Jobspec) -> dict[str, Any]:
    found = _write_common(_non_default(jobspec))
    found["resources"] = [_write_resource(each) for each in jobspec.resources]
    if jobspec.tasks:
        found["tasks"] = [_non_default(each) for each in jobspec.tasks]
    return found


def _read_jobspec(found: dict[str, Any]) -> Jobspec:
    found["resources"] = tuple(map(_read_resource, found["resources"]))
    if "tasks" in found:
        found["tasks"] = tuple(map(_read_task, found["tasks"]))
    return Jobspec(**_read_common(found))


def _write_gang(gang: Gang) -> dict[str, Any]:
    found = _write_common(_non_default(gang))
    found["shapes"] = [_write_common(_non_default(each)) for each in gang.shapes]
    if gang.topology is not None:
        found["topology"] = _non_default(gang.topology)
    return found


def _read_gang(found: dict[str, Any]) -> Gang:
    found["shapes"] = tuple(map(_read_shape, found["shapes"]))
    if "shared" in found:
        found["shared"] = _read_amounts(found["shared"])
    if "topology" in found:
        found["topology"] = _read_topology(found["topology"])
    return Gang(**_read_common(found))


def _read_shape(found: dict[str, Any]) -> Shape:
    found["amounts"] = _read_amounts(found["amounts"])
    return Shape(**_read_common(found))


def _read_topology(found: dict[str, Any]) -> TopologyRequest:
    if "beside" in found:
        found["beside"] = _read_amounts(found["beside"])
    return TopologyRequest(**found)


def _read_amounts(found: list[list[Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((type, amount) for type, amount in found)


def _write_common(found: dict[str, Any]) -> dict[str, Any]:
    if "constraint" in found:
        found["constraint"] = write_constraint(found["constraint"])
    if not math.isfinite(found.get("duration", 0)):
        found["duration"] = str(found["duration"])
    return found


def _read_common(found: dict[str, Any]) -> dict[str, Any]:
    if "constraint" in found:
        found["constraint"] = read_constraint(found["constraint"])
    if isinstance(found.get("duration"), str):
        found["duration"] = float(found["duration"])
    return found


def _write_resource(resource: Resource) -> dict[str, Any]:
    found = _non_default(resource)
    count = resource.count
    found["count"] = [count.min, count.max, count.operator, count.operand]
    if resource.children:
        found["children"] = [_write_resource(each) for each in resource.children]
    return found


def _read_resource(found: dict[str, Any]) -> Resource:
    found["count"] = Count(*found["count"])
    if "children" in found:
        found["children"] = tuple(map(_read_resource, found["children"]))
    return Resource(**found)


def _read_task(found: dict[str, Any]) -> Task:
    found["command"] = tuple(found["command"])
    return Task(**found)


def write_constraint(constraint: Constraint) -> dict[str, Any]:
    """A constraint as a JSON document, to be part of another one."""
    match constraint:
        case Properties(require, forbid):
            return {"properties": [require, forbid]}
        case Hostlist(hosts):
            return {"hostlist": sorted(hosts)}
        case Ranks(ranks):
            return {"ranks": sorted(ranks)}
    return {type(constraint).__name__.lower(): [write_constraint(each) for each in constraint.of]}


def read_constraint(found: Mapping[str, Any]) -> Constraint:
    """The constraint that `write_constraint` wrote."""
    [(operator, operands)] = found.items()
    match operator:
        case "properties":
            require, forbid = operands
            return Properties(tuple(require), tuple(forbid))
        case "hostlist":
            return Hostlist(frozenset(operands))
        case "ranks":
            return Ranks(frozenset(operands))
    return _COMBINE[operator](tuple(map(read_constraint, operands)))
