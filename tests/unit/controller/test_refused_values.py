"""An object with a value that cannot be stored is refused with a reason; all others go on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.cluster.labels.names import QUEUE, WALLTIME
from fluxnetes.common.reasons import ReasonCode
from fluxnetes.queue import input_limits
from fluxnetes.queue.changes import Changes
from fluxnetes.store.errors import ValueRefused
from tests.unit.cluster.builders import a_job, machine
from tests.unit.controller.play import Play


@pytest.fixture
def play() -> Iterator[Play]:
    with Play(machine("n1"), machine("n2")) as play:
        yield play


def group_of(play: Play, name: str) -> WorkloadGroup:
    [found] = [group for group in play.shared.model.groups.values() if group.key.name == name]
    return found


def why(play: Play, name: str) -> str:
    """Why a group is refused."""
    blocked = group_of(play, name).not_queued
    assert blocked is not None and blocked.is_refused
    assert blocked.reason.code is ReasonCode.UNSUPPORTED
    return str(blocked.reason)


@pytest.mark.parametrize("key", [QUEUE, WALLTIME])
@pytest.mark.parametrize("value", ["a\0b", "\ud800", "x" * 100_000])
def test_an_annotation_that_cannot_be_stored_is_refused(play: Play, key: str, value: str) -> None:
    play.put(a_job("good"), a_job("bad", annotations={key: value}))
    assert play.where("good") == ["n1"]
    assert why(play, "bad").startswith(f"{key}: found ")
    play.put(a_job("bad"))
    assert play.where("bad") == ["n1"]


def test_what_the_queue_refuses_to_take_is_refused_with_its_words(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as shorter:
        shorter.setattr(input_limits, "LONGEST_NAME", 200)
        play.put(a_job("good"), a_job("b" * 201))
    assert play.where("good") == ["n1"]
    assert "expected at most 200 bytes" in why(play, "b" * 201)


def test_what_the_store_refuses_ends_a_term_and_is_left_out_of_the_next(play: Play) -> None:
    class Picky(type(play.store)):  # type: ignore[misc]
        async def commit(self, changes: Changes, fence: int) -> None:
            if await self.refused_jobs(changes):
                raise ValueRefused("the store cannot hold a value: x")
            await super().commit(changes, fence)

        async def refused_jobs(self, changes: Changes) -> dict[int, str]:
            jobs = changes.jobs.values()
            return {job.id: "poison" for job in jobs if job.submission.name == "bad"}

    play.store.__class__ = Picky
    play.put(a_job("before"))
    with pytest.raises(ValueRefused):
        play.put(a_job("bad"), a_job("good"))
    refused = play.controller.submitter.refused
    assert list(refused.values()) == ["poison"]
    play.start()
    play.controller.submitter.refused.update(refused)
    play.settle()
    assert play.where("before") == play.where("good") == ["n1"]
    assert why(play, "bad") == "poison"
