"""What `bench/kube --check` lets pass."""

from __future__ import annotations

import pytest

from bench.kube_contestants import COSCHEDULING, KUBE, NATIVE, ON_POD_GROUPS, OURS
from bench.kube_costs import Costs
from bench.kube_limits import Results, show_limits
from bench.kube_result import Result
from bench.kube_run import BACKLOG, STREAM
from bench.kube_work import GANGS, ONE_GANG, SINGLES, Workload


def found(seconds: float, p50: float = 1.0, writes: int = 0) -> Result:
    free = Costs(0, 0)
    return Result(100, seconds, p50, p50, {"POST events": writes}, free, free)


def compared(workload: Workload, mode: str, against: str, ours: Result, theirs: Result) -> Results:
    return {(workload.name, mode, OURS): ours, (workload.name, mode, against): theirs}


@pytest.mark.parametrize(
    ("workload", "mode", "against", "most"),
    [
        (GANGS, STREAM, KUBE, 10.0),
        (GANGS, STREAM, NATIVE, 6.0),
        (SINGLES, STREAM, KUBE, 10.0),
        (GANGS, BACKLOG, KUBE, 5.0),
        (SINGLES, BACKLOG, KUBE, 5.0),
        (ONE_GANG, BACKLOG, KUBE, 5.0),
        (ONE_GANG, STREAM, COSCHEDULING, 3.3),
    ],
)
def test_a_time_over_its_limit_is_seen(
    workload: Workload, mode: str, against: str, most: float
) -> None:
    theirs = found(10.0)
    assert show_limits(compared(workload, mode, against, found(most), theirs))
    assert not show_limits(compared(workload, mode, against, found(most + 0.1), theirs))


def test_a_median_wait_above_kube_schedulers_is_seen_but_for_the_one_gang() -> None:
    ours, theirs = found(1.0, p50=2.0), found(10.0, p50=1.9)
    assert not show_limits(compared(GANGS, STREAM, KUBE, ours, theirs))
    assert not show_limits(compared(SINGLES, BACKLOG, KUBE, ours, theirs))
    assert show_limits(compared(ONE_GANG, STREAM, KUBE, ours, theirs))


def test_too_many_writes_for_a_gang_are_seen() -> None:
    assert show_limits({(GANGS.name, STREAM, OURS): found(1.0, writes=220)})
    assert not show_limits({(GANGS.name, STREAM, OURS): found(1.0, writes=221)})


def test_gangs_as_pod_groups_may_take_a_tenth_longer_than_by_labels() -> None:
    by_labels = {(GANGS.name, STREAM, OURS): found(10.0)}
    assert show_limits({**by_labels, (GANGS.name, STREAM, ON_POD_GROUPS): found(11.0)})
    assert not show_limits({**by_labels, (GANGS.name, STREAM, ON_POD_GROUPS): found(11.1)})


def test_what_was_not_measured_is_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_limits({(SINGLES.name, STREAM, OURS): found(100.0)})
    assert capsys.readouterr().out == ""
