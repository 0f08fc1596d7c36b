"""A pod takes from a node what Kubernetes says it does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.pods.requests import TENANCY, held_amounts, is_daemon, pod_amounts
from fluxnetes.cluster.quantities import LARGEST
from fluxnetes.kube.objects.pods import PodSpec
from tests.unit.cluster.objects import Content, a_container, a_pod, a_sidecar, a_spec
from tests.unit.cluster.plain_requests import takes

SLOT = {"pods": 1, "tenancy": 1}


def amounts(spec: PodSpec, **options: Any) -> dict[str, int]:
    """Without the slot and the tenancy that every pod takes."""
    found = dict(pod_amounts(spec, **options))
    assert {name: found.pop(name) for name in SLOT} == SLOT
    return found


# -- adding up -------------------------------------------------------------------------------------


def test_containers_add_up_and_are_rounded_once() -> None:
    spec = a_spec(*(a_container(f"c{n}", cpu="100m", memory="100M", gpu="1") for n in range(5)))
    assert amounts(spec) == {"cpu": 500, "memory": 477, "nvidia.com/gpu": 5}


def test_a_pod_that_asks_for_nothing_takes_a_slot() -> None:
    assert pod_amounts(a_spec(a_container())) == (("pods", 1), ("tenancy", 1))


def test_amounts_are_sorted_and_zeros_are_left_out() -> None:
    spec = a_spec(a_container(memory="1Mi", cpu="0", gpu="0", disk="2Mi"))
    assert pod_amounts(spec) == (
        ("ephemeral-storage", 2),
        ("memory", 1),
        ("pods", 1),
        ("tenancy", 1),
    )


def test_the_largest_init_container_counts_where_it_is_larger() -> None:
    spec = a_spec(
        a_container(cpu="1", memory="4Gi"),
        initContainers=[a_container("a", cpu="3", memory="1Gi"), a_container("b", cpu="2")],
    )
    assert amounts(spec) == {"cpu": 3000, "memory": 4096}


def test_a_sidecar_stays_and_counts_for_those_after_it_only() -> None:
    early = a_spec(
        a_container(cpu="1"),
        initContainers=[a_sidecar("proxy", cpu="500m"), a_container("load", cpu="2")],
    )
    late = a_spec(
        a_container(cpu="1"),
        initContainers=[a_container("load", cpu="2"), a_sidecar("proxy", cpu="500m")],
    )
    assert amounts(early) == {"cpu": 2500}
    assert amounts(late) == {"cpu": 2000}


def test_what_the_pod_as_a_whole_asks_for_replaces_the_sum_and_overhead_comes_on_top() -> None:
    spec = a_spec(
        a_container(cpu="1", memory="1Gi", gpu="1"),
        resources={"requests": {"cpu": "4", "ephemeral-storage": "1Gi"}},
        overhead={"cpu": "250m", "memory": "64Mi"},
    )
    assert amounts(spec) == {"cpu": 4250, "memory": 1088, "nvidia.com/gpu": 1}


def test_in_a_template_limits_stand_for_requests_that_are_missing() -> None:
    spec = a_spec(a_container(cpu="1", limits={"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "1"}))
    assert amounts(spec) == {"cpu": 1000, "memory": 1024, "nvidia.com/gpu": 1}


def test_in_a_template_limits_of_the_pod_count_where_no_container_asks() -> None:
    limits = {"cpu": "8", "memory": "8Gi", "hugepages-2Mi": "6Mi"}
    spec = a_spec(a_container(cpu="1", huge="2Mi"), resources={"limits": limits})
    assert amounts(spec) == {"cpu": 1000, "memory": 8192, "hugepages-2Mi": 6}


def test_more_than_can_be_counted_is_the_most_that_can_be_asked_for() -> None:
    spec = a_spec(*(a_container(f"c{n}", cpu="9e15", gpu="9e18") for n in range(3)))
    assert amounts(spec) == {"cpu": LARGEST + 1, "nvidia.com/gpu": LARGEST + 1}


def test_an_exclusive_pod_takes_all_tenancy_of_its_node() -> None:
    assert pod_amounts(a_spec(), exclusive=True) == (("pods", 1), ("tenancy", TENANCY))


QUANTITIES = st.sampled_from(["0", "1", "250m", "1500m", "100M", "1Gi", "3e8", "1.5Ki"])
NAMES = ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu"]
RESOURCES = st.dictionaries(st.sampled_from(NAMES), QUANTITIES, max_size=3)
CONTAINERS = st.fixed_dictionaries(
    {
        "name": st.just("c"),
        "restartPolicy": st.sampled_from(["", "Always"]),
        "resources": st.fixed_dictionaries({"requests": RESOURCES, "limits": RESOURCES}),
    }
)


@given(
    st.lists(CONTAINERS, min_size=1, max_size=3),
    st.lists(CONTAINERS, max_size=4),
    RESOURCES,
    RESOURCES,
)
def test_adding_up_agrees_with_the_moments_of_a_pods_life(
    containers: list[Content], init: list[Content], whole: Content, overhead: Content
) -> None:
    plain = [{**each, "restartPolicy": ""} for each in containers]
    more = {"initContainers": init, "resources": {"requests": whole}, "overhead": overhead}
    spec = a_spec(*plain, **more)
    assert amounts(spec) == takes(spec)


# -- ports -----------------------------------------------------------------------------------------


def ports(*numbers: int, host: bool = True, **more: Any) -> list[Content]:
    return [{"hostPort" if host else "containerPort": number, **more} for number in numbers]


def test_each_host_port_is_taken_once_by_protocol_and_number() -> None:
    one = {"name": "a", "ports": ports(80, 443) + ports(80, hostIP="10.0.0.1")}
    two = {"name": "b", "ports": ports(80, protocol="UDP") + ports(8080, host=False)}
    taken = {"port:TCP/80": 1, "port:TCP/443": 1, "port:UDP/80": 1}
    assert amounts(a_spec(one, two)) == taken


def test_on_the_hosts_network_every_port_is_a_host_port() -> None:
    spec = a_spec({"name": "a", "ports": ports(8080, host=False)}, hostNetwork=True)
    assert amounts(spec) == {"port:TCP/8080": 1}


def test_a_sidecars_ports_count_and_an_init_containers_do_not() -> None:
    sidecar = {**a_sidecar("proxy"), "ports": ports(80)}
    before = {**a_container("load"), "ports": ports(90)}
    assert amounts(a_spec(a_container(), initContainers=[sidecar, before])) == {"port:TCP/80": 1}


# -- pods that are on a node -----------------------------------------------------------------------


def held(spec: Content, *, status: Content | None = None, **metadata: Any) -> dict[str, int]:
    return dict(held_amounts(a_pod(spec, metadata=metadata, status=status)))


def running(allocated: Content, actual: Content | None = None, **status: Any) -> Content:
    resources = {"resources": {"requests": actual}} if actual is not None else {}
    name = {"name": "app", "allocatedResources": allocated, **resources}
    return {"containerStatuses": [name], **status}


PLAIN = {"containers": [a_container(cpu="2", memory="1Gi")]}


def test_a_pod_that_is_not_resized_holds_what_it_asks_for() -> None:
    status = running({"cpu": "2", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"})
    assert held(PLAIN) == held(PLAIN, status=status) == {"cpu": 2000, "memory": 1024, **SLOT}


@pytest.mark.parametrize(
    ("allocated", "actual", "expected"),
    [("1", None, 2000), ("3", None, 3000), ("1", "4", 4000), ("3", "1", 3000)],
)
def test_a_pod_that_is_resized_holds_the_larger(
    allocated: str, actual: str | None, expected: int
) -> None:
    has = {"cpu": actual} if actual else None
    assert held(PLAIN, status=running({"cpu": allocated}, has))["cpu"] == expected
    assert held(PLAIN, status=running({"cpu": allocated}, has))["memory"] == 1024


def test_a_resize_that_the_node_refused_does_not_count() -> None:
    refused = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    deferred = {**refused, "reason": "Deferred"}
    has = {"cpu": "1", "memory": "1Gi"}
    assert held(PLAIN, status=running(has, has, conditions=[refused]))["cpu"] == 1000
    assert held(PLAIN, status=running(has, has, conditions=[deferred]))["cpu"] == 2000


def test_a_sidecar_can_be_resized_and_an_init_container_cannot() -> None:
    has = {"name": "s", "allocatedResources": {"cpu": "5"}}
    for container, expected in [(a_sidecar("s", cpu="1"), 7000), (a_container("s", cpu="1"), 2000)]:
        spec = {**PLAIN, "initContainers": [container]}
        assert held(spec, status={"initContainerStatuses": [has]})["cpu"] == expected


def test_a_pod_that_is_resized_as_a_whole_holds_the_larger() -> None:
    spec = {**PLAIN, "resources": {"requests": {"cpu": "4"}}}
    status = {"allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "6"}}}
    assert held(spec, status=status) == {"cpu": 6000, "memory": 1024, **SLOT}


def owned_by(kind: str, api: str = "apps/v1") -> Content:
    owner = {"apiVersion": api, "kind": kind, "name": "x", "uid": "u", "controller": True}
    return {"ownerReferences": [owner]}


def test_daemons_and_mirror_pods_take_no_tenancy() -> None:
    mirror = {"annotations": {"kubernetes.io/config.mirror": "abc"}}
    for metadata in (owned_by("DaemonSet"), mirror):
        assert "tenancy" not in held(PLAIN, **metadata)
        assert is_daemon(a_pod(PLAIN, metadata=metadata))


def test_other_pods_are_no_daemons() -> None:
    for metadata in (owned_by("ReplicaSet"), owned_by("DaemonSet", "example.com/v1"), {}):
        assert held(PLAIN, **metadata)["tenancy"] == 1
        assert not is_daemon(a_pod(PLAIN, metadata=metadata))


def test_an_exclusive_pod_holds_all_tenancy() -> None:
    assert dict(held_amounts(a_pod(PLAIN), exclusive=True))["tenancy"] == TENANCY
