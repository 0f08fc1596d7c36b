"""Controllers of services as schedulers see them: Deployments, ReplicaSets, StatefulSets.

Each `look` is one pass of a controller over one object. A Deployment makes a ReplicaSet for each
template that it ever had, and moves its pods from the old ones to the new one, a few at a time. A
StatefulSet makes its pods one by one unless it is parallel, under names that stay the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from fluxnetes.cluster.adapters.deployments import Deployment
from fluxnetes.cluster.adapters.replica_sets import ReplicaSet
from fluxnetes.cluster.adapters.services import ServiceWorkload
from fluxnetes.cluster.adapters.stateful_sets import PARALLEL, StatefulSet
from fluxnetes.kube.objects.pods import Pod, PodTemplate
from tests.unit.cluster.builders import a_service, owner_of_service, pod_of_template

if TYPE_CHECKING:
    from tests.unit.controller.cluster import Cluster

REVISION = "revision"
"""A label of the pods of a StatefulSet: which template they were made of."""


def look_at(cluster: Cluster, service: ServiceWorkload) -> None:
    """What its controller does about a service."""
    match service:
        case Deployment():
            _look_at_deployment(cluster, service)
        case ReplicaSet():
            _look_at_replica_set(cluster, service)
        case StatefulSet():
            _look_at_stateful_set(cluster, service)


def pods_of(cluster: Cluster, owner: str) -> list[Pod]:
    """The pods that a controller made, by its uid."""
    owners = ((pod, pod.metadata.controller) for pod in cluster.pods.values())
    return [pod for pod, each in owners if each is not None and each.uid == owner]


def is_alive(pod: Pod) -> bool:
    return not pod.is_over and pod.metadata.deletion_timestamp is None


def _is_running(pod: Pod) -> bool:
    return is_alive(pod) and pod.status.phase == "Running"


def _set(cluster: Cluster, service: ServiceWorkload, replicas: int) -> None:
    if service.spec.replicas != replicas:
        cluster.put(replace(service, spec=replace(service.spec, replicas=replicas)))


# -- Deployments -----------------------------------------------------------------------------------


SURGE = 1
"""How many pods more than wanted a Deployment has while it is rolled out."""


def _look_at_deployment(cluster: Cluster, it: Deployment) -> None:
    """As the real controller: the new set is scaled up, then old ones down, pods that do not run
    first."""
    sets = [s for s in cluster.services.values() if _is_set_of(s, it)]
    new = next((s for s in sets if s.spec.template == it.spec.template), None)
    if new is None:
        new = _make_set(cluster, it)
    old = [s for s in sets if s is not new and s.spec.replicas]
    wanted = it.spec.replicas
    room = wanted + SURGE - sum(s.spec.replicas for s in old) if old else wanted
    replicas = min(wanted, max(new.spec.replicas, room))
    _set(cluster, new, replicas)
    runs = {s.metadata.uid: _running(cluster, s) for s in (*old, new)}
    least = max(0, wanted - cluster.unavailable)
    total = replicas + sum(s.spec.replicas for s in old)
    spare = total - least - (replicas - min(replicas, runs[new.metadata.uid]))
    if spare <= 0:
        return
    for each in old:
        idle = min(max(0, spare), max(0, each.spec.replicas - runs[each.metadata.uid]))
        spare -= idle
        _set(cluster, each, each.spec.replicas - idle)
    spare = sum(runs.values()) - least
    for each in [cluster.services[s.metadata.uid] for s in old]:
        fewer = min(each.spec.replicas, max(0, spare))
        spare -= fewer
        _set(cluster, each, each.spec.replicas - fewer)


def _running(cluster: Cluster, it: ServiceWorkload) -> int:
    return sum(map(_is_running, pods_of(cluster, it.metadata.uid)))


def _is_set_of(each: ServiceWorkload, it: Deployment) -> bool:
    owner = each.metadata.controller
    return isinstance(each, ReplicaSet) and owner is not None and owner.uid == it.metadata.uid


def _make_set(cluster: Cluster, it: Deployment) -> ReplicaSet:
    cluster.made += 1
    made = a_service(
        ReplicaSet,
        f"{it.metadata.name}-{cluster.made}",
        uid=f"set-{cluster.made}",
        replicas=0,
        owner=owner_of_service(it),
    )
    return cluster.put(replace(made, spec=replace(made.spec, template=it.spec.template)))


# -- ReplicaSets -----------------------------------------------------------------------------------


def _look_at_replica_set(cluster: Cluster, it: ReplicaSet) -> None:
    alive = [pod for pod in pods_of(cluster, it.metadata.uid) if is_alive(pod)]
    for pod in sorted(alive, key=_is_running)[: max(0, len(alive) - it.spec.replicas)]:
        cluster.delete_pod(pod.metadata.uid, counts=False)
    for _ in range(it.spec.replicas - len(alive)):
        cluster.made += 1
        make_pod(cluster, it, f"{it.metadata.name}-{cluster.made}")


def make_pod(
    cluster: Cluster, it: ServiceWorkload, name: str, labels: dict[str, str] | None = None
) -> None:
    cluster.made += 1
    pod = pod_of_template(
        it.spec.template,
        name,
        namespace=it.metadata.namespace,
        uid=f"pod-{cluster.made}",
        owner=owner_of_service(it),
        cpu=cluster.usual,
        labels=labels or {},
    )
    cluster.put(pod)


# -- StatefulSets ----------------------------------------------------------------------------------


def _look_at_stateful_set(cluster: Cluster, it: StatefulSet) -> None:
    pods = {pod.metadata.name: pod for pod in pods_of(cluster, it.metadata.uid)}
    names = [f"{it.metadata.name}-{number}" for number in range(it.spec.replicas)]
    for name, pod in pods.items():
        if is_alive(pod) and name not in names:
            cluster.delete_pod(pod.metadata.uid, counts=False)
    missing = False
    for name in names:
        there = pods.get(name)
        if there is not None and there.is_over:
            cluster.drop(there)
            there = None
        if there is None:
            make_pod(cluster, it, name, {REVISION: revision(it.spec.template)})
        is_parallel = it.spec.pod_management_policy == PARALLEL
        if there is None or not (is_parallel or _is_running(there)):
            if not is_parallel:
                break
            missing = True
    else:
        if not missing:
            _update_one(cluster, it, [pods[name] for name in names])


def _update_one(cluster: Cluster, it: StatefulSet, pods: list[Pod]) -> None:
    """All run: replace the last one that was made of another template."""
    old = [p for p in pods if p.metadata.labels.get(REVISION) != revision(it.spec.template)]
    if old and all(map(_is_running, pods)):
        cluster.delete_pod(old[-1].metadata.uid, counts=False)


def revision(template: PodTemplate) -> str:
    content: Any = msgspec.json.encode(template)
    return f"r{hash(content) % 1_000_000}"
