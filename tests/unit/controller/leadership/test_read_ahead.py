"""Pods are read while others are still on their way."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.cluster.pods.volumes import StorageObjects
from fluxnetes.controller.leadership.recovery import PodReadAhead
from fluxnetes.kube.objects.base import Key, Metadata
from fluxnetes.kube.objects.volumes import Claim, ClaimSpec, ClaimStatus, PersistentVolume
from tests.unit.cluster.builders import HERE, machine, one_pod

BOUND = Claim(Metadata("data", HERE), ClaimSpec(volume_name="v"), ClaimStatus("Bound"))


@pytest.fixture
def claims() -> dict[Key, Claim]:
    return {}


@pytest.fixture
def ahead(claims: dict[Key, Claim]) -> PodReadAhead:
    model = ClusterModel(NodeGraph())
    model.node_graph.put([machine("n1")])
    volumes = {("", "v"): PersistentVolume(Metadata("v"))}
    return PodReadAhead(PodReader(model, StorageObjects(claims, volumes, {})))


def read(ahead: PodReadAhead) -> dict[str, Footprint | None]:
    groups = ahead.reader.model.groups.values()
    return {group.key.name: m.footprint for group in groups for m in group.pods.values()}


def test_each_is_read_once(ahead: PodReadAhead) -> None:
    model = ahead.reader.model
    model.put_pod(one_pod("a", cpu="2"))
    ahead.read_more()
    first = read(ahead)["a"]
    assert first is not None and dict(first.amounts)["cpu"] == 2000
    model.put_pod(one_pod("b"))
    assert read(ahead) == {"a": first, "b": None}
    ahead.read_more()
    assert read(ahead)["a"] is first
    assert read(ahead)["b"] is not None


def test_what_cannot_be_read_yet_is_left_for_later(
    ahead: PodReadAhead, claims: dict[Key, Claim]
) -> None:
    model = ahead.reader.model
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    model.put_pod(one_pod("a", volumes=[volume]))
    model.put_pod(one_pod("b", cpu="many"))
    ahead.read_more()
    assert read(ahead) == {"a": None, "b": None}
    claims[HERE, "data"] = BOUND
    model.put_pod(one_pod("c"))
    ahead.read_more()
    assert read(ahead)["a"] is None, "the term reads all that was not read before"


def test_pods_that_went_meanwhile_do_no_harm(ahead: PodReadAhead) -> None:
    model, gone = ahead.reader.model, one_pod("gone")
    model.put_pod(gone)
    model.put_pod(one_pod("a"))
    ahead.read_more()
    model.drop_pod(gone)
    for group in model.take_dirty():
        if group.is_gone:
            model.forget(group)
    model.put_pod(one_pod("b"))
    ahead.read_more()
    assert set(read(ahead)) == {"a", "b"}
