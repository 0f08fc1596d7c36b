"""Every object finds its group, whatever comes first, and no claim counts without a check."""

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


def keys(model: ClusterModel) -> set[str]:
    return {str(key) for key in model.groups}


def members(
    model: ClusterModel, name: str, kind: str = "Job", namespace: str = "default"
) -> set[str]:
    (group,) = (g for key, g in model.groups.items() if key[:3] == (kind, namespace, name))
    return {member.pod.metadata.name for member in group.pods.values()}


# -- whose pods ------------------------------------------------------------------------------------


def test_pods_that_name_one_of_our_schedulers_are_ours_and_no_others(model: ClusterModel) -> None:
    for number, name in enumerate(("fluxnetes", "fluence", "fluxqueue", OTHERS, "")):
        model.put_pod(one_pod(f"p{number}", scheduler=name))
    assert keys(model) == {"pod default/p0", "pod default/p1", "pod default/p2"}


def test_the_list_of_our_names_can_be_another(model: ClusterModel) -> None:
    mine = ClusterModel(model.node_graph, names=["mine"])
    mine.put_pod(one_pod("a", scheduler="mine"))
    mine.put_pod(one_pod("b", scheduler="fluxnetes"))
    assert keys(mine) == {"pod default/a"}


def test_a_job_of_another_scheduler_is_not_ours(model: ClusterModel) -> None:
    model.put_workload("Job", a_job(scheduler=OTHERS))
    assert not model.groups


# -- which group -----------------------------------------------------------------------------------


def test_a_job_and_a_label_group_of_one_name_are_two(model: ClusterModel) -> None:
    model.put_workload("Job", a_job("train"))
    model.put_pod(one_pod("a", group="train"))
    model.put_pod(one_pod("train"))
    assert keys(model) == {"job default/train", "group default/train", "pod default/train"}


def test_two_groups_of_one_name_in_two_namespaces_are_two(model: ClusterModel) -> None:
    for namespace in ("blue", "red"):
        model.put_pod(one_pod("a", group="ring", size=2, namespace=namespace))
        model.put_workload("Job", a_job("train", namespace=namespace))
    assert len(model.groups) == 4
    assert members(model, "ring", "Group", "blue") == {"a"}


def test_a_pod_of_a_job_is_of_its_group_whatever_its_labels_say(model: ClusterModel) -> None:
    """Only the top owner is taken."""
    job = a_job("train", pods=2)
    model.put_workload("Job", job)
    model.put_pod(pod_of(job, "p0", labels={GROUP: "other", GROUP_SIZE: "7"}))
    assert keys(model) == {"job default/train"}
    assert members(model, "train") == {"p0"}


def test_a_job_that_is_part_of_a_larger_group_joins_that_with_its_pods(model: ClusterModel) -> None:
    job = a_job("one", pods=2, labels={GROUP: "ring", GROUP_SIZE: "4"})
    model.put_workload("Job", job)
    model.put_pod(pod_of(job, "p0"))
    model.put_pod(one_pod("p1", group="ring"))
    assert keys(model) == {"group default/ring"}
    assert members(model, "ring", "Group") == {"p0", "p1"}


def test_a_job_that_names_a_group_no_larger_than_itself_stays_alone(model: ClusterModel) -> None:
    """Its template carries the labels of an earlier system, for its own pods."""
    model.put_workload(
        "Job", a_job("one", pods=2, template={"labels": {GROUP: "g", GROUP_SIZE: "2"}})
    )
    assert keys(model) == {"job default/one"}


def test_marks_of_a_workload_go_before_those_of_its_template(model: ClusterModel) -> None:
    template = {"annotations": {"fluxnetes.io/queue": "day", "fluxnetes.io/walltime": "60s"}}
    job = a_job("one", labels={"fluxnetes.io/queue": "night"}, template=template)
    model.put_workload("Job", job)
    (group,) = model.groups.values()
    assert (group.options.queue, group.options.walltime) == ("night", 60)


def test_what_a_job_says_of_its_pods_counts_for_those_that_are_there(model: ClusterModel) -> None:
    """Its own annotations do not come down to them, and pods must ask for what their Job did."""
    job = a_job("one", annotations={EXCLUSIVE: "true"})
    model.put_workload("Job", job)
    model.put_pod(pod_of(job, "p0"))
    (group,) = model.groups.values()
    (member,) = group.pods.values()
    assert group.options_of(member).exclusive
    member.remember_footprint(SMALL)
    model.put_workload("Job", a_job("one"))
    assert not group.options_of(member).exclusive
    assert member.footprint is None


