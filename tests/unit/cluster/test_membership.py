"""Which group an object belongs to follows from what it names, and how large that is."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from fluxnetes.cluster.demand import least_size
from fluxnetes.cluster.groups import LABELLED, GroupKey
from fluxnetes.cluster.labels.names import GROUP, GROUP_SIZE, MIN_SIZE
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.podgroups import (
    NATIVE_POD_GROUPS,
    AnyPodGroup,
    NativePodGroup,
    PodGroup,
    VolcanoPodGroup,
)
from fluxnetes.kube.objects.pods import Pod
from tests.unit.cluster.builders import (
    a_job,
    a_native_pod_group,
    a_pod_group,
    a_volcano_pod_group,
    one_pod,
    pod_of,
)
from tests.unit.cluster.seats import seated

LABEL = {"scheduling.x-k8s.io/pod-group": "ring"}
RING = GroupKey(LABELLED, "default", "ring")


def put(model: ClusterModel, *objects: Object) -> None:
    for each in objects:
        match each:
            case Pod():
                model.put_pod(each)
            case Job():
                model.put_workload("Job", each)
            case PodGroup() | NativePodGroup() | VolcanoPodGroup():
                model.put_pod_group(each)


def named(name: str, pods: int, **more: Any) -> Job:
    """Its template names the PodGroup `ring`."""
    return a_job(name, pods=pods, template={"labels": LABEL}, **more)


def groups(model: ClusterModel) -> dict[str, list[str]]:
    """The names of all members of all groups that have any."""
    return {
        str(key): sorted(
            [each.metadata.name for each in group.workloads.values()]
            + [member.pod.metadata.name for member in group.pods.values()]
        )
        for key, group in model.groups.items()
        if not group.is_gone
    }


# -- how large -------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_jobs_and_pods_of_one_pod_group_are_one_group_whatever_is_seen_first(
    model: ClusterModel, order: tuple[int, ...]
) -> None:
    objects = [
        a_pod_group("ring", 6),
        named("four", 4),
        named("one", 1),
        one_pod("p", labels=LABEL),
    ]
    put(model, *(objects[n] for n in order))
    assert groups(model) == {"group default/ring": ["four", "one", "p"]}
    assert least_size(model.groups[RING]) == 6


@pytest.mark.parametrize(
    ("labels", "minimum", "together"),
    [
        ({GROUP: "ring", GROUP_SIZE: "3"}, None, True),
        ({GROUP: "ring", GROUP_SIZE: "2"}, None, False),
        ({GROUP: "ring", GROUP_SIZE: "2"}, 9, False),
        ({GROUP: "ring", MIN_SIZE: "3"}, None, True),
        ({GROUP: "ring", MIN_SIZE: "1", GROUP_SIZE: "3"}, None, True),
        ({GROUP: "ring"}, None, False),
        ({GROUP: "ring"}, 3, True),
        (LABEL, 3, True),
        (LABEL, 2, False),
        (LABEL, 1, False),
    ],
)
def test_a_job_joins_the_group_that_it_cannot_fill_alone(
    model: ClusterModel, labels: dict[str, str], minimum: int | None, together: bool
) -> None:
    put(model, a_job("two", pods=2, labels=labels))
    if minimum is not None:
        put(model, a_pod_group("ring", minimum))
    assert list(groups(model)) == ["group default/ring" if together else "job default/two"]


@pytest.mark.parametrize(
    "group",
    [a_pod_group("ring", 3), a_native_pod_group("ring", 3), a_volcano_pod_group("ring", 3)],
)
def test_a_pod_group_of_every_api_says_the_minimum(model: ClusterModel, group: AnyPodGroup) -> None:
    put(model, named("two", 2), group)
    assert least_size(model.groups[RING]) == 3


def test_pod_groups_of_several_apis_do_not_take_each_other_away(model: ClusterModel) -> None:
    put(model, one_pod("p", labels=LABEL), a_volcano_pod_group("ring", 4), a_pod_group("ring", 3))
    assert least_size(model.groups[RING]) == 3
    model.drop_pod_group(a_pod_group("ring", 3))
    assert least_size(model.groups[RING]) == 4
    assert not model.groups[RING].waits_for_pod_group


def test_a_pod_group_that_is_served_in_another_version_replaces_itself(
    model: ClusterModel,
) -> None:
    put(model, one_pod("p", labels=LABEL))
    newer, older = (each.type for each in NATIVE_POD_GROUPS)
    for kind, least in ((older, 3), (newer, 4)):
        group = a_native_pod_group("ring", least)
        put(model, kind(metadata=group.metadata, spec=group.spec))
        assert least_size(model.groups[RING]) == least
    model.drop_pod_group(a_native_pod_group("ring", 4))
    assert model.groups[RING].pod_group is None


def test_a_job_that_fills_its_pod_group_alone_may_start_with_its_minimum(
    model: ClusterModel,
) -> None:
    put(model, named("four", 4), a_pod_group("ring", 3))
    (group,) = model.groups.values()
    assert least_size(group) == 3


def test_a_pod_group_of_pods_that_are_no_gang_makes_no_gang_of_a_job(model: ClusterModel) -> None:
    put(model, a_job("four", pods=4, pod={"schedulingGroup": {"podGroupName": "ring"}}))
    put(model, a_native_pod_group("ring", None))
    (group,) = model.groups.values()
    assert (group.key.kind, least_size(group)) == ("Job", 1)


# -- what changes ----------------------------------------------------------------------------------


def test_a_job_moves_with_its_pods_when_the_minimum_changes(model: ClusterModel) -> None:
    job = named("two", 2, suspended=False, queued=False)
    put(model, job, pod_of(job, "p0"), pod_of(job, "p1"), a_pod_group("ring", 2))
    assert groups(model) == {"job default/two": ["p0", "p1", "two"]}
    put(model, a_pod_group("ring", 3))
    assert groups(model) == {"group default/ring": ["p0", "p1", "two"]}
    put(model, a_pod_group("ring", 1))
    assert groups(model) == {"job default/two": ["p0", "p1", "two"]}


def test_a_job_that_holds_resources_does_not_move(model: ClusterModel) -> None:
    job = named("one", 1, suspended=False, queued=False)
    put(model, job, pod_of(job, "p0"), a_pod_group("ring", 1))
    seated(model, "uid-default-p0", "n1")
    put(model, a_pod_group("ring", 3))
    assert groups(model) == {"job default/one": ["one", "p0"]}


def test_a_job_that_ended_does_not_move(model: ClusterModel) -> None:
    over = {"conditions": [{"type": "Complete", "status": "True"}]}
    put(model, named("one", 1, status=over), a_pod_group("ring", 3))
    assert groups(model) == {"job default/one": ["one"]}


def test_a_job_stays_in_its_group_when_its_pod_group_is_deleted(model: ClusterModel) -> None:
    put(model, a_pod_group("ring", 3), named("two", 2))
    model.drop_pod_group(a_pod_group("ring", 3))
    put(model, named("late", 1))
    assert groups(model) == {"group default/ring": ["late", "two"]}
    assert model.groups[RING].waits_for_pod_group
    assert model.without_pod_group() == [], "it was there, so it is waited for"


def test_a_job_that_no_longer_names_a_pod_group_does_not_wait_for_it(model: ClusterModel) -> None:
    put(model, a_job("one", labels=LABEL), a_pod_group("ring", 1))
    put(model, a_job("one"))
    model.drop_pod_group(a_pod_group("ring", 1))
    (group,) = model.groups.values()
    assert group.pod_group is None and not group.lost_pod_group


# -- the minimum across all ------------------------------------------------------------------------


def test_pods_of_a_job_with_a_gang_of_its_own_count_once_they_are_placed(
    model: ClusterModel,
) -> None:
    job = named("three", 3, suspended=False, queued=False)
    put(model, a_pod_group("ring", 3), job, named("one", 1))
    assert least_size(model.groups[RING]) == 3
    put(model, *(pod_of(job, f"p{n}", node="n1") for n in range(3)))
    assert least_size(model.groups[RING]) == 1
    put(model, pod_of(job, "p0", node="n1", phase="Succeeded"))
    assert least_size(model.groups[RING]) == 1
    put(model, pod_of(job, "p1", node="n1", phase="Failed"))
    model.drop_pod(pod_of(job, "p2", node="n1"))
    assert least_size(model.groups[RING]) == 2
    model.drop_workload(job)
    assert least_size(model.groups[RING]) == 3
