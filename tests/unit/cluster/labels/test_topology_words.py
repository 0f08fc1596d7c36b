"""What labels and annotations say about how close together pods are to be."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.labels.parse import InvalidLabel, read_options
from fluxnetes.cluster.labels.topology import LevelWord, TopologyWords
from tests.unit.cluster.objects import metadata

KUEUE = "kueue.x-k8s.io/podset-"


def words(**annotations: str) -> TopologyWords | None:
    """Read from annotations of ours: `slice_size` is fluxnetes.io/topology-slice-size."""
    keys = {f"fluxnetes.io/topology-{k.replace('_', '-')}": v for k, v in annotations.items()}
    return read_options(metadata(annotations=keys)).topology


def ours(name: str, level: str) -> LevelWord:
    return LevelWord(f"fluxnetes.io/topology-{name}", level)


def test_every_key_of_ours_is_read() -> None:
    assert words(
        required="topology.kubernetes.io/zone",
        preferred="rack",
        slice="example.com/rack",
        slice_size="8",
        spread="kubernetes.io/hostname",
        spread_max="2",
    ) == TopologyWords(
        required=ours("required", "topology.kubernetes.io/zone"),
        preferred=ours("preferred", "rack"),
        slice_level=ours("slice", "example.com/rack"),
        slice_size=8,
        spread_level=ours("spread", "kubernetes.io/hostname"),
        spread_most=2,
    )


def test_pods_are_spread_one_by_one_unless_it_says_how_many() -> None:
    assert words(spread="rack") == TopologyWords(spread_level=ours("spread", "rack"), spread_most=1)


def test_a_short_name_fits_into_a_label() -> None:
    options = read_options(metadata(labels={"fluxnetes.io/topology-required": "rack"}))
    assert options.topology == TopologyWords(required=ours("required", "rack"))


def test_an_object_that_says_nothing_has_no_words() -> None:
    assert words() is None
    assert read_options(metadata(labels={"fluxnetes.io/queue": "gpu"})).topology is None


def test_kueues_words_are_understood() -> None:
    annotations = {
        f"{KUEUE}required-topology": "cloud.google.com/gce-topology-block",
        f"{KUEUE}slice-required-topology": "kubernetes.io/hostname",
        f"{KUEUE}slice-size": "4",
    }
    found = read_options(metadata(annotations=annotations)).topology
    assert found == TopologyWords(
        required=LevelWord(f"{KUEUE}required-topology", "cloud.google.com/gce-topology-block"),
        slice_level=LevelWord(f"{KUEUE}slice-required-topology", "kubernetes.io/hostname"),
        slice_size=4,
    )
    soft = read_options(metadata(annotations={f"{KUEUE}preferred-topology": "a.b/rack"})).topology
    assert soft == TopologyWords(preferred=LevelWord(f"{KUEUE}preferred-topology", "a.b/rack"))


def test_ours_go_before_kueues() -> None:
    both = {"fluxnetes.io/topology-preferred": "rack", f"{KUEUE}required-topology": "a.b/zone"}
    found = read_options(metadata(annotations=both)).topology
    assert found == TopologyWords(preferred=ours("preferred", "rack"))


def test_other_words_of_kueue_say_nothing() -> None:
    options = read_options(metadata(annotations={f"{KUEUE}group-name": "x"}))
    assert (options.topology, options.unknown) == (None, ())


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        ({"required": "a b"}, "topology-required: found 'a b', expected a node label that is a"),
        (
            {"slice": "rack"},
            "topology-slice: found 'rack', expected fluxnetes.io/topology-slice-si",
        ),
        ({"slice_size": "4"}, "topology-slice-size: found '4', expected fluxnetes.io/topology-sli"),
        ({"slice": "rack", "slice_size": "0"}, "topology-slice-size: found '0', expected a whole"),
        ({"spread_max": "4"}, "topology-spread-max: found '4', expected fluxnetes.io/topology-spr"),
        ({"spread": "rack", "spread_max": "x"}, "topology-spread-max: found 'x', expected a whole"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(annotations: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidLabel) as refused:
        words(**annotations)
    assert why in str(refused.value)


def test_a_misspelt_key_is_unknown() -> None:
    options = read_options(metadata(annotations={"fluxnetes.io/topology-require": "rack"}))
    assert options.unknown == ("fluxnetes.io/topology-require",)
