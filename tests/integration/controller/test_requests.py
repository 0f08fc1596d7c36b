"""What a pod takes from a node, however its manifest says it.

What fits an empty node of 16 cpu to the last millicore is bound; a little more is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fluxnetes.plane.nodes import NodeShape
from tests.integration.controller.objects import Content, a_gang, a_job, a_pod
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import Stage


def a_container(name: str, cpu: int, **fields: object) -> Content:
    asked = {"requests": {"cpu": str(cpu)}}
    return {"name": name, "image": "none", "resources": asked, **fields}


def a_sidecar(cpu: int) -> Content:
    return a_container("sidecar", cpu, restartPolicy="Always")


def on_the_whole(cpu: int) -> Content:
    return {"resources": {"requests": {"cpu": str(cpu)}}}


SPECS: dict[str, Callable[[int], Content]] = {
    "containers": lambda cpu: {"containers": [a_container("a", 8), a_container("b", cpu - 8)]},
    "init container": lambda cpu: {
        "containers": [a_container("a", 1)],
        "initContainers": [a_container("init", cpu)],
    },
    "sidecar": lambda cpu: {
        "containers": [a_container("a", 8)],
        "initContainers": [a_sidecar(cpu - 8)],
    },
    "sidecar beside init container": lambda cpu: {
        "containers": [a_container("a", 1)],
        "initContainers": [a_sidecar(6), a_container("init", cpu - 6)],
    },
    "pod as a whole": lambda cpu: {"containers": [a_container("a", 1)], **on_the_whole(cpu)},
    "limit alone": lambda cpu: {
        "containers": [{"name": "a", "image": "none", "resources": {"limits": {"cpu": str(cpu)}}}]
    },
}


@pytest.mark.parametrize("kind", SPECS)
def test_cpu_is_counted_wherever_it_is_asked_for(space: Space, kind: str) -> None:
    space.create(a_pod("fits").with_spec(**SPECS[kind](16)))
    space.create(a_pod("large").with_spec(**SPECS[kind](17)))
    space.create(a_job("large-job").with_spec(**SPECS[kind](17)).queued())
    space.until_bound("fits")
    space.until_event("large", "FailedScheduling", "Unsatisfiable: ")
    space.until_event("large-job", "FailedScheduling", "Unsatisfiable: ")


def test_overhead_is_counted(stage: Stage, space: Space) -> None:
    path = "/apis/node.k8s.io/v1/runtimeclasses"
    name = f"heavy-{space.namespace}"
    heavy = {"metadata": {"name": name}, "handler": "x", "overhead": {"podFixed": {"cpu": "2"}}}
    stage.api.create(path, heavy)
    for cpu in (14, 15):
        space.create(a_pod(f"with-{cpu}").with_cpu(cpu).with_spec(runtimeClassName=name))
    space.until_bound("with-14")
    space.until_event("with-15", "FailedScheduling", "Unsatisfiable: ")


AMOUNTS = {
    "memory": ("64Gi", "65Gi", "1Mi"),
    "ephemeral-storage": ("256Gi", "257Gi", "1Mi"),
    "hugepages-2Mi": ("4Gi", "4098Mi", "2Mi"),
    "nvidia.com/gpu": ("4", "5", "1"),
    "example.com/widget": ("2", "3", "1"),
}


@pytest.mark.parametrize("resource", AMOUNTS)
def test_every_resource_is_counted(stage: Stage, space: Space, resource: str) -> None:
    foreign = {"hugepages-2Mi": "4Gi", "nvidia.com/gpu": "4", "example.com/widget": "2"}
    stage.add_node("special", NodeShape(others=foreign))
    all, too_much, more = AMOUNTS[resource]
    pod = a_pod("all").with_cpu(1).on("special")
    space.create(pod.asking_for_extended(resource, all))
    space.until_bound("all")
    for name, amount in (("large", too_much), ("second", more)):
        pod = a_pod(name).with_cpu(1).on("special")
        space.create(pod.asking_for_extended(resource, amount))
    space.until_event("large", "FailedScheduling", "Unsatisfiable: ")
    space.until_waits("second")
    space.delete("Pod", "all")
    space.until_bound("second")


def test_what_no_node_has_is_refused(space: Space) -> None:
    space.create(a_pod("a").asking_for_extended("example.com/unheard-of", 1))
    space.until_event("a", "FailedScheduling", "example.com/unheard-of")


def test_the_slots_of_a_kubelet_are_counted(stage: Stage, space: Space) -> None:
    stage.add_node("narrow", NodeShape(pods=2))
    space.create([pod.on("narrow") for pod in a_gang("three", 3)])
    space.until_event("three-0", "FailedScheduling", "Unsatisfiable: ")
    space.create([pod.on("narrow") for pod in a_gang("two", 2)])
    space.until_bound("two-0", "two-1")
    space.create(a_pod("more").on("narrow"))
    space.until_waits("more")


def test_cpu_is_counted_in_millicores(stage: Stage, space: Space) -> None:
    stage.add_node("odd", NodeShape(cpu="1001m"))
    space.create([pod.on("odd") for pod in a_gang("fits", 7, cpu="143m")])
    space.until_bound(*(f"fits-{number}" for number in range(7)))
    space.create(a_pod("large").with_cpu("1002m").on("odd"))
    space.until_event("large", "FailedScheduling", "Unsatisfiable: ")


def test_pods_that_admission_made_larger_are_matched_again(stage: Stage, space: Space) -> None:
    """By its template the Job fits on one node; its pods do not."""
    stage.leave_open("node-0", "node-1")
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "10"}}]}
    space.api.create(
        f"/api/v1/namespaces/{space.namespace}/limitranges",
        {"metadata": {"name": "large"}, "spec": limits},
    )
    space.create(a_job("grown").of(2).running_for("1h").queued())
    pods = space.until_job_bound("grown", 2)
    assert {node_of(pod) for pod in pods} == {"node-0", "node-1"}
    assert space.get("Job", "grown")["status"].get("failed", 0) == 0
