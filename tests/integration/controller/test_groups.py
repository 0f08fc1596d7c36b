"""Groups: which pods start together, and what is done with groups that make no sense."""

from __future__ import annotations

import pytest

from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.pod_groups import make_pod_group
from tests.integration.controller.space import Space, Things, node_of
from tests.integration.controller.stage import Stage

DIALECTS = {
    "ours": ("fluxnetes", "fluxnetes.io/group", "fluxnetes.io/group-size"),
    "fluxnetes": ("fluxnetes", "fluxnetes.group-name", "fluxnetes.group-size"),
    "fluence-documented": (
        "fluence",
        "fluence.flux-framework.org/pod-group",
        "fluence.flux-framework.org/group-size",
    ),
    "fluence": ("fluence", "scheduling.x-k8s.io/pod-group", "fluence.group-size"),
    "fluence-older": ("fluence", "fluence.pod-group", "fluence.group-size"),
    "fluxqueue": ("FluxionScheduler", "fluxqueue.pod-group", "fluxqueue.group-size"),
    "sigs": ("fluxqueue", "pod-group.scheduling.sigs.k8s.io", "fluence.group-size"),
}


def bound(pods: Things) -> list[str]:
    """The names of those that have a node."""
    return sorted(name for name, pod in pods.items() if node_of(pod))


