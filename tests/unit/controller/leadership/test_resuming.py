"""A controller that was killed goes on where it was, whatever happened meanwhile.

Each of these was found by the crash tests (`tests/integration/crash`) before it was a test here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.labels.names import WALLTIME
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import JobState
from tests.unit.cluster.builders import OTHERS, a_job, machine, one_pod
from tests.unit.controller.fake_executor import Luck
from tests.unit.controller.play import Play


@pytest.fixture
def play() -> Iterator[Play]:
    """Two nodes of four cores."""
    with Play(machine("n1"), machine("n2")) as play:
        yield play


def gang(play: Play, size: int = 2, options: dict[str, str] | None = None) -> None:
    """A group of pods comes."""
    for number in range(size):
        play.cluster.put(one_pod(f"g{number}", group="g", size=size, annotations=options))


def jobs(play: Play) -> list[QueueJob]:
    """All that the queue ever had."""
    return sorted(play.store.keeper.jobs.values(), key=lambda job: job.id)


def bound(play: Play) -> list[Pod]:
    return [pod for pod in play.cluster.ours if pod.spec.node_name]


def end_all(play: Play) -> None:
    for pod in bound(play):
        if not pod.is_over:
            play.cluster.end_pod(pod.metadata.uid, "Succeeded")


def states(play: Play) -> list[JobState]:
    return [job.state for job in jobs(play)]


# -- what ended without a controller -------------------------------------------------------------


def test_pods_that_ended_without_a_controller_end_their_job(play: Play) -> None:
    gang(play)
    play.wait()
    assert len(bound(play)) == 2
    end_all(play)
    play.restart()
    play.wait()
    assert states(play) == [JobState.COMPLETED]


def test_a_pod_that_failed_without_a_controller_fails_its_job(play: Play) -> None:
    gang(play)
    play.wait()
    first, second = bound(play)
    play.cluster.end_pod(first.metadata.uid, "Failed")
    play.cluster.end_pod(second.metadata.uid, "Succeeded")
    play.restart()
    play.wait()
    assert states(play) == [JobState.FAILED]


def test_a_job_that_went_on_without_a_controller_has_not_failed(play: Play) -> None:
    play.cluster.put(a_job("train", pods=2, completions=4))
    play.wait(2)
    end_all(play)
    play.cluster.pass_time()
    play.restart()
    play.wait(2)
    end_all(play)
    play.wait(2)
    assert states(play) == [JobState.COMPLETED]


def test_pods_of_a_job_that_were_cleared_away_without_a_controller_have_not_failed(
    play: Play,
) -> None:
    """One more is to come, so one seat is not needed any more."""
    play.cluster.put(a_job("train", pods=2, completions=3))
    play.wait(2)
    end_all(play)
    play.cluster.control()
    for pod in [pod for pod in play.cluster.ours if pod.is_over]:
        play.cluster.drop(pod)
    play.restart()
    play.wait(2)
    end_all(play)
    play.wait(2)
    assert states(play) == [JobState.COMPLETED]


def test_pods_of_a_job_that_was_deleted_without_a_controller_do_not_start(play: Play) -> None:
    """The garbage collector takes longer to notice than we do to start."""
    play.cluster.put(one_pod("theirs", cpu="4", scheduler=OTHERS, node="n1"))
    play.cluster.put(one_pod("more", cpu="4", scheduler=OTHERS, node="n2"))
    job = play.cluster.put(a_job("train", pods=2, suspended=False, queued=False))
    play.wait()
    left = [pod for pod in play.cluster.ours if not pod.spec.node_name]
    assert len(left) == 2
    play.cluster.delete_job(job.metadata.uid)
    play.cluster.delete_pod("uid-default-theirs")
    play.cluster.control = lambda: None  # type: ignore[method-assign]
    play.restart()
    play.wait(5)
    assert len(play.cluster.ours) == 2 and not bound(play)


# -- patience --------------------------------------------------------------------------------------


def test_what_is_half_done_is_finished_and_not_given_up(play: Play) -> None:
    gang(play)
    play.executor.luck.extend([Luck.GOOD, Luck.STUCK])
    for _ in range(4):
        play.step()
    assert len(bound(play)) == 1
    play.cluster.now += 100
    play.restart()
    play.executor.luck.append(Luck.SLOW)
    play.wait()
    assert len(bound(play)) == 2
    assert states(play) == [JobState.RUNNING]


def test_a_job_whose_time_went_by_before_it_could_start_waits_for_it_again(play: Play) -> None:
    gang(play, options={WALLTIME: "10"})
    play.executor.luck.extend([Luck.STUCK, Luck.STUCK])
    for _ in range(3):
        play.step()
    assert states(play) == [JobState.ALLOCATED]
    play.cluster.now += 20
    play.executor = type(play.executor)(
        play.cluster, play.clock.monotonic
    )  # what was asked is lost
    play.restart()
    play.wait()
    assert states(play) == [JobState.RUNNING]
    assert len(bound(play)) == 2


# -- one job for one group -------------------------------------------------------------------------


def test_a_pod_that_comes_together_with_the_end_of_another_takes_its_seat(play: Play) -> None:
    play.cluster.put(a_job("train", pods=1, completions=3))
    for _ in range(3):
        play.wait(2)
        play.lags.add("pods")
        end_all(play)
        play.cluster.pass_time()
        play.lags.clear()
    play.wait(2)
    assert states(play) == [JobState.COMPLETED]


def test_a_job_that_is_out_of_time_asks_for_no_more_pods(play: Play) -> None:
    play.cluster.put(a_job("train", pods=2, annotations={WALLTIME: "5"}))
    play.wait(30)
    assert states(play) == [JobState.TIMED_OUT]
