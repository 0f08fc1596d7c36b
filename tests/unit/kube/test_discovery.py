"""Of a kind in several versions the best one is used that the server has."""

from __future__ import annotations

import msgspec
import pytest

from fluxnetes.kube.decoding import decoding
from fluxnetes.kube.discovery import Served, choose
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.podgroups import (
    NATIVE_POD_GROUPS,
    Gang,
    NativePodGroup,
    TopologyConstraint,
)

BETA, ALPHA = NATIVE_POD_GROUPS
HAVE_THEM = frozenset({"podgroups", "podgroups/status", "workloads"})


@pytest.mark.parametrize(
    ("served", "version"),
    [
        ({"v1alpha2": HAVE_THEM}, "v1alpha2"),
        ({"v1beta1": HAVE_THEM}, "v1beta1"),
        ({"v1alpha2": HAVE_THEM, "v1beta1": HAVE_THEM}, "v1beta1"),
        ({"v1beta1": frozenset({"workloads"}), "v1alpha2": HAVE_THEM}, "v1alpha2"),
        ({"v1": frozenset({"priorityclasses"})}, None),
        ({"v2": HAVE_THEM}, None),
        ({}, None),
    ],
)
def test_the_first_version_that_is_served_and_understood_is_chosen(
    served: Served, version: str | None
) -> None:
    chosen = choose(NATIVE_POD_GROUPS, served)
    assert (chosen.version if chosen is not None else None) == version


@pytest.mark.parametrize(
    ("resource", "mode"),
    [(ALPHA, "PodGroup"), (BETA, {"all": {}})],
    ids=["v1alpha2", "v1beta1"],
)
def test_every_version_is_read_as_the_same_group(
    resource: Resource[NativePodGroup], mode: object
) -> None:
    spec = {
        "schedulingPolicy": {"gang": {"minCount": 3}},
        "schedulingConstraints": {"topology": [{"key": "topology.kubernetes.io/zone"}]},
        "disruptionMode": mode,
    }
    group = decoding(resource).object(
        msgspec.json.encode({"metadata": {"name": "g"}, "spec": spec})
    )
    assert group.spec.scheduling_policy.gang == Gang(3)
    assert group.spec.scheduling_constraints.topology[0] == TopologyConstraint(
        "topology.kubernetes.io/zone"
    )
    assert group.disrupts_together


def test_the_condition_has_the_name_of_its_version() -> None:
    assert BETA.type.SCHEDULED == "PodGroupInitiallyScheduled"
    assert ALPHA.type.SCHEDULED == "PodGroupScheduled"
