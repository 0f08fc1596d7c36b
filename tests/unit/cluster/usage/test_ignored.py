"""Foreign pods that the configuration ignores hold nothing, and no other pod gains by that."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.scope import ClusterScope
from tests.unit.cluster.builders import OTHERS, OURS, changed, machine, one_pod
from tests.unit.cluster.objects import a_container

PROBER = {"app": "prober"}
SCOPE = ClusterScope(ignored_pods=(PROBER, {"app": "check", "tier": "infra"}))


@pytest.fixture
def model() -> ClusterModel:
    node_graph = NodeGraph(scope=SCOPE)
    node_graph.put([machine("n1")])
    return ClusterModel(node_graph)


def held(model: ClusterModel) -> dict[str, int]:
    return {type: n for type, n in model.foreign.sums.get("n1", {}).items() if n}


def foreign(labels: dict[str, str] | None = None, **spec: Any) -> Any:
    return one_pod("theirs", scheduler=OTHERS, node="n1", phase="Running", labels=labels, **spec)


@pytest.mark.parametrize(
    "labels", [PROBER, {**PROBER, "more": "x"}, {"app": "check", "tier": "infra"}]
)
def test_a_foreign_pod_with_the_labels_holds_nothing(
    model: ClusterModel, labels: dict[str, str]
) -> None:
    model.put_pod(foreign(labels))
    assert held(model) == {}


@pytest.mark.parametrize("labels", [{}, {"app": "check"}, {"app": "web", "tier": "infra"}])
def test_a_pod_that_lacks_one_of_them_counts(model: ClusterModel, labels: dict[str, str]) -> None:
    model.put_pod(foreign(labels))
    assert held(model)["cpu"] == 1000


def test_a_pod_counts_as_its_labels_say_now(model: ClusterModel) -> None:
    pod = foreign(PROBER)
    model.put_pod(pod)
    model.put_pod(changed(pod, metadata={"labels": {}}))
    assert held(model)["cpu"] == 1000
    model.put_pod(pod)
    assert held(model) == {}


def test_pods_of_ours_count_whatever_their_labels(model: ClusterModel) -> None:
    model.put_pod(one_pod("ours", scheduler=OURS, node="n1", phase="Running", labels=PROBER))
    assert held(model)["cpu"] == 1000


def test_the_host_port_of_an_ignored_pod_is_taken_all_the_same(model: ClusterModel) -> None:
    """A kubelet refuses a second pod with the port."""
    model.need({"port:TCP/80": 1})
    container = a_container(cpu="1") | {"ports": [{"containerPort": 80, "hostPort": 80}]}
    model.put_pod(foreign(PROBER, containers=[container]))
    assert held(model) == {"port:TCP/80": 1}
