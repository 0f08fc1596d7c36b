"""The walltime of a running job follows its annotation, or an event says why not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from fluxnetes.cluster.labels.names import WALLTIME
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, SchedulerConfig
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.play import Play

CONFIG = SchedulerConfig(
    queues=(QueueConfig(grace=2, policy=BackfillPolicy.EASY, max_walltime=100),)
)


@pytest.fixture
def play() -> Iterator[Play]:
    """A node that a job with a walltime of 20 s holds."""
    with Play(machine("n1"), config=CONFIG) as play:
        play.put(a_job("train", cpu="4", annotations={WALLTIME: "20s"}))
        play.wait(5)
        assert play.states() == ["running"]
        yield play


def ask(play: Play, walltime: str | None, **spec: int) -> None:
    play.patch("train", {"metadata": {"annotations": {WALLTIME: walltime}}, "spec": spec})


def walltime(play: Play) -> int | None:
    return play.shared.scheduler.jobs[1].walltime


def events(play: Play) -> list[tuple[str, str]]:
    """Reason and note of the events about walltimes since the last call."""
    queued = play.controller.reporter.reports.events._queue
    found = [queued.get_nowait() for _ in range(queued.qsize())]
    return [(each.reason, each.note) for each in found if each.reason.startswith("Walltime")]


def test_a_job_that_asks_for_more_time_gets_it(play: Play) -> None:
    ask(play, "60s")
    assert walltime(play) == 60
    assert events(play) == [("WalltimeChanged", "Altered: walltime 60 s")]
    play.wait(40)
    assert play.states() == ["running"]
    play.wait(20)
    assert play.states() == ["timed out"]


def test_a_job_that_asks_for_less_time_ends_earlier(play: Play) -> None:
    ask(play, "10s")
    play.wait(9)
    assert play.states() == ["timed out"]


def test_a_restart_changes_nothing(play: Play) -> None:
    ask(play, "60s")
    play.restart()
    play.wait(40)
    assert play.states() == ["running"]


def test_what_is_asked_while_no_controller_runs_counts(play: Play) -> None:
    play.cluster.patch_job(
        "uid-default-job-train", {"metadata": {"annotations": {WALLTIME: "60s"}}}
    )
    play.restart()
    play.wait(40)
    assert play.states() == ["running"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("200s", "Limit: the walltime stays: a walltime of 200 s; queue default allows 100"),
        ("3s", "Invalid: the walltime stays: it has already run for 5 s"),
    ],
)
def test_what_the_queue_refuses_it_refuses_once(play: Play, asked: str, why: str) -> None:
    ask(play, asked)
    play.wait(2)
    assert walltime(play) == 20
    assert events(play) == [("WalltimeRefused", why)]


def test_more_time_that_delays_a_promised_job_is_refused(play: Play) -> None:
    play.put(a_job("next", cpu="4", annotations={WALLTIME: "10s"}))
    ask(play, "60s")
    assert walltime(play) == 20
    assert events(play) == [
        (
            "WalltimeRefused",
            "Promised: the walltime stays: more time would delay jobs that were promised a start",
        )
    ]
    play.wait(25)
    assert play.states() == ["timed out", "running"]


def test_a_deadline_of_the_job_itself_limits_it(play: Play) -> None:
    ask(play, None, activeDeadlineSeconds=40)
    assert walltime(play) == 40, "without the annotation it counts by itself"
    ask(play, "60s")
    assert walltime(play) == 40
    assert events(play)[-1] == (
        "WalltimeRefused",
        "Limit: the walltime stays: activeDeadlineSeconds of job train ends it after 40 s",
    )


def test_a_deadline_of_a_pod_limits_it_and_its_annotation_counts() -> None:
    with Play(machine("n1"), config=CONFIG) as play:
        play.put(one_pod("solo", activeDeadlineSeconds=30))
        play.wait(2)
        annotate(play, "20s")
        assert walltime(play) == 20
        annotate(play, "31s")
        assert walltime(play) == 20
        assert events(play)[-1] == (
            "WalltimeRefused",
            "Limit: the walltime stays: activeDeadlineSeconds of pod solo ends it after 30 s",
        )
        annotate(play, "soon")
        assert walltime(play) == 20


def annotate(play: Play, walltime: str) -> None:
    (pod,) = play.pods("solo")
    play.put(_annotated(pod, walltime))


def _annotated(pod: Pod, walltime: str) -> Pod:
    annotations = {**pod.metadata.annotations, WALLTIME: walltime}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))