@pytest.mark.parametrize("place", ["labels", "annotations"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_group_waits_until_it_is_complete_in_every_dialect(
    space: Space, dialect: str, place: str
) -> None:
    scheduler, group, size = DIALECTS[dialect]
    pod = a_pod("a").from_scheduler(scheduler)
    options = {group: "g", size: "3"}
    first, second, third = (
        pod.labelled(options) if place == "labels" else pod.annotated(options)
    ).times(3)
    space.create(first, second)
    space.let_the_scheduler_act()
    assert space.node_of("a-0") == space.node_of("a-1") == ""
    space.create(third)
    space.until_bound("a-0", "a-1", "a-2")
    assert space.until_state("g-group", "running")["size"] == 3


def test_a_pod_group_of_scheduler_plugins_says_the_size(space: Space) -> None:
    make_pod_group(space, "g", 3)
    pods = a_pod("a").labelled({"scheduling.x-k8s.io/pod-group": "g"}).times(3)
    space.create(pods[:2])
    space.let_the_scheduler_act()
    assert space.node_of("a-0") == space.node_of("a-1") == ""
    space.create(pods[2])
    space.until_bound("a-0", "a-1", "a-2")


def test_a_group_may_start_with_its_quorum_and_takes_in_the_rest_later(space: Space) -> None:
    sizes = {"fluxnetes.io/min-size": "2", "fluxnetes.io/max-size": "4"}
    pods = a_pod("a").with_cpu(1).in_group("g").labelled(sizes).times(4)
    space.create(pods[:1])
    space.let_the_scheduler_act()
    assert space.node_of("a-0") == ""
    space.create(pods[1])
    space.until_bound("a-0", "a-1")
    space.create(pods[2:])
    space.until_bound("a-2", "a-3")


def test_a_group_starts_with_its_minimum_where_there_is_no_room_for_more(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0")
    sizes = {"fluxnetes.io/min-size": "2", "fluxnetes.io/max-size": "4"}
    pods = a_pod("a").with_cpu(5).in_group("g").labelled(sizes).times(4)
    space.create(pods)
    space.until("Pod", lambda pods: len(bound(pods)) == 3)
    space.let_the_scheduler_act()
    assert len(bound(space.all("Pod"))) == 3 + 1


def test_no_more_of_a_group_run_than_its_maximum(space: Space) -> None:
    pods = a_pod("a").in_group("g", 2).labelled({"fluxnetes.io/max-size": "3"}).times(4)
    space.create(pods)
    space.let_the_scheduler_act()
    space.let_the_scheduler_act("signal-2")
    assert bound(space.all("Pod")) == ["a-0", "a-1", "a-2", "signal", "signal-2"]


def test_pods_of_different_shapes_start_together(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    leader = a_pod("leader").asking_for(cpu=10, memory="8Gi").in_group("g", 3)
    workers = a_pod("worker").asking_for(cpu=9, memory="1Gi").in_group("g", 3).times(2)
    space.create(workers)
    space.let_the_scheduler_act()
    assert space.node_of("worker-0") == ""
    space.create(leader)
    # 10, 9 and 9 do not fit on two nodes of 16.
    space.until_waits("leader", "worker-0", "worker-1")
    stage.uncordon("node-2")
    nodes = space.until_bound("leader", "worker-0", "worker-1")
    assert set(nodes.values()) == {"node-0", "node-1", "node-2"}


def test_a_pod_that_comes_after_its_group_has_started_is_placed_too(space: Space) -> None:
    space.create(a_gang("g", 2))
    space.until_bound("g-0", "g-1")
    space.create(a_pod("late").in_group("g", 2))
    space.until_bound("late")
    assert space.node_of("g-0") and space.node_of("g-1")


def test_a_pod_that_is_made_again_takes_part_again(space: Space) -> None:
    """Its name counts for nothing; so it is not taken for the one that was there before."""
    first, second = a_gang("g", 2)
    space.create(first)
    space.delete("Pod", "g-0")
    space.until_gone("Pod", "g-0")
    space.create(second)
    space.let_the_scheduler_act()
    assert space.node_of("g-1") == ""
    space.create(first)
    space.until_bound("g-0", "g-1")


def test_a_name_can_be_used_again_once_its_group_is_over(space: Space) -> None:
    for round in ("a", "b"):
        pods = a_pod(round).in_group("g", 2).running_for("1s").times(2)
        space.create(pods[0])
        space.let_the_scheduler_act(f"signal-{round}")
        assert space.node_of(f"{round}-0") == ""
        space.create(pods[1])
        space.until_phase("Succeeded", f"{round}-0", f"{round}-1")
        space.until_state("g-group", "completed")


def test_groups_of_one_name_in_two_namespaces_are_two(stage: Stage, space: Space) -> None:
    other = stage.open_space()
    mine, theirs = a_gang("g", 2)
    space.create(mine)
    other.create(theirs)
    space.let_the_scheduler_act()
    assert space.node_of("g-0") == other.node_of("g-1") == ""
    other.create(mine)
    other.until_bound("g-0", "g-1")
    assert space.node_of("g-0") == ""
    other.clean()


# --- what makes no sense -----------------------------------------------------------------------

BAD = [
    ("fluxnetes.io/group-size", "two"),
    ("fluxnetes.io/group-size", "-1"),
    ("fluxnetes.io/group-size", "0"),
    ("fluxnetes.io/group-size", "1000000000"),
    ("fluxnetes.io/walltime", "soon"),
    ("fluxnetes.group-size", "two"),
]


@pytest.mark.parametrize(("key", "value"), BAD)
def test_a_bad_value_is_refused_with_an_event_and_nothing_else_suffers(
    space: Space, key: str, value: str
) -> None:
    space.create(a_pod("bad").annotated({"fluxnetes.io/group": "g", key: value}))
    space.create(a_job("bad-job").annotated({key: value}))
    for name in ("bad", "bad-job"):
        event = space.until_event(name, "FailedScheduling", f"{key}: found '{value}'")
        assert (event["type"], event["reportingController"]) == ("Warning", "fluxnetes")
    space.create(a_gang("good", 2))
    space.until_bound("good-0", "good-1")
    assert space.node_of("bad") == ""


def test_a_job_whose_bad_value_is_corrected_starts(space: Space) -> None:
    space.create(a_job("late").annotated({"fluxnetes.io/walltime": "soon"}))
    space.until_event("late", "FailedScheduling", "fluxnetes.io/walltime")
    space.annotate("Job", "late", walltime="1h")
    space.until_job_bound("late", 1)


def test_a_pod_whose_bad_value_is_corrected_starts(space: Space) -> None:
    space.create(a_pod("late").annotated({"fluxnetes.io/walltime": "soon"}))
    space.until_event("late", "FailedScheduling", "fluxnetes.io/walltime")
    space.annotate("Pod", "late", walltime="1h")
    space.until_bound("late")


def test_a_key_that_is_misspelt_is_reported(space: Space) -> None:
    space.create(a_pod("a").annotated({"fluxnetes.io/waltime": "1h"}))
    space.until_bound("a")
    space.until_event("a", "NotHonoured", "fluxnetes.io/waltime")
