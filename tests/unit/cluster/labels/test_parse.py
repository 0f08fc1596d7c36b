"""Labels of every dialect are read as they are meant, and invalid ones are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.labels.parse import NO_OPTIONS, InvalidLabel, WorkloadLabels, read_options
from tests.unit.cluster.objects import metadata


def labelled(**labels: str) -> WorkloadLabels:
    """Read from labels of ours: `group_size` is fluxnetes.io/group-size."""
    return read_options(metadata(labels=ours(labels)))


def annotated(**annotations: str) -> WorkloadLabels:
    return read_options(metadata(annotations=ours(annotations)))


def ours(options: dict[str, str]) -> dict[str, str]:
    return {f"fluxnetes.io/{key.replace('_', '-')}": value for key, value in options.items()}


# -- what they say ---------------------------------------------------------------------------------


def test_an_object_without_marks_says_nothing() -> None:
    assert read_options(metadata()) is NO_OPTIONS
    usual = {"app": "web", "batch.kubernetes.io/job-name": "x", "controller-uid": "1"}
    assert read_options(metadata(labels=usual, annotations={"kubectl": "{}"})) is NO_OPTIONS


def test_what_we_wrote_ourselves_says_nothing() -> None:
    written = {"fluxnetes.io/job": "7", "fluxnetes.io/task": "3", "fluxnetes.io/queued": "true"}
    assert read_options(metadata(annotations=written)) is NO_OPTIONS


def test_every_mark_of_ours_is_read() -> None:
    options = annotated(
        group="train",
        group_size="8",
        min_size="4",
        max_size="16",
        walltime="1h30m",
        queue="gpu",
        exclusive="true",
        priority="-5",
        hold="True",
        begin="2027-01-31T08:00:00+01:00",
        after="job/a",
        afterok="job/b, pod/c.d",
        afterany="job/e",
    )
    assert options == WorkloadLabels(
        group="train",
        dialect="fluxnetes.io",
        size=8,
        min_size=4,
        max_size=16,
        walltime=5400,
        queue="gpu",
        exclusive=True,
        priority=-5,
        hold=True,
        begin=1_801_378_800,
        after=(
            ("after", "job/a"),
            ("afterok", "job/b"),
            ("afterok", "pod/c.d"),
            ("afterany", "job/e"),
        ),
    )


def test_a_label_does_as_well_and_an_annotation_goes_before_it() -> None:
    assert labelled(group="a", group_size="2", walltime="60") == annotated(
        group="a", group_size="2", walltime="60"
    )
    both = metadata(
        labels=ours({"group": "a", "queue": "x"}), annotations=ours({"group": "b", "hold": "false"})
    )
    assert (read_options(both).group, read_options(both).queue) == ("b", "x")


def test_keys_that_begin_like_ours_are_reported() -> None:
    options = read_options(
        metadata(
            labels={"fluxnetes.io/grup": "a", "fluxnetes.io/managed": "true"},
            annotations={"fluxnetes.io/walltimes": "1h"},
        )
    )
    assert options.unknown == ("fluxnetes.io/grup", "fluxnetes.io/walltimes")


def test_an_old_zone_label_is_noticed() -> None:
    assert read_options(metadata(labels={"fluence-jobspec": "zone"})).zone_together
    assert read_options(metadata(labels={"fluence-jobspec": "other"})) is NO_OPTIONS


# -- dialects --------------------------------------------------------------------------------------

DIALECTS = {
    "fluxnetes.io": ("fluxnetes.io/group", "fluxnetes.io/group-size"),
    "fluxnetes": ("fluxnetes.group-name", "fluxnetes.group-size"),
    "fluence.flux-framework.org": (
        "fluence.flux-framework.org/pod-group",
        "fluence.flux-framework.org/group-size",
    ),
    "scheduling.x-k8s.io": ("scheduling.x-k8s.io/pod-group", "fluence.group-size"),
    "fluence": ("fluence.pod-group", "fluence.group-size"),
    "fluxqueue": ("fluxqueue.pod-group", "fluxqueue.group-size"),
    "scheduling.sigs.k8s.io": ("pod-group.scheduling.sigs.k8s.io", "fluence.group-size"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("place", ["labels", "annotations"])
def test_every_dialect_names_a_group_and_its_size(dialect: str, place: str) -> None:
    group, size = DIALECTS[dialect]
    written: dict[str, Any] = {place: {group: "train", size: "3"}}
    options = read_options(metadata(**written))
    assert (options.group, options.size, options.dialect) == ("train", 3, dialect)
    assert options.pod_group == ("train" if "scheduling" in dialect else None)


VOLCANO = {
    "scheduling.k8s.io/group-name": "train-6f1c",
    "scheduling.volcano.sh/group-min-member": "3",
}


def test_volcanos_dialect_has_annotations_alone() -> None:
    options = read_options(metadata(annotations=VOLCANO))
    assert options == WorkloadLabels(
        group="train-6f1c", dialect="scheduling.volcano.sh", size=3, pod_group="train-6f1c"
    )
    assert read_options(metadata(labels=VOLCANO)) is NO_OPTIONS


def test_volcanos_groups_have_names_that_no_label_could_hold() -> None:
    """Volcano's own Jobs name theirs after themselves and their uid."""
    name = f"{'train' * 20}-8f14e45f-ceea-467f-a1f2-c0ffee254b11"
    long = read_options(metadata(annotations={"scheduling.k8s.io/group-name": name}))
    assert long.group == name
    with pytest.raises(InvalidLabel, match="the name of a PodGroup"):
        read_options(metadata(annotations={"scheduling.k8s.io/group-name": "a/b"}))


