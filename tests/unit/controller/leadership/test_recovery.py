"""A controller that is killed at any moment is followed by one that finishes what it had begun."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from fluxnetes.queue.events import Started
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.fake_executor import Luck
from tests.unit.controller.play import Crash, Play


@pytest.fixture
def play() -> Iterator[Play]:
    """Two nodes of four cpu."""
    with Play(machine("n1"), machine("n2")) as play:
        yield play


def crash() -> None:
    raise Crash


def crash_before(play: Play) -> None:
    play.store.before_commit = crash


def crash_after(play: Play) -> None:
    play.store.after_commit = crash


@pytest.mark.parametrize("crashes", [crash_before, crash_after])
def test_a_decision_is_made_again_or_carried_out(
    play: Play, crashes: Callable[[Play], None]
) -> None:
    crashes(play)
    with pytest.raises(Crash):
        play.put(a_job("train", pods=2, cpu="4"))
    assert play.pods("train") == []
    play.store.before_commit = play.store.after_commit = lambda: None
    play.restart()
    play.settle()
    assert play.where("train") == ["n1", "n2"]
    assert play.states() == ["running"]


def test_half_of_a_gang_that_was_bound_is_filled_up(play: Play) -> None:
    play.executor.luck.extend([Luck.GOOD, Luck.GOOD, Luck.STUCK])
    play.cluster.put(a_job("train", pods=2, cpu="4"))
    for _ in range(6):
        play.step()
    assert play.where("train") == ["", "n1"]
    play.executor._flights.clear()
    play.restart()
    play.settle()
    assert play.where("train") == ["n1", "n2"]


def test_a_bind_that_is_done_after_the_controller_is_gone_counts(play: Play) -> None:
    play.executor.luck.extend([Luck.SLOW])
    play.cluster.put(one_pod("a", cpu="4"))
    play.step()
    play.restart()
    play.settle()
    assert play.where("a") == ["n1"]
    play.put(a_job("train", pods=2, cpu="4"))
    assert play.pods("train") == []


@pytest.mark.parametrize("empty", [False, True])
def test_what_runs_goes_on_and_what_waits_waits(play: Play, empty: bool) -> None:
    play.put(a_job("train", pods=2, cpu="3"), a_job("next", pods=2, cpu="3"))
    play.wait(1)
    play.restart(empty=empty)
    play.wait(2)
    assert play.where("train") == ["n1", "n2"]
    assert play.states() == ["running", "pending"]
    play.end(*play.pods("train"))
    play.wait(1)
    assert play.where("next") == ["n1", "n2"]


@pytest.mark.parametrize("empty", [False, True])
def test_what_ended_is_not_started_again(play: Play, empty: bool) -> None:
    play.put(a_job("train"), one_pod("a"), one_pod("b", group="ring", size=1))
    play.wait(1)
    play.end(*play.pods("train"), *play.pods("a"), *play.pods("ring"))
    play.restart(empty=empty)
    play.wait(2)
    assert play.pods("train") == []
    assert not play.shared.parts


def test_what_no_node_can_serve_waits_and_starts_when_one_comes(play: Play) -> None:
    play.put(a_job("train", cpu="64"))
    play.restart()
    play.wait(2)
    assert play.states() == ["pending"]
    assert play.pods("train") == []
    play.put(machine("large", cpu="64"))
    assert play.where("train") == ["large"]


def test_a_task_that_ends_right_after_a_job_was_taken_over_is_over(play: Play) -> None:
    """Before the queue has decided anything in the new term."""
    play.put(a_job("train", pods=2, cpu="3"))
    play.wait(1)
    play.restart(empty=True)
    play.end(play.pods("train")[0])
    assert play.states() == ["running"]
    play.put(one_pod("a", cpu="4"))
    assert play.where("a") == ["n1"]


def test_what_was_deleted_meanwhile_is_over(play: Play) -> None:
    play.put(a_job("train", pods=2, cpu="4"))
    for job in list(play.cluster.jobs):
        play.cluster.delete_job(job)
    play.restart()
    play.wait(3)
    assert not play.shared.parts
    assert not play.shared.matcher.jobs


def test_no_number_is_given_twice(play: Play) -> None:
    play.put(one_pod("a"))
    play.restart(empty=True)
    play.put(one_pod("b"))
    assert len(play.states()) == 2
    assert play.shared.send(Started(1)) and play.shared.send(Started(2))
