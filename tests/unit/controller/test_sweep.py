"""A group that every other module forgot is found, looked at again, and counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.groups import ClosedGroup
from tests.unit.cluster.builders import a_job, machine, one_pod
from tests.unit.controller.play import Play

INTERVAL = 31


@pytest.fixture
def play() -> Iterator[Play]:
    with Play(machine("n1")) as play:
        yield play


def test_a_forgotten_job_is_placed_and_counted(play: Play) -> None:
    play.put(one_pod("full", cpu="4"))
    play.cluster.put(a_job("train"))
    forget(play, "train")
    play.end(*play.pods("full"))
    play.wait(2)
    assert play.pods("train") == []
    play.wait(INTERVAL)
    assert play.where("train") == ["n1"]
    assert play.controller.sweep.repairs == 1


def test_a_group_that_was_refused_is_left_alone(play: Play) -> None:
    play.cluster.put(a_job("train"))
    forget(play, "train", refused=True)
    play.wait(INTERVAL)
    assert play.pods("train") == []
    assert play.controller.sweep.repairs == 0


def forget(play: Play, name: str, *, refused: bool = False) -> None:
    """A Job comes, and its group is closed by mistake."""
    play.deliver()
    group = next(each for key, each in play.shared.model.groups.items() if key.name == name)
    group.close(ClosedGroup(frozenset(), for_good=True, is_refused=refused))
    play.settle()
