"""An autoscaler buys nodes for jobs that need some: for all of their pods, and for no others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.labels.names import AFTER_OK, HOLD, QUEUE
from fluxnetes.plane.nodes import NodeShape
from tests.integration.controller.autoscaler import Autoscaler
from tests.integration.controller.objects import PodMaker, a_gang, a_job, a_pod
from tests.integration.controller.space import Space, condition
from tests.integration.controller.stage import QUEUES, Stage

THRIFTY = {"name": "thrifty", "growth": False}
LIMITED = {"name": "limited", "per_namespace": {"running": 1}}
BATCH = "example.com/batch"


@pytest.fixture
def autoscaler(stage: Stage, space: Space) -> Iterator[Autoscaler]:
    with Autoscaler(stage.plane.api(), space.namespace) as autoscaler:
        yield autoscaler


def whole_nodes(name: str, size: int, walltime: str = "1h", **annotations: str) -> list[PodMaker]:
    """A gang of pods that take a node each."""
    return [pod.with_walltime(walltime).annotated(annotations) for pod in a_gang(name, size, 16)]


def until_told(space: Space, name: str, reason: str) -> None:
    """The condition of a pod says why it waits."""
    space.until_one("Pod", name, lambda pod: said(pod) == reason)


def said(pod: dict[str, object]) -> str:
    return str(condition(pod, "PodScheduled").get("reason", ""))


def pods(name: str, count: int) -> list[str]:
    return [f"{name}-{number}" for number in range(count)]


def test_all_pods_of_a_gang_that_needs_nodes_count_until_the_nodes_come(
    stage: Stage, space: Space, autoscaler: Autoscaler
) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(whole_nodes("wide", 30))
    autoscaler.until_it_acts_on(*pods("wide", 30))
    space.delete("Pod", *pods("wide", 30))
    space.create(whole_nodes("next", 3))
    autoscaler.until_it_acts_on(*pods("next", 3))
    stage.add_node("bought-0")
    assert set(space.until_bound(*pods("next", 3)).values()) == {"node-0", "node-1", "bought-0"}
    autoscaler.until_it_acts_on()


def test_each_job_that_does_not_fit_beside_what_runs_counts(
    stage: Stage, space: Space, autoscaler: Autoscaler
) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(whole_nodes("first", 2))
    space.until_bound(*pods("first", 2))
    space.create(whole_nodes("a", 2), whole_nodes("b", 1))
    space.create(a_job("c").of(3).with_cpu(16).with_walltime(600))
    now = autoscaler.until(lambda now: len(now) == 6)
    assert {*pods("a", 2), "b-0"} < now and sum(name.startswith("c-") for name in now) == 3
    space.delete("Pod", *pods("a", 2))
    autoscaler.until(lambda now: len(now) == 4)


def test_jobs_that_wait_for_something_else_never_count(
    stage: Stage, space: Space, autoscaler: Autoscaler
) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(a_pod("first").with_cpu(16).with_walltime(600))
    space.until_bound("first")
    space.create(whole_nodes("head", 2))
    autoscaler.until_it_acts_on(*pods("head", 2))
    space.create(a_pod("blocked").with_cpu(16).with_walltime("2h"))
    space.create(whole_nodes("held", 3, **{HOLD: "true"}))
    space.create(whole_nodes("after", 3, **{AFTER_OK: "pod/first"}))
    space.create(whole_nodes("huge", 99, **{AFTER_OK: "pod/first"}))
    space.create(a_gang("ring", 3, 16)[:2])
    until_told(space, "held-0", "Held")
    until_told(space, "after-0", "Dependency")
    until_told(space, "huge-0", "Unsatisfiable")
    until_told(space, "ring-0", "Gathering")
    until_told(space, "blocked", "Priority")
    assert autoscaler.ever == set(pods("head", 2))


def test_a_limit_and_a_queue_that_may_not_grow_keep_jobs_from_counting(
    stage: Stage, space: Space, autoscaler: Autoscaler
) -> None:
    stage.leave_open("node-0")
    with stage.with_config(queues=[*QUEUES["queues"], THRIFTY, LIMITED]):
        space.create(whole_nodes("thrifty", 2, **{QUEUE: "thrifty"}))
        space.create(whole_nodes("one", 2, **{QUEUE: "limited"}))
        space.create(whole_nodes("two", 2, **{QUEUE: "limited"}))
        autoscaler.until_it_acts_on(*pods("one", 2))
        until_told(space, "thrifty-0", "Resources")
        until_told(space, "two-0", "Resources")
        stage.add_node("bought-0")
        space.until_bound(*pods("one", 2))
        until_told(space, "two-0", "Limit")
        assert autoscaler.ever == set(pods("one", 2))
        space.clean()


def test_a_gang_that_is_held_or_lacks_a_pod_counts_no_more(
    stage: Stage, space: Space, autoscaler: Autoscaler
) -> None:
    stage.leave_open("node-0")
    space.create(whole_nodes("wide", 25))
    autoscaler.until_it_acts_on(*pods("wide", 25))
    for name in pods("wide", 25):
        space.annotate("Pod", name, hold="true")
    autoscaler.until_it_acts_on()
    for name in pods("wide", 25):
        space.annotate("Pod", name, hold=None)
    autoscaler.until_it_acts_on(*pods("wide", 25))
    space.delete("Pod", "wide-24")
    autoscaler.until_it_acts_on()


def test_a_gated_pod_counts_too(stage: Stage, managed: Space) -> None:
    stage.leave_open("node-0")
    with Autoscaler(stage.plane.api(), managed.namespace) as autoscaler:
        managed.create(a_pod("first").with_cpu(16).of_others())
        managed.until_bound("first")
        managed.create(a_pod("second").with_cpu(16).of_others())
        autoscaler.until_it_acts_on("second")
        assert managed.get("Pod", "second")["spec"]["schedulingGates"]
        stage.add_node("bought-0")
        managed.until_bound("second")
        autoscaler.until_it_acts_on()


def test_a_suspended_job_is_resumed_to_ask_where_its_queue_says_so(
    stage: Stage, managed: Space
) -> None:
    stage.leave_open("node-0")
    resuming = {"name": "default", "resume_for_growth": True}
    with (
        stage.with_config(queues=[resuming]),
        Autoscaler(stage.plane.api(), managed.namespace) as autoscaler,
    ):
        managed.create(a_job("train").of(3).with_cpu(16).of_others().running_for("1h"))
        asking = autoscaler.until(lambda now: len(now) == 3)
        assert not managed.get("Job", "train")["spec"]["suspend"]
        for name in ("bought-0", "bought-1"):
            stage.add_node(name)
        bound = managed.until_job_bound("train", 3)
        assert {pod["metadata"]["name"] for pod in bound} == asking
        autoscaler.until_it_acts_on()
        managed.clean()


# -- which nodes are ours --------------------------------------------------------------------------


def test_nodes_come_and_go_with_the_label_of_the_selector(stage: Stage, space: Space) -> None:
    stage.add_node("ours-0", NodeShape(labels={BATCH: "true"}))
    stage.add_node("theirs-0")
    with stage.with_config(node_selector={BATCH: "true"}):
        space.create(whole_nodes("g", 2))
        space.until_waits("g-0")
        stage.label("theirs-0", BATCH, "true")
        assert set(space.until_bound("g-0", "g-1").values()) == {"ours-0", "theirs-0"}
        stage.label("theirs-0", BATCH, None)
        space.create(a_pod("late").on("theirs-0"))
        space.until_waits("late")
        assert set(space.until_bound("g-0", "g-1").values()) == {"ours-0", "theirs-0"}
        stage.label("theirs-0", BATCH, "true")
        space.delete("Pod", "g-0", "g-1")
        space.until_bound("late")
        space.clean()


def test_a_job_runs_on_where_a_new_selector_leaves_its_node_out(stage: Stage, space: Space) -> None:
    space.create(a_job("train").of(8).with_cpu(16).running_for("1h"))
    before = {pod["metadata"]["uid"] for pod in space.until_job_bound("train", 8)}
    space.until_state("train-job", "running")
    stage.add_node("ours-0", NodeShape(labels={BATCH: "true"}))
    with stage.with_config(node_selector={BATCH: "true"}):
        space.create(whole_nodes("g", 2))
        space.until_waits("g-0")
        space.create(a_pod("small"))
        assert set(space.until_bound("small").values()) == {"ours-0"}
        assert space.until_state("train-job", "running")["size"] == 8
        assert {pod["metadata"]["uid"] for pod in space.until_job_bound("train", 8)} == before
        space.clean()


def test_pods_that_are_ignored_hold_nothing(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    check = a_pod("check").of_others().labelled({"app": "check"})
    space.create(check)
    space.until_bound("check")
    alone = {"fluxnetes.io/exclusive": "true"}
    space.create(a_pod("ours").annotated(alone))
    space.until_waits("ours")
    with stage.with_config(ignored_pods=[{"app": "check"}]):
        assert space.until_bound("ours") == {"ours": "node-0"}
        space.clean()
