"""Every object finds its group, whatever comes first, and nobody is believed without a check."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.demand import least_size
from fluxnetes.cluster.groups import ClosedGroup
from fluxnetes.cluster.labels.names import EXCLUSIVE, GROUP, GROUP_SIZE, HOLD
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.pods.requests import TENANCY
from tests.unit.cluster.builders import (
    OTHERS,
    a_job,
    a_pod_group,
    changed,
    one_pod,
    owner_of,
    pod_of,
)
from tests.unit.cluster.seats import SMALL, seated


def keys(world: ClusterModel) -> set[str]:
    return {str(key) for key in world.groups}


def members(
    world: ClusterModel, name: str, kind: str = "Job", namespace: str = "default"
) -> set[str]:
    (group,) = (g for key, g in world.groups.items() if key[:3] == (kind, namespace, name))
    return {member.pod.metadata.name for member in group.pods.values()}


# -- whose pods ------------------------------------------------------------------------------------


def test_pods_that_name_one_of_our_schedulers_are_ours_and_no_others(world: ClusterModel) -> None:
    for number, name in enumerate(("fluxnetes", "fluence", "fluxqueue", OTHERS, "")):
        world.put_pod(one_pod(f"p{number}", scheduler=name))
    assert keys(world) == {"pod default/p0", "pod default/p1", "pod default/p2"}


def test_the_list_of_our_names_can_be_another(world: ClusterModel) -> None:
    mine = ClusterModel(world.machines, names=["mine"])
    mine.put_pod(one_pod("a", scheduler="mine"))
    mine.put_pod(one_pod("b", scheduler="fluxnetes"))
    assert keys(mine) == {"pod default/a"}


def test_a_job_of_another_scheduler_is_not_ours(world: ClusterModel) -> None:
    world.put_workload("Job", a_job(scheduler=OTHERS))
    assert not world.groups


# -- which group -----------------------------------------------------------------------------------


def test_a_job_and_a_label_group_of_one_name_are_two(world: ClusterModel) -> None:
    world.put_workload("Job", a_job("train"))
    world.put_pod(one_pod("a", group="train"))
    world.put_pod(one_pod("train"))
    assert keys(world) == {"job default/train", "group default/train", "pod default/train"}


def test_two_groups_of_one_name_in_two_namespaces_are_two(world: ClusterModel) -> None:
    for namespace in ("blue", "red"):
        world.put_pod(one_pod("a", group="ring", size=2, namespace=namespace))
        world.put_workload("Job", a_job("train", namespace=namespace))
    assert len(world.groups) == 4
    assert members(world, "ring", "Group", "blue") == {"a"}


def test_a_pod_of_a_job_is_of_its_group_whatever_its_labels_say(world: ClusterModel) -> None:
    """Only the top owner is taken."""
    job = a_job("train", pods=2)
    world.put_workload("Job", job)
    world.put_pod(pod_of(job, "p0", labels={GROUP: "other", GROUP_SIZE: "7"}))
    assert keys(world) == {"job default/train"}
    assert members(world, "train") == {"p0"}


def test_a_job_that_is_part_of_a_larger_group_joins_that_with_its_pods(world: ClusterModel) -> None:
    job = a_job("one", pods=2, labels={GROUP: "ring", GROUP_SIZE: "4"})
    world.put_workload("Job", job)
    world.put_pod(pod_of(job, "p0"))
    world.put_pod(one_pod("p1", group="ring"))
    assert keys(world) == {"group default/ring"}
    assert members(world, "ring", "Group") == {"p0", "p1"}


def test_a_job_that_names_a_group_no_larger_than_itself_stays_alone(world: ClusterModel) -> None:
    """Its template carries the labels of an earlier system, for its own pods."""
    world.put_workload(
        "Job", a_job("one", pods=2, template={"labels": {GROUP: "g", GROUP_SIZE: "2"}})
    )
    assert keys(world) == {"job default/one"}


def test_marks_of_a_workload_go_before_those_of_its_template(world: ClusterModel) -> None:
    template = {"annotations": {"fluxnetes.io/queue": "day", "fluxnetes.io/walltime": "60s"}}
    job = a_job("one", labels={"fluxnetes.io/queue": "night"}, template=template)
    world.put_workload("Job", job)
    (group,) = world.groups.values()
    assert (group.marks.queue, group.marks.walltime) == ("night", 60)


def test_what_a_job_says_of_its_pods_counts_for_those_that_are_there(world: ClusterModel) -> None:
    """Its own annotations do not come down to them, and pods must ask for what their Job did."""
    job = a_job("one", annotations={EXCLUSIVE: "true"})
    world.put_workload("Job", job)
    world.put_pod(pod_of(job, "p0"))
    (group,) = world.groups.values()
    (member,) = group.pods.values()
    assert group.marks_of(member).exclusive
    member.footprint = SMALL
    world.put_workload("Job", a_job("one"))
    assert not group.marks_of(member).exclusive
    assert member.footprint is None


def test_jobs_of_one_group_each_speak_for_their_own_pods(world: ClusterModel) -> None:
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    one = a_job("one", labels=ring, annotations={EXCLUSIVE: "true"})
    other = a_job("other", labels=ring)
    for job in (one, other):
        world.put_workload("Job", job)
        world.put_pod(pod_of(job, f"of-{job.metadata.name}"))
    (group,) = world.groups.values()
    alone = {m.pod.metadata.name: group.marks_of(m).exclusive for m in group.pods.values()}
    assert alone == {"of-one": True, "of-other": False}


# -- owners ----------------------------------------------------------------------------------------


def test_a_pod_that_comes_before_its_job_waits_for_it(world: ClusterModel) -> None:
    job = a_job("train", pods=2)
    world.put_pod(pod_of(job, "p0"))
    assert not world.groups
    world.put_workload("Job", job)
    assert not world.homeless
    assert members(world, "train") == {"p0"}


def test_a_pod_whose_job_is_not_ours_stands_for_itself(world: ClusterModel) -> None:
    job = a_job("train", scheduler=OTHERS)
    pod = one_pod("p0", owner=owner_of(job))
    world.put_pod(pod)
    world.put_workload("Job", job)
    world.settle_homeless(list(world.homeless))
    assert keys(world) == {"pod default/p0"}
    world.put_pod(changed(pod, status={"phase": "Running"}))
    assert keys(world) == {"pod default/p0"}


def test_a_pod_whose_job_is_gone_never_starts(world: ClusterModel) -> None:
    """Kubernetes will delete it; until then it must not run for nobody."""
    world.put_pod(pod_of(a_job("train"), "p0"))
    world.settle_homeless(list(world.homeless))
    assert not world.groups


def test_a_job_of_another_kind_of_jobs_is_nobody_to_wait_for(world: ClusterModel) -> None:
    world.put_pod(one_pod("p0", owner=owner_of(a_job("train"), apiVersion="other.io/v1")))
    assert keys(world) == {"pod default/p0"}


@pytest.mark.parametrize(
    "forged",
    [{"uid": "uid-of-nobody"}, {"controller": False}, {"kind": "Deployment"}],
)
def test_a_forged_owner_is_not_believed(world: ClusterModel, forged: dict[str, Any]) -> None:
    job = a_job("train", pods=2)
    world.put_workload("Job", job)
    world.put_pod(one_pod("p0", owner=owner_of(job, **forged)))
    world.settle_homeless(list(world.homeless))
    assert members(world, "train") == set()


def test_an_owner_in_another_namespace_is_not_believed(world: ClusterModel) -> None:
    job = a_job("train", pods=2, namespace="blue")
    world.put_workload("Job", job)
    world.put_pod(one_pod("p0", namespace="red", owner=owner_of(job)))
    world.settle_homeless(list(world.homeless))
    assert members(world, "train", namespace="blue") == set()


def test_a_job_that_is_not_ours_owns_no_pod_of_ours(world: ClusterModel) -> None:
    """A pod names our scheduler and a Job that does not."""
    job = a_job("train", scheduler=OTHERS)
    world.put_workload("Job", job)
    world.put_pod(one_pod("p0", owner=owner_of(job)))
    assert list(world.homeless) == ["uid-default-p0"]


def test_a_homeless_pod_that_is_gone_is_forgotten(world: ClusterModel) -> None:
    pod = pod_of(a_job("train"), "p0")
    world.put_pod(pod)
    world.drop_pod(pod)
    assert not world.homeless
    world.settle_homeless(["uid-default-p0"])
    assert not world.groups


def test_a_homeless_pod_is_as_it_was_last_seen(world: ClusterModel) -> None:
    job = a_job("train")
    pod = pod_of(job, "p0")
    world.put_pod(pod)
    world.put_pod(changed(pod, status={"phase": "Failed"}))
    world.put_workload("Job", job)
    (group,) = world.groups.values()
    assert group.pods["uid-default-p0"].pod.is_over


def test_pods_that_their_job_leaves_behind_stay_of_its_group(world: ClusterModel) -> None:
    job = a_job("train")
    world.put_workload("Job", job)
    world.put_pod(pod_of(job, "p0"))
    world.drop_workload(job)
    (group,) = world.groups.values()
    assert not group.workloads
    assert members(world, "train") == {"p0"}


# -- what comes and goes ---------------------------------------------------------------------------


def test_groups_to_which_something_happened_are_told_once_in_order(world: ClusterModel) -> None:
    for name in ("b", "a", "b"):
        world.put_pod(one_pod(name))
    assert [group.key.name for group in world.take_dirty()] == ["b", "a"]
    assert world.take_dirty() == []


def test_groups_can_be_taken_some_at_a_time(world: ClusterModel) -> None:
    for name in ("a", "b", "c"):
        world.put_pod(one_pod(name))
    assert [group.key.name for group in world.take_dirty(2)] == ["a", "b"]
    world.put_pod(one_pod("c"))
    world.put_pod(one_pod("a"))
    assert [group.key.name for group in world.take_dirty(2)] == ["c", "a"]
    assert world.take_dirty(2) == []


def test_a_pod_that_is_gone_is_told_to_its_group(world: ClusterModel) -> None:
    pod = one_pod("a")
    world.put_pod(pod)
    world.take_dirty()
    world.drop_pod(pod)
    (group,) = world.take_dirty()
    assert group.is_gone
    assert group.changed == {"uid-default-a"}
    world.forget(group)
    assert not world.groups


def test_dropping_what_nobody_saw_is_nothing(world: ClusterModel) -> None:
    world.drop_pod(one_pod("a"))
    world.drop_workload(a_job("b"))
    world.drop_pod_group(a_pod_group("c", 2))
    assert not world.groups


def test_a_job_that_is_made_anew_has_nothing_to_do_with_the_one_before_it(
    world: ClusterModel,
) -> None:
    """Deleted and applied again at once, before anybody looked and while its pods still go."""
    old, new = a_job("train", uid="u1"), a_job("train", uid="u2")
    world.put_workload("Job", old)
    world.put_pod(pod_of(old, "p0", node="n1"))
    (before,) = world.take_dirty()
    before.closed = ClosedGroup(frozenset(), for_good=True, reason="rejected")
    world.drop_workload(old)
    world.put_workload("Job", new)
    world.put_pod(pod_of(new, "p1"))
    before, after = world.take_dirty()
    assert after.closed is None
    assert [len(before.workloads), len(after.workloads)] == [0, 1]
    assert list(after.pods) == ["uid-default-p1"]


def test_a_pod_that_is_made_anew_under_its_name_is_another(world: ClusterModel) -> None:
    world.put_pod(one_pod("a", uid="u1"))
    (group,) = world.take_dirty()
    group.closed = ClosedGroup(frozenset(group.pods), for_good=False)
    world.drop_pod(one_pod("a", uid="u1"))
    world.put_pod(one_pod("a", uid="u2"))
    assert world.take_dirty()[-1].closed is None


def test_a_pod_group_is_found_whichever_comes_first(world: ClusterModel) -> None:
    marks = {"scheduling.x-k8s.io/pod-group": "ring"}
    world.put_pod_group(a_pod_group("ring", 3))
    world.put_pod(one_pod("a", labels=marks))
    (group,) = world.groups.values()
    assert least_size(group) == 3
    world.put_pod_group(a_pod_group("ring", 5))
    assert least_size(group) == 5
    world.drop_pod_group(a_pod_group("ring", 5))
    assert least_size(group) == 1


# -- marks -----------------------------------------------------------------------------------------


def test_of_the_sizes_that_pods_name_the_largest_counts(world: ClusterModel) -> None:
    for name, size in (("a", 2), ("b", 5), ("c", 3)):
        world.put_pod(one_pod(name, group="ring", size=size))
    (group,) = world.groups.values()
    assert group.marks.size == 5


def test_a_group_is_held_while_one_of_its_pods_is(world: ClusterModel) -> None:
    world.put_pod(one_pod("a", group="ring"))
    held = one_pod("b", group="ring", annotations={HOLD: "true"})
    world.put_pod(held)
    (group,) = world.groups.values()
    assert group.marks.hold
    world.put_pod(changed(held, metadata={"annotations": {}}))
    assert not group.marks.hold


def test_a_group_asks_for_what_its_job_says_now(world: ClusterModel) -> None:
    job = a_job("train", annotations={HOLD: "true"})
    world.put_workload("Job", job)
    (group,) = world.groups.values()
    assert group.marks.hold
    world.put_workload("Job", a_job("train"))
    assert not group.marks.hold


@pytest.mark.parametrize("size", ["two", "-1", "1000000000"])
def test_a_value_that_makes_no_sense_refuses_its_group_and_nobody_else(
    world: ClusterModel, size: str
) -> None:
    world.put_pod(one_pod("bad", group="ring", annotations={GROUP_SIZE: size}))
    world.put_pod(one_pod("good"))
    refused = {key.name: "".join(group.refusals.values()) for key, group in world.groups.items()}
    assert GROUP_SIZE in refused.pop("bad")
    assert refused == {"good": ""}


def test_a_refusal_lasts_while_the_bad_value_is_there_and_no_longer(world: ClusterModel) -> None:
    one, other = one_pod("a", group="ring"), one_pod("b", group="ring")
    world.put_pod(one)
    world.put_pod(other)
    (group,) = world.groups.values()
    bad = changed(one, metadata={"annotations": {"fluxnetes.io/walltime": "soon"}})
    world.put_pod(bad)
    world.put_pod(changed(other, metadata={"labels": {GROUP: "ring", "more": "1"}}))
    assert "walltime" in "".join(group.refusals.values())
    world.drop_pod(bad)
    assert not group.refusals


def test_a_job_whose_value_is_put_right_is_not_refused_any_more(world: ClusterModel) -> None:
    world.put_workload("Job", a_job("train", annotations={GROUP_SIZE: "two"}))
    (group,) = world.groups.values()
    assert GROUP_SIZE in "".join(group.refusals.values())
    world.put_workload("Job", a_job("train"))
    assert not group.refusals


# -- what counts as others' ------------------------------------------------------------------------


def held(world: ClusterModel, node: str = "n1") -> dict[str, int]:
    return {type: n for type, n in world.others.sums.get(node, {}).items() if n}


def test_pods_of_others_count_from_the_bind_until_the_end(world: ClusterModel) -> None:
    pod = one_pod("a", scheduler=OTHERS)
    world.put_pod(pod)
    assert held(world) == {}
    world.put_pod(one_pod("a", scheduler=OTHERS, node="n1"))
    assert held(world) == {"cpu": 1000, "pods": 1, "tenancy": 1}
    world.put_pod(one_pod("a", scheduler=OTHERS, node="n1", going=True))
    assert held(world)["cpu"] == 1000
    world.put_pod(one_pod("a", scheduler=OTHERS, node="n1", phase="Succeeded"))
    assert held(world) == {}
    world.drop_pod(pod)
    assert held(world) == {}


def test_a_daemon_takes_room_but_no_tenancy(world: ClusterModel) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u"}
    daemon = one_pod("d", scheduler=OTHERS, node="n1", owner={**owner, "controller": True})
    world.put_pod(daemon)
    assert held(world) == {"cpu": 1000, "pods": 1}


def test_a_pod_of_ours_that_sits_is_counted_by_the_queue_alone(world: ClusterModel) -> None:
    world.put_pod(one_pod("a"))
    seated(world, "uid-default-a", "n1")
    world.put_pod(one_pod("a", node="n1"))
    assert held(world) == {}


def test_a_pod_of_ours_that_is_bound_and_does_not_sit_counts_as_others(world: ClusterModel) -> None:
    world.put_pod(one_pod("a", node="n1"))
    assert held(world)["cpu"] == 1000


def test_a_whole_node_that_no_job_stands_for_any_more_is_still_whole(world: ClusterModel) -> None:
    world.put_pod(one_pod("a", node="n1", annotations={"fluxnetes.io/exclusive": "true"}))
    assert held(world)["tenancy"] == TENANCY


def test_a_homeless_pod_that_is_bound_counts(world: ClusterModel) -> None:
    world.put_pod(pod_of(a_job("train"), "p0", node="n1"))
    assert held(world)["cpu"] == 1000


def test_a_pool_that_is_new_counts_those_who_were_bound_before(world: ClusterModel) -> None:
    port = [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    world.put_pod(one_pod("a", scheduler=OTHERS, node="n1", containers=port))
    world.others.take()
    assert world.need({"port:TCP/80": 1}).reshaped
    assert world.others.take()["n1"]["port:TCP/80"] == 1
    assert not world.need({"port:TCP/80": 1})
    assert world.others.take() == {}
