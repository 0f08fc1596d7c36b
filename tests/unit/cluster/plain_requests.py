"""What a pod takes, worked out slowly: every moment of its life is added up by itself.

The life of a pod with init containers `a`, sidecar `s`, init container `b` and containers `x`, `y`
is the moments {a}, {s}, {s, b}, {s, x, y}. Whatever is largest, of each resource, must be free.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from fluxnetes.cluster.quantities import exact
from fluxnetes.kube.objects.pods import Container, PodSpec


def moments(spec: PodSpec) -> list[list[Container]]:
    """The containers that run at the same time."""
    found: list[list[Container]] = []
    stay: list[Container] = []
    for container in spec.init_containers:
        found.append([*stay, container])
        if container.restart_policy == "Always":
            stay.append(container)
    return [*found, [*stay, *spec.containers]]


def takes(spec: PodSpec) -> dict[str, int]:
    """By resource, in our units; without ports, slots and tenancy."""
    sums = {
        name: max(sum(_of(c, name) for c in running) for running in moments(spec))
        for name in _names(spec)
    }
    for name, text in spec.resources.requests.items():
        if name in ("cpu", "memory") or name.startswith("hugepages-"):
            sums[name] = _grains(name, text)
    for name, text in spec.overhead.items():
        sums[name] = sums.get(name, 0) + _grains(name, text)
    return {name: _units(name, number) for name, number in sums.items() if number}


def _names(spec: PodSpec) -> set[str]:
    every = (*spec.containers, *spec.init_containers)
    return {name for c in every for name in (*c.resources.requests, *c.resources.limits)}


def _of(container: Container, name: str) -> int:
    resources = container.resources
    text = resources.requests.get(name, resources.limits.get(name, "0"))
    return _grains(name, text)


def _grains(name: str, text: str) -> int:
    """Millicores, bytes, pieces."""
    return ceil(exact(text) * (1000 if name == "cpu" else 1))


def _units(name: str, number: int) -> int:
    in_bytes = name in ("memory", "ephemeral-storage") or name.startswith("hugepages-")
    return ceil(Fraction(number, 2**20)) if in_bytes else number