def test_a_group_needs_no_size_and_a_size_no_group() -> None:
    alone = read_options(metadata(labels={"scheduling.x-k8s.io/pod-group": "train"}))
    assert alone == WorkloadLabels(group="train", dialect="scheduling.x-k8s.io", pod_group="train")
    sized = read_options(metadata(labels={"fluxnetes.group-size": "3"}))
    assert sized == WorkloadLabels(dialect="fluxnetes", size=3)


def test_ours_goes_before_every_old_dialect() -> None:
    every = {group: name for name, (group, _) in DIALECTS.items()}
    sizes = {size: "9" for _, size in DIALECTS.values()} | {"fluxnetes.io/group-size": "2"}
    options = read_options(metadata(annotations=every | sizes))
    assert (options.group, options.size, options.pod_group) == ("fluxnetes.io", 2, None)


def test_a_size_is_taken_from_the_groups_own_dialect_first() -> None:
    labels = {
        "fluxqueue.pod-group": "train",
        "fluxqueue.group-size": "4",
        "fluxnetes.group-size": "9",
    }
    assert read_options(metadata(labels=labels)).size == 4
    del labels["fluxqueue.group-size"]
    assert read_options(metadata(labels=labels)).size == 9


# -- bad values ------------------------------------------------------------------------------------

BAD = {
    "group": ["", "-a", "a b", "a" * 64, "a\0b"],
    "group_size": ["two", "-1", "0", "1000000000", "100001", "1.5", "", "+3", "1_0", "\u0663"],
    "min_size": ["0", "few"],
    "max_size": ["0", "many"],
    "walltime": ["soon", "0", "-5", "40000d", ""],
    "queue": ["", "a/b", "a\0"],
    "exclusive": ["yes", "1", ""],
    "priority": ["high", "1.5", "9999999999"],
    "hold": ["please"],
    "begin": [
        "tomorrow",
        "2027-01-31",
        "2027-01-31T08:00:00",
        "2027-02-30T08:00:00Z",
        "1800000000",
    ],
    "after": [
        "",
        "train",
        "Job/train",
        "job/",
        "job/a,",
        "job/a;job/b",
        ",".join(["job/a"] * 3) + ",",
    ],
    "afterok": ["job/../x"],
    "afterany": [",".join(f"job/a{n}" for n in range(101))],
}


@pytest.mark.parametrize(("key", "value"), [(key, v) for key, vs in BAD.items() for v in vs])
def test_a_value_that_makes_no_sense_is_refused_by_name(key: str, value: str) -> None:
    with pytest.raises(InvalidLabel) as caught:
        annotated(**{key: value})
    (name,) = ours({key: ""})
    assert caught.value.key == name
    assert str(caught.value).startswith(f"{name}: found ")
    assert ", expected " in str(caught.value)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_old_dialects_are_refused_as_strictly(dialect: str) -> None:
    group, size = DIALECTS[dialect]
    for key, value in [(size, "two"), (size, "0"), (group, "no name")]:
        with pytest.raises(InvalidLabel, match=key):
            read_options(metadata(annotations={group: "train", key: value}))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (
            {"min_size": "5", "group_size": "4"},
            "fluxnetes.io/min-size: found '5', expected at most fluxnetes.io/group-size",
        ),
        (
            {"group_size": "5", "max_size": "4"},
            "fluxnetes.io/group-size: found '5', expected at most fluxnetes.io/max-size",
        ),
        (
            {"min_size": "5", "max_size": "4"},
            "fluxnetes.io/min-size: found '5', expected at most fluxnetes.io/max-size",
        ),
    ],
)
def test_sizes_must_rise(sizes: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidLabel) as caught:
        annotated(**sizes)
    assert str(caught.value).startswith(message)


def test_equal_sizes_are_in_order() -> None:
    options = annotated(min_size="4", group_size="4", max_size="4")
    assert (options.min_size, options.size, options.max_size) == (4, 4, 4)


def test_a_long_value_is_not_repeated_in_full() -> None:
    with pytest.raises(InvalidLabel) as caught:
        annotated(walltime="x" * 10_000)
    assert len(str(caught.value)) < 300