def test_jobs_of_one_group_each_speak_for_their_own_pods(model: ClusterModel) -> None:
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    one = a_job("one", labels=ring, annotations={EXCLUSIVE: "true"})
    other = a_job("other", labels=ring)
    for job in (one, other):
        model.put_workload("Job", job)
        model.put_pod(pod_of(job, f"of-{job.metadata.name}"))
    (group,) = model.groups.values()
    alone = {m.pod.metadata.name: group.options_of(m).exclusive for m in group.pods.values()}
    assert alone == {"of-one": True, "of-other": False}


# -- owners ----------------------------------------------------------------------------------------


def test_a_pod_that_comes_before_its_job_waits_for_it(model: ClusterModel) -> None:
    job = a_job("train", pods=2)
    model.put_pod(pod_of(job, "p0"))
    assert not model.groups
    model.put_workload("Job", job)
    assert not model.orphans
    assert members(model, "train") == {"p0"}


def test_a_pod_whose_job_is_not_ours_stands_for_itself(model: ClusterModel) -> None:
    job = a_job("train", scheduler=OTHERS)
    pod = one_pod("p0", owner=owner_of(job))
    model.put_pod(pod)
    model.put_workload("Job", job)
    model.settle_orphans(list(model.orphans))
    assert keys(model) == {"pod default/p0"}
    model.put_pod(changed(pod, status={"phase": "Running"}))
    assert keys(model) == {"pod default/p0"}


def test_a_pod_whose_job_is_gone_never_starts(model: ClusterModel) -> None:
    """Kubernetes will delete it; until then it must not run."""
    model.put_pod(pod_of(a_job("train"), "p0"))
    model.settle_orphans(list(model.orphans))
    assert not model.groups


def test_a_job_of_another_api_group_is_not_waited_for(model: ClusterModel) -> None:
    model.put_pod(one_pod("p0", owner=owner_of(a_job("train"), apiVersion="other.io/v1")))
    assert keys(model) == {"pod default/p0"}


@pytest.mark.parametrize(
    "forged",
    [{"uid": "unknown-uid"}, {"controller": False}, {"kind": "Deployment"}],
)
def test_a_forged_owner_is_not_believed(model: ClusterModel, forged: dict[str, Any]) -> None:
    job = a_job("train", pods=2)
    model.put_workload("Job", job)
    model.put_pod(one_pod("p0", owner=owner_of(job, **forged)))
    model.settle_orphans(list(model.orphans))
    assert members(model, "train") == set()


def test_an_owner_in_another_namespace_is_not_believed(model: ClusterModel) -> None:
    job = a_job("train", pods=2, namespace="blue")
    model.put_workload("Job", job)
    model.put_pod(one_pod("p0", namespace="red", owner=owner_of(job)))
    model.settle_orphans(list(model.orphans))
    assert members(model, "train", namespace="blue") == set()


def test_a_job_that_is_not_ours_owns_no_pod_of_ours(model: ClusterModel) -> None:
    """A pod names our scheduler and a Job that does not."""
    job = a_job("train", scheduler=OTHERS)
    model.put_workload("Job", job)
    model.put_pod(one_pod("p0", owner=owner_of(job)))
    assert list(model.orphans) == ["uid-default-p0"]


def test_an_orphan_that_is_gone_is_forgotten(model: ClusterModel) -> None:
    pod = pod_of(a_job("train"), "p0")
    model.put_pod(pod)
    model.drop_pod(pod)
    assert not model.orphans
    model.settle_orphans(["uid-default-p0"])
    assert not model.groups


def test_an_orphan_is_as_it_was_last_seen(model: ClusterModel) -> None:
    job = a_job("train")
    pod = pod_of(job, "p0")
    model.put_pod(pod)
    model.put_pod(changed(pod, status={"phase": "Failed"}))
    model.put_workload("Job", job)
    (group,) = model.groups.values()
    assert group.pods["uid-default-p0"].pod.is_over


def test_pods_that_their_job_leaves_behind_stay_of_its_group(model: ClusterModel) -> None:
    job = a_job("train")
    model.put_workload("Job", job)
    model.put_pod(pod_of(job, "p0"))
    model.drop_workload(job)
    (group,) = model.groups.values()
    assert not group.workloads
    assert members(model, "train") == {"p0"}


