"""Which node labels are levels of a cluster, and what users call them."""

from __future__ import annotations

import doctest

import pytest

from fluxnetes.cluster import topology as module
from fluxnetes.cluster.topology import (
    DEFAULT,
    HOSTNAME,
    PRESETS,
    ZONE,
    ClusterTopology,
    InvalidTopology,
    level_name,
    level_type,
)

RACK = "example.com/rack"
ROWS = ClusterTopology.of(["cloud", "example.com/row", RACK])


def test_examples() -> None:
    assert doctest.testmod(module).failed == 0


def test_presets_and_labels_are_levels_in_the_order_given() -> None:
    assert ROWS.labels == ("topology.kubernetes.io/region", ZONE, "example.com/row", RACK)
    assert ClusterTopology.of(DEFAULT).labels == (ZONE,)
    assert ClusterTopology.of([]).labels == ()


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_is_a_topology(name: str) -> None:
    assert ClusterTopology.of([name]).labels == PRESETS[name]


@pytest.mark.parametrize(
    ("items", "why"),
    [
        (["rack"], "found 'rack', expected a label or one of accelerator, aws, clique, cloud, gke"),
        ([ZONE, "cloud"], f"{ZONE} is there twice"),
        ([RACK, HOSTNAME], f"{HOSTNAME} is always the narrowest level; leave it out"),
        ([f"a.b/l{n}" for n in range(17)], "found 17 levels, expected at most 16"),
    ],
)
def test_what_makes_no_levels_is_refused(items: list[str], why: str) -> None:
    with pytest.raises(InvalidTopology) as refused:
        ClusterTopology.of(items)
    assert why in str(refused.value)


def test_a_place_has_every_level_by_name_or_without_one() -> None:
    labels = {ZONE: "west", RACK: "7", "other": "x", "example.com/row": ""}
    assert ROWS.place(labels) == (
        ("level:topology.kubernetes.io/region", None),
        ("subnet", "west"),
        ("level:example.com/row", None),
        ("level:example.com/rack", "7"),
    )


@pytest.mark.parametrize(
    ("name", "type"),
    [
        (RACK, "level:example.com/rack"),
        ("rack", "level:example.com/rack"),
        (ZONE, "subnet"),
        ("zone", "subnet"),
        (HOSTNAME, "node"),
        ("node", "node"),
        ("shelf", None),
        ("other.com/rack", None),
    ],
)
def test_a_level_is_found_by_its_label_or_its_short_name(name: str, type: str | None) -> None:
    assert ROWS.find(name) == type


def test_a_short_name_of_two_levels_means_neither() -> None:
    both = ClusterTopology.of(["a.b/rack", "c.d/rack"])
    assert (both.find("rack"), both.find("a.b/rack")) == (None, "level:a.b/rack")


def test_tiers_are_counted_from_the_nodes() -> None:
    assert [ROWS.tier(number) for number in (0, 1, 3, 4, 5)] == [
        None,
        level_type(RACK),
        "subnet",
        "level:topology.kubernetes.io/region",
        None,
    ]


def test_users_know_levels_by_the_last_word_of_their_label() -> None:
    names = [level_name(level_type(label)) for label in (RACK, ZONE, HOSTNAME)]
    assert names == ["rack", "zone", "node"]
