"""Reads limits, budgets and charges in the units that users of Kubernetes write.

    type                                     in a file                     on the graph
    cpu                                      cpus: 64, 0.5, 500m           thousandths
    memory, ephemeral-storage, hugepages-*   a quantity: 512Gi             MiB
    all others                               pieces: 8                     pieces

A budget is so many cpus, GiB or pieces for an hour. A charge is for one cpu, GiB or piece.

The content of a file is converted before it is validated; what is wrong with it otherwise stays as
it is, for the validation to report.
"""

from __future__ import annotations

from typing import Any

from fluxnetes.cluster.quantities import InvalidQuantity, amounts, is_bytes

_CAPS = ("cap", "per_user", "per_namespace")
_CPU = "cpu"
_THOUSAND = 1000
_MIB_IN_GIB = 1024

Content = dict[str, Any]


def units_of(type: str) -> int:
    """How many units of the graph make one cpu, GiB or piece."""
    if type == _CPU:
        return _THOUSAND
    return _MIB_IN_GIB if is_bytes(type) else 1


def in_graph_units(content: Any) -> Any:
    """The content of a file, in the units of a Kubernetes graph. Raises ValueError."""
    if not isinstance(content, dict):
        return content
    found = dict(content)
    for key, convert in (("queues", _queue), ("budgets", _budget)):
        if isinstance(found.get(key), list):
            found[key] = [
                convert(each, f"{key}[{number}]") if isinstance(each, dict) else each
                for number, each in enumerate(found[key])
            ]
    if isinstance(found.get("charge"), dict):
        found["charge"] = {type: _charge(type, each) for type, each in found["charge"].items()}
    return found


def _queue(queue: Content, path: str) -> Content:
    found = dict(queue)
    for cap in _CAPS:
        limits = found.get(cap)
        if isinstance(limits, dict) and isinstance(limits.get("resources"), dict):
            resources = {
                type: _limit(type, each, f"{path}.{cap}.resources.{type}")
                for type, each in limits["resources"].items()
            }
            found[cap] = {**limits, "resources": resources}
    return found


def _limit(type: str, value: Any, path: str) -> Any:
    """An amount that may be held at one time."""
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return value
    if is_bytes(type) and not isinstance(value, str):
        raise ValueError(f"{path}: expected a quantity with its unit, such as 512Gi, found {value}")
    try:
        return amounts({type: str(value)}, up=False)[type]
    except InvalidQuantity as bad:
        raise ValueError(f"{path}: {str(bad).partition(': ')[2]}") from None


def _budget(budget: Content, path: str) -> Content:
    type = budget.get("type", _CPU)
    # On a Kubernetes graph there are no cores; they are cpus.
    found = {**budget, "type": _CPU if type == "core" else type}
    if _is_number(found.get("amount")) and isinstance(found["type"], str):
        found["amount"] = found["amount"] * units_of(found["type"])
    return found


def _charge(type: str, weight: Any) -> Any:
    """A weight for one unit of the graph. Weights are relative: a thousandth of a cpu keeps the
    number of the cpu, and all others are a thousand times as large."""
    return weight * _THOUSAND / units_of(type) if _is_number(weight) else weight


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