# -- what comes and goes ---------------------------------------------------------------------------


def test_groups_to_which_something_happened_are_reported_once_in_order(model: ClusterModel) -> None:
    for name in ("b", "a", "b"):
        model.put_pod(one_pod(name))
    assert [group.key.name for group in model.take_dirty()] == ["b", "a"]
    assert model.take_dirty() == []


def test_groups_can_be_taken_some_at_a_time(model: ClusterModel) -> None:
    for name in ("a", "b", "c"):
        model.put_pod(one_pod(name))
    assert [group.key.name for group in model.take_dirty(2)] == ["a", "b"]
    model.put_pod(one_pod("c"))
    model.put_pod(one_pod("a"))
    assert [group.key.name for group in model.take_dirty(2)] == ["c", "a"]
    assert model.take_dirty(2) == []


def test_a_pod_that_is_gone_marks_its_group(model: ClusterModel) -> None:
    pod = one_pod("a")
    model.put_pod(pod)
    model.take_dirty()
    model.drop_pod(pod)
    (group,) = model.take_dirty()
    assert group.is_gone
    assert group.changed_pods == {"uid-default-a"}
    model.forget(group)
    assert not model.groups


def test_dropping_what_was_never_seen_does_nothing(model: ClusterModel) -> None:
    model.drop_pod(one_pod("a"))
    model.drop_workload(a_job("b"))
    model.drop_pod_group(a_pod_group("c", 2))
    assert not model.groups


def test_a_job_that_is_made_anew_has_nothing_to_do_with_the_one_before_it(
    model: ClusterModel,
) -> None:
    """Deleted and applied again before the controller looked, and while its pods still end."""
    old, new = a_job("train", uid="u1"), a_job("train", uid="u2")
    model.put_workload("Job", old)
    model.put_pod(pod_of(old, "p0", node="n1"))
    (before,) = model.take_dirty()
    before.close(ClosedGroup(frozenset(), for_good=True))
    model.drop_workload(old)
    model.put_workload("Job", new)
    model.put_pod(pod_of(new, "p1"))
    before, after = model.take_dirty()
    assert after.closed is None
    assert [len(before.workloads), len(after.workloads)] == [0, 1]
    assert list(after.pods) == ["uid-default-p1"]


def test_a_pod_that_is_made_anew_under_its_name_is_another(model: ClusterModel) -> None:
    model.put_pod(one_pod("a", uid="u1"))
    (group,) = model.take_dirty()
    group.close(ClosedGroup(frozenset(group.pods), for_good=False))
    model.drop_pod(one_pod("a", uid="u1"))
    model.put_pod(one_pod("a", uid="u2"))
    assert model.take_dirty()[-1].closed is None


def test_a_pod_group_is_found_whichever_comes_first(model: ClusterModel) -> None:
    options = {"scheduling.x-k8s.io/pod-group": "ring"}
    model.put_pod_group(a_pod_group("ring", 3))
    model.put_pod(one_pod("a", labels=options))
    (group,) = model.groups.values()
    assert least_size(group) == 3
    model.put_pod_group(a_pod_group("ring", 5))
    assert least_size(group) == 5
    model.drop_pod_group(a_pod_group("ring", 5))
    assert least_size(group) == 1


# -- labels ----------------------------------------------------------------------------------------


def test_a_group_of_pods_that_name_several_sizes_is_as_large_as_the_largest(
    model: ClusterModel,
) -> None:
    """None of them starts (`test_agreement`)."""
    for name, size in (("a", 2), ("b", 5), ("c", 3)):
        model.put_pod(one_pod(name, group="ring", size=size))
    (group,) = model.groups.values()
    assert group.options.size == 5


def test_a_group_is_held_while_one_of_its_pods_is(model: ClusterModel) -> None:
    model.put_pod(one_pod("a", group="ring"))
    held = one_pod("b", group="ring", annotations={HOLD: "true"})
    model.put_pod(held)
    (group,) = model.groups.values()
    assert group.options.hold
    model.put_pod(changed(held, metadata={"annotations": {}}))
    assert not group.options.hold


def test_a_group_asks_for_what_its_job_says_now(model: ClusterModel) -> None:
    job = a_job("train", annotations={HOLD: "true"})
    model.put_workload("Job", job)
    (group,) = model.groups.values()
    assert group.options.hold
    model.put_workload("Job", a_job("train"))
    assert not group.options.hold


