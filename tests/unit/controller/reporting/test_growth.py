"""For which pods an autoscaler would buy nodes: all that lack them, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fluxnetes.cluster.labels.names import (
    AFTER_OK,
    HOLD,
    MAX_SIZE,
    MIN_SIZE,
    QUEUE,
    QUEUED,
    WALLTIME,
)
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.config import LimitConfig, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Cancel
from tests.unit.cluster.builders import a_job, changed, machine, one_pod
from tests.unit.controller.play import Play
from tests.unit.controller.reporting.told import Told

HOUR = {WALLTIME: "1h"}


@contextmanager
def two_nodes(*queues: QueueConfig) -> Iterator[tuple[Play, Told]]:
    """Two nodes of four cpu."""
    config = SchedulerConfig(queues=queues or (QueueConfig(),))
    with Play(machine("n1"), machine("n2"), config=config) as play:
        yield play, Told(play)


@pytest.fixture
def world() -> Iterator[tuple[Play, Told]]:
    with two_nodes() as world:
        yield world


def gang(name: str, size: int, cpu: str = "4", **more: str) -> list[Pod]:
    """Pods that start together, as they come without a webhook."""
    return [
        one_pod(f"{name}-{number}", cpu=cpu, group=name, size=size, annotations={**HOUR, **more})
        for number in range(size)
    ]


def names(name: str, *numbers: int) -> set[str]:
    return {f"{name}-{number}" for number in numbers}


def occupy(play: Play, seconds: int = 600) -> None:
    """Fill both nodes."""
    play.put(*gang("all", 2, **{WALLTIME: f"{seconds}s"}))


# -- jobs that lack nodes --------------------------------------------------------------------------


def test_every_pod_of_a_gang_that_does_not_fit_asks_for_nodes(world: tuple[Play, Told]) -> None:
    """Also those beyond the first twenty, which alone are told of everything else."""
    play, told = world
    play.put(*gang("wide", 45, cpu="1"))
    play.wait(3)
    assert told.asking() == names("wide", *range(45))
    assert told.waits["wide-0"][1].startswith("Unsatisfiable: ")


def test_they_ask_no_more_once_the_gang_has_started(world: tuple[Play, Told]) -> None:
    play, told = world
    occupy(play)
    play.put(*gang("next", 2))
    play.wait(3)
    assert told.asking() == names("next", 0, 1)
    play.put(machine("n3"), machine("n4"))
    play.wait(1)
    assert play.where("next") == ["n3", "n4"]
    assert told.asking() == set()


def test_gated_pods_ask_too(world: tuple[Play, Told]) -> None:
    play, told = world
    occupy(play)
    play.put(one_pod("gated", cpu="4", schedulingGates=[{"name": QUEUED}]))
    play.wait(3)
    assert told.asking() == {"gated"}


def test_pods_that_are_added_to_a_running_job_ask_and_those_that_run_do_not(
    world: tuple[Play, Told],
) -> None:
    play, told = world
    play.put(a_job("train", pods=2, cpu="4", completions=9))
    play.patch("train", {"spec": {"parallelism": 5}})
    play.wait(3)
    waiting = {pod.metadata.name for pod in play.pods("train") if not pod.spec.node_name}
    assert len(waiting) == 3 and told.asking() == waiting


# -- jobs that wait for something else -------------------------------------------------------------


def test_held_dependent_and_incomplete_jobs_never_ask(world: tuple[Play, Told]) -> None:
    play, told = world
    occupy(play)
    play.put(*gang("held", 3, **{HOLD: "true"}))
    play.put(*gang("after", 2, **{AFTER_OK: "group/all"}))
    play.put(*gang("large", 3, **{AFTER_OK: "group/all"}))
    play.put(*gang("ring", 3)[:2])
    play.wait(8)
    assert told.unschedulable == set()
    said = [told.waits[f"{name}-0"][0] for name in ("held", "after", "large", "ring")]
    assert said == ["Held", "Dependency", "Unsatisfiable", "Gathering"]


def test_a_job_that_backfill_holds_back_never_asks(world: tuple[Play, Told]) -> None:
    """One node is free, and kept for the first in line."""
    play, told = world
    play.put(one_pod("first", cpu="4", annotations={WALLTIME: "600s"}))
    play.put(*gang("next", 2))
    play.put(one_pod("blocked", cpu="4", annotations=HOUR))
    play.wait(8)
    assert told.waits["blocked"][0] in ("Priority", "Promised")
    assert told.unschedulable == names("next", 0, 1)


def test_jobs_of_a_queue_that_may_not_grow_never_ask() -> None:
    with two_nodes(QueueConfig(), QueueConfig("thrifty", growth=False)) as (play, told):
        occupy(play)
        play.put(*gang("next", 3, **{QUEUE: "thrifty"}), *gang("other", 3))
        play.wait(8)
        assert told.unschedulable == names("other", 0, 1, 2)
        assert told.waits["next-0"][0] == "Unsatisfiable"


def test_jobs_beyond_a_limit_never_ask() -> None:
    """None is at its limit, since none runs: the first that the limit lets run ask."""
    with two_nodes(QueueConfig(per_namespace=LimitConfig(running=2))) as (play, told):
        for name in "abcd":
            play.put(*gang(name, 3))
        play.wait(8)
        assert told.unschedulable == names("a", 0, 1, 2) | names("b", 0, 1, 2)
        play.put(machine("n3"))
        play.wait(15)
        assert told.unschedulable == names("a", 0, 1, 2) | names("b", 0, 1, 2)
        assert told.waits["d-0"][0] == "Limit"


def test_a_refused_or_rejected_job_never_asks() -> None:
    with two_nodes(QueueConfig(max_walltime=60)) as (play, told):
        play.put(*gang("long", 3), *gang("odd", 3, **{WALLTIME: "soon"}))
        play.wait(8)
        assert told.unschedulable == set()
        said = [told.waits[f"{name}-0"][0] for name in ("long", "odd")]
        assert said == ["Limit", "Unsupported"]


# -- jobs that lack nodes no longer ----------------------------------------------------------------


@pytest.fixture
def asking(world: tuple[Play, Told]) -> tuple[Play, Told]:
    """A gang of thirty that does not fit."""
    play, told = world
    play.put(*gang("wide", 30))
    play.wait(3)
    assert told.asking() == names("wide", *range(30))
    return world


def test_a_gang_that_is_held_asks_no_more_within_two_seconds(asking: tuple[Play, Told]) -> None:
    play, told = asking
    for pod in play.pods("wide"):
        play.put(changed(pod, metadata={"annotations": {**HOUR, HOLD: "true"}}))
    play.wait(2)
    assert told.asking() == set()


def test_a_gang_that_loses_a_pod_asks_no_more(asking: tuple[Play, Told]) -> None:
    play, told = asking
    play.cluster.delete_pod(play.pods("wide")[0].metadata.uid)
    play.wait(2)
    assert told.asking() == set()
    assert told.waits["wide-7"][0] == "Gathering"


def test_a_gang_that_an_operator_cancels_asks_no_more(asking: tuple[Play, Told]) -> None:
    play, told = asking
    (job,) = play.shared.scheduler.jobs
    play.shared.send(Cancel(job))
    play.wait(2)
    assert told.asking() == set()
    assert told.waits["wide-7"][0] == "Cancelled"


def test_what_an_elastic_group_starts_without_asks_no_more(world: tuple[Play, Told]) -> None:
    play, told = world
    occupy(play)
    asked = {**HOUR, MIN_SIZE: "1", MAX_SIZE: "4"}
    play.put(*(one_pod(f"e-{n}", cpu="4", group="e", annotations=asked) for n in range(4)))
    play.wait(3)
    assert told.asking() == names("e", 0, 1, 2, 3)
    play.put(machine("n3"))
    play.wait(3)
    assert play.where("e") == ["", "", "", "n3"]
    assert told.asking() == set()
    assert "without 3 of its 4 pods" in str(told.waits.values())


def test_a_new_term_says_the_same(asking: tuple[Play, Told]) -> None:
    play, told = asking
    play.restart()
    told.waits.clear()
    told.listen()
    play.wait(3)
    assert told.asking() == names("wide", *range(30))


# -- Jobs that wait suspended ----------------------------------------------------------------------

RESUMING = QueueConfig(resume_for_growth=True)


def suspended(play: Play) -> dict[str, bool]:
    return {job.metadata.name: job.spec.suspend for job in play.cluster.jobs.values()}


def test_a_suspended_job_that_lacks_nodes_is_resumed_and_its_pods_ask() -> None:
    with two_nodes(RESUMING) as (play, told):
        occupy(play)
        play.put(a_job("train", pods=3, cpu="4"))
        play.wait(2)
        assert suspended(play) == {"train": True}, "it may start in a moment"
        play.wait(8)
        assert suspended(play) == {"train": False}
        assert told.asking() == {pod.metadata.name for pod in play.pods("train")}
        assert len(told.asking()) == 3
        assert told.about("Job/train", "Resumed")
        before = {pod.metadata.uid for pod in play.pods("train")}
        play.put(*(machine(f"m{n}") for n in range(3)))
        play.wait(2)
        assert play.where("train") == ["m0", "m1", "m2"]
        assert {pod.metadata.uid for pod in play.pods("train")} == before
        assert told.asking() == set()


def test_it_stays_suspended_if_nodes_would_not_help() -> None:
    one_at_a_time = QueueConfig(resume_for_growth=True, per_namespace=LimitConfig(running=1))
    with two_nodes(one_at_a_time) as (play, _):
        play.put(a_job("large", pods=3, cpu="4"), a_job("limited", pods=3, cpu="4"))
        play.put(a_job("held", pods=3, cpu="4", annotations={HOLD: "true"}))
        play.wait(10)
        assert suspended(play) == {"large": False, "limited": True, "held": True}


def test_a_job_with_a_deadline_stays_suspended() -> None:
    with two_nodes(RESUMING) as (play, _):
        play.put(a_job("train", pods=3, cpu="4", activeDeadlineSeconds=60))
        play.wait(10)
        assert suspended(play) == {"train": True}


@pytest.mark.parametrize(
    "queue", [QueueConfig(), QueueConfig(growth=False, resume_for_growth=True)]
)
def test_jobs_stay_suspended_unless_the_queue_says_otherwise(queue: QueueConfig) -> None:
    with two_nodes(queue) as (play, _):
        play.put(a_job("train", pods=3, cpu="4"))
        play.wait(10)
        assert suspended(play) == {"train": True}


def test_a_resumed_job_that_is_held_keeps_its_pods_and_they_ask_no_more() -> None:
    with two_nodes(RESUMING) as (play, told):
        play.put(a_job("train", pods=3, cpu="4"))
        play.wait(10)
        play.patch("train", {"metadata": {"annotations": {HOLD: "true"}}})
        play.wait(3)
        assert len(play.pods("train")) == 3 and told.asking() == set()
