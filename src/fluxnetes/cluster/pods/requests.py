"""Computes what one pod takes from a node.

The rules are those of Kubernetes: containers run at the same time, so they add up. Init containers
run one after the other before them, so only the largest moment counts. Sidecars (init containers
that always restart) stay: they count from their position in the list on. Then a request of the pod
as a whole replaces the sum, and its overhead is added.

To these come amounts of pools that are not resources in Kubernetes:

    pods           1: a slot of the kubelet
    tenancy        1 of a million, or all of it for a pod that wants the node for itself
    port:TCP/80    1, and a node has just one
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from fluxnetes.cluster.labels.names import MIRROR
from fluxnetes.cluster.quantities import in_units, measure
from fluxnetes.kube.objects.base import Quantities
from fluxnetes.kube.objects.pods import Container, ContainerStatus, Pod, PodSpec, Requests

TENANCY = 1_000_000
"""The size of the pool `tenancy` on each node: more than a node ever has pods."""

_PORT = "port:"

Amounts: TypeAlias = tuple[tuple[str, int], ...]
_Sums: TypeAlias = dict[str, int]


def pod_amounts(spec: PodSpec, *, exclusive: bool = False) -> Amounts:
    """What a pod will take, by resource; sorted, and without zeros.

    The spec may be a template's, without the defaults of the API server: there limits stand for
    missing requests, as they will in the pods.
    """
    sums = _add_up(spec, _asked)
    if spec.resources.requests or spec.resources.limits:
        _set_pod_level(sums, spec.resources)
    return _finished(sums, spec, TENANCY if exclusive else 1)


def held_amounts(pod: Pod, *, exclusive: bool = False) -> Amounts:
    """What a pod holds on the node that it is bound to.

    While it is being resized, the larger of what it asks for and what it has. A daemon takes no
    tenancy: it is part of its node, also for a pod that has the node for itself. A pod that is made
    to look like a daemon gains nothing but to share a node with such a pod.
    """
    sums = _add_up(pod.spec, _largest(pod)) if _has_resources(pod) else _add_up(pod.spec, _asked)
    if pod.spec.resources.requests or pod.spec.resources.limits:
        _set_pod_level(sums, pod.spec.resources)
        _raise_pod_level(sums, pod)
    return _finished(sums, pod.spec, 0 if is_daemon(pod) else TENANCY if exclusive else 1)


def only_ports(held: Amounts) -> Amounts:
    """What counts of a foreign pod that is ignored: a host port cannot be had twice."""
    return tuple(each for each in held if each[0].startswith(_PORT))


def is_daemon(pod: Pod) -> bool:
    """Whether a pod comes with its node: created by a DaemonSet, or a static pod of a kubelet."""
    owner = pod.metadata.controller
    if owner is not None and owner.kind == "DaemonSet" and owner.api_version.startswith("apps/"):
        return True
    return MIRROR in pod.metadata.annotations


# --- adding up ---------------------------------------------------------------------------------


def _add_up(spec: PodSpec, taken: Callable[[Container], _Sums]) -> _Sums:
    """The sum of all containers, in millicores, bytes and pieces."""
    sums: _Sums = {}
    for container in spec.containers:
        _add(sums, taken(container))
    if spec.init_containers:
        _add_init(sums, spec.init_containers, taken)
    return sums


def _add_init(
    sums: _Sums, containers: tuple[Container, ...], taken: Callable[[Container], _Sums]
) -> None:
    sidecars: _Sums = {}
    peak: _Sums = {}
    for container in containers:
        moment = taken(container)
        if _is_sidecar(container):
            _add(sums, moment)
            _add(sidecars, moment)
            moment = sidecars
        else:
            _add(moment, sidecars)
        _raise(peak, moment)
    _raise(sums, peak)


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _asked(container: Container) -> _Sums:
    resources = container.resources
    asked = resources.requests
    if resources.limits:
        asked = {**resources.limits, **asked}
    return _measured(asked)


def _measured(quantities: Quantities) -> _Sums:
    return {name: measure(name, text) for name, text in quantities.items()}


def _add(sums: _Sums, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        sums[name] = sums.get(name, 0) + amount


def _raise(sums: _Sums, least: Mapping[str, int]) -> None:
    for name, amount in least.items():
        if amount >= sums.get(name, 0):
            sums[name] = amount


# --- the pod as a whole ------------------------------------------------------------------------


def _set_pod_level(sums: _Sums, resources: Requests) -> None:
    for name, text in resources.limits.items():
        # As the API server does: the containers' sum goes before a limit, but for huge pages.
        if _is_pod_level(name) and (name not in sums or name.startswith("hugepages-")):
            sums[name] = measure(name, text)
    for name, text in resources.requests.items():
        if _is_pod_level(name):
            sums[name] = measure(name, text)


def _is_pod_level(resource: str) -> bool:
    return resource in ("cpu", "memory") or resource.startswith("hugepages-")


def _finished(sums: _Sums, spec: PodSpec, tenancy: int) -> Amounts:
    if spec.overhead:
        _add(sums, _measured(spec.overhead))
    found = [(name, in_units(name, amount)) for name, amount in sums.items() if amount]
    found.append(("pods", 1))
    if tenancy:
        found.append(("tenancy", tenancy))
    found += [(port, 1) for port in set(_host_ports(spec))]
    found.sort()
    return tuple(found)


def _host_ports(spec: PodSpec) -> Iterator[str]:
    """For any address: two pods with one port on two addresses get different nodes, too."""
    sidecars = (container for container in spec.init_containers if _is_sidecar(container))
    for container in (*spec.containers, *sidecars):
        for port in container.ports:
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                yield f"{_PORT}{port.protocol}/{number}"


# --- while it is being resized -----------------------------------------------------------------


def _has_resources(pod: Pod) -> bool:
    """Whether the kubelet reports the resources of any container."""
    status = pod.status
    statuses = (*status.container_statuses, *status.init_container_statuses)
    return any(each.resources is not None or each.allocated_resources for each in statuses)


def _largest(pod: Pod) -> Callable[[Container], _Sums]:
    """The larger of what a container asks for and what it has."""
    status = pod.status
    statuses = {each.name: each for each in status.init_container_statuses if each.name}
    statuses |= {each.name: each for each in status.container_statuses}
    runs_on = {each.name for each in pod.spec.containers}
    runs_on |= {each.name for each in pod.spec.init_containers if _is_sidecar(each)}
    refused = _is_refused(pod)

    def taken(container: Container) -> _Sums:
        asked = _asked(container)
        has = _has(statuses[container.name]) if container.name in statuses else {}
        if not has or container.name not in runs_on:
            return asked
        if not refused:
            _raise(has, asked)
        return has

    return taken


def _has(status: ContainerStatus) -> _Sums:
    has = _measured(status.allocated_resources)
    if status.resources is not None:
        _raise(has, _measured(status.resources.requests))
    return has


def _is_refused(pod: Pod) -> bool:
    """Whether the resize that it asks for is not possible on its node."""
    pending = (c for c in pod.status.conditions if c.type == "PodResizePending")
    return any(condition.reason == "Infeasible" for condition in pending)


def _raise_pod_level(sums: _Sums, pod: Pod) -> None:
    status = pod.status
    if status.resources is None:
        return
    has = _measured(status.allocated_resources)
    _raise(has, _measured(status.resources.requests))
    for name in pod.spec.resources.requests:
        if name in has and _is_pod_level(name):
            sums[name] = has[name] if _is_refused(pod) else max(sums[name], has[name])
