"""Pods that must not share a node do not."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

from fluxnetes.cluster.pods.anti_affinity import (
    POOL_SIZE,
    AntiAffinityTerm,
    anti_affinity_terms,
    pool_share,
)
from fluxnetes.kube.objects.affinity import Requirement
from tests.unit.cluster.objects import Content, a_spec

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def terms(*terms: Content, namespace: str = "default") -> tuple[AntiAffinityTerm, ...]:
    return anti_affinity_terms(a_spec(affinity={"podAntiAffinity": {REQUIRED: terms}}), namespace)


def away_from(
    labels: Content | None = None, *, expressions: tuple[Content, ...] = (), **more: Any
) -> Content:
    selector = {"matchLabels": labels or {}, "matchExpressions": expressions}
    return {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector, **more}


def test_a_pod_without_anti_affinity_carries_nothing() -> None:
    assert anti_affinity_terms(a_spec(), "default") == ()
    assert anti_affinity_terms(a_spec(affinity={}), "default") == ()
    assert terms() == ()


def test_a_term_selects_pods_of_its_own_namespace_by_their_labels() -> None:
    (apart,) = terms(away_from({"app": "db"}), namespace="blue")
    assert apart.matches("blue", {"app": "db", "more": "1"})
    assert not apart.matches("blue", {"app": "web"})
    assert not apart.matches("red", {"app": "db"})


def test_namespaces_can_be_listed_and_an_empty_selector_is_all_of_them() -> None:
    (listed,) = terms(away_from({"app": "db"}, namespaces=["red", "green"]), namespace="blue")
    assert [listed.matches(each, {"app": "db"}) for each in ("red", "green", "blue")] == [
        True,
        True,
        False,
    ]
    (every,) = terms(away_from({"app": "db"}, namespaces=["red"], namespaceSelector={}))
    assert every.matches("blue", {"app": "db"})
    assert not every.matches("blue", {})


def test_an_empty_label_selector_is_every_pod_and_a_missing_one_is_none() -> None:
    (every,) = terms(away_from())
    assert every.matches("default", {})
    assert terms({"topologyKey": "kubernetes.io/hostname"}) == ()


def test_the_same_term_has_one_name_however_it_is_written() -> None:
    written = away_from({"app": "db", "tier": "back"}, namespaces=["b", "a"])
    other = away_from(
        {"tier": "back"},
        expressions=({"key": "app", "operator": "In", "values": ["db"]},),
        namespaces=["a", "b"],
    )
    (one,) = terms(written, other)
    assert one.name == terms(other)[0].name
    assert one.name.startswith("apart:")


def test_names_stay_what_they_are() -> None:
    """Jobs in the store take of these pools by name."""
    requirements = (Requirement("app", "In", ("db",)),)
    assert AntiAffinityTerm(("default",), requirements).name == "apart:0c010590aa5b"
    assert AntiAffinityTerm(None, requirements).name == "apart:780c1e2d6638"


def test_different_terms_have_different_names() -> None:
    found = terms(
        away_from({"app": "db"}),
        away_from({"app": "web"}),
        away_from({"app": "db"}, namespaces=["red"]),
        away_from({"app": "db"}, namespaceSelector={}),
        away_from(),
    )
    assert len({apart.name for apart in found}) == 5


def test_a_term_about_zones_is_not_carried() -> None:
    assert terms(away_from({"app": "db"}, topologyKey="topology.kubernetes.io/zone")) == ()


def test_namespaces_that_are_selected_by_label_are_taken_for_all() -> None:
    """Others' pods may say so, and we must keep away from them."""
    (apart,) = terms(away_from({"app": "db"}, namespaceSelector={"matchLabels": {"team": "blue"}}))
    assert apart.matches("anywhere", {"app": "db"})


def test_label_keys_that_the_server_made_part_of_the_selector_change_nothing() -> None:
    assert terms(away_from({"app": "db"}, matchLabelKeys=["app"])) == terms(
        away_from({"app": "db"})
    )


def test_two_pods_share_a_node_unless_one_carries_what_the_other_matches() -> None:
    pods = [(carries, matches) for carries in (True, False) for matches in (True, False)]
    for one, other in combinations_with_replacement(pods, 2):
        fits = pool_share(*one) + pool_share(*other) <= POOL_SIZE
        allowed = not ((one[0] and other[1]) or (one[1] and other[0]))
        both_carry_in_vain = one == other == (True, False)  # where we are stricter
        assert fits == (allowed and not both_carry_in_vain)


def test_a_node_has_room_for_as_many_matching_pods_as_it_can_ever_hold() -> None:
    assert pool_share(carries=False, matches=True) * 10_000 < POOL_SIZE
