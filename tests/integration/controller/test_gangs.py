"""All or nothing, on exactly the nodes that were given, in order; and which gang goes first."""

from __future__ import annotations

from fluxnetes.plane.api import Object
from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.recording import Moment, recorded
from tests.integration.controller.space import Space, is_alive, node_of
from tests.integration.controller.stage import Stage


def holding(moment: Moment, group: str) -> int:
    """How many pods of a group hold a node at a moment."""
    mine = (pod for name, pod in moment.items() if name.startswith(f"{group}-"))
    return sum(bool(node_of(pod)) and is_alive(pod) for pod in mine)


def test_two_gangs_that_fit_alone_but_not_together_are_never_both_there(
    stage: Stage, space: Space
) -> None:
    stage.leave_open("node-0", "node-1", "node-2", "node-3")
    gangs = [a_pod(name).with_cpu(10).in_group(name, 3).running_for("1s").times(3) for name in "ab"]
    with recorded(stage, space) as moments:
        for pair in zip(*gangs, strict=True):
            space.create(pair)
        space.until_phase("Succeeded", *(f"{name}-{n}" for name in "ab" for n in range(3)))
    both = [m for m in moments if holding(m, "a") and holding(m, "b")]
    assert not both
    assert max(holding(m, "a") for m in moments) == max(holding(m, "b") for m in moments) == 3


def test_a_gang_that_waits_holds_nothing(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(a_pod("there").with_cpu(10).on("node-0"))
    space.until_bound("there")
    space.create(a_gang("g", 2, cpu=10))
    space.until_waits("g-0", "g-1")
    assert node_of(space.get("Pod", "g-0")) == node_of(space.get("Pod", "g-1")) == ""
    status = space.until_state("g-group", "pending")
    assert "nodes" not in status
    space.delete("Pod", "there")
    assert set(space.until_bound("g-0", "g-1").values()) == {"node-0", "node-1"}


def test_backfill_goes_around_a_promise(stage: Stage, space: Space) -> None:
    """`head` is promised the node when `first` has used up its walltime."""
    stage.leave_open("node-0")
    space.create(a_pod("first").with_cpu(10).with_walltime(6))
    space.until_bound("first")
    space.create(a_pod("head").with_cpu(13).in_group("head", 1).with_walltime(60))
    promised = space.until_one("FluxJob", "head-group", lambda job: "eta" in job.get("status", {}))
    space.create(a_pod("long").with_cpu(4).with_walltime(600))
    space.until_waits("long")
    space.create(a_pod("short").with_cpu(4).with_walltime(2).running_for("1s"))
    with recorded(stage, space) as moments:
        space.until_bound("short")
        space.until_bound("head")
        started = space.until_state("head-group", "running")["start"]
    assert started <= promised["status"]["eta"]
    assert not any(node_of(moment["long"]) for moment in moments)
    assert space.get("Pod", "first")["status"]["reason"] == "DeadlineExceeded"


def test_a_job_that_no_node_can_serve_waits_and_blocks_nothing(space: Space) -> None:
    space.create(a_job("huge").of(2).with_cpu(17).queued())
    space.create(a_gang("wide", 9, cpu=16))
    for record in ("huge-job", "wide-group"):
        status = space.until_reason(record, "Unsatisfiable")
        assert (status["state"], status.get("position")) == ("pending", None)
        assert "cpu" in status["reason"]
    space.until_event("huge", "FailedScheduling", "Unsatisfiable: ")
    space.until_event("wide-0", "FailedScheduling", "Unsatisfiable: ")
    assert space.get("Job", "huge")["spec"]["suspend"]
    space.create(a_gang("fine", 2))
    space.until_bound("fine-0", "fine-1")


def test_busy_is_not_impossible(stage: Stage, space: Space) -> None:
    """Neither others' pods nor closed nodes make a job impossible."""
    stage.leave_open("node-0")
    space.create(a_pod("other").of_others().with_cpu(10))
    space.until_bound("other")
    space.create(a_gang("g", 2, cpu=16))
    space.until_waits("g-0")
    assert space.until_state("g-group", "pending")


def test_pods_of_an_indexed_job_get_their_nodes_in_order(space: Space) -> None:
    space.create(a_job("train").of(6).indexed().with_cpu(9).running_for("1h"))
    pods = space.until_job_bound("train", 6)
    nodes = [node_of(pod) for pod in pods]
    assert len(set(nodes)) == 6
    assert space.until_state("train-job", "running")["nodes"] == nodes
    assert [task(pod) for pod in pods] == list(range(6))


def test_an_indexed_job_with_more_completions_than_pods_runs_them_all(space: Space) -> None:
    job = a_job("sweep").with_job(parallelism=2, completions=6).indexed().running_for("100ms")
    space.create(job.with_cpu(9))
    space.until_condition("sweep", "Complete")
    status = space.until_state("sweep-job", "completed")
    assert status["size"] == 2


def test_every_pod_of_a_plain_job_gets_a_node_that_was_given(space: Space) -> None:
    space.create(a_job("plain").of(5).with_cpu(9).running_for("2s"))
    nodes = [node_of(pod) for pod in space.until_job_bound("plain", 5)]
    assert sorted(space.until_state("plain-job", "running")["nodes"]) == sorted(nodes)
    assert len(set(nodes)) == 5
    space.until_condition("plain", "Complete")
    space.until_state("plain-job", "completed")


def test_node_names_of_more_than_63_characters_are_no_trouble(stage: Stage, space: Space) -> None:
    names = [f"{letter * 50}.example.com" for letter in "xyz"]
    for name in names:
        stage.add_node(name, special="yes")
    job = a_job("far").of(3).indexed().with_cpu(9).running_for("1h")
    space.create(job.with_spec(nodeSelector={"special": "yes"}))
    nodes = [node_of(pod) for pod in space.until_job_bound("far", 3)]
    assert sorted(nodes) == names
    status = space.until_state("far-job", "running")
    assert status["nodes"] == nodes and len(status["nodeList"]) > 63
    assert len(status["columns"]["nodes"]) < 63


def task(pod: Object) -> int:
    return int(pod["metadata"]["annotations"]["fluxnetes.io/task"])
