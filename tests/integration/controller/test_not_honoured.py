"""Rules that are not honoured: hard ones are refused, soft ones left out, and both are reported."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.controller.objects import Content, a_job, a_pod
from tests.integration.controller.space import Space

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

SELECTOR: Content = {"labelSelector": {"matchLabels": {"app": "db"}}}
NEAR: Content = {"topologyKey": "kubernetes.io/hostname", **SELECTOR}
SPREAD: Content = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", **SELECTOR}
CLAIM: Content = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {}}}}
CLAIM["spec"]["resources"]["requests"] = {"storage": "1Gi"}

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "resource claims": (
        "spec.resourceClaims",
        {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
    ),
    "pod affinity": (
        "spec.affinity.podAffinity",
        {"affinity": {"podAffinity": {REQUIRED: [NEAR]}}},
    ),
    "anti-affinity by zone": (
        "spec.affinity.podAntiAffinity",
        {
            "affinity": {
                "podAntiAffinity": {
                    REQUIRED: [{**NEAR, "topologyKey": "topology.kubernetes.io/zone"}]
                }
            }
        },
    ),
    "spread": (
        "spec.topologySpreadConstraints[0]",
        {"topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "DoNotSchedule"}]},
    ),
    "ephemeral claims": (
        "spec.volumes[0].ephemeral",
        {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": CLAIM}}]},
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_hard_rule_that_is_not_honoured_is_refused(space: Space, kind: str) -> None:
    path, spec = REFUSED[kind]
    space.create(a_pod("a").with_spec(**spec))
    space.create(a_job("j").with_spec(**spec).queued())
    for name in ("a", "j"):
        assert path in space.until_event(name, "FailedScheduling", path)["note"]
    space.create(a_pod("other"))
    space.until_bound("other")
    assert space.node_of("a") == "" and space.get("Job", "j")["spec"]["suspend"]


@pytest.mark.parametrize("key", ["walltime", "queue", "priority", "after"])
def test_an_annotation_that_no_database_can_hold_is_refused_and_all_others_go_on(
    space: Space, key: str
) -> None:
    """Kubernetes takes any text as an annotation's value."""
    annotation = f"fluxnetes.io/{key}"
    for number, value in enumerate(("1\0", "\0", "\uffff\0" * 1000)):
        space.create(a_pod(f"bad-{number}").annotated({annotation: value}))
        space.until_event(f"bad-{number}", "FailedScheduling", annotation)
    space.create(a_pod("other"))
    space.until_bound("other")


FAST: Content = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["fast"]}]}
LEFT_OUT: dict[str, tuple[str, dict[str, Any]]] = {
    "preferred nodes": (
        "spec.affinity.nodeAffinity",
        {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": FAST}]}}},
    ),
    "soft spread": (
        "spec.topologySpreadConstraints[0]",
        {"topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]},
    ),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_a_soft_rule_that_is_not_honoured_is_left_out_with_a_note(space: Space, kind: str) -> None:
    path, spec = LEFT_OUT[kind]
    space.create(a_pod("a").with_spec(**spec))
    space.until_bound("a")
    space.until_event("a", "NotHonoured", path)
