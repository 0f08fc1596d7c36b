"""Members of one group that disagree about it are named; what only one of them says counts."""

from __future__ import annotations

from itertools import permutations

import pytest

from fluxnetes.cluster.agreement import disagreement
from fluxnetes.cluster.groups import ClosedGroup, WorkloadGroup
from fluxnetes.cluster.labels.names import (
    GROUP,
    GROUP_SIZE,
    MIN_SIZE,
    PRIORITY,
    QUEUE,
    WALLTIME,
)
from fluxnetes.cluster.model import ClusterModel
from tests.unit.cluster.builders import a_job, changed, one_pod, pod_of


def ring(model: ClusterModel, *options: dict[str, str]) -> WorkloadGroup:
    """Pods of one group: pod/a, pod/b and so on."""
    for name, each in zip("abc", options, strict=False):
        model.put_pod(one_pod(name, group="ring", annotations=each))
    (group,) = model.groups.values()
    return group


@pytest.mark.parametrize(
    ("key", "one", "other", "words"),
    [
        (QUEUE, "day", "night", "pod/a says day, pod/b says night"),
        (WALLTIME, "1m", "90s", "pod/a says 60 s, pod/b says 90 s"),
        (GROUP_SIZE, "2", "3", "pod/a says 2, pod/b says 3"),
        (MIN_SIZE, "2", "3", "pod/a says 2, pod/b says 3"),
    ],
)
def test_what_they_disagree_on_is_named_with_both(
    model: ClusterModel, key: str, one: str, other: str, words: str
) -> None:
    assert disagreement(ring(model, {key: one}, {}, {})) is None
    said = str(disagreement(ring(model, {key: one}, {key: other})))
    assert key in said and words in said and "group default/ring" in said


def test_values_that_mean_the_same_are_the_same(model: ClusterModel) -> None:
    assert disagreement(ring(model, {WALLTIME: "1h"}, {WALLTIME: "3600"})) is None


def test_a_job_and_a_bare_pod_may_disagree(model: ClusterModel) -> None:
    options = {GROUP: "ring", GROUP_SIZE: "3"}
    model.put_workload("Job", a_job("two", pods=2, labels={**options, QUEUE: "day"}))
    group = ring(model, {QUEUE: "night"})
    assert "job/two says day, pod/a says night" in str(disagreement(group))


def test_pods_of_a_job_do_not_speak_for_themselves(model: ClusterModel) -> None:
    job = a_job("two", pods=2, labels={GROUP: "ring", GROUP_SIZE: "3", QUEUE: "day"})
    model.put_workload("Job", job)
    model.put_pod(pod_of(job, "p0", labels={QUEUE: "night"}))
    (group,) = model.groups.values()
    assert disagreement(group) is None


def test_they_agree_again_once_one_of_them_changes_or_goes(model: ClusterModel) -> None:
    group = ring(model, {QUEUE: "day"}, {QUEUE: "night"})
    model.put_pod(changed(one_pod("b", group="ring"), metadata={"annotations": {QUEUE: "day"}}))
    assert disagreement(group) is None
    third = one_pod("c", group="ring", annotations={QUEUE: "dusk"})
    model.put_pod(third)
    assert disagreement(group) is not None
    model.drop_pod(third)
    assert disagreement(group) is None
    assert group.options.queue == "day"


def test_those_of_an_earlier_group_of_the_name_have_no_say(model: ClusterModel) -> None:
    group = ring(model, {QUEUE: "day"})
    group.close(ClosedGroup(frozenset(group.pods), for_good=False))
    model.put_pod(one_pod("b", group="ring", annotations={QUEUE: "night"}))
    assert disagreement(group) is None
    assert group.options.queue == "night"


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_one_of_them_says_counts_whichever_comes_first(
    model: ClusterModel, order: tuple[int, ...]
) -> None:
    options = [{QUEUE: "day"}, {WALLTIME: "60s", PRIORITY: "7"}, {MIN_SIZE: "2"}]
    found = ring(model, *(options[n] for n in order)).options
    assert (found.queue, found.walltime, found.priority) == ("day", 60, 7)
    assert found.min_size == 2
