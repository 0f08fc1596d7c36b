"""A controller that ends and starts again, with its database and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.plane.api import Object
from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import Controller, Stage


@pytest.fixture
def controller(stage: Stage) -> Iterator[Controller]:
    """That of the stage; whatever a test does to it, it leads afterwards."""
    yield stage.controller
    if not stage.controller.is_running:
        stage.controller.start()


def restart(controller: Controller) -> None:
    """Kill -9, and start."""
    controller.kill()
    controller.start()


def test_the_queue_goes_on_after_a_restart(
    stage: Stage, space: Space, controller: Controller
) -> None:
    stage.leave_open("node-0")
    space.create(a_gang("first", 2, cpu=8))
    space.until_bound("first-0", "first-1")
    space.create(a_job("second").of(2).with_cpu(8).queued())
    before = space.until_state("second-job", "pending")
    restart(controller)
    space.create(a_job("third").of(2).with_cpu(8).queued())
    space.until_state("third-job", "pending")
    assert space.get("FluxJob", "second-job")["status"]["jobID"] == before["jobID"]
    space.delete("Pod", "first-0", "first-1")
    space.until_job_bound("second", 2)
    assert space.get("Job", "third")["spec"]["suspend"]


def test_running_jobs_keep_their_walltimes_over_a_restart(
    stage: Stage, space: Space, controller: Controller
) -> None:
    space.create([pod.with_walltime(6) for pod in a_gang("g", 2)])
    start = space.until_state("g-group", "running")["start"]
    restart(controller)
    status = space.until_state("g-group", "timed out")
    assert status["start"] == start
    for pod in space.until_phase("Failed", "g-0", "g-1"):
        assert pod["status"]["reason"] == "DeadlineExceeded"


def test_what_happened_without_a_controller_is_seen(
    stage: Stage, space: Space, controller: Controller
) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(a_job("done").with_cpu(10).running_for("2s"), a_pod("deleted").with_cpu(10))
    space.until_job_bound("done", 1)
    space.until_bound("deleted")
    space.create(a_gang("waits", 2, cpu=10))
    space.until_waits("waits-0")
    controller.kill()
    space.delete("Pod", "deleted")
    space.until_condition("done", "Complete")
    stage.cordon("node-1")
    stage.add_node("special")
    space.create(a_pod("new").with_cpu(1))
    controller.start()
    assert set(space.until_bound("waits-0", "waits-1").values()) == {"node-0", "special"}
    space.until_bound("new")
    space.until_state("done-job", "completed")


def test_a_placement_that_was_half_done_is_finished(
    stage: Stage, space: Space, controller: Controller
) -> None:
    """Killed while it binds; every pod ends up where it was given a place, and just once."""
    space.create(a_gang("g", 40))
    space.until("Pod", lambda pods: any(node_of(pod) for pod in pods.values()))
    restart(controller)
    nodes = space.until_bound(*(f"g-{number}" for number in range(40)))
    status = space.until_state("g-group", "running")
    assert set(status["nodes"]) == set(nodes.values())
    pods = space.all("Pod").values()
    assert len({pod["metadata"]["annotations"]["fluxnetes.io/task"] for pod in pods}) == 40


def test_another_controller_takes_over_at_once_when_the_first_leaves(
    stage: Stage, space: Space, controller: Controller
) -> None:
    second = Controller(stage.kubeconfig, stage.folder, identity="second")
    second.launch()
    try:
        space.create(a_gang("g", 2)[:1])
        controller.stop()
        second.wait_until_it_leads()
        space.create(a_gang("g", 2)[1:])
        space.until_bound("g-0", "g-1")
    finally:
        second.stop()


# --- an empty database -------------------------------------------------------------------------


def test_an_empty_database_is_filled_from_the_cluster(
    stage: Stage, space: Space, controller: Controller
) -> None:
    """What runs goes on, what is held stays so, and what waits waits; nothing is started twice."""
    stage.leave_open("node-0", "node-1")
    space.create(a_gang("g", 2, cpu=8))
    space.create(a_job("train").of(2).with_cpu(8).with_walltime(3600).running_for("1h").queued())
    space.until_bound("g-0", "g-1")
    pods = space.until_job_bound("train", 2)
    space.create(a_job("calm").annotated({"fluxnetes.io/hold": "true"}).queued())
    space.until_state("calm-job", "held")
    space.create(a_job("next").of(2).with_cpu(8).queued())
    space.until_state("next-job", "pending")
    controller.stop()
    controller.forget()
    controller.start()
    assert "history and usage are lost" in controller.log.read_text()
    for name in ("g-group", "train-job"):
        space.until_state(name, "running")
    assert space.until_state("train-job", "running")["walltime"] == 3600
    assert names(space.until_job_bound("train", 2)) == names(pods)
    space.until_state("calm-job", "held")
    space.until_state("next-job", "pending")
    space.delete("Pod", "g-0", "g-1")
    space.until_job_bound("next", 2)
    assert space.get("Job", "calm")["spec"]["suspend"]


def test_walltimes_are_kept_with_an_empty_database(
    stage: Stage, space: Space, controller: Controller
) -> None:
    space.create([pod.with_walltime(8) for pod in a_gang("g", 2)])
    space.until_state("g-group", "running")
    controller.stop()
    controller.forget()
    controller.start()
    space.until_state("g-group", "timed out")
    assert len(space.until_phase("Failed", "g-0", "g-1")) == 2


def names(pods: list[Object]) -> set[str]:
    return {pod["metadata"]["name"] for pod in pods}
