"""The deadline of a Job counts from its start, not from when it came to the queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from fluxnetes.cluster.labels.names import GROUP, GROUP_SIZE, HOLD, QUEUED
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.jobs import Job
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.fake_executor import Luck
from tests.unit.controller.play import Play

DEADLINE = 10


def with_deadline(name: str, *, owner: Owner | None = None, **more: Any) -> Job:
    """A Job that names our scheduler, as its user wrote it."""
    more = {"cpu": "4", **more}
    more = {"suspended": False, "activeDeadlineSeconds": DEADLINE, **more}
    job = a_job(name, queued=False, **more)
    owners = () if owner is None else (owner,)
    return replace(job, metadata=replace(job.metadata, owner_references=owners))


@pytest.fixture
def play() -> Iterator[Play]:
    """One node of four cpu, which a pod takes."""
    with Play(machine("n1")) as play:
        play.put(one_pod("full", cpu="4"))
        yield play


def the_job(play: Play, name: str = "late") -> Job:
    return next(job for job in play.cluster.jobs.values() if job.metadata.name == name)


def notes(play: Play, reason: str) -> list[str]:
    """The notes of events of some reason that were recorded in this term."""
    queued = play.controller.reporter.reports.events._queue
    events = [queued.get_nowait() for _ in range(queued.qsize())]
    return [event.note for event in events if event.reason == reason]


def runs_for(play: Play, name: str = "late") -> int:
    """Seconds until a Job ends by its deadline."""
    for seconds in range(100):
        if the_job(play, name).end is not None:
            return seconds
        play.wait(1)
    raise AssertionError("it goes on for ever")


def test_a_job_that_waits_outlives_its_deadline_and_has_all_of_it_once_it_starts(
    play: Play,
) -> None:
    play.put(with_deadline("late", pods=1))
    job = the_job(play)
    assert job.spec.suspend
    assert job.metadata.annotations[QUEUED] == "true"
    assert job.spec.active_deadline_seconds == DEADLINE, "it is the user's"
    assert play.pods("late") == []
    play.wait(3 * DEADLINE)
    assert play.states() == ["running", "pending"]
    play.end(*play.pods("full"))
    assert play.where("late") == ["n1"]
    assert QUEUED not in the_job(play).metadata.annotations
    assert runs_for(play) == pytest.approx(DEADLINE, abs=1)
    assert the_job(play).status.failed == 0, "nothing of its backoffLimit was spent"


def test_a_job_that_starts_when_it_is_first_seen_is_not_suspended() -> None:
    with Play(machine("n1")) as play:
        play.put(with_deadline("late"))
        assert play.where("late") == ["n1"]
        assert play.cluster.made == 1, "its pod was not created again"


def test_a_job_without_a_deadline_of_its_own_is_not_suspended(play: Play) -> None:
    job = a_job("late", cpu="4", suspended=False, queued=False, pod={"activeDeadlineSeconds": 5})
    play.put(job)
    assert not the_job(play).spec.suspend


@pytest.mark.parametrize("luck", [Luck.SLOW, Luck.STUCK, Luck.BAD, Luck.MUTE])
def test_a_job_that_may_start_while_it_is_being_suspended_starts(play: Play, luck: Luck) -> None:
    play.cluster.put(with_deadline("late"))
    play.step()
    play.executor.luck.append(luck)
    play.look()
    play.end(*play.pods("full"))
    play.wait(8)
    assert play.where("late") == ["n1"]
    assert QUEUED not in the_job(play).metadata.annotations
    assert play.states() == ["completed", "running"]


def test_a_job_on_hold_does_not_use_up_its_deadline() -> None:
    with Play(machine("n1")) as play:
        play.put(with_deadline("late", annotations={HOLD: "true"}))
        play.wait(2 * DEADLINE)
        play.patch("late", {"metadata": {"annotations": {HOLD: None}}})
        assert play.where("late") == ["n1"]
        assert runs_for(play) == pytest.approx(DEADLINE, abs=1)


def test_jobs_that_wait_for_the_rest_of_their_group_do_not_use_up_their_deadline() -> None:
    ring = {GROUP: "ring", GROUP_SIZE: "2"}
    with Play(machine("n1")) as play:
        play.put(with_deadline("late", labels=ring, cpu="1"))
        play.wait(2 * DEADLINE)
        play.put(with_deadline("later", labels=ring, cpu="1"))
        play.wait(1)
        assert (play.where("late"), play.where("later")) == (["n1"], ["n1"])


def test_a_job_that_goes_back_to_the_queue_does_not_use_up_its_deadline() -> None:
    with Play(machine("n1"), machine("n2")) as play:
        play.put(with_deadline("late", pods=2))
        play.wait(2)
        play.drop(play.cluster.nodes["n1"])
        play.wait(3 * DEADLINE)
        assert play.states() == ["pending"]
        play.put(machine("n1"))
        play.wait(1)
        assert play.where("late") == ["n1", "n2"]


def test_a_job_whose_pods_admission_makes_too_large_for_now_is_not_tried_again_and_again(
    play: Play,
) -> None:
    play.put(machine("n2", cpu="1"))
    play.cluster.usual = "4"
    play.put(with_deadline("late", cpu="1"))
    play.wait(2 * DEADLINE)
    assert play.states() == ["running", "pending"]
    assert play.cluster.made <= 2, "its pods were created to see what they ask for"
    play.end(*play.pods("full"))
    assert play.where("late") == ["n1"]


def test_a_job_that_goes_while_it_is_being_suspended_is_forgotten(play: Play) -> None:
    play.cluster.put(with_deadline("late"))
    play.look()
    play.look()
    assert play.shared._suspending
    play.drop(the_job(play))
    play.wait(6)
    assert not play.shared._suspending


def test_a_new_term_suspends_what_an_earlier_one_did_not(play: Play) -> None:
    play.cluster.put(with_deadline("late"))
    play.cluster.control()
    play.restart()
    play.wait(2 * DEADLINE)
    assert play.states() == ["running", "pending"]


def test_time_that_passed_while_no_controller_ran_is_lost_and_the_job_says_so() -> None:
    with Play(machine("n1")) as play:
        play.cluster.put(with_deadline("late", activeDeadlineSeconds=60))
        for _ in range(20):
            play.cluster.pass_time()
        play.settle()
        assert play.where("late") == ["n1"]
        assert notes(play, "DeadlineRuns") == [
            "activeDeadlineSeconds also counts time before the start: "
            "19 s of it had passed before a controller saw it"
        ]


# -- owners ----------------------------------------------------------------------------------------

JOB_SET = Owner("jobset.x-k8s.io/v1alpha2", "JobSet", "set", "uid-set", controller=True)
CRON_JOB = Owner("batch/v1", "CronJob", "nightly", "uid-cron", controller=True)
OTHER = Owner("example.com/v1", "Pipeline", "pipe", "uid-pipe", controller=True)


def test_the_owner_of_a_job_is_suspended_where_it_would_resume_the_job(play: Play) -> None:
    play.put(with_deadline("late", owner=JOB_SET))
    play.wait(2 * DEADLINE)
    assert play.cluster.suspended_job_sets == {"uid-set": True}
    assert play.states() == ["running", "pending"]
    play.end(*play.pods("full"))
    play.wait(2)
    assert play.cluster.suspended_job_sets == {"uid-set": False}
    assert play.where("late") == ["n1"]
    assert QUEUED not in the_job(play).metadata.annotations


def test_a_suspended_owner_of_a_user_stays_suspended(play: Play) -> None:
    play.cluster.suspended_job_sets["uid-set"] = True
    play.put(with_deadline("late", owner=JOB_SET, suspended=True))
    play.end(*play.pods("full"))
    play.wait(2 * DEADLINE)
    assert play.cluster.suspended_job_sets == {"uid-set": True}
    assert play.pods("late") == []


def test_an_owner_is_not_suspended_while_another_of_its_jobs_runs(play: Play) -> None:
    play.put(machine("n2"), with_deadline("first", owner=JOB_SET))
    assert play.where("first") == ["n2"]
    play.put(with_deadline("late", owner=JOB_SET))
    assert not play.cluster.suspended_job_sets
    assert play.where("first") == ["n2"]
    assert "other workloads of JobSet set run" in notes(play, "DeadlineRuns")[0]


def test_an_owner_that_leaves_its_jobs_alone_is_left_alone(play: Play) -> None:
    play.put(with_deadline("late", owner=CRON_JOB))
    play.wait(2 * DEADLINE)
    assert the_job(play).metadata.annotations[QUEUED] == "true"


def test_an_owner_that_cannot_be_suspended_is_named(play: Play) -> None:
    play.put(with_deadline("late", owner=OTHER))
    assert not the_job(play).spec.suspend
    assert "its owner Pipeline pipe cannot be suspended" in notes(play, "DeadlineRuns")[0]
