"""Gangs inside one rack, in slices and spread, on nodes whose labels say where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fluxnetes.plane.api import Object
from fluxnetes.plane.nodes import NODES
from tests.integration.controller.objects import JobMaker, a_job, a_pod
from tests.integration.controller.pod_groups import make_native_pod_group
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import RACK, Stage

SIZES = {"a": 2, "b": 2, "c": 3}
"""The nodes of each rack."""


@pytest.fixture
def racks(stage: Stage) -> Iterator[Stage]:
    """Racks of nodes of 16 cpu, beside the nodes of the stage, which are in none."""
    for rack, size in SIZES.items():
        for number in range(size):
            labels: Any = {RACK: f"rack-{rack}"}
            stage.add_node(f"{rack}{number}", **labels)
    yield stage
    if not stage.controller.is_running:
        stage.controller.start()


def near(name: str, pods: int, cpu: int = 10, **keys: str) -> JobMaker:
    ours = {f"fluxnetes.io/topology-{k.replace('_', '-')}": v for k, v in keys.items()}
    return a_job(name).of(pods).with_cpu(cpu).indexed().annotated(ours)


def nodes_of(pods: list[Object]) -> list[str]:
    return [node_of(pod) for pod in pods]


def test_a_gang_is_inside_one_rack_or_waits_and_says_what_one_rack_lacks(
    racks: Stage, space: Space
) -> None:
    space.create(near("one", 2, required=RACK), near("other", 3, required="rack"))
    assert nodes_of(space.until_job_bound("one", 2)) == ["a0", "a1"]
    assert nodes_of(space.until_job_bound("other", 3)) == ["c0", "c1", "c2"]
    space.create(near("late", 3, required=RACK).queued(), near("never", 4, required=RACK).queued())
    status = space.until_reason("late-job", "Resources")
    words = "needs 3 pods inside one rack; the most that fit in one rack now is 2"
    assert words in status["reason"]
    assert (
        "needs 4 pods inside one rack" in space.until_reason("never-job", "Unsatisfiable")["reason"]
    )
    space.delete("Job", "other")
    assert nodes_of(space.until_job_bound("late", 3)) == ["c0", "c1", "c2"]


def test_slices_are_runs_of_indices_and_pods_are_spread(racks: Stage, space: Space) -> None:
    space.create(near("sliced", 6, slice=RACK, slice_size="2", spread="node"))
    found = [node[0] for node in nodes_of(space.until_job_bound("sliced", 6))]
    assert [found[first] == found[first + 1] for first in (0, 2, 4)] == [True] * 3
    space.create(near("apart", 3, cpu=1, spread="rack"))
    assert {node[0] for node in nodes_of(space.until_job_bound("apart", 3))} == set("abc")


def test_the_words_of_kueue_and_of_kubernetes_count(racks: Stage, space: Space) -> None:
    kueue = {"kueue.x-k8s.io/podset-required-topology": RACK}
    space.create(a_job("kueue").of(3).with_cpu(10).indexed().on_template(kueue))
    assert nodes_of(space.until_job_bound("kueue", 3)) == ["c0", "c1", "c2"]
    make_native_pod_group(space, "ring", 2, key=RACK)
    named = {"podGroupName": "ring"}
    space.create(a_pod("ring").with_cpu(10).with_spec(schedulingGroup=named).times(2))
    found = space.until_bound("ring-0", "ring-1")
    assert set(found.values()) == {"a0", "a1"}


def test_a_level_that_the_cluster_does_not_have_is_refused(racks: Stage, space: Space) -> None:
    space.create(near("lost", 2, required="example.com/row").queued())
    words = "fluxnetes.io/topology-required: found 'example.com/row', expected a level of this"
    assert RACK in space.until_event("lost", "FailedScheduling", words)["note"]
    space.annotate("Job", "lost", **{"topology-required": RACK})
    space.until_job_bound("lost", 2)


def relabel(stage: Stage, node: str, rack: str | None) -> None:
    labels = {RACK: None if rack is None else f"rack-{rack}"}
    stage.api.patch(f"{NODES}/{node}", {"metadata": {"labels": labels}})


def test_what_runs_on_a_node_that_moves_goes_on_also_over_a_restart(
    racks: Stage, space: Space
) -> None:
    space.create(near("first", 2, required=RACK).running_for("1h"))
    pods = space.until_job_bound("first", 2)
    relabel(racks, "a1", "b")
    space.create(
        *(
            near(name, size, required=RACK).running_for("1h")
            for name, size in (("late", 2), ("large", 3))
        )
    )
    assert nodes_of(space.until_job_bound("late", 2)) == ["b0", "b1"]
    assert nodes_of(space.until_job_bound("large", 3)) == ["c0", "c1", "c2"]
    racks.controller.kill()
    relabel(racks, "a0", None)
    racks.controller.start()
    space.create(near("next", 2, required=RACK).running_for("1h").queued())
    space.until_reason("next-job", "Resources")
    now = space.until_job_bound("first", 2)
    assert [pod["metadata"]["uid"] for pod in now] == [pod["metadata"]["uid"] for pod in pods]
    assert space.get("FluxJob", "first-job")["status"]["state"] == "running"
    space.delete("Job", "late")
    assert nodes_of(space.until_job_bound("next", 2)) == ["b0", "b1"]
