"""A footprint says what a pod takes and where it may go, and the graph knows all that it names."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.demand import Prerequisite, UnsupportedPod
from fluxnetes.cluster.labels.parse import WorkloadLabels
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.pods.anti_affinity import POOL_SIZE
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.cluster.pods.reader import PodReader, notes
from fluxnetes.cluster.pods.requests import TENANCY
from fluxnetes.cluster.pods.volumes import StorageObjects
from fluxnetes.kube.objects.pods import Pod
from tests.unit.cluster.builders import OTHERS, machine, one_pod
from tests.unit.cluster.objects import a_spec
from tests.unit.cluster.pods.test_anti_affinity_index import away_from, lonely

PORT = [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 8080}]}]


@pytest.fixture
def reader() -> PodReader:
    node_graph = NodeGraph()
    node_graph.put([machine("n1"), machine("n2", labels={"disk": "ssd"})])
    return PodReader(ClusterModel(node_graph), StorageObjects({}, {}, {}))


def read(reader: PodReader, pod: Pod, options: WorkloadLabels | None = None) -> Footprint:
    return reader(pod.spec, pod.metadata, options or WorkloadLabels(), pod.metadata.namespace)


def size_on(reader: PodReader, node: str, type: str) -> int:
    return reader.model.node_graph.nodes[node].sizes[type]


def test_pods_that_ask_for_the_same_have_the_same_footprint(reader: PodReader) -> None:
    assert read(reader, one_pod("a", cpu="1")) == read(reader, one_pod("b", cpu="1000m"))
    assert read(reader, one_pod("a")) != read(reader, one_pod("b", cpu="2"))
    assert read(reader, one_pod("a")) != read(reader, one_pod("b", nodeSelector={"disk": "ssd"}))


def test_a_new_rule_is_on_the_graph_before_a_job_asks_for_it(reader: PodReader) -> None:
    footprint = read(reader, one_pod(nodeSelector={"disk": "ssd"}))
    node_graph = reader.model.node_graph
    reconciler = [
        name
        for name, each in node_graph.nodes.items()
        if node_graph.graph.has_property(each.vertex, footprint.rule)
    ]
    assert reconciler == ["n2"]
    assert reader.take_changes().relabelled
    assert not reader.take_changes()


def test_a_rule_that_is_known_is_no_turn(reader: PodReader) -> None:
    read(reader, one_pod("a"))
    reader.take_changes()
    read(reader, one_pod("b"))
    assert not reader.take_changes()


def test_a_pod_that_wants_its_node_for_itself_takes_all_of_it(reader: PodReader) -> None:
    footprint = read(reader, one_pod(), WorkloadLabels(exclusive=True))
    assert dict(footprint.amounts)["tenancy"] == TENANCY


def test_a_host_port_is_a_pool_of_one_on_every_node(reader: PodReader) -> None:
    footprint = read(reader, one_pod(containers=PORT))
    assert dict(footprint.amounts)["port:TCP/8080"] == 1
    assert size_on(reader, "n1", "port:TCP/8080") == 1
    assert reader.take_changes().reshaped


def test_a_port_that_others_hold_already_counts_as_soon_as_it_is_a_pool(reader: PodReader) -> None:
    model = reader.model
    model.put_pod(one_pod("other", scheduler=OTHERS, node="n1", containers=PORT))
    model.foreign.take()
    read(reader, one_pod(containers=PORT))
    assert model.foreign.take()["n1"]["port:TCP/8080"] == 1


# -- apart -----------------------------------------------------------------------------------------


def test_a_pod_that_keeps_away_from_its_kind_takes_a_whole_pool(reader: PodReader) -> None:
    footprint = read(reader, lonely("a", app="db"))
    ((name, amount),) = (each for each in footprint.amounts if each[0].startswith("apart:"))
    assert amount == POOL_SIZE
    assert size_on(reader, "n1", name) == POOL_SIZE
    assert reader.take_changes().reshaped


def test_a_pod_that_others_keep_away_from_is_kept_away_from_them(reader: PodReader) -> None:
    model = reader.model
    guard = one_pod("guard", scheduler=OTHERS, node="n1", affinity=away_from(app="db"))
    model.put_pod(guard)
    footprint = read(reader, one_pod("a", labels={"app": "db"}))
    ((name, amount),) = (each for each in footprint.amounts if each[0].startswith("apart:"))
    assert amount == 1
    assert model.foreign.take()["n1"][name] == POOL_SIZE


def test_pods_that_were_there_before_the_pool_hold_their_part_of_it(reader: PodReader) -> None:
    model = reader.model
    model.put_pod(one_pod("db-0", scheduler=OTHERS, node="n1", labels={"app": "db"}))
    model.foreign.take()
    footprint = read(reader, lonely("a", app="db"))
    ((name, _),) = (each for each in footprint.amounts if each[0].startswith("apart:"))
    assert model.foreign.take()["n1"][name] == 1


def test_a_term_that_concerns_no_pod_of_ours_makes_no_pool(reader: PodReader) -> None:
    model = reader.model
    model.put_pod(one_pod("x", scheduler=OTHERS, node="n1", affinity=away_from(app="web")))
    footprint = read(reader, one_pod("a", labels={"app": "db"}))
    assert not any(type.startswith("apart:") for type, _ in footprint.amounts)


# -- what is not honoured --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"resourceClaims": [{"name": "gpu"}]}, "spec.resourceClaims"),
        ({"containers": [{"name": "a", "resources": {"requests": {"cpu": "two"}}}]}, "cpu"),
    ],
)
def test_what_we_cannot_honour_is_refused_in_words(
    reader: PodReader, spec: dict[str, Any], words: str
) -> None:
    with pytest.raises(UnsupportedPod, match=words):
        read(reader, one_pod(**spec))


def test_a_pod_whose_claim_is_not_there_waits_for_it(reader: PodReader) -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    with pytest.raises(Prerequisite, match="no claim data"):
        read(reader, one_pod(volumes=volumes))


def test_what_is_left_out_is_noted() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {},
    }
    spec = a_spec(topologySpreadConstraints=[spread])
    found = notes(spec, WorkloadLabels(unknown=("fluxnetes.io/grup",)))
    assert all(word in note for word, note in zip(("spread", "grup"), found, strict=True))
    assert notes(a_spec(), WorkloadLabels()) == ()