@pytest.mark.parametrize("size", ["two", "-1", "1000000000"])
def test_an_invalid_value_refuses_its_group_and_no_other(model: ClusterModel, size: str) -> None:
    model.put_pod(one_pod("bad", group="ring", annotations={GROUP_SIZE: size}))
    model.put_pod(one_pod("good"))
    refused = {
        key.name: "".join(group.label_errors.values()) for key, group in model.groups.items()
    }
    assert GROUP_SIZE in refused.pop("bad")
    assert refused == {"good": ""}


def test_a_refusal_lasts_while_the_bad_value_is_there_and_no_longer(model: ClusterModel) -> None:
    one, other = one_pod("a", group="ring"), one_pod("b", group="ring")
    model.put_pod(one)
    model.put_pod(other)
    (group,) = model.groups.values()
    bad = changed(one, metadata={"annotations": {"fluxnetes.io/walltime": "soon"}})
    model.put_pod(bad)
    model.put_pod(changed(other, metadata={"labels": {GROUP: "ring", "more": "1"}}))
    assert "walltime" in "".join(group.label_errors.values())
    model.drop_pod(bad)
    assert not group.label_errors


def test_a_job_whose_value_is_put_right_is_not_refused_any_more(model: ClusterModel) -> None:
    model.put_workload("Job", a_job("train", annotations={GROUP_SIZE: "two"}))
    (group,) = model.groups.values()
    assert GROUP_SIZE in "".join(group.label_errors.values())
    model.put_workload("Job", a_job("train"))
    assert not group.label_errors


# -- what counts as others' ------------------------------------------------------------------------


def held(model: ClusterModel, node: str = "n1") -> dict[str, int]:
    return {type: n for type, n in model.foreign.sums.get(node, {}).items() if n}


def test_pods_of_others_count_from_the_bind_until_the_end(model: ClusterModel) -> None:
    pod = one_pod("a", scheduler=OTHERS)
    model.put_pod(pod)
    assert held(model) == {}
    model.put_pod(one_pod("a", scheduler=OTHERS, node="n1"))
    assert held(model) == {"cpu": 1000, "pods": 1, "tenancy": 1}
    model.put_pod(one_pod("a", scheduler=OTHERS, node="n1", going=True))
    assert held(model)["cpu"] == 1000
    model.put_pod(one_pod("a", scheduler=OTHERS, node="n1", phase="Succeeded"))
    assert held(model) == {}
    model.drop_pod(pod)
    assert held(model) == {}


def test_a_daemon_takes_room_but_no_tenancy(model: ClusterModel) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u"}
    daemon = one_pod("d", scheduler=OTHERS, node="n1", owner={**owner, "controller": True})
    model.put_pod(daemon)
    assert held(model) == {"cpu": 1000, "pods": 1}


def test_a_pod_of_ours_that_sits_is_counted_by_the_queue_alone(model: ClusterModel) -> None:
    model.put_pod(one_pod("a"))
    seated(model, "uid-default-a", "n1")
    model.put_pod(one_pod("a", node="n1"))
    assert held(model) == {}


def test_a_pod_of_ours_that_is_bound_and_does_not_sit_counts_as_others(model: ClusterModel) -> None:
    model.put_pod(one_pod("a", node="n1"))
    assert held(model)["cpu"] == 1000


def test_a_whole_node_that_no_job_stands_for_any_more_is_still_whole(model: ClusterModel) -> None:
    model.put_pod(one_pod("a", node="n1", annotations={"fluxnetes.io/exclusive": "true"}))
    assert held(model)["tenancy"] == TENANCY


def test_an_orphan_that_is_bound_counts(model: ClusterModel) -> None:
    model.put_pod(pod_of(a_job("train"), "p0", node="n1"))
    assert held(model)["cpu"] == 1000


def test_a_pool_that_is_new_counts_pods_that_were_bound_before(model: ClusterModel) -> None:
    port = [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    model.put_pod(one_pod("a", scheduler=OTHERS, node="n1", containers=port))
    model.foreign.take()
    assert model.need({"port:TCP/80": 1}).reshaped
    assert model.foreign.take()["n1"]["port:TCP/80"] == 1
    assert not model.need({"port:TCP/80": 1})
    assert model.foreign.take() == {}
