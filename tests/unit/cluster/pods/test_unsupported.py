"""What we cannot honour is refused or noted, each with the path to it; nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.pods.unsupported import FINE, check
from tests.unit.cluster.objects import Content, a_spec

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOST = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
NODE = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}


def spread(when: str) -> Content:
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when}


def apart(**more: Any) -> Content:
    return {"affinity": {"podAntiAffinity": {REQUIRED: [HOST, {**HOST, **more}]}}}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"volumes": [{"name": "a"}, {"name": "b", "persistentVolumeClaim": {"claimName": "c"}}]},
        {"nodeSelector": {"a": "b"}},
        {"affinity": {}},
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [NODE]}}}},
        {"tolerations": [{"key": "team", "operator": "Exists"}]},
        {"tolerations": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]},
        apart(),
        apart(namespaceSelector={}),
    ],
)
def test_what_we_honour_is_fine(spec: Content) -> None:
    assert check(a_spec(**spec)) is FINE


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"resourceClaims": [{"name": "gpu"}]}, "spec.resourceClaims"),
        (
            {"volumes": [{"name": "a"}, {"name": "b", "ephemeral": {}}]},
            "spec.volumes[1].ephemeral",
        ),
        (
            {"topologySpreadConstraints": [spread("DoNotSchedule")]},
            "spec.topologySpreadConstraints[0]",
        ),
        (
            {"affinity": {"podAffinity": {REQUIRED: [HOST]}}},
            f"spec.affinity.podAffinity.{REQUIRED}",
        ),
        (apart(topologyKey="zone"), f"spec.affinity.podAntiAffinity.{REQUIRED}[1]"),
        (
            apart(namespaceSelector={"matchLabels": {"team": "blue"}}),
            f"spec.affinity.podAntiAffinity.{REQUIRED}[1]",
        ),
        (apart(matchLabelKeys=["a"]), f"spec.affinity.podAntiAffinity.{REQUIRED}[1]"),
        (apart(mismatchLabelKeys=["a"]), f"spec.affinity.podAntiAffinity.{REQUIRED}[1]"),
    ],
)
def test_hard_rules_that_we_do_not_honour_are_refused(spec: Content, path: str) -> None:
    verdict = check(a_spec(**spec))
    assert [refusal.split(": ")[0] for refusal in verdict.refusals] == [path]
    assert not verdict.notes


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (
            {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": NODE}]}}},
            f"spec.affinity.nodeAffinity.{PREFERRED}",
        ),
        (
            {"affinity": {"podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": HOST}]}}},
            f"spec.affinity.podAffinity.{PREFERRED}",
        ),
        (
            {
                "affinity": {
                    "podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": HOST}]}
                }
            },
            f"spec.affinity.podAntiAffinity.{PREFERRED}",
        ),
        (
            {"topologySpreadConstraints": [spread("ScheduleAnyway")]},
            "spec.topologySpreadConstraints[0]",
        ),
        (
            {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]},
            "spec.tolerations[0]",
        ),
    ],
)
def test_soft_rules_are_left_out_with_a_note(spec: Content, path: str) -> None:
    verdict = check(a_spec(**spec))
    assert [note.split(": ")[0] for note in verdict.notes] == [path]
    assert not verdict.refusals


def test_everything_that_stands_in_the_way_is_reported_at_once() -> None:
    spec = a_spec(
        resourceClaims=[{"name": "gpu"}],
        topologySpreadConstraints=[spread("ScheduleAnyway"), spread("DoNotSchedule")],
        affinity={"podAffinity": {REQUIRED: [HOST], PREFERRED: []}},
    )
    assert len(check(spec).refusals) == 3
    assert len(check(spec).notes) == 1
