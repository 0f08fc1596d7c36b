"""What happens between a decision and the binds that follow from it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.proxy import Proxy
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import Stage


@pytest.fixture(scope="module")
def proxy(whole_stage: Stage) -> Iterator[Proxy]:
    """The controller speaks to the server by way of this."""
    proxy = Proxy(whole_stage.plane, whole_stage.folder, whole_stage.certificate)
    with proxy, whole_stage.by_way_of(proxy):
        yield proxy


def bind_of(space: Space, pod: str) -> str:
    return f"/namespaces/{space.namespace}/pods/{pod}/binding"


def put_beside(space: Space, node: str) -> None:
    """A pod of no scheduler takes ten cpu of a node."""
    space.create(a_pod("theirs").of_others().with_cpu(10).with_spec(nodeName=node))
    space.until_phase("Running", "theirs")


# --- the capacity is gone ----------------------------------------------------------------------


def test_a_pod_whose_room_others_took_is_placed_anew_at_once(
    stage: Stage, space: Space, proxy: Proxy
) -> None:
    stage.leave_open("node-0", "node-1", "node-2")
    with proxy.refusing("POST", bind_of(space, "g-1")) as refusal:
        space.create(a_gang("g", 2, cpu=10))
        assert space.until_bound("g-0")["g-0"] == "node-0"
        refusal.until_hit()
        put_beside(space, "node-1")
        space.until_one("FluxJob", "g-group", lambda job: "node-2" in str(job.get("status")))
    assert space.until_bound("g-1")["g-1"] == "node-2"
    space.until_state("g-group", "running")


def test_a_pod_whose_node_is_gone_is_placed_anew_at_once(
    stage: Stage, space: Space, proxy: Proxy
) -> None:
    stage.leave_open("node-0")
    stage.add_node("special")
    with proxy.refusing("POST", bind_of(space, "g-1")) as refusal:
        space.create(a_gang("g", 2, cpu=10))
        space.until_bound("g-0")
        refusal.until_hit()
        stage.uncordon("node-1")
        stage.remove_node("special")
        space.until_one("FluxJob", "g-group", lambda job: "node-1" in str(job.get("status")))
    assert space.until_bound("g-1")["g-1"] == "node-1"


def test_a_job_of_which_a_part_has_no_room_any_more_goes_back_as_a_whole(
    stage: Stage, space: Space, proxy: Proxy
) -> None:
    stage.leave_open("node-0", "node-1")
    with proxy.refusing("POST", "/pods/train-.*/binding") as refusal:
        space.create(a_job("train").of(2).with_cpu(10).running_for("1h").queued())
        refusal.until_hit()
        put_beside(space, "node-1")
        space.until_state("train-job", "pending")
    space.create(a_pod("signal").with_cpu(1))
    space.until_bound("signal")
    mine = [pod for name, pod in space.all("Pod").items() if name.startswith("train-")]
    assert not any(node_of(pod) for pod in mine)
    space.delete("Pod", "theirs")
    space.until_job_bound("train", 2)
    assert space.get("Job", "train")["status"].get("failed", 0) == 0


def test_pods_without_an_owner_of_which_some_have_no_room_any_more_fail_together(
    stage: Stage, space: Space, proxy: Proxy
) -> None:
    """A bound pod cannot move, and no controller would create another."""
    stage.leave_open("node-0", "node-1")
    with proxy.refusing("POST", bind_of(space, "g-1")) as refusal:
        space.create(a_gang("g", 2, cpu=10))
        space.until_bound("g-0")
        refusal.until_hit()
        put_beside(space, "node-1")
        status = space.until_state("g-group", "failed")
    assert "node-1" in status["reason"]
    space.until_gone("Pod", "g-0")
    assert space.node_of("g-1") == ""


def test_a_job_that_cannot_be_placed_within_a_set_time_goes_back(
    stage: Stage, space: Space, proxy: Proxy
) -> None:
    """Half of it is bound, and nothing goes forward."""
    with proxy.refusing("POST", "/pods/train-1-.*/binding"):
        space.create(a_job("train").of(2).indexed().running_for("1h").queued())
        first = space.until_job_bound("train", 1)[0]["metadata"]["name"]
        space.until_event("train", "Requeued", "there was no progress")
        space.until_gone("Pod", first)
    space.until_job_bound("train", 2)
    assert space.get("Job", "train")["status"].get("failed", 0) == 0


# --- the outcome of a request is unknown -------------------------------------------------------


def test_a_bind_that_worked_without_an_answer_is_not_done_twice(space: Space, proxy: Proxy) -> None:
    with proxy.not_answering("POST", f"{space.namespace}/pods/.*/binding", times=4):
        space.create(a_gang("g", 4))
        nodes = space.until_bound("g-0", "g-1", "g-2", "g-3")
        status = space.until_state("g-group", "running")
    assert set(status["nodes"]) == set(nodes.values())
    for name in nodes:
        space.until_event(name, "Scheduled")
        assert len([e for e in space.events(name) if e["reason"] == "Scheduled"]) == 1


def test_a_job_that_was_let_go_without_an_answer_runs_once(space: Space, proxy: Proxy) -> None:
    with proxy.not_answering("PATCH", f"{space.namespace}/jobs/train$", times=1) as lost:
        space.create(a_job("train").of(2).running_for("1s").queued())
        lost.until_hit()
        space.until_condition("train", "Complete")
    assert space.get("Job", "train")["status"]["succeeded"] == 2
    space.until_state("train-job", "completed")


def test_a_gate_that_was_taken_off_without_an_answer_is_no_trouble(
    managed: Space, proxy: Proxy
) -> None:
    with proxy.not_answering("PATCH", f"{managed.namespace}/pods/a$", times=1) as lost:
        managed.create(a_pod("a").of_others())
        lost.until_hit()
        managed.until_bound("a")


def test_a_server_that_is_overloaded_for_a_while_only_costs_time(
    space: Space, proxy: Proxy
) -> None:
    with proxy.refusing("POST", f"{space.namespace}/pods/.*/binding") as refusal:
        space.create(a_gang("g", 3))
        refusal.until_hit()
    space.until_bound("g-0", "g-1", "g-2")
    space.until_state("g-group", "running")
