"""Pods of a job that was rejected never start, and say why for as long as they are there."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.labels.names import WALLTIME
from fluxnetes.controller.actions.types import ChangeWorkload
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.play import Play

STRICT = SchedulerConfig(queues=(QueueConfig(grace=2, max_walltime=10),))


def message_of(play: Play, pod: Pod) -> str:
    """What the condition of a pod is to say."""
    wanted = play.controller.reporter.reports.conditions._wanted.values()
    return next((each.message for each in wanted if pod.key in each.pods()), "")


@pytest.mark.parametrize("restarted", [False, True], ids=["", "restarted"])
def test_pods_of_a_job_that_was_rejected_before_they_came_say_why(restarted: bool) -> None:
    job = a_job("train", suspended=False, queued=False, annotations={WALLTIME: "20s"})
    with Play(machine("n1"), config=STRICT) as play:
        play.put(job)
        play.wait(2)
        if restarted:
            play.restart()
            play.wait(1)
        (pod,) = play.pods("train")
        why = "Limit: rejected: a walltime of 20 s; queue default allows 10"
        assert message_of(play, pod) == why


def test_the_condition_of_a_pod_that_was_rejected_is_not_withdrawn() -> None:
    with Play(machine("n1"), config=STRICT) as play:
        play.put(one_pod("solo", annotations={WALLTIME: "20s"}))
        play.wait(2)
        (pod,) = play.pods("solo")
        assert message_of(play, pod).startswith("Limit: rejected: ")
        play.drop(pod)
        assert not play.controller.reporter.reports.conditions._wanted


def test_an_owner_that_cannot_be_changed_is_named_by_its_own_version() -> None:
    with Play(machine("n1")) as play:
        change = ChangeWorkload("JobSet", "default", "set", "uid-set", {}, "it waits")
        play.controller.reporter.action_failed(change, "forbidden")
        event = play.controller.reporter.reports.events._queue.get_nowait()
        regarding = event.regarding
        assert (regarding.api_version, regarding.kind) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
