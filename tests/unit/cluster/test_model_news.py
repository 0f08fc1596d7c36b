"""A change makes the groups dirty that it concerns, and no others."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.kube.objects.priorities import PriorityClass
from tests.unit.cluster.builders import NOW, OTHERS, a_job, changed, one_pod
from tests.unit.cluster.objects import Content
from tests.unit.cluster.pods.test_anti_affinity_index import away_from
from tests.unit.cluster.seats import SMALL, seated

# -- footprints that do not hold any more ----------------------------------------------------------


def read(model: ClusterModel, name: str) -> Footprint | None:
    """What was read of a pod, which is read again if it is not there."""
    group = model.group_of(f"uid-default-{name}")
    assert group is not None
    return group.pods[f"uid-default-{name}"].footprint


def mark_as_read(model: ClusterModel) -> None:
    for group in model.take_dirty():
        for member in group.pods.values():
            member.footprint = SMALL


def test_a_pod_whose_spec_changed_is_read_again(model: ClusterModel) -> None:
    model.put_pod(one_pod("a"))
    mark_as_read(model)
    model.put_pod(one_pod("a", phase="Running"))
    assert read(model, "a") is SMALL
    model.put_pod(one_pod("a", cpu="2"))
    assert read(model, "a") is None


def test_pods_that_a_new_term_selects_are_read_again(model: ClusterModel) -> None:
    model.put_pod(one_pod("a", labels={"app": "db"}))
    model.put_pod(one_pod("b"))
    mark_as_read(model)
    model.put_pod(one_pod("guard", scheduler=OTHERS, affinity=away_from(app="db")))
    assert read(model, "a") is None
    assert read(model, "b") is SMALL
    assert [group.key.name for group in model.take_dirty()] == ["a"]


def test_who_waits_is_read_again_when_storage_changes_and_who_holds_is_not(
    model: ClusterModel,
) -> None:
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    model.put_pod(one_pod("a", volumes=claims))
    model.put_pod(one_pod("b", volumes=claims))
    model.put_pod(one_pod("c", volumes=[{"name": "cache"}]))
    mark_as_read(model)
    seated(model, "uid-default-b", "n1")
    model.storage_changed()
    assert read(model, "a") is None
    assert read(model, "b") is SMALL
    assert read(model, "c") is SMALL
    assert [group.key.name for group in model.take_dirty()] == ["a"]


def test_a_workload_is_looked_at_when_storage_changes_that_its_pods_will_claim(
    model: ClusterModel,
) -> None:
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    model.put_workload("Job", a_job("reads", pod={"volumes": [claim]}))
    model.put_workload("Job", a_job("computes"))
    model.take_dirty()
    model.storage_changed()
    assert [group.key.name for group in model.take_dirty()] == ["reads"]


# -- priority classes ------------------------------------------------------------------------------


def test_workloads_are_looked_at_whose_priority_class_changed(model: ClusterModel) -> None:
    model.put_workload("Job", a_job("urgent", pod={"priorityClassName": "high"}))
    model.put_workload("Job", a_job("plain"))
    model.take_dirty()
    classes = {("", "high"): PriorityClass(Metadata("high"), 7)}
    model.priority_classes_changed(classes)
    (group,) = model.take_dirty()
    assert list(group.priorities.values()) == [7]
    model.priority_classes_changed(classes)
    assert model.take_dirty() == []
    model.drop_workload(next(iter(group.workloads.values())))
    assert not group.priorities
    model.priority_classes_changed(classes)


# -- pods that are told why they wait --------------------------------------------------------------

TOLD: Content = {
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
}


def test_a_pod_that_is_told_why_it_waits_leaves_its_group_clean(model: ClusterModel) -> None:
    """All pods of a gang of thousands are told, and each look at the gang takes milliseconds."""
    model.put_pod(one_pod("a"))
    model.take_dirty()
    told = changed(one_pod("a"), metadata={"resourceVersion": "2"}, status=TOLD)
    model.put_pod(told)
    assert model.take_dirty() == []
    group = model.group_of("uid-default-a")
    assert group is not None and group.pods["uid-default-a"].pod is told


@pytest.mark.parametrize(
    ("metadata", "spec", "status"),
    [
        ({"annotations": {"fluxnetes.io/hold": "true"}}, {}, {}),
        ({"labels": {"a": "b"}}, {}, {}),
        ({"deletionTimestamp": NOW}, {}, {}),
        ({}, {"schedulingGates": [{"name": "other"}]}, {}),
        ({}, {"nodeName": "n1"}, {}),
        ({}, {}, {"phase": "Failed"}),
    ],
)
def test_a_pod_that_changes_at_the_same_time_does_not(
    model: ClusterModel, metadata: Content, spec: Content, status: Content
) -> None:
    model.put_pod(one_pod("a"))
    model.take_dirty()
    model.put_pod(changed(one_pod("a"), metadata=metadata, spec=spec, status={**TOLD, **status}))
    assert len(model.take_dirty()) == 1


# -- pods that we bound ----------------------------------------------------------------------------


def a_seat(model: ClusterModel) -> None:
    """The pod "a" is to go to n1."""
    model.put_pod(one_pod("a"))
    seated(model, "uid-default-a", "n1")
    (group,) = model.take_dirty()
    group.changed_pods.clear()


def test_a_pod_that_is_where_we_bound_it_leaves_its_group_clean(model: ClusterModel) -> None:
    a_seat(model)
    model.put_pod(one_pod("a", node="n1", labels={"topology.kubernetes.io/zone": "east"}))
    assert model.take_dirty() == []
    assert not model.foreign.pods
    ((group, member),) = model.take_newly_bound()
    assert (group.key.name, member.pod.spec.node_name) == ("a", "n1")
    assert model.take_newly_bound() == []


def test_a_pod_that_was_bound_and_is_gone_is_not_returned(model: ClusterModel) -> None:
    a_seat(model)
    pod = one_pod("a", node="n1")
    model.put_pod(pod)
    model.drop_pod(pod)
    assert model.take_newly_bound() == []
    assert len(model.take_dirty()) == 1


@pytest.mark.parametrize(
    "pod",
    [
        one_pod("a", node="n2"),
        one_pod("a", node="n1", phase="Running"),
        one_pod("a", node="n1", phase="Failed"),
        one_pod("a", node="n1", going=True),
        one_pod("a"),
    ],
)
def test_any_other_change_of_it_makes_its_group_dirty(model: ClusterModel, pod: Pod) -> None:
    a_seat(model)
    model.put_pod(pod)
    assert model.take_newly_bound() == []
    (group,) = model.take_dirty()
    assert group.changed_pods == {"uid-default-a"}


def test_a_later_change_of_it_makes_its_group_dirty(model: ClusterModel) -> None:
    a_seat(model)
    model.put_pod(one_pod("a", node="n1"))
    model.put_pod(one_pod("a", node="n1"))
    assert len(model.take_dirty()) == 1
