"""A gang that loses a pod without capacity for another says so, and does what it asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.labels.names import INCOMPLETE
from fluxnetes.common.reasons import code_of
from fluxnetes.kube.objects.jobs import Job
from tests.unit.cluster.builders import a_job, machine
from tests.unit.controller.play import TIMEOUTS, Play

LONG = int(TIMEOUTS.incomplete) + 8


@pytest.fixture
def play() -> Iterator[Play]:
    with Play(machine("n1"), machine("n2"), machine("n3")) as play:
        yield play


def drained(play: Play, action: str | None = None) -> None:
    """A gang on all nodes, of which one is drained; another job waits meanwhile."""
    asked = {} if action is None else {INCOMPLETE: action}
    play.put(a_job("train", pods=3, cpu="4", annotations=asked))
    play.put(a_job("other", cpu="4"))
    play.wait(2)
    assert play.where("train") == ["n1", "n2", "n3"]
    play.put(machine("n1", cordoned=True))
    evicted = next(pod for pod in play.pods("train") if pod.spec.node_name == "n1")
    play.cluster.delete_pod(evicted.metadata.uid)
    play.wait(2)


def code(play: Play) -> str:
    return code_of(play.shared.scheduler.jobs[1].reason)


def the_job(play: Play) -> Job:
    return next(job for job in play.cluster.jobs.values() if job.metadata.name == "train")


def test_it_says_so_at_once(play: Play) -> None:
    drained(play)
    assert play.where("train") == ["", "n2", "n3"]
    assert code(play) == "Incomplete"
    reason = play.shared.scheduler.jobs[1].reason
    assert str(reason) == "it runs without 1 of its 3 pods, which wait for capacity"
    queued = play.controller.reporter.reports.events._queue
    events = [queued.get_nowait() for _ in range(queued.qsize())]
    about = {event.regarding.kind for event in events if event.reason == "Incomplete"}
    assert about == {"Job", "Pod"}


def test_what_is_missing_is_placed_before_all_others(play: Play) -> None:
    drained(play)
    play.put(machine("n4"))
    assert play.where("train") == ["n2", "n3", "n4"]
    assert play.where("other") == []
    play.wait(1)
    assert code(play) == ""


def test_by_default_it_waits(play: Play) -> None:
    drained(play)
    play.wait(LONG)
    assert play.where("train") == ["", "n2", "n3"]
    assert code(play) == "Incomplete"


@pytest.mark.parametrize("restarted", [False, True], ids=["", "restarted"])
def test_it_goes_back_to_the_queue_as_a_whole_if_it_asked_for_that(
    play: Play, restarted: bool
) -> None:
    drained(play, "requeue")
    if restarted:
        play.restart()
    assert code(play) == "Incomplete"
    play.wait(LONG)
    assert [node for node in play.where("train") if node] == []
    assert len(play.where("other")) == 1, "others use what it held"
    play.end(*play.pods("other"))
    play.put(machine("n1"))
    play.wait(3)
    assert play.where("train") == ["n1", "n2", "n3"]
    assert the_job(play).status.failed == 1, "only the pod that was evicted"
    assert code(play) != "Incomplete"


def test_pods_that_go_at_the_moment_at_which_it_goes_back_do_no_harm(play: Play) -> None:
    drained(play, "requeue")
    for _ in range(LONG):
        for pod in play.pods("train"):
            if pod.spec.node_name == "n2":
                play.cluster.drop(pod)
        play.wait(1)
    assert play.states()[0] in ("pending", "running")


@pytest.mark.parametrize("restarted", [False, True], ids=["", "restarted"])
def test_it_fails_if_it_asked_for_that(play: Play, restarted: bool) -> None:
    drained(play, "fail")
    if restarted:
        play.restart()
    play.wait(LONG)
    end = the_job(play).end
    assert end is not None and end.type == "Failed"
    assert play.states()[0] == "failed"
    assert len(play.where("other")) == 1


def test_it_is_not_ended_if_it_is_complete_in_time(play: Play) -> None:
    drained(play, "fail")
    play.put(machine("n4"))
    play.wait(LONG)
    assert play.where("train") == ["n2", "n3", "n4"]


def test_a_job_that_is_made_larger_is_not_incomplete(play: Play) -> None:
    play.put(a_job("train", pods=3, completions=9, cpu="4", annotations={INCOMPLETE: "fail"}))
    play.wait(2)
    play.patch("train", {"spec": {"parallelism": 4}})
    play.wait(LONG)
    assert play.where("train") == ["", "n1", "n2", "n3"]
    assert code(play) == ""


def test_an_elastic_job_above_its_minimum_is_not_incomplete(play: Play) -> None:
    asked = {INCOMPLETE: "fail", "fluxnetes.io/min-size": "2"}
    play.put(a_job("train", pods=3, cpu="4", annotations=asked))
    play.wait(2)
    play.put(machine("n1", cordoned=True))
    evicted = next(pod for pod in play.pods("train") if pod.spec.node_name == "n1")
    play.cluster.delete_pod(evicted.metadata.uid)
    play.wait(LONG)
    assert [node for node in play.where("train") if node] == ["n2", "n3"]
    assert code(play) == ""


def test_pods_that_have_succeeded_are_not_missing(play: Play) -> None:
    play.put(a_job("train", pods=3, cpu="4", annotations={INCOMPLETE: "fail"}))
    play.wait(2)
    play.end(play.pods("train")[0])
    play.wait(LONG)
    assert len(play.pods("train")) == 2
    assert code(play) == ""
