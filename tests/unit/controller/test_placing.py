"""Groups start whole, where the queue said, and pods that are not as was thought start anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from msgspec.structs import replace

from fluxnetes.cluster.labels.names import COMPLETION_INDEX, EXCLUSIVE, HOLD, JOB, QUEUED, TASK
from tests.unit.cluster.builders import OTHERS, a_job, changed, machine, one_pod
from tests.unit.controller.fake_executor import Luck
from tests.unit.controller.play import TIMEOUTS, Play


@pytest.fixture
def play() -> Iterator[Play]:
    """Three nodes of four cpu."""
    with Play(machine("n1"), machine("n2"), machine("n3")) as play:
        yield play


# -- starting --------------------------------------------------------------------------------------


def test_a_job_is_let_go_and_its_pods_go_where_the_queue_said(play: Play) -> None:
    play.put(a_job("train", pods=3, cpu="2", completionMode="Indexed"))
    (job,) = play.cluster.jobs.values()
    assert not job.spec.suspend
    assert QUEUED not in job.metadata.annotations
    assert play.where("train") == ["n1", "n1", "n2"]
    assert play.states() == ["running"]


def test_pods_of_an_indexed_job_sit_in_the_order_of_their_numbers(play: Play) -> None:
    play.put(a_job("train", pods=3, cpu="4", completionMode="Indexed"))
    pods = play.pods("train")
    numbers = [pod.metadata.labels[COMPLETION_INDEX] for pod in pods]
    assert [pod.metadata.annotations[TASK] for pod in pods] == numbers
    assert [pod.spec.node_name for pod in pods] == ["n1", "n2", "n3"]
    assert {pod.metadata.annotations[JOB] for pod in pods} == {"1"}


def test_of_two_gangs_that_do_not_fit_together_one_waits_whole(play: Play) -> None:
    play.put(a_job("one", pods=2, cpu="3"), a_job("other", pods=2, cpu="3"))
    assert len(play.where("one")) == 2
    assert play.pods("other") == []
    play.end(*play.pods("one"))
    assert len(play.where("other")) == 2


def test_our_gate_is_removed_and_a_foreign_gate_is_waited_for(play: Play) -> None:
    gated = [{"name": QUEUED}]
    play.put(one_pod("a", schedulingGates=gated))
    assert play.where("a") == ["n1"]
    pod = one_pod("b", schedulingGates=[*gated, {"name": "someone/else"}])
    play.put(pod)
    assert play.where("b") == [""]
    play.put(changed(pod, spec={"schedulingGates": gated}))
    assert play.where("b") == ["n1"]


def test_a_pod_that_is_bound_is_not_bound_again_when_old_news_of_it_come_late(play: Play) -> None:
    """The rest of its group is not bound yet, so its binds are looked at again."""
    binds: list[str] = []
    play.executor.takes_off = lambda bind: binds.append(bind.name)
    play.executor.luck.extend([Luck.GOOD, Luck.STUCK])
    old = one_pod("a", group="ring", size=2, labels={"seen": "late"})
    for pod in (one_pod("a", group="ring", size=2), one_pod("b", group="ring", size=2)):
        play.cluster.put(pod)
    play.look()
    play.lags = {"pods"}
    for _ in range(3):
        play.step()
    play.cluster.now += 4
    play.watchers.model.put_pod(old)
    play.step()
    assert binds.count("a") == 1


def test_a_job_on_hold_waits_until_it_is_let_go(play: Play) -> None:
    play.put(a_job("train", annotations={HOLD: "true"}))
    assert play.states() == ["held"]
    play.patch("train", {"metadata": {"annotations": {HOLD: None}}})
    assert play.where("train") == ["n1"]


def test_what_a_job_says_of_itself_counts_for_its_pods(play: Play) -> None:
    play.put(a_job("alone", pods=2, annotations={EXCLUSIVE: "true"}), one_pod("other"))
    assert play.where("alone") == ["n1", "n2"]
    assert play.where("other") == ["n3"]


def test_a_job_that_is_made_anew_while_its_old_pods_go_starts_whole(play: Play) -> None:
    play.cluster.stop_time = 3
    old, new = (a_job("train", uid=uid, pods=3, cpu="3") for uid in ("u1", "u2"))
    play.put(old)
    play.wait(1)
    play.drop(play.cluster.jobs["u1"])
    play.put(new)
    assert len(play.pods("train")) == 3, "only those of the old one, which go"
    play.wait(6)
    assert play.where("train") == ["n1", "n2", "n3"]
    assert {
        pod.metadata.controller.uid for pod in play.pods("train") if pod.metadata.controller
    } == {"u2"}


# -- pods that are not as was thought --------------------------------------------------------------


def test_pods_that_admission_changed_are_placed_anew_and_all_together(play: Play) -> None:
    play.cluster.usual = "3"
    play.put(a_job("train", pods=3, cpu="1"))
    assert play.where("train") == ["n1", "n2", "n3"]
    assert play.states() == ["running"], "one job of the queue, whatever its pods turned out to be"


def test_pods_that_admission_made_too_large_wait_together(play: Play) -> None:
    play.put(one_pod("before", cpu="2"))
    play.cluster.usual = "3"
    play.put(a_job("train", pods=3, cpu="1"))
    assert play.where("train") == ["", "", ""]


def test_a_group_of_which_a_pod_is_deleted_while_it_is_written_down_does_not_start(
    play: Play,
) -> None:
    play.meanwhile = lambda: play.cluster.delete_pod("uid-default-b")
    play.put(one_pod("a", group="ring", size=2), one_pod("b", group="ring", size=2))
    assert play.where("ring") == [""]
    play.put(one_pod("c", group="ring", size=2))
    assert play.where("ring") == ["n1", "n1"]


def test_a_late_pod_that_no_node_can_serve_is_asked_for_once(play: Play) -> None:
    play.put(one_pod("a", group="ring", size=1))
    play.put(one_pod("b", group="ring", size=1, cpu="64"))
    play.wait(3)
    assert play.states() == ["running", "pending"]


# -- jobs that change ------------------------------------------------------------------------------


def test_a_job_that_is_made_smaller_before_it_starts_gives_back_what_it_does_not_need(
    play: Play,
) -> None:
    job = a_job("train", pods=3, cpu="4")
    smaller = {"spec": {"parallelism": 1}}
    play.meanwhile = lambda: play.cluster.patch_job(job.metadata.uid, smaller)
    play.put(job)
    assert play.where("train") == ["n1"]
    play.put(a_job("other", pods=2, cpu="4"))
    assert play.where("other") == ["n2", "n3"]


def test_a_job_that_is_made_nothing_of_holds_nothing(play: Play) -> None:
    job = a_job("train", pods=3, cpu="4")
    nothing = {"spec": {"parallelism": 0}}
    play.meanwhile = lambda: play.cluster.patch_job(job.metadata.uid, nothing)
    play.put(job)
    play.put(a_job("other", pods=3, cpu="4"))
    assert play.where("other") == ["n1", "n2", "n3"]


def test_pods_of_a_job_that_is_made_larger_are_queued_as_a_part_of_their_own(play: Play) -> None:
    play.put(a_job("train", pods=1, completions=5, cpu="3"))
    play.patch("train", {"spec": {"parallelism": 3}})
    assert play.where("train") == ["n1", "n2", "n3"]
    assert play.states() == ["running", "running"]


# -- binds -----------------------------------------------------------------------------------------


def test_a_bind_without_an_answer_is_seen_by_the_watch(play: Play) -> None:
    play.executor.luck.extend([Luck.MUTE])
    play.put(one_pod("a"))
    assert play.where("a") == ["n1"]
    assert play.states() == ["running"]


def test_a_bind_that_fails_is_tried_until_it_works(play: Play) -> None:
    play.executor.luck.extend([Luck.BAD, Luck.BAD, Luck.BAD])
    play.put(one_pod("a"))
    assert play.where("a") == ["n1"]


def test_a_pod_that_another_scheduler_binds_counts_where_it_is(play: Play) -> None:
    pod = one_pod("a", cpu="4")
    play.executor.luck.extend([Luck.SLOW])
    play.cluster.put(pod)
    play.step()
    play.cluster.bind(pod.metadata.uid, "n2", 0, 0)
    play.settle()
    play.put(a_job("train", pods=2, cpu="4"))
    assert play.where("train") == ["n1", "n3"]


def test_others_that_come_while_a_decision_is_written_down_count(play: Play) -> None:
    other = one_pod("other", scheduler=OTHERS, node="n1", cpu="4")
    play.meanwhile = lambda: play.cluster.put(other)
    play.put(one_pod("a", cpu="4"))
    assert play.where("a") == ["n2"]


def test_a_group_whose_room_others_took_is_placed_anew_whole_or_waits_whole(play: Play) -> None:
    other = one_pod("other", scheduler=OTHERS, node="n1", cpu="4")
    play.meanwhile = lambda: play.cluster.put(other)
    play.put(a_job("train", pods=3, cpu="4"))
    assert "n1" not in play.where("train")
    play.wait(10)
    assert set(play.where("train")) <= {""}
    play.drop(play.cluster.pods[other.metadata.uid])
    play.wait(1)
    assert play.where("train") == ["n1", "n2", "n3"]


def test_an_unknown_key_of_ours_is_refused_and_other_groups_are_not_affected(
    play: Play,
) -> None:
    bad = one_pod("bad", annotations={"fluxnetes.io/walltime": "soon"})
    play.put(bad, one_pod("good"))
    assert (play.where("bad"), play.where("good")) == ([""], ["n1"])
    fixed = replace(bad, metadata=replace(bad.metadata, annotations={}))
    play.put(fixed)
    assert play.where("bad") == ["n1"]


# -- stalling --------------------------------------------------------------------------------------


def test_a_job_of_which_no_pods_come_is_tried_again_later_and_later(play: Play) -> None:
    """A quota may be in the way. Others use the nodes meanwhile."""
    play.lags = {"pods"}
    play.put(a_job("stuck", pods=3, cpu="4"))
    assert play.states() == ["allocated"]
    stall, again = int(TIMEOUTS.stalled_group), int(TIMEOUTS.retry_delay)
    play.wait(stall + 2)
    assert play.states() == ["allocated"]  # for the second time
    play.wait(stall + 1)
    assert play.states() == ["pending"]
    play.lags = set()
    play.put(a_job("other", pods=3, cpu="4"))
    assert play.where("other") == ["n1", "n2", "n3"]
    play.end(*play.pods("other"))
    play.wait(again)
    assert play.where("stuck") == ["n1", "n2", "n3"]


def test_the_pause_of_one_who_stalls_grows_and_has_an_end(play: Play) -> None:
    play.lags = {"pods"}
    play.put(a_job("stuck"))
    started: list[int] = []
    for _ in range(300):
        job = play.shared.scheduler.jobs[1]
        if job.start is not None and job.start not in started:
            started.append(job.start)
        play.wait()
    pauses = [after - before for before, after in pairwise(started)]
    stalls = pauses[0]
    assert [pause - stalls for pause in pauses[1:6]] == [
        pytest.approx(times * TIMEOUTS.retry_delay, abs=1) for times in (1, 3, 7, 10, 10)
    ]
