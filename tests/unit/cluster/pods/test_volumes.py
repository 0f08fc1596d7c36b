"""A pod goes where its volumes can be reached, and waits until that is known."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fluxnetes.cluster.pods.node_rules import read_rule
from fluxnetes.cluster.pods.volumes import NO_VOLUMES, StorageObjects, VolumeRules, volume_rules
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.kube.objects.volumes import Claim, PersistentVolume, StorageClass
from tests.unit.cluster.objects import Content, a_node, a_spec

WEST: Content = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["west"]}]}
    ]
}


def storage(
    claim: Content | None = None,
    *,
    node_affinity: Content | None = None,
    binding: str = "Immediate",
) -> StorageObjects:
    """With one claim `data` at most, one volume `pv` and one class `disks`."""
    claims = {("default", "data"): msgspec.convert(claim, Claim)} if claim is not None else {}
    spec = {"nodeAffinity": node_affinity} if node_affinity is not None else {}
    volume = msgspec.convert({"spec": spec}, PersistentVolume)
    disks = msgspec.convert({"volumeBindingMode": binding}, StorageClass)
    return StorageObjects(claims, {("", "pv"): volume}, {("", "disks"): disks})


def a_claim(
    phase: str = "Bound", volume: str = "pv", storage_class: str = "disks", **metadata: Any
) -> Content:
    return {
        "metadata": {"name": "data", "namespace": "default", **metadata},
        "spec": {"volumeName": volume, "storageClassName": storage_class},
        "status": {"phase": phase},
    }


USES_DATA: PodSpec = a_spec(
    volumes=[{"name": "a"}, {"name": "b", "persistentVolumeClaim": {"claimName": "data"}}]
)


def rules(known: StorageObjects, spec: PodSpec = USES_DATA) -> VolumeRules:
    return volume_rules(spec, "default", known)


def test_a_pod_without_claims_is_free() -> None:
    assert rules(storage(), a_spec(volumes=[{"name": "scratch"}])) is NO_VOLUMES


def test_a_bound_volume_ties_the_pod_to_the_nodes_that_reach_it() -> None:
    found = rules(storage(a_claim(), node_affinity={"required": WEST}))
    assert not found.refusals and not found.waits
    rule = read_rule(USES_DATA, found.selectors)
    assert rule.accepts(a_node(zone="west"))
    assert rule.why_not(a_node(zone="east")) == (
        "has a volume that can be reached only from zone=west"
    )


def test_a_bound_volume_that_can_be_reached_from_anywhere_ties_to_nothing() -> None:
    nowhere: list[Content | None] = [None, {}]
    for affinity in nowhere:
        assert rules(storage(a_claim(), node_affinity=affinity)) == NO_VOLUMES


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (None, "there is no claim data yet"),
        (a_claim("Pending", volume=""), "claim data is not bound yet"),
        (a_claim("Pending", volume="", storage_class=""), "claim data is not bound yet"),
        (a_claim("Pending"), "claim data is not bound to volume pv yet"),
        (a_claim("Lost"), "claim data has lost its volume"),
        (a_claim(deletionTimestamp="2026-01-02T03:04:05Z"), "claim data is being deleted"),
        (a_claim(volume="gone"), "there is no volume gone, which claim data is bound to"),
        (
            a_claim("Pending", volume="", storage_class="typo"),
            "claim data is not bound, and there is no storage class typo",
        ),
    ],
)
def test_what_is_not_bound_is_waited_for(claim: Content | None, why: str) -> None:
    assert rules(storage(claim)) == VolumeRules(waits=(why,))


def test_a_volume_that_waits_for_its_first_consumer_is_refused() -> None:
    found = rules(storage(a_claim("Pending", volume=""), binding="WaitForFirstConsumer"))
    (refusal,) = found.refusals
    assert refusal.startswith("spec.volumes[1].persistentVolumeClaim: claim data is not bound")
    assert not found.waits


def test_once_bound_it_does_not_matter_what_the_class_waited_for() -> None:
    assert rules(storage(a_claim(), binding="WaitForFirstConsumer")) == NO_VOLUMES
    pending = rules(storage(a_claim("Pending"), binding="WaitForFirstConsumer"))
    assert pending.waits and not pending.refusals


def test_claims_of_other_namespaces_are_others() -> None:
    assert volume_rules(USES_DATA, "elsewhere", storage(a_claim())).waits


def test_every_claim_has_its_say() -> None:
    both = a_spec(
        volumes=[
            {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("data", "x")
        ]
    )
    found = rules(storage(a_claim(), node_affinity={"required": WEST}), both)
    assert len(found.selectors) == 1
    assert found.waits == ("there is no claim x yet",)
