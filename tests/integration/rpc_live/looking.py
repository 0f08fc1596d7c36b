"""What callers and Kubernetes each say of the nodes, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fluxnetes.client import Client, Gang, Job, Node
from fluxnetes.cluster.quantities import in_units, measure
from fluxnetes.plane.api import Object, PlaneApi
from tests.integration.controller.objects import PodMaker, a_pod
from tests.integration.controller.space import node_of
from tests.integration.rpc.waiting import until

CALLERS = ("ada", "bob")
CPU = 16_000
"""Of a node, in thousandths."""


def pods(count: int, cpu: int) -> Gang:
    """Pods of so many thousandths, for a caller."""
    return Gang.of(count, cpu=cpu)


def a_borrower(name: str, job: Job, cpu: int, node: str = "") -> PodMaker:
    """A pod that a caller binds to a node itself, within its allocation there."""
    pod = a_pod(name).of_others().with_cpu(f"{cpu}m")
    pod.with_spec(nodeName=node or job.nodes[0].node)
    return pod.annotated({"fluxnetes.io/allocation": str(job.id)})


def pool(node: Node, type: str = "cpu") -> tuple[int, int]:
    """What is free of a node, and what others have."""
    [found] = [each for each in node.pools if each.type == type]
    return found.free, found.others


def on(client: Client, node: str, type: str = "cpu") -> tuple[int, int]:
    """The same, as it is now."""
    [found] = client.nodes(node)
    return pool(found, type)


def until_on(client: Client, node: str, free: int, others: int) -> None:
    """Until so much cpu is free of a node, and others have so much."""
    until(lambda: on(client, node) == (free, others), f"{on(client, node)}")


def until_over(client: Client, job: int) -> Job:
    until(lambda: client.job(job).state.has_ended, f"{client.job(job)}")
    return client.job(job)


def check_fits(nodes: Iterable[Node]) -> None:
    """No node has given away more than it has, of anything."""
    for node in nodes:
        held: Counter[str] = Counter()
        for share in node.shares:
            held.update(share.amounts)
        for each in node.pools:
            assert held[each.type] + each.others <= each.total, node
            if node.up:
                assert held[each.type] + each.others + each.free == each.total, node


def cpu_of(pod: Object) -> int:
    """What a pod asks for, in thousandths."""
    containers = pod["spec"]["containers"]
    asked = (each.get("resources", {}).get("requests", {}).get("cpu", "0") for each in containers)
    return sum(in_units("cpu", measure("cpu", text)) for text in asked)


def bound(api: PlaneApi) -> dict[str, tuple[str, int]]:
    """The node and the cpu of every pod that is on one and has not ended, by uid."""
    return {
        pod["metadata"]["uid"]: (node_of(pod), cpu_of(pod))
        for pod in api.get("/api/v1/pods")["items"]
        if node_of(pod) and pod["status"]["phase"] not in ("Succeeded", "Failed")
    }


def callers_jobs(client: Client) -> dict[int, int]:
    """The cpu of every job that a caller has, by number."""
    found: dict[int, int] = {}
    for node in client.nodes():
        for share in node.shares:
            found[share.job] = found.get(share.job, 0) + share.amounts.get("cpu", 0)
    return {job: cpu for job, cpu in found.items() if client.job(job).user in CALLERS}


def call_all_off(client: Client) -> None:
    """Of callers' jobs nothing is left."""
    while jobs := callers_jobs(client):
        for job in jobs:
            client.cancel(job)
