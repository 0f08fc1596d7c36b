"""Time counts only while the cluster is observed, and after a gap everything is listed again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from unittest.mock import patch

import pytest

from fluxnetes.controller import observation
from fluxnetes.controller.observation import Observation, WatchedKind


@dataclass
class Clock:
    """In place of the module `time`."""

    now: float = 100.0
    worked: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.worked


@dataclass(eq=False)
class Kind:
    problem: str | None = None
    is_complete: bool = True


@dataclass
class Kinds:
    pods: Kind = field(default_factory=Kind)
    nodes: Kind = field(default_factory=Kind)
    listed: list[WatchedKind] = field(default_factory=list)

    def required(self) -> list[WatchedKind]:
        return [self.pods, self.nodes]

    def list_again(self, kind: WatchedKind) -> None:
        kind.is_complete = False
        self.listed.append(kind)


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with patch.object(observation, "time", clock):
        yield clock


def pass_time(clock: Clock, observed: Observation, seconds: int) -> None:
    """Rounds follow each other within a second."""
    for _ in range(seconds):
        clock.now += 1
        observed.begin_round()


def test_time_passes_while_everything_is_seen(clock: Clock) -> None:
    kinds = Kinds()
    observed = Observation(kinds, 0.0)
    pass_time(clock, observed, 30)
    assert observed.clock == 30.0
    assert observed.is_current and not kinds.listed


def test_after_a_pause_everything_is_listed_before_time_goes_on(clock: Clock) -> None:
    kinds = Kinds()
    observed = Observation(kinds, 0.0)
    clock.now += 3600
    observed.begin_round()
    assert kinds.listed == [kinds.pods, kinds.nodes]
    pass_time(clock, observed, 10)
    assert (observed.clock, observed.is_current) == (0.0, False)
    kinds.pods.is_complete = kinds.nodes.is_complete = True
    pass_time(clock, observed, 5)
    assert (observed.clock, observed.is_current) == (5.0, True)


def test_a_process_that_works_for_long_was_not_paused(clock: Clock) -> None:
    kinds = Kinds()
    observed = Observation(kinds, 0.0)
    clock.now, clock.worked = clock.now + 60, 60.0
    observed.begin_round()
    assert observed.is_current and not kinds.listed
    assert observed.clock < 5.0, "rounds that are far apart count for little"


def test_a_watch_that_was_broken_is_listed_again_and_no_other(clock: Clock) -> None:
    kinds = Kinds()
    observed = Observation(kinds, 0.0)
    kinds.pods.problem = "connection refused"
    pass_time(clock, observed, 10)
    assert (observed.clock, observed.is_current) == (0.0, False)
    kinds.pods.problem = None
    pass_time(clock, observed, 1)
    assert kinds.listed == [kinds.pods]
    assert not observed.is_current
    kinds.pods.is_complete = True
    pass_time(clock, observed, 1)
    assert observed.is_current


def test_a_watch_that_is_broken_for_a_moment_is_not_listed_again(clock: Clock) -> None:
    kinds = Kinds()
    observed = Observation(kinds, 0.0)
    kinds.pods.problem = "the connection was lost"
    pass_time(clock, observed, 1)
    kinds.pods.problem = None
    pass_time(clock, observed, 3)
    assert observed.is_current and not kinds.listed
